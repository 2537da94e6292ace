"""Wrappers are called in the ways in which a fault may show, and a mutant that no call reaches is not called equal."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

pytest.importorskip("torch", reason="torch holds the tensors")
pytest.importorskip("triton", reason="Triton compiles the kernels")

from bench.judge.executing import become_ready
from bench.judge.faults.mutants import targets_of
from bench.judge.faults.trying import Task, try_task
from bench.judge.noted import Noted
from tests.checkout import ROOT
from tritonaudit.execute.killed import Killed
from tritonaudit.execute.pool import Limits, run_tasks

KERNELS = """\
import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, bias_ptr, out_ptr, m, n, HAS_BIAS: tl.constexpr, TWICE: tl.constexpr, DEBUG: tl.constexpr,
               BLOCK: tl.constexpr):
    row = tl.program_id(0)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        inside = (at < n) & (row < m)
        value = tl.load(x_ptr + row * n + at, mask=inside, other=0.0)
        if HAS_BIAS:
            value += tl.load(bias_ptr + at, mask=at < n, other=0.0)
        if TWICE:
            value += tl.load(x_ptr + row * n + at, mask=inside)
        if DEBUG:
            tl.store(out_ptr + at, value, mask=inside)
        if n == 123456789:
            tl.store(out_ptr + n + at, value, mask=inside)
        tl.store(out_ptr + row * n + at, value, mask=inside)


def add(x, bias=None, twice=False):
    x = x.contiguous()
    m, n = x.shape
    out = torch.empty_like(x)

    def launch(bias):
        add_kernel[(m,)](x, bias, out, m, n, HAS_BIAS=bias is not None, TWICE=twice, DEBUG=False, BLOCK=128)

    launch(bias)
    return out
"""
SPEC = """\
from add import add

from tritonaudit import Subject, Tensor

add_subject = Subject(add, inputs=[Tensor("m", "n")], dtypes=["float32"])
"""
SQUARE = Noted((("m", 97), ("n", 97)), "float32", "contiguous")


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Mapping[tuple[str, int, str], str]:
    folder = tmp_path_factory.mktemp("add")
    (folder / "add.py").write_text(KERNELS)
    (folder / "audit_add.py").write_text(SPEC)
    targets = tuple(targets_of(KERNELS, str(folder / "add.py"), "add_kernel", 7))
    task = Task(folder / "audit_add.py", "add", (SQUARE,), targets, folder, 1, 9)
    ((_, tried),) = run_tasks(
        try_task, [task], workers=1, limits=Limits(120, 4 << 30), prepare=become_ready, arguments=(folder, ROOT)
    )
    assert not isinstance(tried, Killed), tried.message
    assert tried.reason == ""
    return {(one.operator, one.line, one.after): one.outcome for one in tried.trials}


def line(text: str) -> int:
    return next(number for number, one in enumerate(KERNELS.splitlines(), 1) if text in one)


def outcome(outcomes: Mapping[tuple[str, int, str], str], operator: str, text: str) -> set[str]:
    return {found for (name, at, _), found in outcomes.items() if (name, at) == (operator, line(text))}


def test_a_fault_of_the_second_tile_shows(outcomes: Mapping[tuple[str, int, str], str]) -> None:
    assert outcome(outcomes, "tile_start_lost", "at = start") == {"result"}


def test_a_fault_shows_where_a_flag_is_on(outcomes: Mapping[tuple[str, int, str], str]) -> None:
    assert outcome(outcomes, "mask_dropped", "value += tl.load(x_ptr") == {"fault"}


def test_a_fault_shows_where_an_optional_tensor_is_given(outcomes: Mapping[tuple[str, int, str], str]) -> None:
    assert outcome(outcomes, "mask_dropped", "bias_ptr + at") == {"fault"}
    assert outcome(outcomes, "mask_of_other_access", "bias_ptr + at") == {"alike"}


def test_a_fault_shows_where_a_matrix_is_not_square(outcomes: Mapping[tuple[str, int, str], str]) -> None:
    assert outcomes["bound_of_other_size", line("inside = "), "(at < m)"] in ("fault", "result")


def test_a_fault_shows_in_a_function_within_another(outcomes: Mapping[tuple[str, int, str], str]) -> None:
    found = outcome(outcomes, "arguments_swapped", "add_kernel[(m,)]")
    assert found & {"fault", "result"}
    assert "lost" not in found


def test_a_fault_that_never_runs_is_not_equal(outcomes: Mapping[tuple[str, int, str], str]) -> None:
    assert outcome(outcomes, "mask_dropped", "tl.store(out_ptr + at") == {"unreached"}
    assert outcome(outcomes, "mask_dropped", "tl.store(out_ptr + n + at") == {"unreached"}


def test_a_change_is_not_called_equal_where_an_arm_that_uses_it_never_runs(
    outcomes: Mapping[tuple[str, int, str], str],
) -> None:
    assert outcome(outcomes, "other_dropped", "x_ptr + row * n + at, mask=inside, other") == {"alike"}
