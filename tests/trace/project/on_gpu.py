"""Tests that need a GPU, as projects have them."""

import pytest
import torch
from kernels import add, copied, counted, double, total, tuned

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


@pytest.mark.parametrize("n", [1000, 4096])
def test_add(n):
    x, y = (torch.randn(n, device="cuda") for _ in range(2))
    assert x.is_cuda
    torch.testing.assert_close(add(x, y), x + y)


def test_gradient():
    layer = torch.nn.LayerNorm(128, device="cuda", dtype=torch.bfloat16)
    x = torch.randn(512, 128, device="cuda", dtype=torch.bfloat16)
    layer(x).backward(torch.ones_like(x))
    torch.testing.assert_close(layer.bias.grad, torch.full_like(layer.bias, 512.0))


def test_loss():
    logits = torch.randn(4096, 100, device="cuda", dtype=torch.float16)
    labels = torch.randint(100, (4096,), device="cuda")
    loss = torch.nn.functional.cross_entropy(logits, labels)
    precise = torch.nn.functional.cross_entropy(logits.float(), labels)
    torch.testing.assert_close(loss.float(), precise, rtol=2e-3, atol=0)


def test_double():
    x = torch.randn(1000, device="cuda")
    torch.testing.assert_close(double(x), x * 2)


def test_total():
    x = torch.ones(1000, device="cuda")
    assert total(x).item() == 1000


def test_copied():
    x = torch.randn(37, 100, device="cuda")
    assert torch.equal(copied(x), x)


def test_counted():
    assert torch.equal(counted(1000)[:500], torch.arange(500.0, device="cuda"))


def test_seeds_give_the_numbers_of_a_gpu():
    torch.manual_seed(0)
    wanted = torch.tensor([-0.9247, -0.4253, -2.6438, 0.1452], device="cuda")
    torch.testing.assert_close(torch.randn(4, device="cuda"), wanted, atol=5e-5, rtol=0)


def test_tuned():
    x = torch.randn(1000, device="cuda")
    assert torch.equal(tuned(x), x)


def test_host_memory_is_another():
    x = torch.zeros(3, device="cuda")
    kept, also = x.cpu(), x.to("cpu")
    x += 1
    assert not kept.any()
    assert not also.any()


def test_events():
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    end.record()
    torch.cuda.synchronize()
    assert start.elapsed_time(end) > 0


def test_processes():
    torch.distributed.init_process_group("nccl")


def test_graph():
    with torch.cuda.graph(torch.cuda.CUDAGraph()):
        pass
