"""Faults are put into kernels and wrappers as text, and the engine says which of them are any."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch holds the tensors")
pytest.importorskip("triton", reason="Triton compiles the kernels")

from bench.judge.executing import become_ready
from bench.judge.faults.detecting import asked_of, tell, with_detected
from bench.judge.faults.mutants import mutants, targets_of
from bench.judge.faults.operators import ONLY_COUNTED, OPERATORS, WORKED_ON
from bench.judge.faults.sheets import write_sheets
from bench.judge.faults.tables import classes, operators, time_taken
from bench.judge.faults.trying import Task, Trial, Tried, try_task
from bench.judge.noted import Noted
from tests.checkout import ROOT
from tritonaudit.execute.killed import Killed
from tritonaudit.execute.pool import Limits, run_tasks

EVERYTHING = """\
import torch
import triton
import triton.language as tl


@triton.jit
def everything(x_ptr, w_ptr, out_ptr, m, n, heads, groups, stride_x, stride_w, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    head, group = row // heads, row % groups
    rows = row * BLOCK + tl.arange(0, BLOCK)
    lanes = tl.arange(0, BLOCK)
    mask = (rows < m) & (lanes < n)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    top = tl.max(tl.load(x_ptr + rows * stride_x, mask=mask, other=-1.0), axis=0)
    block = tl.make_block_ptr(w_ptr, (m, n), (stride_w, 1), (0, 0), (BLOCK, BLOCK), (1, 0))
    for start in range(0, n, BLOCK):
        x = tl.load(x_ptr + rows * stride_x + start, mask=lanes < n, other=0.0).to(tl.float32)
        acc += tl.exp(x - top)
        tile = tl.load(block, boundary_check=(0, 1))
        acc += tl.sum(tile, axis=1)
        block = tl.advance(block, (0, BLOCK))
    for _ in range(tl.cdiv(n, BLOCK)):
        tl.debug_barrier()
    acc = acc / tl.maximum(n, 1) / tl.sqrt(head + 1e-6) + acc[:, None] * acc[None, :]
    tl.atomic_add(out_ptr + rows, acc, mask=mask)
    tl.store(w_ptr + rows * stride_w + group, acc, mask=mask)


def launch(x, w):
    x = x.contiguous()
    out = torch.zeros(x.shape, dtype=torch.float32)
    everything[(triton.cdiv(x.shape[0], 64) * 2, 1)](
        x, w, out, x.shape[0], x.shape[1], 2, 3, x.stride(0), w.stride(0)
    )
    return out
"""


@cache
def made(text: str) -> list[tuple[str, str, str]]:
    targets = targets_of(text, "everything.py", "everything", 7)
    return [(one.operator, one.before, one.after) for target in targets for one in mutants(text, target, 1, 99)]


def test_there_are_operators_in_two_halves() -> None:
    assert len({one.name for one in OPERATORS}) == len(WORKED_ON) + len(ONLY_COUNTED) >= 25
    assert not {one.name for one in WORKED_ON} & {one.name for one in ONLY_COUNTED}


@pytest.mark.parametrize("operator", [one.name for one in OPERATORS])
def test_each_operator_finds_its_place(operator: str) -> None:
    assert operator in {name for name, _, _ in made(EVERYTHING)}


@pytest.mark.parametrize(
    ("operator", "before", "after"),
    [
        ("mask_term_dropped", "(rows < m) & (lanes < n)", "(rows < m)"),
        ("bound_weakened", "(rows < m)", "(rows <= m)"),
        ("bound_of_other_size", "(rows < m)", "(rows < n)"),
        ("tile_start_lost", "row * BLOCK + tl.arange(0, BLOCK)", "tl.arange(0, BLOCK)"),
        ("index_widened_too_late", "tl.program_id(0).to(tl.int64)", "tl.program_id(0)"),
        ("stride_of_other_tensor", "stride_w", "BLOCK"),
        ("divisor_of_head_wrong", "row // heads", "row // groups"),
        ("maximum_left_out", "tl.exp(x - top)", "tl.exp(x)"),
        ("guard_of_division_dropped", "tl.sqrt(head + 1e-6)", "tl.sqrt(head)"),
        ("grid_rounded_down", "triton.cdiv(x.shape[0], 64)", "((x.shape[0]) // (64))"),
        ("stride_of_other_dimension", "x.stride(0)", "x.stride(1)"),
        ("copy_dropped", "x.contiguous()", "x"),
    ],
)  # fmt: skip
def test_a_fault_is_the_edit_that_its_name_says(operator: str, before: str, after: str) -> None:
    assert (operator, before, after) in made(EVERYTHING)


KERNELS = """\
import torch
import triton
import triton.language as tl


@triton.jit
def twice_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = (at < n) & (at >= 0)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=mask, other=0.0) * 2, mask=mask)


def twice(x):
    out = torch.empty_like(x)
    twice_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out
"""
SPEC = """\
from twice import twice

from tritonaudit import Subject, Tensor

twice_subject = Subject(twice, inputs=[Tensor("n")], dtypes=["float32"])
"""


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Trial]:
    folder = tmp_path_factory.mktemp("twice")
    (folder / "twice.py").write_text(KERNELS)
    (folder / "audit_twice.py").write_text(SPEC)
    path = str(folder / "twice.py")
    targets = tuple(targets_of(KERNELS, path, "twice_kernel", 7))
    assert [(one.name, one.is_kernel) for one in targets] == [("twice_kernel", True), ("twice", False)]
    noted = (Noted((("n", 97),), "float32", "contiguous"),)
    task = Task(folder / "audit_twice.py", "twice", noted, targets, folder, 1, 9)
    ((_, tried),) = run_tasks(
        try_task, [task], workers=1, limits=Limits(120, 4 << 30), prepare=become_ready, arguments=(folder, ROOT)
    )
    assert not isinstance(tried, Killed), tried.message
    assert tried.reason == ""
    return with_detected(tried, tell(asked_of(task, tried))).trials


def outcomes(trials: Sequence[Trial], operator: str) -> dict[str, str]:
    return {one.after: one.outcome for one in trials if one.operator == operator}


def test_the_engine_says_which_are_faults(trials: Sequence[Trial]) -> None:
    assert set(outcomes(trials, "bound_weakened").values()) == {"fault"}
    assert set(outcomes(trials, "mask_dropped").values()) == {"fault"}
    assert set(outcomes(trials, "grid_rounded_down").values()) == {"result"}


def test_a_mutant_that_is_equal_is_no_fault(trials: Sequence[Trial]) -> None:
    assert set(outcomes(trials, "other_dropped").values()) == {"equal"}
    assert set(outcomes(trials, "other_not_neutral").values()) == {"equal"}
    assert not any(one.detected for one in trials if one.outcome == "equal")


def test_a_mutant_that_shows_in_no_call_is_not_called_equal_for_that(trials: Sequence[Trial]) -> None:
    assert outcomes(trials, "mask_term_dropped") == {"(at < n)": "alike", "(at >= 0)": "fault"}


def test_what_the_source_tells_is_new_with_the_fault(trials: Sequence[Trial]) -> None:
    detected = {one.operator: one.detected for one in trials if one.is_faulty}
    assert "TAM102" in detected["bound_weakened"]
    assert detected["mask_dropped"]


def test_a_sheet_shows_the_change_in_its_function_and_what_it_came_to(trials: Sequence[Trial], tmp_path: Path) -> None:
    write_sheets(trials, tmp_path, seed=1)
    sheets = [path.read_text() for path in sorted(tmp_path.glob("0*.txt"))]
    assert len(sheets) == sum(one.is_faulty or one.outcome == "equal" for one in trials)
    weakened = next(sheet for sheet in sheets if "bound_weakened" in sheet)
    assert "\n- (at < n)\n+ (at <= n)\n" in weakened
    assert weakened.rstrip().splitlines()[-1].startswith("fault: ")


def test_the_table_counts_faults_and_who_tells_of_them(trials: Sequence[Trial]) -> None:
    (row,) = (line for line in operators(trials).splitlines() if line.startswith("| bound_weakened |"))
    assert row == "| bound_weakened | wrong-mask | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 1 | 1 (100%) | 0 | 1 (100%) |"
    assert classes(trials)["mask_term_dropped"] == {"faults": 1, "source": 1}


def test_the_time_is_reported_by_kernels_and_on_the_clock(trials: Sequence[Trial]) -> None:
    tried = Tried(tuple(trials), (), "", 12.0)
    each = 12 / len(trials)
    assert time_taken([tried], 2, 7.0) == (
        "| kernels | mutants | seconds of workers | a mutant |\n|---|---|---|---|\n"
        f"| 1 | {len(trials)} | 12 | {each:.2f} |\n\n7 s on the clock with 2 workers, what was kept included"
    )
