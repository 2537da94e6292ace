"""Memory that nobody has written: it is known across host code, launches and types."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("torch", reason="torch holds the tensors")
pytest.importorskip("triton", reason="triton makes the programs")

import numpy as np
import torch
import triton
import triton.language as tl
from torch.utils._python_dispatch import _disable_current_modes

from tritonaudit import simulate
from tritonaudit.simulator.faults import Fault, FaultKind
from tritonaudit.simulator.fresh import FreshMemory


@triton.jit
def copy(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


@triton.jit
def every_second(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + 2 * offsets, tl.load(x_ptr + offsets))


@triton.jit
def scattered(index_ptr, out_ptr, BLOCK: tl.constexpr):
    tl.store(out_ptr + tl.load(index_ptr + tl.arange(0, BLOCK)), 1.0)


@triton.jit
def added(x_ptr, out_ptr, BLOCK: tl.constexpr):
    tl.atomic_add(out_ptr, tl.sum(tl.load(x_ptr + tl.arange(0, BLOCK)), axis=0))


@triton.jit
def exchanged(x_ptr, out_ptr, BLOCK: tl.constexpr):
    tl.atomic_xchg(out_ptr + tl.arange(0, BLOCK), tl.load(x_ptr + tl.arange(0, BLOCK)))


@pytest.fixture(autouse=True)
def watched() -> Iterator[None]:
    with FreshMemory():
        yield


def undefined(tensor: torch.Tensor) -> int:
    """How many elements of a dense tensor are known to be unwritten."""
    found = faults_of_a_copy(tensor)
    assert {fault.kind for fault in found} <= {FaultKind.UNDEFINED_STORED}
    return sum(fault.count for fault in found)


def faults_of_a_copy(tensor: torch.Tensor) -> tuple[Fault, ...]:
    programs = (triton.cdiv(tensor.numel(), 64),)
    return simulate(copy, programs, tensor, torch.zeros_like(tensor), tensor.numel(), BLOCK=64).faults


@pytest.mark.parametrize("dtype", [torch.int8, torch.float16, torch.float32, torch.float64])
def test_what_empty_gives_is_unwritten_until_it_is_written(dtype: torch.dtype) -> None:
    x = torch.empty(200, dtype=dtype)
    assert undefined(x) == 200
    x[20:120] = 1
    assert undefined(x) == 100
    simulate(copy, (1,), torch.ones(64, dtype=dtype), x, 64, BLOCK=64)
    assert undefined(x) == 80
    assert undefined(x.zero_()) == 0


def test_what_other_functions_make_is_written() -> None:
    for made in (torch.zeros(64), torch.rand(64), torch.arange(64), torch.full((64,), 2.0), torch.rand(64).sort()[0]):
        assert undefined(made) == 0


def test_what_another_library_may_have_written_is_written() -> None:
    x, y, z = torch.empty(64), torch.empty(64), torch.empty(64)
    x[:32].numpy()[:] = 1
    np.from_dlpack(y)[:] = 1
    np.asarray(z)[:] = 1
    assert (undefined(x), undefined(y), undefined(z)) == (32, 0, 0)


def test_what_takes_the_place_of_a_resized_tensor_is_written() -> None:
    x = torch.empty(1 << 16)
    address = x.data_ptr()
    torch.add(torch.ones(1 << 20), 1, out=x.resize_(0))
    others = [torch.zeros(1 << 16) for _ in range(8)]
    assert x.data_ptr() != address
    assert sum(undefined(other) for other in others) == 0
    assert undefined(x[:64]) == 0


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_a_store_writes_its_elements_and_none_between(dtype: torch.dtype) -> None:
    out = torch.empty(64, dtype=dtype)
    simulate(every_second, (1,), torch.ones(32, dtype=dtype), out, BLOCK=32)
    assert undefined(out) == 32
    assert undefined(out.as_strided((32,), (1,), 0)) == 16


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_a_scatter_writes_where_it_goes(dtype: torch.dtype) -> None:
    out = torch.empty(64, dtype=dtype)
    simulate(scattered, (1,), torch.tensor([3, 60, 3, 7]), out, BLOCK=4)
    assert undefined(out) == 61


@pytest.mark.parametrize("narrow", [torch.int8, torch.int16, torch.float32])
def test_all_bytes_of_what_is_stored_are_written(narrow: torch.dtype) -> None:
    out = torch.empty(64, dtype=torch.float64)
    simulate(copy, (1,), torch.ones(64, dtype=torch.float64), out, 64, BLOCK=64)
    assert undefined(out.view(narrow)) == 0


def test_adding_to_what_nobody_wrote_is_a_fault_and_replacing_it_is_none() -> None:
    (found,) = simulate(added, (4,), torch.ones(16), torch.empty(1), BLOCK=16).faults
    assert found.kind is FaultKind.UNDEFINED_STORED
    assert simulate(added, (4,), torch.ones(16), torch.zeros(1), BLOCK=16).faults == ()
    out = torch.empty(16)
    assert simulate(exchanged, (1,), torch.ones(16), out, BLOCK=16).faults == ()
    assert undefined(out) == 0


def test_without_a_watch_nothing_is_taken_for_unwritten() -> None:
    x = torch.empty(64)
    with _disable_current_modes():
        assert undefined(x) == 0
    assert undefined(x) == 64
