"""A fault says which lines led to it, and what their variables held."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch holds the tensors")
pytest.importorskip("triton", reason="triton makes the programs")

import torch
import triton
import triton.language as tl

from tests.simulator.test_parse import SUPPORTED, text_of
from tritonaudit import simulate
from tritonaudit.simulator.chains import Chains
from tritonaudit.simulator.faults import Fault, FaultKind, Site
from tritonaudit.simulator.ir import Function
from tritonaudit.simulator.parse import parse_module
from tritonaudit.simulator.programs import Programs
from tritonaudit.simulator.slices import blocks_in
from tritonaudit.simulator.values import Value


@triton.jit
def rows(x_ptr, out_ptr, stride, M: tl.constexpr, N: tl.constexpr):
    row = tl.program_id(0) * M + tl.arange(0, M)
    column = tl.arange(0, N)
    place = row[:, None] * stride + column[None, :]
    tl.store(out_ptr + place, tl.load(x_ptr + place))


@triton.jit
def by_index(x_ptr, index_ptr, out_ptr, shift, N: tl.constexpr):
    lanes = tl.arange(0, N)
    index = tl.load(index_ptr + lanes)
    moved = index + shift
    tl.store(out_ptr + lanes, tl.load(x_ptr + moved))


@triton.jit
def in_steps(x_ptr, out_ptr, n, N: tl.constexpr):
    lanes = tl.arange(0, N)
    total = tl.zeros([N], tl.float32)
    for start in range(0, n, N):
        total += tl.load(x_ptr + start + lanes)
    tl.store(out_ptr + lanes, total)


@triton.jit
def padded(x_ptr, out_ptr, n, N: tl.constexpr):
    lanes = tl.arange(0, N)
    x = tl.load(x_ptr + lanes, mask=lanes < n)
    unrelated = lanes * 2
    y = x * 2
    z = y + unrelated
    tl.store(out_ptr + lanes, z)


@triton.jit
def branching(x_ptr, out_ptr, n):
    flag = tl.load(x_ptr, mask=n > 0)
    twice = flag * 2
    if twice > -1:
        tl.store(out_ptr, 1.0)


@triton.jit
def looping(n_ptr, out_ptr, n):
    times = tl.load(n_ptr, mask=n > 0)
    for i in range(times):
        tl.store(out_ptr + i, 1.0)


@triton.jit
def narrow(x_ptr, out_ptr, stride, N: tl.constexpr):
    row = tl.program_id(0)
    start = row * stride
    place = start + tl.arange(0, N)
    tl.store(out_ptr + row, tl.sum(tl.load(x_ptr + place), 0))


@triton.jit(noinline=True)
def _store_at(ptr, place, value):
    after = place + 1
    tl.store(ptr + after, value)


@triton.jit
def calling(out_ptr, n):
    place = tl.program_id(0) * n
    _store_at(out_ptr, place, 1.0)


@triton.jit
def _moved(lanes, by):
    further = lanes + by
    return further - 1


@triton.jit
def inlining(x_ptr, out_ptr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    near = _moved(lanes, 0)
    far = _moved(lanes, 100)
    tl.store(out_ptr + near, tl.load(x_ptr + far))


def fault(kind: FaultKind, kernel: Any, grid: tuple[int, ...], *args: Any, **kwargs: Any) -> Fault:
    (found,) = [one for one in simulate(kernel, grid, *args, **kwargs).faults if one.kind is kind]
    return found


def lines(found: Fault, *functions: Any) -> list[int]:
    """The chain's lines, counted from the line of each function's `def`."""
    starts = [inspect.getsourcelines(function.fn)[1] + 1 for function in functions]
    assert all(step.path == __file__ for step in found.chain)
    return [step.line - max(start for start in starts if start <= step.line) for step in found.chain]


def values(found: Fault) -> dict[str, Any]:
    return {name: value for step in found.chain for name, value in step.values}


def test_an_address_is_followed_to_the_program_the_lane_and_the_arguments() -> None:
    found = fault(FaultKind.OUT_OF_BOUNDS_LOAD, rows, (2,), torch.ones(60), torch.ones(64), 9, M=4, N=8)
    assert (found.program, found.lane, found.element) == ((1, 0, 0), (2, 6), 60)
    assert lines(found, rows) == [0, 1, 2, 3, 4]
    assert values(found) == {"stride": 9, "program_id(0)": 1, "arange": 2, "row": 6, "column": 6, "place": 60}


def test_an_address_is_followed_up_to_what_was_loaded() -> None:
    index = torch.tensor([1, 2, 9, 3])
    found = fault(FaultKind.OUT_OF_BOUNDS_LOAD, by_index, (1,), torch.ones(8), index, torch.ones(4), 5, N=4)
    assert lines(found, by_index) == [0, 2, 3, 4]
    assert values(found) == {"shift": 5, "index": 9, "moved": 14}


def test_a_loop_says_which_round_it_was() -> None:
    found = fault(FaultKind.OUT_OF_BOUNDS_LOAD, in_steps, (1,), torch.ones(100), torch.ones(16), 100, N=16)
    assert (found.element, found.lane) == (100, (4,))
    assert values(found) == {"n": 100, "lanes": 4, "start": 96}


def test_an_undefined_value_is_followed_from_its_load_alone() -> None:
    found = fault(FaultKind.MASKED_STORED, padded, (1,), torch.ones(8), torch.ones(8), 5, N=8)
    assert lines(found, padded) == [2, 4, 5, 6]
    assert "x" not in values(found)


def test_a_branch_on_an_undefined_value() -> None:
    found = fault(FaultKind.UNDEFINED_BRANCH, branching, (1,), torch.ones(4), torch.zeros(1), 0)
    assert lines(found, branching) == [1, 2, 3]


def test_a_loop_to_an_undefined_bound() -> None:
    found = fault(FaultKind.UNDEFINED_BRANCH, looping, (1,), torch.ones(1, dtype=torch.int32), torch.zeros(1), 0)
    assert lines(found, looping) == [1, 2]


def test_an_overflow_shows_the_product_as_it_wrapped() -> None:
    x = torch.ones(64)
    found = fault(FaultKind.OVERFLOW_ADDRESS, narrow, (2,), x, torch.ones(2), (1 << 31) - 8, N=16)
    assert found.program == (1, 0, 0)
    assert found.lane == (8,)
    assert values(found)["start"] == (1 << 31) - 8
    assert values(found)["place"] == -(1 << 31)
    assert lines(found, narrow) == [0, 1, 2, 3, 4]


def test_a_function_that_is_called_leads_back_to_its_caller() -> None:
    found = fault(FaultKind.OUT_OF_BOUNDS_STORE, calling, (4,), torch.ones(10), 3)
    assert found.element == 10
    assert lines(found, _store_at, calling) == [0, 1, 0, 1, 2]
    assert values(found)["after"] == 10


def test_a_function_that_is_inlined_twice_has_the_values_of_each_time() -> None:
    found = fault(FaultKind.OUT_OF_BOUNDS_LOAD, inlining, (1,), torch.ones(8), torch.ones(8), N=8)
    assert values(found) == {"lanes": 0, "further": 100}


def test_a_fault_reads_as_lines() -> None:
    found = fault(FaultKind.OUT_OF_BOUNDS_LOAD, in_steps, (1,), torch.ones(100), torch.ones(16), 100, N=16)
    first, *rest = str(found).splitlines()
    assert first.endswith("out-of-bounds load: x_ptr[100], program (0, 0, 0) lane (4,), 12 times")
    assert [line.split("  ", 3)[-1] for line in rest] == [
        "def in_steps(x_ptr, out_ptr, n, N: tl.constexpr):  # n = 100",
        "lanes = tl.arange(0, N)  # lanes = 4",
        "for start in range(0, n, N):  # start = 96",
        "total += tl.load(x_ptr + start + lanes)",
    ]


@triton.jit
def carrying(x_ptr, out_ptr, n, N: tl.constexpr):
    lanes = tl.arange(0, N)
    offsets = lanes * 1
    total = tl.zeros([N], tl.float32)
    for i in range(n):
        total += tl.load(x_ptr + offsets) * i
        offsets += N
    tl.store(out_ptr + lanes, total)


def test_a_value_that_a_loop_carries_leads_to_what_each_round_adds() -> None:
    found = fault(FaultKind.OUT_OF_BOUNDS_LOAD, carrying, (1,), torch.ones(100), torch.ones(16), 7, N=16)
    assert values(found) == {"n": 7, "lanes": 4, "i": 6, "offsets": 100}
    assert lines(found, carrying) == [0, 1, 4, 5, 6]


class Nothing:
    """A place where no value is known."""

    has_lanes = False

    def __init__(self, function: Function) -> None:
        self.function = function

    def __getitem__(self, number: int) -> Value:
        raise KeyError(number)


@pytest.mark.parametrize("launch", SUPPORTED, ids=lambda launch: launch.name)
def test_a_fault_at_any_operation_of_the_language_can_be_followed(launch: Any) -> None:
    module = parse_module(text_of(launch))
    chains = Chains(module)
    programs = Programs((1, 1, 1), torch.tensor([0]))
    operations = [(function, one) for function in module.functions for one in blocks_in(function.region.blocks)]
    origin = next((one.location for _, one in operations if one.name == "tt.load"), None)
    reported = 0
    for function, operation in operations:
        rank = max((function.types[number].rank for number in operation.operands), default=0)
        for kind in (FaultKind.OUT_OF_BOUNDS_LOAD, FaultKind.UNDEFINED_STORED):
            fault = Fault(kind, operation.location, origin=origin if kind is FaultKind.UNDEFINED_STORED else None)
            steps = chains.of(fault, Site(programs, operation, Nothing(function)), (0,) * (rank + 1))
            reported += bool(steps)
            assert all(step.values == () for step in steps)
    assert reported
