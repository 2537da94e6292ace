"""An audit asks Triton's interpreter, too: what that says is a check of its own, and never speaks against a kernel."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")

from tests.compile.programs import VERSION
from tritonaudit.audit import AuditRequest, FullAudit, audit_paths
from tritonaudit.config import Config
from tritonaudit.finding import Outcome, Status
from tritonaudit.report import render
from tritonaudit.report.about import About
from tritonaudit.report.evidence import CATEGORIES, evidence
from tritonaudit.report.ran import RanSection
from tritonaudit.report.standing import Verdict, verdict_of_kernel
from tritonaudit.suites.facts import CROSS_CHECK
from tritonaudit.suites.opinion import CASE_SECONDS

KERNELS = """\
import os
import time

import torch
import triton
import triton.language as tl

IS_INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
STEP = tl.constexpr(3 if IS_INTERPRETED else 2)


@triton.jit
def double_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lanes, mask=lanes < n)
    tl.store(out_ptr + lanes, x + x, mask=lanes < n)


@triton.autotune([triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 32})], key=["n"])
@triton.jit
def tuned_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lanes, mask=lanes < n)
    tl.store(out_ptr + lanes, tl.exp(x) + BLOCK, mask=lanes < n)


@triton.jit
def joined_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lanes, mask=lanes < n, other=0.0)
    tl.store(out_ptr + lanes, tl.where((x > 0) and (x < 1), x, 0.0), mask=lanes < n)


@triton.jit
def revealing_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lanes, mask=lanes < n)
    tl.store(out_ptr + lanes, x * STEP, mask=lanes < n)


@triton.jit
def unmasked_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + lanes, tl.load(x_ptr + lanes) * 2, mask=lanes < n)


def launched(kernel, x):
    x = x.contiguous()
    out = torch.empty_like(x)
    kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out


def tuned(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    tuned_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, out, x.numel())
    return out


def double_unless(deed, x):
    if IS_INTERPRETED:
        deed()
    return launched(double_kernel, x)


def refuse():
    raise RuntimeError("not here")
"""
SPEC = """\
import os
import time

import torch
from kernels import *

from tritonaudit import Subject


def inputs(case):
    return (torch.randn(100, device=case.device).to(getattr(torch, case.dtype)),)


subject = Subject({subject}, inputs=inputs, name="{name}")
"""


def twice(call: str, dtype: str = "float32") -> str:
    return f"lambda x: {call}, reference=lambda x: 2 * x, dtypes=['{dtype}']"


SUBJECTS = {
    "agreeing": twice("launched(double_kernel, x)"),
    "halves": twice("launched(double_kernel, x)", "float16"),
    "tuned": "tuned, dtypes=['float32']",
    "joined": "lambda x: launched(joined_kernel, x), "
    "reference=lambda x: torch.where((x > 0) & (x < 1), x, 0.0), dtypes=['float32']",
    "brain": twice("launched(double_kernel, x)", "bfloat16"),
    "revealing": twice("launched(revealing_kernel, x)"),
    "faulty": twice("launched(unmasked_kernel, x)"),
    "refusing": twice("double_unless(refuse, x)"),
    "sleeping": twice("double_unless(lambda: time.sleep(600), x)"),
}


def audited(folder: Path, *names: str, cross_checks: bool = True) -> FullAudit:
    (folder / "kernels.py").write_text(KERNELS)
    for name in names:
        (folder / f"audit_{name}.py").write_text(SPEC.format(name=name, subject=SUBJECTS[name]))
    request = AuditRequest(frozenset(("correctness", "memory")), 5.0, 2, "cpu", most_cases=1, cross_checks=cross_checks)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITONAUDIT_CACHE", str(folder / "cache"))
        return audit_paths([folder], Config(folder), request)


def runs(audit: FullAudit) -> dict[str, Any]:
    (section,) = (section for section in audit.sections if isinstance(section, RanSection))
    return {run.name: run for run in section.ran.runs}


def opinion(audit: FullAudit, name: str) -> Outcome:
    (found,) = (one for one in runs(audit)[name].outcomes if one.check == CROSS_CHECK)
    assert isinstance(found, Outcome)
    return found


@pytest.fixture(scope="module")
def all_audited(tmp_path_factory: pytest.TempPathFactory) -> FullAudit:
    return audited(tmp_path_factory.mktemp("cross_checked"), *SUBJECTS)


@pytest.mark.parametrize("name", ["agreeing", "halves", "tuned"])
def test_where_both_agree_it_passes(name: str, all_audited: FullAudit) -> None:
    found = opinion(all_audited, name)
    if name == "tuned" and VERSION < (3, 3):
        assert "unexpected keyword argument" in found.reason, "its interpreter takes no options of a config's"
        return
    assert (found.status, found.case, found.reason) == (Status.PASS, "5 cases", "")


@pytest.mark.parametrize(("name", "known"), [("joined", "`and` and `or`"), ("brain", "bfloat16 wrongly")])
def test_where_the_interpreter_is_known_to_be_wrong_it_is_inconclusive(
    name: str, known: str, all_audited: FullAudit
) -> None:
    found = opinion(all_audited, name)
    assert found.status is Status.INCONCLUSIVE
    assert known in found.reason
    assert not runs(all_audited)[name].kernels


def test_a_difference_is_reported_with_its_case_its_element_and_both_values(all_audited: FullAudit) -> None:
    found = opinion(all_audited, "revealing")
    assert (found.status, found.case) == (Status.INCONCLUSIVE, "5 cases")
    case, _, difference = found.reason.partition(": ")
    assert case == "float32"
    place, _, values = difference.partition(" is ")
    assert place.startswith("output[")
    ours, theirs = (float(part.split()[0]) for part in values.split(", "))
    assert theirs == pytest.approx(1.5 * ours)
    assert difference.endswith("; 100 elements differ")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("refusing", "the interpreter cannot execute it: raised RuntimeError: not here"),
        ("sleeping", f"the interpreter cannot execute it: took longer than {CASE_SECONDS:g} s"),
        ("faulty", "its launches have faults"),
    ],
)
def test_what_the_interpreter_cannot_do_is_not_run(name: str, reason: str, all_audited: FullAudit) -> None:
    found = opinion(all_audited, name)
    assert found.status is Status.NOT_RUN
    assert found.reason.startswith(reason)


def test_nothing_else_depends_on_what_it_says(tmp_path: Path, all_audited: FullAudit) -> None:
    alone = audited(tmp_path, "revealing", cross_checks=False)
    assert reported(all_audited, "revealing") == reported(alone, "revealing")
    assert not alone.audit.findings
    kernels = {finding.kernel for finding in all_audited.audit.findings}
    assert kernels == {"unmasked_kernel", "tuned_kernel"}, "out of bounds, and another result with another config"
    assert verdicts(all_audited) == verdicts(alone)
    assert CROSS_CHECK not in report(alone, "markdown")


def reported(audit: FullAudit, name: str) -> Any:
    """What is reported of a subject without the second opinion."""
    run = runs(audit)[name]
    rest = [(one.check, one.status, one.case, one.reason) for one in run.outcomes if one.check != CROSS_CHECK]
    return rest, run.kernels, run.left_out, run.cases


def verdicts(audit: FullAudit) -> list[Verdict]:
    """What each category came to for the kernel on which the two differ."""
    known = evidence(audit.audit, audit.sections, About("", audit.stages))
    (kernel,) = (kernel for kernel in known.kernels if kernel.name == "revealing_kernel")
    return [verdict_of_kernel(category, kernel, known) for category in CATEGORIES]


def report(audit: FullAudit, form: str) -> str:
    about = About("tritonaudit audit --cross-check", audit.stages)
    return render(audit.audit, form, color=False, sections=audit.sections, about=about)


def test_each_report_tells_of_it(all_audited: FullAudit) -> None:
    text = report(all_audited, "full")
    assert f"inconclusive {CROSS_CHECK}: float32: output[" in text
    assert "refusing: not cross-checked: the interpreter cannot execute it: raised RuntimeError: not here" in text
    markdown = report(all_audited, "markdown")
    for status in ("pass", "inconclusive", "not run"):
        assert f"| {CROSS_CHECK} | {status} |" in markdown
    assert CROSS_CHECK in report(all_audited, "html")
    subjects = json.loads(report(all_audited, "json"))["ran"]["subjects"]
    statuses = {one["subject"]: check["status"] for one in subjects for check in one["checks"] if is_it(check)}
    assert statuses.keys() == SUBJECTS.keys()
    assert (statuses["agreeing"], statuses["joined"], statuses["refusing"]) == ("pass", "inconclusive", "not run")


def is_it(check: dict[str, str]) -> bool:
    return check["check"] == CROSS_CHECK
