"""Programs that write the same to one place race if they would not with other contents of what they read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch holds the tensors")
pytest.importorskip("triton", reason="triton makes the programs")

import torch
import triton
import triton.language as tl

from tritonaudit import simulate
from tritonaudit.capture.device import device_for
from tritonaudit.capture.driver import standing_in
from tritonaudit.capture.record import Recorder, installed, recording
from tritonaudit.simulator import coincidence
from tritonaudit.simulator.engine import execute
from tritonaudit.simulator.faults import FaultKind
from tritonaudit.simulator.fresh import FreshMemory
from tritonaudit.simulator.live import Execution

BLOCK = 256


@triton.jit
def constant(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    if tl.max(x, axis=0) > 0:
        tl.store(out_ptr, 1.0)


@triton.jit
def found(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    is_found = (tl.max(x, axis=0) > 0).to(tl.float32)
    tl.store(out_ptr, is_found, mask=is_found > 0)


@triton.jit
def whether_positive(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    tl.store(out_ptr, (tl.max(x, axis=0) > 0).to(tl.float32))


@triton.jit
def how_many(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    tl.store(out_ptr, tl.sum((x > 2).to(tl.int32), axis=0).to(tl.float32))


@triton.jit
def first_row(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(out_ptr, tl.sum(tl.exp(x), axis=0))


@triton.jit
def moments(x_ptr, mean_ptr, scale_ptr, out_ptr, n, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    row, part = tl.program_id(0) // PARTS, tl.program_id(0) % PARTS
    total = tl.zeros([BLOCK], tl.float32)
    square = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + columns, mask=columns < n, other=0.0)
        total += x
        square += tl.exp(x) * tl.sigmoid(x)
    mean, scale = tl.sum(total, axis=0) / n, 1 / tl.sqrt(tl.sum(square, axis=0))
    tl.store(mean_ptr + row, mean)
    tl.store(scale_ptr + row, scale)
    columns = part * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + columns, mask=columns < n)
    tl.store(out_ptr + row * n + columns, (x - mean) * scale, mask=columns < n)


@triton.jit
def products(a_ptr, b_ptr, c_ptr, B: tl.constexpr):
    lanes = tl.arange(0, B)
    square = lanes[:, None] * B + lanes[None, :]
    row = tl.program_id(0) * B * B
    product = tl.dot(tl.load(a_ptr + row + square), tl.load(b_ptr + square))
    tl.store(c_ptr + row + square, tl.exp(product))


@triton.jit
def twice_each(x_ptr, bounds_ptr, out_ptr, BLOCK: tl.constexpr):
    part = tl.program_id(0) // 2
    first, last = tl.load(bounds_ptr + part), tl.load(bounds_ptr + part + 1)
    places = first + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + places, mask=places < last)
    tl.store(out_ptr + places, x + part, mask=places < last)


def kinds(kernel: Any, grid: tuple[int, ...], *args: Any, **kwargs: Any) -> set[FaultKind]:
    return {fault.kind for fault in simulate(kernel, grid, *args, **kwargs).faults}


@pytest.mark.parametrize("kernel", [constant, found, first_row])
def test_what_is_the_same_whatever_is_read_is_no_race(kernel: Any) -> None:
    x = torch.randn(4 * BLOCK, generator=torch.Generator().manual_seed(0))
    assert kinds(kernel, (4,), x, torch.zeros(1), x.numel(), BLOCK=BLOCK) == {FaultKind.SAME_WRITES}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64, torch.int32, torch.int8])
@pytest.mark.parametrize("kernel", [whether_positive, how_many])
def test_what_is_the_same_by_chance_is_a_race(kernel: Any, dtype: torch.dtype) -> None:
    x = torch.ones(4 * BLOCK, dtype=dtype)
    (found,) = simulate(kernel, (4,), x, torch.zeros(1), x.numel(), BLOCK=BLOCK).faults
    assert found.kind is FaultKind.RACE_WRITE_WRITE
    assert (found.tensor, found.element, found.count) == ("out_ptr", 0, 3)
    assert "by chance" in found.detail
    assert torch.equal(x, torch.ones_like(x))


def test_what_is_found_out_leaves_the_result_alone() -> None:
    out = torch.zeros(1)
    simulate(how_many, (4,), torch.full((4 * BLOCK,), 3.0), out, 4 * BLOCK, BLOCK=BLOCK)
    assert out.item() == BLOCK


@pytest.mark.parametrize("n", [100, 256, 1000, 1777])
def test_programs_that_compute_the_same_of_the_same_elements_do_not_race(n: int) -> None:
    parts = triton.cdiv(n, BLOCK)
    x = torch.randn(37, n, generator=torch.Generator().manual_seed(0))
    stats = torch.zeros(37), torch.zeros(37)
    found = kinds(moments, (37 * parts,), x, *stats, torch.zeros_like(x), n, PARTS=parts, BLOCK=BLOCK)
    assert found <= {FaultKind.SAME_WRITES}
    assert bool(found) == (parts > 1)


def test_products_that_are_computed_twice_do_not_race() -> None:
    a = torch.randn(5, 32, 32, generator=torch.Generator().manual_seed(0))
    assert kinds(products, (5, 3), a, a[0].clone(), torch.zeros_like(a), B=32) == {FaultKind.SAME_WRITES}


def test_integers_that_say_where_programs_write_stay_as_they_are() -> None:
    bounds = torch.tensor([0, 5, 9, 9, 20], dtype=torch.int32)
    assert kinds(twice_each, (8,), torch.zeros(32), bounds, torch.zeros(32), BLOCK=16) == {FaultKind.SAME_WRITES}


# -- launches of a loop in host code -----------------------------------------------------------------------------------


@triton.jit
def looked_up(x_ptr, row_ptr, out_ptr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    row = tl.load(row_ptr + tl.program_id(0))
    tl.store(out_ptr + lanes, tl.load(x_ptr + row * BLOCK + lanes))


def test_each_of_a_few_launches_is_asked_as_integers_may_lead_elsewhere() -> None:
    execution = Execution(FreshMemory())
    recorder = Recorder("sm_89", execute=execution.launch, raises=True)
    with standing_in(device_for("sm_89"), 1 << 20), installed(), recording(recorder):
        for rows in ([0, 0], [1, 1], [0, 1]):
            table = torch.tensor(rows, dtype=torch.int32)
            looked_up[(2,)](torch.ones(2 * BLOCK), table, torch.zeros(BLOCK), BLOCK=BLOCK)
    kinds_of = [{fault.kind for fault in launch.faults} for launch in execution.launches]
    assert kinds_of == [{FaultKind.SAME_WRITES}, {FaultKind.SAME_WRITES}, {FaultKind.RACE_WRITE_WRITE}]


@pytest.fixture
def more(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The modules of the launches that are executed with other contents, in order."""
    found: list[Any] = []

    def counted(module: Any, *arguments: Any) -> Any:
        found.append(module)
        return execute(module, *arguments)

    monkeypatch.setattr(coincidence, "execute", counted)
    return found


def kinds_of_each(kernel: Any, inputs: Sequence[torch.Tensor], numbers: Sequence[int]) -> list[set[FaultKind]]:
    """What launches of the kernel, one after the other, show."""
    execution = Execution(FreshMemory())
    recorder = Recorder("sm_89", execute=execution.launch, raises=True)
    with standing_in(device_for("sm_89"), 1 << 20), installed(), recording(recorder):
        for x, number in zip(inputs, numbers, strict=True):
            kernel[(4,)](x, torch.zeros(1), number, BLOCK=BLOCK)
    return [{fault.kind for fault in launch.faults} for launch in execution.launches]


def drawn(seed: int) -> torch.Tensor:
    return torch.randn(4 * BLOCK, generator=torch.Generator().manual_seed(seed))


def test_of_many_launches_few_are_executed_with_other_contents(more: list[Any]) -> None:
    found = kinds_of_each(first_row, [drawn(seed) for seed in range(20)], [7] * 20)
    assert found == [{FaultKind.SAME_WRITES}] * 20
    assert len(more) == 3 + 7 + 1  # those of the first, of seven more, and of the sixteenth


def test_launches_with_other_numbers_are_of_another_form(more: list[Any]) -> None:
    assert kinds_of_each(first_row, [drawn(0)] * 3, [7, 8, 7]) == [{FaultKind.SAME_WRITES}] * 3
    assert len(more) == 3 + 3 + 1


def test_what_is_found_to_race_does_in_each_launch(more: list[Any]) -> None:
    found = kinds_of_each(how_many, [torch.full((4 * BLOCK,), float(fill)) for fill in range(20)], [7] * 20)
    assert found == [{FaultKind.RACE_WRITE_WRITE}] * 20
    assert len(more) == 1


# -- what can be nothing but one constant ------------------------------------------------------------------------------


@triton.jit
def one_of_two(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    for number in tl.static_range(2):
        if (tl.sum(x, axis=0) > 0) == (number == 0):
            tl.store(out_ptr, 1.0 + number)


@triton.jit
def to_two_places(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    if tl.max(x, axis=0) > 0:
        tl.store(out_ptr, 1.0)
    tl.store(x_ptr + tl.program_id(0) * BLOCK, 2.0)


def test_a_constant_is_not_asked_for(more: list[Any]) -> None:
    assert kinds_of_each(constant, [drawn(0)] * 2, [7, 7]) == [{FaultKind.SAME_WRITES}] * 2
    assert kinds_of_each(to_two_places, [drawn(0)], [7]) == [{FaultKind.SAME_WRITES}]
    assert more == []


def test_of_two_constants_the_other_may_be_written_with_other_contents() -> None:
    found = kinds_of_each(one_of_two, [torch.ones(4 * BLOCK)], [7])
    assert found == [{FaultKind.RACE_WRITE_WRITE}]


def test_what_is_written_by_another_argument_to_the_same_memory_counts(more: list[Any]) -> None:
    execution = Execution(FreshMemory())
    recorder = Recorder("sm_89", execute=execution.launch, raises=True)
    memory = torch.ones(4 * BLOCK + 1)
    with standing_in(device_for("sm_89"), 1 << 20), installed(), recording(recorder):
        to_two_places[(4,)](memory[:-1], memory[-1:], 7, BLOCK=BLOCK)
    assert {fault.kind for launch in execution.launches for fault in launch.faults} == {FaultKind.SAME_WRITES}
    assert len(more) > 0
