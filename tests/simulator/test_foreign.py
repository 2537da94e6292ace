"""Tensors whose addresses a kernel is given as numbers."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch", reason="torch holds the tensors")
pytest.importorskip("triton", reason="triton makes the programs")

import torch
import triton
import triton.language as tl

from tests.compile.programs import VERSION, Pointer, program
from tritonaudit import simulate
from tritonaudit.simulator.faults import FaultKind
from tritonaudit.simulator.parse import parse_module
from tritonaudit.simulator.slices import finds_pointers

BLOCK = 16


@triton.jit
def summed(pointers, sizes, out, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    x = tl.load(pointers + program).to(tl.pointer_type(tl.float32))
    i = tl.arange(0, BLOCK)
    tl.store(out + program, tl.sum(tl.load(x + i, mask=i < tl.load(sizes + program), other=0.0), 0))


def _pointers(*tensors: torch.Tensor) -> torch.Tensor:
    return torch.tensor([one.data_ptr() for one in tensors])


def test_addresses_in_memory() -> None:
    tensors = [torch.arange(float(n)) for n in (3, 16, 7)]
    tensors.append(tensors[1][5:9])
    sizes, out = torch.tensor([len(one) for one in tensors], dtype=torch.int32), torch.zeros(4)
    assert simulate(summed, (4,), _pointers(*tensors), sizes, out, BLOCK).faults == ()
    assert out.tolist() == [one.sum().item() for one in tensors]


def test_their_bounds() -> None:
    x = torch.arange(3.0)
    sizes, out = torch.tensor([5], dtype=torch.int32), torch.zeros(1)
    fault, *_ = simulate(summed, (1,), _pointers(x), sizes, out, BLOCK).faults
    assert (fault.kind, fault.element, fault.count) == (FaultKind.OUT_OF_BOUNDS_LOAD, 3, 2)
    assert fault.tensor == "a float32 tensor of (3) by its address"


def test_a_number_that_is_no_address() -> None:
    sizes, out = torch.tensor([5], dtype=torch.int32), torch.zeros(1)
    fault, *_ = simulate(summed, (1,), torch.tensor([64]), sizes, out, BLOCK).faults
    assert fault.kind is FaultKind.NO_TENSOR


@triton.jit
def doubled(address, out, BLOCK: tl.constexpr):
    x = address.to(tl.int64).to(tl.pointer_type(tl.int32)) + tl.arange(0, BLOCK)
    tl.store(x, tl.load(x) * 2)
    tl.store(out + tl.arange(0, BLOCK), tl.load(x))


@pytest.mark.parametrize("is_argument", [False, True])
def test_stores_to_an_address(is_argument: bool) -> None:
    x = torch.arange(BLOCK, dtype=torch.int32)
    out: Any = x if is_argument else torch.zeros(BLOCK, dtype=torch.int32)
    assert simulate(doubled, (1,), x.data_ptr(), out, BLOCK).faults == ()
    assert x.tolist() == list(range(0, 2 * BLOCK, 2))
    assert torch.equal(out, x)


@triton.jit
def through_pointers(pointers, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(pointers.to(tl.pointer_type(tl.pointer_type(tl.float32))) + i % 2)
    tl.store(out + i, tl.load(x + i))


@pytest.mark.skipif(VERSION >= (3, 9), reason="this Triton crashes")
def test_pointers_to_pointers() -> None:
    x, y, out = torch.arange(16.0), -torch.arange(16.0), torch.zeros(BLOCK)
    assert simulate(through_pointers, (1,), _pointers(x, y), out, BLOCK).faults == ()
    assert out.tolist() == [n if n % 2 == 0 else -n for n in range(BLOCK)]


@triton.jit
def sums_of_numbers(a_ptr, out_ptr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(out_ptr + lanes, tl.load(a_ptr + lanes) + tl.load(a_ptr + BLOCK + lanes))


NUMBERS = Pointer("i64")


@pytest.mark.parametrize(
    ("kernel", "arguments", "finds"),
    [
        (summed, {"pointers": NUMBERS, "sizes": Pointer("i32"), "out": Pointer("fp32")}, True),
        (sums_of_numbers, {"a_ptr": NUMBERS, "out_ptr": NUMBERS}, False),
    ],
    ids=["of pointers", "of numbers that may be addresses by chance"],
)
def test_who_makes_pointers_of_numbers(kernel: Any, arguments: dict[str, Pointer], finds: bool) -> None:
    module = parse_module(program(kernel, "sm_89", **arguments, BLOCK=BLOCK).ttir)
    assert finds_pointers(module) is finds
