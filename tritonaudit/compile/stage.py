"""The compile stage, end to end: subjects are called, what they launch is compiled, and the kernels are judged."""

from __future__ import annotations

import math
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Thread

from tritonaudit.capture.launch import KernelRef, Launch, Program
from tritonaudit.compile.audit import CompileAudit, CompileRequest, judge_kernels
from tritonaudit.compile.capturing import Gathered, capture_subjects, infer_kernels
from tritonaudit.compile.compiling import Compiled, Time, compile_programs
from tritonaudit.compile.facts import CompiledKernel
from tritonaudit.compile.gather import gather
from tritonaudit.compile.installed import triton_version
from tritonaudit.compile.kept import KeptLaunches
from tritonaudit.compile.last import keep_last
from tritonaudit.compile.settle import Settled, settle_all
from tritonaudit.config import Config
from tritonaudit.data import NotData, encode
from tritonaudit.finding import EVERY_KERNEL, Audit, Category, Cause, Finding, Outcome, Problem, Severity, Status
from tritonaudit.hardware.targets import DEFAULT_TARGETS, unsupported
from tritonaudit.progress import SILENT, Progress
from tritonaudit.results import notebooks_passed_over
from tritonaudit.rules import installed
from tritonaudit.shown import shown_path
from tritonaudit.source.discover import discover
from tritonaudit.subject.find import subject_files


def compile_paths(
    paths: Sequence[Path], config: Config, request: CompileRequest, progress: Progress = SILENT
) -> CompileAudit:
    """Compile what the subjects below the paths launch, and the kernels there that no subject launches, as inferred."""
    jobs = request.jobs or os.cpu_count() or 1
    asked = request.targets or DEFAULT_TARGETS
    gaps = {target: gap for target in asked if (gap := unsupported(target, triton_version())) is not None}
    targets = tuple(target for target in asked if target not in gaps)
    found = discover(paths, config)
    subjects = subject_files(found.files)
    progress.stage("calling wrappers for what they launch", 0)
    kept = KeptLaunches()
    gathered = capture_subjects(subjects, targets, jobs, kept=kept)
    captured = {(launch.kernel.path, launch.kernel.line) for launch in gathered.launches}
    gathered |= infer_kernels(found.files, captured, targets, jobs, kept)
    kept.write()
    settling: Callable[[], Settled] = partial(settle_all, gathered.launches, config)
    if math.isfinite(gathered.begun):  # where no wrapper was called, what follows from its launches is known, too
        settling = _begun(settling)
    compiled = _compiled(gathered, jobs, request.seconds, progress)
    kernels = gather(gathered.launches, compiled.variants, gathered.sweeps)
    keep_last(kernels)
    audit = _judged(kernels, settling, gathered.launches, found.files, config, request, kept)
    kept.write()
    return CompileAudit(
        audit=replace(
            audit,
            problems=(
                *(Problem(shown_path(config.root), gap) for gap in gaps.values() if request.targets),
                *found.problems,
                *gathered.problems,
                *audit.problems,
            ),
            outcomes=(
                *(Outcome("compile", EVERY_KERNEL, Status.NOT_RUN, reason=gap) for gap in gaps.values()),
                *gathered.outcomes,
                *_uncompiled(gathered.launches, compiled.lost),
                *notebooks_passed_over(found.notebooks, "compile"),
                *audit.outcomes,
            ),
            files=len(found.files),
        ),
        kernels=kernels,
        targets=asked,
        triton=triton_version(),
    )


def _begun(settling: Callable[[], Settled]) -> Callable[[], Settled]:
    """The same, begun in a thread that nobody waits for unless what it comes to is asked for."""
    future: Future[Settled] = Future()

    def settle() -> None:
        try:
            future.set_result(settling())
        except BaseException as error:
            future.set_exception(error)

    Thread(target=settle, daemon=True).start()
    return future.result


def _compiled(gathered: Gathered, jobs: int, seconds: float, progress: Progress) -> Compiled:
    """What the launches' programs compile to; of an autotuner's configs, the first tells why accesses are narrow.

    Explaining takes several compilations, and what it blames, arguments that a launch passes, is theirs alike: it comes
    last. The seconds are those of calling wrappers, too. However few they are, one program of each kernel is compiled
    for each target.
    """
    launches = gathered.launches
    explained: dict[tuple[object, ...], Program] = {}
    for launch in launches:
        if launch.program is not None:
            same = (launch.kernel, launch.target, launch.signature, launch.specialisation)
            explained.setdefault(same, launch.program)
    subjects = {(launch.kernel.path, launch.subject or launch.kernel) for launch in launches}
    limit = Time(seconds * max(1, len(subjects)), min(gathered.begun, time.monotonic()))
    first, further = _in_turns(launches)
    known = compile_programs(first, jobs, progress, explains=False)
    known |= compile_programs(further, jobs, progress, explains=False, limit=limit)
    told = {one for one in explained.values() if one in known.variants and known.variants[one].error is None}
    return known | compile_programs([one for one in (*first, *further) if one in told], jobs, progress, limit=limit)


def _in_turns(launches: Sequence[Launch]) -> tuple[list[Program], list[Program]]:
    """The shortest program of each kernel for each target, and the others: the second of each, then the third."""
    turns: dict[Program, int] = {}
    numbers: Counter[tuple[KernelRef, str]] = Counter()
    compiled = [(launch, launch.program) for launch in launches if launch.program is not None]
    for launch, program in sorted(compiled, key=lambda one: len(one[1].ttir)):
        if program not in turns:
            turns[program] = numbers[launch.kernel, launch.target]
            numbers[launch.kernel, launch.target] += 1
    first = [program for program, turn in turns.items() if not turn]
    return first, sorted((program for program, turn in turns.items() if turn), key=turns.__getitem__)


def _uncompiled(launches: Iterable[Launch], lost: Mapping[Program, str]) -> Iterator[Outcome]:
    for launch in launches:
        if launch.program is not None and launch.program in lost:
            place = f"{shown_path(Path(launch.kernel.path))}:{launch.kernel.line}"
            reason = f"compiling `{launch.kernel.name}` {lost[launch.program]}"
            yield Outcome("compile", place, Status.NOT_RUN, f"{launch.case}, {launch.target}", reason)


def _judged(
    kernels: tuple[CompiledKernel, ...],
    settling: Callable[[], Settled],
    launches: Sequence[Launch],
    files: Sequence[Path],
    config: Config,
    request: CompileRequest,
    kept: KeptLaunches,
) -> Audit:
    """The findings in what was compiled, kept while nothing changes; rules of others change unnoticed."""
    governing = sorted({repr(config.of(path)) for path in files})
    about = b"" if installed() else _about(kernels, launches, repr((config, governing, request.budget)))
    audit = kept.judged(files, about) if about else None
    if audit is None:
        audit = _settling(judge_kernels(kernels, request.budget, config), settling())
        if about:
            kept.keep_judged(files, about, audit)
    return audit


def _about(kernels: Sequence[CompiledKernel], launches: Sequence[Launch], asked: str) -> bytes:
    """What tells what is judged from anything else, whether it was compiled again or not; nothing if it is not data."""
    compiled = [[replace(variant, cached=True) for variant in kernel.variants] for kernel in kernels]
    alike = [replace(kernel, variants=tuple(variants)) for kernel, variants in zip(kernels, compiled, strict=True)]
    try:
        return encode((alike, [replace(launch, program=None) for launch in launches], asked))
    except NotData:
        return b""


def _settling(audit: Audit, settled: Settled) -> Audit:
    """The audit with the source findings that are surer now, and a passed check for each that is refuted."""
    passed = (
        Outcome(
            finding.code,
            f"{finding.path}:{finding.span.line}",
            Status.PASS,
            reason="the types of its launches refute what the source alone could not tell",
        )
        for finding in settled.refuted
    )
    confirmed = [finding for finding in settled.confirmed if not _is_reported(finding, audit)]
    return replace(
        audit,
        findings=tuple(sorted((*audit.findings, *confirmed), key=lambda finding: finding.sort_key)),
        outcomes=(*audit.outcomes, *passed),
        texts={**audit.texts, **settled.texts},
    )


def _is_reported(finding: Finding, audit: Audit) -> bool:
    """Whether the compiler itself says at this line that the kernel does not compile, as the finding does."""
    if finding.category is not Category.CORRECTNESS or finding.severity is not Severity.ERROR:
        return False
    place = finding.path, finding.kernel, finding.span.line
    return any(
        (other.path, other.kernel, other.span.line) == place
        for other in audit.findings
        if other.cause == Cause.DOES_NOT_COMPILE
    )
