"""What a launch passes comes to the program's own parameters."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

pytest.importorskip("torch", reason="torch holds the tensors")
pytest.importorskip("triton", reason="triton makes the programs")

import torch
import triton
import triton.language as tl

from tests.simulator.kernels import VERSION
from tritonaudit import simulate
from tritonaudit.capture.device import device_for
from tritonaudit.capture.driver import standing_in
from tritonaudit.capture.record import Recorder, installed, recording
from tritonaudit.simulator.faults import FaultKind
from tritonaudit.simulator.fresh import FreshMemory
from tritonaudit.simulator.live import Execution, NoProgram
from tritonaudit.simulator.machine import NotSimulated


@triton.jit
def of_scalars(out, a, b, c, d, N: tl.constexpr):
    tl.store(out, a)
    tl.store(out + 1, b)
    tl.store(out + 2, c)
    if d is not None:
        tl.store(out + 3, d)
    tl.store(out + 4, N)


def test_constants_ones_and_none_are_no_parameters() -> None:
    out = torch.zeros(5)
    simulate(of_scalars, (1,), out, 1, 2.5, True, None, N=7)
    assert out.tolist() == [1, 2.5, 1, 0, 7]


class Named(NamedTuple):
    out: Any
    scale: Any
    size: Any


@triton.jit
def of_tuples(first, second, n):
    i = tl.arange(0, second.size)
    tl.store(second.out + i, first[0] * second.scale + first[1][0] + first[1][1] + n)


@pytest.mark.skipif(VERSION < (3, 4), reason="this Triton has no named tuples")
def test_elements_of_tuples() -> None:
    out = torch.zeros(16)
    simulate(of_tuples, (1,), (3, (1, 2.5)), Named(out, 10, tl.constexpr(16)), 100)
    assert out.tolist() == [133.5] * 16


@triton.jit
def of_descriptor(source, out, M: tl.constexpr, N: tl.constexpr):
    block = source.load([2, 4])
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + i, block)


@pytest.mark.skipif(VERSION < (3, 6), reason="this Triton has no padding of descriptors")
@pytest.mark.parametrize("padding", ["zero", "nan"])
def test_descriptors_of_host_code(padding: str) -> None:
    from triton.tools.tensor_descriptor import TensorDescriptor

    x = torch.arange(8.0 * 16).reshape(8, 16)
    out = torch.zeros(8, 16)
    descriptor = TensorDescriptor(x, [7, 16], [16, 1], [8, 16], padding)
    assert simulate(of_descriptor, (1,), descriptor, out, 8, 16).faults == ()
    wanted = torch.full((8, 16), 0.0 if padding == "zero" else torch.nan)
    wanted[:5, :12] = x[2:7, 4:]
    torch.testing.assert_close(out, wanted, rtol=0, atol=0, equal_nan=True)


@triton.jit
def halved(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(x + i) // 2)


def test_a_tensor_of_another_type() -> None:
    x = torch.tensor([-2, 6, -1, 1], dtype=torch.int32)
    out = torch.zeros(4, dtype=torch.int64)
    simulate(halved, (1,), triton.reinterpret(x, tl.uint32), out, 4)
    assert out.tolist() == [0x7FFFFFFF, 3, 0x7FFFFFFF, 0]


class Pointing:
    """What is no tensor, but points into the memory of one."""

    def __init__(self, base: torch.Tensor | None, address: int, dtype: torch.dtype) -> None:
        self._base = base
        self._address = address
        self.dtype = dtype

    def data_ptr(self) -> int:
        return self._address


def pointing(x: torch.Tensor, element: int) -> Pointing:
    return Pointing(x, x.data_ptr() + element * x.element_size(), x.dtype)


@triton.jit
def reversed_into(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(x - i))


def test_what_points_into_the_memory_of_a_tensor() -> None:
    x, out = torch.arange(16.0), torch.zeros(16)
    assert simulate(reversed_into, (1,), pointing(x, 15), out, 16).faults == ()
    assert out.tolist() == x.tolist()[::-1]
    found, _ = simulate(reversed_into, (1,), pointing(x, 13), out, 16).faults
    assert (found.kind, found.tensor, found.lane, found.element) == (FaultKind.OUT_OF_BOUNDS_LOAD, "x", (14,), -1)


def test_what_points_into_no_tensor_is_said() -> None:
    x = torch.arange(16.0)
    with pytest.raises(NotSimulated, match="`x`, which holds no tensor"):
        simulate(reversed_into, (1,), Pointing(None, x.data_ptr(), x.dtype), x, 16)


@triton.jit
def of_one(out):
    tl.store(out, 1)


def test_what_triton_refuses_is_said() -> None:
    with pytest.raises(NoProgram, match="size"):
        simulate(of_one, (1,), torch.zeros(1), size=7)


def test_host_code_is_reported_what_triton_refuses_where_it_would_be_on_a_gpu() -> None:
    recorder = Recorder("sm_89", execute=Execution(FreshMemory()).launch, raises=True)
    stand_in = standing_in(device_for("sm_89"), 1 << 20)
    with stand_in, installed(), recording(recorder), pytest.raises(KeyError, match="size"):
        of_one[(1,)](torch.zeros(1), size=7)
    assert len(recorder.refused) == 1


@pytest.mark.skipif(VERSION < (3, 6), reason="this Triton has no Gluon")
def test_gluon_is_not_simulated() -> None:
    from triton.experimental import gluon

    with pytest.raises(NotSimulated, match="gluon: of_one"):
        simulate(gluon.jit(of_one.fn), (1,), torch.zeros(1))


def test_what_is_only_compiled_is_not_executed() -> None:
    out = torch.zeros(1)
    recorder = Recorder("sm_89", execute=Execution(FreshMemory()).launch)
    with standing_in(device_for("sm_89"), 1 << 20), installed(), recording(recorder):
        of_one.warmup(out, grid=(1,))
        assert (len(recorder.launches), out.item()) == (1, 0)
        of_one[(1,)](out)
        assert out.item() == 1
