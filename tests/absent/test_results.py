"""What audits say of subjects whose modules need what is not there."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")

from tritonaudit.compile.capturing import Gathered, capture_subjects
from tritonaudit.execute.pool import Limits, run_tasks
from tritonaudit.finding import Audit
from tritonaudit.report import render
from tritonaudit.subject.model import Case
from tritonaudit.suites.worker import TryTask, become_device, try_case

OPS = """
import absent_layouts
import torch
import triton
import triton.language as tl
from absent_config import settings
from triton.language.math import tanh


@triton.jit
def fill_kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, 1.0, mask=offsets < n)


@triton.jit
def tanh_kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x_ptr + offsets, tanh(tl.load(x_ptr + offsets, mask=mask)), mask=mask)


def launched(kernel, x):
    out = x.clone()
    kernel[(triton.cdiv(x.numel(), 64),)](out, x.numel(), BLOCK=64)
    return out


def filled(x):
    return launched(fill_kernel, x)


def settled(x):
    out = launched(fill_kernel, x)
    return out * 2 if settings.doubles else out


@absent_layouts.contiguous
def decorated(x):
    return launched(fill_kernel, x)


def hyperbolic(x):
    return launched(tanh_kernel, x)
"""
SPEC = """
import torch
from ops import decorated, filled, hyperbolic, settled

from tritonaudit import Subject, Tensor

filled_subject = Subject(filled, reference=torch.zeros_like, inputs=[Tensor("n")])
settled_subject = Subject(settled, reference=torch.zeros_like, inputs=[Tensor("n")])
decorated_subject = Subject(decorated, reference=torch.zeros_like, inputs=[Tensor("n")])
hyperbolic_subject = Subject(hyperbolic, reference=torch.zeros_like, inputs=[Tensor("n")])
"""


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("absent")
    (folder / "ops.py").write_text(OPS)
    (folder / "audit_ops.py").write_text(SPEC)
    return folder / "audit_ops.py"


@pytest.fixture(scope="module")
def captured(spec: Path) -> Gathered:
    return capture_subjects([spec], ["sm_90"], 1, is_brief=True)


def test_only_what_depends_on_no_stand_in_is_captured(captured: Gathered) -> None:
    assert not captured.problems
    assert {launch.subject for launch in captured.launches} == {"filled"}
    reasons = [outcome.reason for outcome in captured.outcomes if outcome.check == "capture"]
    for origin in ("absent_config.settings.doubles", "absent_layouts.contiguous", "triton.language.math.tanh"):
        assert sum(f"calling it depends on the stand-in for `{origin}`" in reason for reason in reasons) == 1


def test_every_report_says_what_was_stood_in_for(captured: Gathered) -> None:
    audit = Audit(outcomes=captured.outcomes)
    for form in ("full", "json"):
        report = render(audit, form, color=False)
        assert "`absent_layouts` and `absent_config` are not installed, and stood in for" in report
        assert "written for Triton 2.1 to 2.3: `triton.language.math.tanh` is not in Triton" in report


@pytest.mark.parametrize(
    ("subject", "origin"),
    [
        ("filled", ""),
        ("settled", "absent_config.settings.doubles"),
        ("decorated", "absent_layouts.contiguous"),
        ("hyperbolic", "triton.language.math.tanh"),
    ],
)
def test_a_run_that_depends_on_a_stand_in_is_no_finding(spec: Path, subject: str, origin: str) -> None:
    task = TryTask(spec, subject, Case({"n": 65}))
    limits = Limits(seconds=120, memory=8 << 30)
    ((_, outcomes),) = run_tasks(try_case, [task], workers=1, limits=limits, prepare=become_device, arguments=(False,))
    assert isinstance(outcomes, tuple)
    assert any(outcome.sightings for outcome in outcomes) is not bool(origin)
    if origin:
        _, called, _ = outcomes
        assert not called.checked
        assert {why.partition(" (")[0] for _, why in called.unchecked} == {
            f"calling it depends on the stand-in for `{origin}`"
        }


def test_subjects_of_what_is_not_there_are_a_problem(tmp_path: Path) -> None:
    spec = tmp_path / "audit_gone.py"
    spec.write_text(
        textwrap.dedent(
            """
            from gone.ops import scale
            from tritonaudit import Subject, Tensor

            scale_subject = Subject(scale, inputs=[Tensor("n")])
            """
        )
    )
    (problem,) = capture_subjects([spec], ["sm_90"], 1).problems
    assert problem.message.startswith("its subjects are not there: `gone.ops.scale` is stood in for; ")
    assert "`gone` is not installed" in problem.message
