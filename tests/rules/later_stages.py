"""The stages behind the source on the fixtures and pages of their rules, all files of a kind in one run.

Two comments in a file say what it takes: `# needs: triton>=3.6`, and `# budget: registers<=8`.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tritonaudit.config import Config
from tritonaudit.finding import Audit, Confidence, Finding, Stage
from tritonaudit.measure.facts import Gpu
from tritonaudit.measure.profiled import ProfiledKernel
from tritonaudit.measure.profiling import NAME as PROFILER
from tritonaudit.rule import Rule
from tritonaudit.rules import find_rule
from tritonaudit.shown import shown_path
from tritonaudit.target import Target

TARGETS = ("sm_90", "gfx942")
LATER = (Stage.COMPILE, Stage.RUN, Stage.MEASURE)
MOST_CASES = 8  # that a subject is run on: each dtype, each size that it names, the layouts, the first fills
SECONDS = 4.0  # that a subject is timed for

_NEEDS = re.compile(r"^# needs: triton(.+)$", re.MULTILINE)
_BUDGET = re.compile(r"^# budget: (.+)$", re.MULTILINE)
_CODE = re.compile(r"TA[A-Z]\d{3}")
_NUMBER = re.compile(r"(?<![\w=.,])(?<!target of )\d+(?:[.,]\d+)*\.?(?:e[+-]\d+)?(?![\w=]| bytes)")


def is_later(rule: type[Rule]) -> bool:
    return rule.stage() in LATER


def skip_where_it_cannot_run(path: Path, stage: Stage) -> None:
    """Skip the test, and say why, where what compiles or measures is missing or is not what the file needs."""
    for module in ("torch", "triton"):
        pytest.importorskip(module, reason=f"{module} compiles the kernels")
    needed = _NEEDS.search(path.read_text(encoding="utf-8"))
    if needed and triton() not in Target.parse(needed[1]).versions:
        pytest.skip(f"it needs Triton {needed[1]}")
    if stage is Stage.MEASURE:
        import torch

        if not torch.cuda.is_available():
            pytest.skip("no GPU: nothing can be timed")
        if _is_profiled(path) and shutil.which(PROFILER) is None:
            pytest.skip(f"no {PROFILER}: nothing is counted")


def triton() -> tuple[int, int]:
    """The installed release of Triton."""
    major, minor, *_ = version("triton").split(".")
    return int(major), int(minor)


def audit_of(path: Path, stage: Stage, among: Sequence[Path], *, pedantic: bool) -> Audit:
    """What the stage finds in one file; the others are looked at in the same run, since starting is slow."""
    audit = _run(stage, tuple(file for file in among if _means(file, stage) == _means(path, stage)))[path]
    shown = (f for f in audit.findings if pedantic or f.confidence is not Confidence.LOW)
    return replace(audit, findings=tuple(shown))


@dataclass(frozen=True)
class _Means:
    """What the run of a file needs: a budget, the profiler. Profiling takes long, and is left out where it may."""

    budget: str | None
    is_profiled: bool


def _means(path: Path, stage: Stage) -> _Means:
    found = _BUDGET.search(path.read_text(encoding="utf-8"))
    return _Means(found[1] if found else None, stage is Stage.MEASURE and _is_profiled(path))


def _is_profiled(path: Path) -> bool:
    """Whether the rule in whose name the file or its folder stands reads what the profiler counts."""
    code = _CODE.search("/".join(path.parts[-2:]))
    rule = find_rule(code[0]) if code else None
    return rule is not None and rule.facts() is ProfiledKernel


@cache
def _run(stage: Stage, paths: tuple[Path, ...]) -> dict[Path, Audit]:
    """The pedantic audit of each file, which is given the name of a spec file in a folder of its own for that."""
    means = _means(paths[0], stage)
    with tempfile.TemporaryDirectory() as folder:
        specs = {path: Path(folder, f"audit_{number}.py") for number, path in enumerate(paths)}
        for path, spec in specs.items():
            spec.write_bytes(path.read_bytes())
        if stage is Stage.COMPILE:
            audit, kernels = _compiled(Path(folder), means.budget)
        elif stage is Stage.RUN:
            audit, kernels = _ran(Path(folder))
        else:
            audit, kernels = _measured(Path(folder), is_profiled=means.is_profiled)
        assert not audit.problems
        return {path: _of(audit, path, spec, kernels.count(str(spec))) for path, spec in specs.items()}


def _compiled(folder: Path, budget: str | None) -> tuple[Audit, list[str]]:
    """The audit, and the path of each kernel in it."""
    from tritonaudit.compile.audit import CompileRequest
    from tritonaudit.compile.budget import parse_budget
    from tritonaudit.compile.stage import compile_paths

    request = CompileRequest(TARGETS, parse_budget(budget) if budget else None)
    result = compile_paths([folder], Config(ROOT, pedantic=True), request)
    return result.audit, [kernel.path for kernel in result.kernels]


def _ran(folder: Path) -> tuple[Audit, list[str]]:
    """The audit of the core and of a few cases beyond it, and the path of each kernel that was launched."""
    from tritonaudit.suites.stage import RunRequest, Where, run_paths

    request = RunRequest(seconds=15, jobs=2, device=Where.CPU, most_cases=MOST_CASES)
    result = run_paths([folder], Config(ROOT, pedantic=True), request)
    kernels = {(kernel.path, kernel.name) for run in result.runs for kernel in run.launched}
    return result.audit, [path for path, _ in kernels]


def _measured(folder: Path, *, is_profiled: bool) -> tuple[Audit, list[str]]:
    """The audit, in which numbers that another run or GPU would change are masked, and the path of each kernel."""
    from tritonaudit.measure.stage import MeasureRequest, measure_paths
    from tritonaudit.suites.stage import Where

    request = MeasureRequest(SECONDS, jobs=2, device=Where.GPU)
    with nullcontext() if is_profiled else _no_profiler():
        result = measure_paths([folder], Config(ROOT, pedantic=True), request)
    assert result.gpu is not None
    findings = tuple(_masked(finding, result.gpu) for finding in result.audit.findings)
    kernels = {(kernel.path, kernel.name) for subject in result.subjects for kernel in subject.launched}
    return replace(result.audit, findings=findings), [path for path, _ in kernels]


@contextmanager
def _no_profiler() -> Iterator[None]:
    """While this lasts, the profiler is not to be found."""
    folders = os.environ.get("PATH", "").split(os.pathsep)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", os.pathsep.join(folder for folder in folders if not Path(folder, PROFILER).exists()))
        yield


def _masked(finding: Finding, gpu: Gpu) -> Finding:
    witness = finding.witness
    if witness is not None:
        witness = replace(witness, description=masked(witness.description, gpu))
    return replace(finding, message=masked(finding.message, gpu), witness=witness)


def masked(text: str, gpu: Gpu) -> str:
    """The text without the GPU's name and driver and what was measured: sizes of cases and constants of ours stay."""
    return _NUMBER.sub("#", text.replace(gpu.name, "GPU").replace(f"driver {gpu.driver}", "driver #"))


def _of(audit: Audit, path: Path, spec: Path, kernels: int) -> Audit:
    """What the audit says of the spec file, as if it said it of the path."""
    there, here = shown_path(spec), shown_path(path)
    return Audit(
        findings=tuple(_moved(finding, there, here) for finding in audit.findings if finding.path == there),
        outcomes=tuple(
            replace(outcome, subject=outcome.subject.replace(there, here))
            for outcome in audit.outcomes
            if outcome.subject.partition(":")[0] == there
        ),
        texts={here: audit.texts[there]} if there in audit.texts else {},
        files=1,
        kernels=kernels,
    )


def _moved(finding: Finding, there: str, here: str) -> Finding:
    witness = finding.witness
    if witness is not None and witness.command is not None:
        witness = replace(witness, command=witness.command.replace(there, here))
    related = tuple(replace(one, path=here) if one.path == there else one for one in finding.related)
    message = finding.message.replace(there, here)
    return replace(finding, path=here, message=message, related=related, witness=witness)
