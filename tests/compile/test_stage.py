"""The compile stage from paths to an audit, in real worker processes."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch makes the stand-in tensors")
pytest.importorskip("triton", reason="triton compiles the kernels")

from tritonaudit.compile import compiling
from tritonaudit.compile.audit import CompileAudit, CompileRequest
from tritonaudit.compile.budget import parse_budget
from tritonaudit.compile.installed import triton_version
from tritonaudit.compile.stage import compile_paths
from tritonaudit.config import Config
from tritonaudit.execute.pool import Limits
from tritonaudit.finding import Confidence, Outcome, Status
from tritonaudit.hardware.targets import unsupported

SPEC = """\
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def sum_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=x_ptr.dtype.element_ty)
    for start in range(0, n, BLOCK):
        mask = start + lanes < n
        total += tl.load(x_ptr + start + lanes, mask=mask, other=0)
    tl.store(out_ptr, tl.sum(total, axis=0))


def total(x):
    out = torch.empty(1, dtype=x.dtype, device=x.device)
    sum_kernel[(1,)](x, out, x.numel(), BLOCK=1024)
    return out


subject = Subject(total, inputs=[Tensor("n")], sizes={{"n": [4096]}}, dtypes=["{dtype}"])
"""


def compiled(root: Path, **files: str) -> CompileAudit:
    for name, text in files.items():
        (root / f"{name}.py").write_text(text, encoding="utf-8")
    return compile_paths([root], Config(root=root), CompileRequest(("sm_90",), jobs=1))


def reasons(outcomes: tuple[Outcome, ...], status: Status) -> list[str]:
    return [outcome.reason for outcome in outcomes if outcome.status is status]


def test_the_types_of_launches_confirm_what_the_source_suspects(tmp_path: Path) -> None:
    audit = compiled(tmp_path, audit_sum=SPEC.format(dtype="float16")).audit
    findings = [finding for finding in audit.findings if finding.code == "TAN101"]
    assert [(finding.span.line, finding.confidence) for finding in findings] == [
        (14, Confidence.HIGH),
        (15, Confidence.HIGH),
    ]
    witnesses = {finding.witness.description for finding in findings if finding.witness}
    assert witnesses == {"seen in a launch with x_ptr: *fp16, out_ptr: *fp16, n: i32"}


def test_the_types_of_launches_refute_what_the_source_suspects(tmp_path: Path) -> None:
    audit = compiled(tmp_path, audit_sum=SPEC.format(dtype="float32")).audit
    assert not [finding for finding in audit.findings if finding.code == "TAN101"]
    (passed,) = [outcome for outcome in audit.outcomes if outcome.check == "TAN101"]
    assert passed.status is Status.PASS
    assert passed.subject.endswith("audit_sum.py:14")


def test_files_that_cannot_be_had_cost_only_themselves(tmp_path: Path) -> None:
    found = compiled(
        tmp_path,
        broken="@triton.jit\ndef broken(:\n",
        audit_raising="raise RuntimeError('not today')\nfrom tritonaudit import Subject\n",
        audit_sum=SPEC.format(dtype="float32"),
    )
    assert [kernel.name for kernel in found.kernels] == ["sum_kernel"]
    problems = {Path(problem.path).name: problem for problem in found.audit.problems}
    assert set(problems) == {"broken.py", "audit_raising.py"}
    assert problems["broken.py"].line == 2
    assert problems["audit_raising.py"].line == 1
    assert "not today" in problems["audit_raising.py"].message


def test_a_program_that_takes_too_long_to_compile_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "_LIMITS", Limits(seconds=0.01, memory=8 << 30))
    found = compiled(tmp_path, audit_sum=SPEC.format(dtype="float32").replace("sum_kernel", "slow_kernel"))
    assert found.kernels == ()
    assert "compiling `slow_kernel` took longer than 0.01 s" in reasons(found.audit.outcomes, Status.NOT_RUN)


def test_a_limit_that_nothing_can_check_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "audit_sum.py").write_text(SPEC.format(dtype="float32"), encoding="utf-8")
    request = CompileRequest(("sm_90",), parse_budget("sm_90:registers<=255,sm_80:registers<=255"), jobs=1)
    problems = compile_paths([tmp_path], Config(root=tmp_path), request).audit.problems
    assert [problem.message for problem in problems] == [
        "nothing that was compiled shows whether the budget's `sm_80:registers<=255` is kept"
    ]


def test_without_time_one_program_of_each_kernel_is_compiled_for_each_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITONAUDIT_CACHE", str(tmp_path / "cache"))
    spec = SPEC.format(dtype="float32").replace("[4096]", "[4096, 1000]")
    (tmp_path / "audit_sum.py").write_text(spec.replace('["float32"]', '["float32", "float16"]'))
    targets = ("sm_90", "gfx942")
    found = compile_paths([tmp_path], Config(root=tmp_path), CompileRequest(targets, jobs=2, seconds=0.0))
    (kernel,) = found.kernels
    first = {variant.target: variant for variant in kernel.variants}
    assert set(first) == set(targets)
    lost = [one for one in found.audit.outcomes if one.status is Status.NOT_RUN and "were spent" in one.reason]
    assert {one.case.partition(",")[0] for one in lost} >= {"n=4096 float32"}
    whole = compile_paths([tmp_path], Config(root=tmp_path), CompileRequest(targets, jobs=2))
    assert all(variant.explained for variant in whole.kernels[0].variants)
    assert not [one for one in whole.audit.outcomes if one.status is Status.NOT_RUN]


@pytest.mark.skipif(unsupported("sm_100", triton_version()) is None, reason="this Triton compiles for sm_100")
def test_a_target_that_triton_lacks_is_a_problem_where_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "audit_sum.py").write_text(SPEC.format(dtype="float32"), encoding="utf-8")
    asked, usual = (
        compile_paths([tmp_path], Config(root=tmp_path), CompileRequest(targets, jobs=2)).audit
        for targets in (("sm_90", "sm_100"), ())
    )
    assert [problem.message for problem in asked.problems] == [unsupported("sm_100", triton_version())]
    assert usual.problems == ()
    for audit in (asked, usual):
        assert unsupported("sm_100", triton_version()) in reasons(audit.outcomes, Status.NOT_RUN)


def test_kernels_without_a_subject_are_compiled_as_inferred(tmp_path: Path) -> None:
    text = SPEC.format(dtype="float32").partition("subject =")[0].replace("from tritonaudit", "# from tritonaudit")
    (kernel,) = compiled(tmp_path, ops=text).kernels
    assert kernel.name == "sum_kernel"
    assert all(variant.assumed and variant.resources is not None for variant in kernel.variants)
