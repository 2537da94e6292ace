"""Wrappers that nobody wrote a subject for are held against themselves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="wrappers are called")
pytest.importorskip("triton", reason="wrappers are called")

from tritonaudit.config import Config
from tritonaudit.finding import Severity, Status
from tritonaudit.suites.coverage import Verdict
from tritonaudit.suites.gather import SubjectRun
from tritonaudit.suites.stage import RunAudit, RunRequest, Where, run_paths

WRAPPERS = '''\
import torch
import triton
import triton.language as tl


@triton.jit
def double_kernel(x_ptr, out_ptr, n_cols, BLOCK: tl.constexpr):
    row, cols = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols)
    tl.store(out_ptr + row * n_cols + cols, 2 * x, mask=cols < n_cols)


def packed_rows(x: torch.Tensor) -> torch.Tensor:
    rows, cols = x.shape
    out = torch.empty(rows, cols, device=x.device, dtype=x.dtype)
    double_kernel[(rows,)](x, out, cols, BLOCK=triton.next_power_of_2(cols))
    return out


def _doubled(x: torch.Tensor, programs: int) -> torch.Tensor:
    x = x.contiguous()
    rows, cols = x.shape
    out = torch.zeros(rows, cols, device=x.device, dtype=x.dtype)
    double_kernel[(programs,)](x, out, cols, BLOCK=triton.next_power_of_2(cols))
    return out


def all_but_odd_rows(x: torch.Tensor) -> torch.Tensor:
    rows, _ = x.shape
    return _doubled(x, rows // 2 * 2 if rows > 1 else 1)


@triton.jit
def centre_kernel(x_ptr, out_ptr, n_rows, n_cols, BLOCK: tl.constexpr):
    col, rows = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + rows * n_cols + col, mask=rows < n_rows, other=0.0)
    centred = x - tl.sum(x, axis=0) / n_rows
    tl.store(out_ptr + rows * n_cols + col, centred, mask=rows < n_rows)


def healthy(x: torch.Tensor) -> torch.Tensor:
    rows, cols = x.shape
    x = x.contiguous()
    out = torch.empty_like(x)
    centre_kernel[(cols,)](x, out, rows, cols, BLOCK=triton.next_power_of_2(rows))
    return out


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        rows, _ = x.shape
        return _doubled(x, rows)

    @staticmethod
    def backward(ctx, dy):
        slope = _doubled(dy, dy.shape[0])
        return 2 * slope if dy.shape[0] % 2 else slope


def picked(x: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
    """Rows of x."""
    rows, cols = x.shape
    out = torch.empty(rows, cols, device=x.device, dtype=x.dtype)
    double_kernel[(rows,)](x, out, cols + indices.numel() * 0, BLOCK=triton.next_power_of_2(cols))
    return out
'''
NOT_THERE = (
    "import triton\\nimport not_there\\n\\n\\n@triton.jit\\ndef k(x):\\n    pass\\n\\n\\ndef f(x):\\n    k[(1,)](x)\\n"
)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> RunAudit:
    """What an audit of two modules comes to, for which there is no subject."""
    root = tmp_path_factory.mktemp("project")
    (root / "pyproject.toml").write_text('[project]\nname = "project"\n', encoding="utf-8")
    (root / "wrappers.py").write_text(WRAPPERS, encoding="utf-8")
    (root / "not_there_yet.py").write_text(NOT_THERE.replace("\\n", "\n"), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        return run_paths([Path()], Config(root), RunRequest(60, 1, device=Where.CPU, seed=1))


@pytest.fixture
def runs(ran: RunAudit) -> Mapping[str, SubjectRun]:
    return {run.name: run for run in ran.runs}


def status(run: SubjectRun, relation: str) -> Status | None:
    return next((one.status for one in run.outcomes if one.check == f"relation: {relation}"), None)


def test_another_result_for_the_same_values_laid_out_otherwise_is_an_error(ran: RunAudit) -> None:
    (finding,) = [one for one in ran.audit.findings if one.code == "TAC418" and one.kernel == "double_kernel"][:1]
    assert finding.severity is Severity.ERROR
    assert "contradicts itself" in finding.message
    assert finding.witness is not None
    assert "t.reproduce('wrappers.py', " in finding.witness.command


def test_it_is_told_of_the_wrapper_that_assumes_a_layout(runs: Mapping[str, SubjectRun]) -> None:
    run = runs["packed_rows"]
    assert run.verdict is Verdict.FAIL
    assert status(run, "tensors transposed") is status(run, "tensors offset") is Status.FAIL
    assert status(run, "parts along rows") is status(run, "float16 beside float32") is Status.PASS


def test_a_row_that_is_left_out_contradicts_the_row_by_itself(runs: Mapping[str, SubjectRun]) -> None:
    run = runs["all_but_odd_rows"]
    assert status(run, "parts along rows") is Status.FAIL
    assert status(run, "tensors transposed") is Status.PASS


def test_what_holds_is_no_pass(runs: Mapping[str, SubjectRun]) -> None:
    run = runs["healthy"]
    assert run.verdict is Verdict.INCOMPLETE
    assert run.outcomes[0].status is Status.INCOMPLETE
    assert run.outcomes[0].reason.startswith("no reference: ")
    assert run.outcomes[0].reason.endswith(" relations hold")
    assert not run.is_known_to_compute


def test_what_mixes_rows_is_not_split_by_them(runs: Mapping[str, SubjectRun]) -> None:
    run = runs["healthy"]
    left_out = dict(run.left_out)
    assert status(run, "parts along rows") is None
    assert "in an ordinary case parts along `rows`" in left_out["relation: parts along rows"]
    assert status(run, "parts along cols") is Status.PASS


def test_gradients_that_are_slopes_in_one_case_only_are_wrong(runs: Mapping[str, SubjectRun]) -> None:
    assert status(runs["Double.apply"], "gradients beside differences") is Status.FAIL


def test_what_hangs_on_a_guess_is_a_question(runs: Mapping[str, SubjectRun], ran: RunAudit) -> None:
    run = runs["picked"]
    assert run.verdict is Verdict.INCOMPLETE
    assert status(run, "tensors transposed") is Status.INCONCLUSIVE
    assert any("nothing in the project shows which integers `indices` may hold" in one for one in run.questions)
    assert not [kernel for kernel in run.kernels if kernel.seen]


def test_a_module_that_cannot_be_imported_is_not_run_and_no_problem(ran: RunAudit) -> None:
    assert not ran.audit.problems
    (outcome,) = [one for one in ran.audit.outcomes if one.subject == "not_there_yet.py"]
    assert outcome.status is Status.NOT_RUN
    assert "not_there" in outcome.reason
