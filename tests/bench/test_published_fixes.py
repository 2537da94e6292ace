"""Faults are put into a kernel that is right, fixed by a rule's safe fix, and executed before and after."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import libcst as cst
import pytest

pytest.importorskip("torch", reason="torch holds the tensors")
pytest.importorskip("triton", reason="Triton compiles the kernels")

from bench.fixes.executed import tables
from bench.fixes.published import Task, Trial, Tried, try_fixes
from bench.fixes.seeds import SEEDS
from bench.judge.executing import become_ready
from bench.judge.noted import Noted
from bench.mutation.sites import Function
from tests.checkout import ROOT
from tritonaudit.execute.killed import Killed
from tritonaudit.execute.pool import Limits, run_tasks

KERNELS = """\
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def softmax_kernel(x_ptr, scale_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * n
    at = tl.arange(0, BLOCK)
    inside = (at >= 0) & (at < n)
    x = tl.load(x_ptr + row + at, mask=at < n, other=-float("inf"))
    scale = tl.load(scale_ptr + at // 1, mask=at < n, other=0.0)
    weights = tl.exp(x - tl.max(x, axis=0))
    largest = 0.0
    for start in range(0, n, BLOCK):
        part = tl.load(x_ptr + row + start + at, mask=start + at < n, other=0.0)
        largest += tl.sum(part * 0, axis=0)
    share = weights / tl.sum(weights, axis=0)
    tl.store(out_ptr + row + at, scale * share + libdevice.tanh(largest), mask=inside)


def softmax(x, scale):
    out = torch.empty_like(x)
    softmax_kernel[(x.shape[0],)](x, scale, out, x.shape[1], BLOCK=128)
    return out
"""
SPEC = """\
from softmax import softmax

from tritonaudit import Subject, Tensor

softmax_subject = Subject(softmax, inputs=[Tensor("m", "n"), Tensor("n")], dtypes=["float32"])
"""
CALL = Noted((("m", 3), ("n", 97)), "float32", "contiguous")


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Trial]:
    folder = tmp_path_factory.mktemp("softmax")
    (folder / "softmax.py").write_text(KERNELS)
    (folder / "audit_softmax.py").write_text(SPEC)
    kernels = ((str(folder / "softmax.py"), "softmax_kernel", 8, 1),)
    task = Task(folder / "audit_softmax.py", "softmax", CALL, kernels, folder, 9)
    ((_, tried),) = run_tasks(
        try_fixes, [task], workers=1, limits=Limits(120, 4 << 30), prepare=become_ready, arguments=(folder, ROOT)
    )
    assert not isinstance(tried, Killed), tried.message
    assert tried.reason == ""
    return {one.seed: one for one in tried.trials}


def test_what_is_wrong_before_is_right_after(trials: Mapping[str, Trial]) -> None:
    assert {one.outcome for one in trials.values()} <= {"fixed", "unchanged"}
    assert not any(one.problem for one in trials.values())
    assert len(trials) == 5  # of the four rare faults and the four common ones that are tried, those that are reported


def test_a_fault_that_results_show_is_fixed(trials: Mapping[str, Trial]) -> None:
    (padding,) = (one for one in trials.values() if one.rule == "TAN105")
    assert padding.outcome == "fixed"
    assert padding.detail.startswith("before: off by")


def test_every_fault_has_a_place_in_some_kernel() -> None:
    (kernel,) = (node for node in cst.parse_module(KERNELS).body if getattr(node, "decorators", ()))
    assert isinstance(kernel, cst.FunctionDef)
    found = {seed.name for seed in SEEDS if list(seed.changes(Function(kernel, True)))}
    assert found >= {"padded_with_zero", "run_time_constant", "summed_in_16_bits", "under_an_old_name", "unmasked"}


def test_what_is_wrong_or_not_run_is_shown() -> None:
    path = str(Path("kernel.py"))
    found = [
        Tried((Trial(path, "one", 3, "TAN105", "choice_dropped", "wrong", "off by 2"),)),
        Tried((Trial(path, "two", 9, "TAC107", "joined_with_and", "unchanged"),)),
        Tried((), "audit_three.py: it cannot be loaded"),
    ]
    lines = tables(found).splitlines()
    assert "| TAN105 | choice_dropped | 1 | 0 | 0 | 0 | 1 | 0 | 0 |" in lines
    assert "2 fixes of 2 kernels" in lines
    assert lines[-2:] == [
        "TAN105 choice_dropped: kernel.py:3 one: wrong: off by 2",
        "NOT RUN: audit_three.py: it cannot be loaded",
    ]
