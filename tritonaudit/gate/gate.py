"""The gate of a stage: the parts of an audit that it needs are done once, and its items answered from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tritonaudit.audit import FullAudit
from tritonaudit.capture.launch import KernelRef
from tritonaudit.compile.audit import CompileAudit, CompileRequest
from tritonaudit.compile.facts import CompiledKernel
from tritonaudit.compile.stage import compile_paths
from tritonaudit.config import Config
from tritonaudit.engine import check
from tritonaudit.execute.killed import Killed
from tritonaudit.execute.pool import Limits, run_tasks
from tritonaudit.execute.starting import warm_up
from tritonaudit.finding import Audit, Problem, Stage
from tritonaudit.gate import correct, optimised, tuned
from tritonaudit.gate.checklist import Answer, GateOfSubject, Item, asked
from tritonaudit.gate.material import Material, Timings
from tritonaudit.gate.sources import Sources
from tritonaudit.gate.wrapper import wrapper_at
from tritonaudit.history.entry import Data, entry_of
from tritonaudit.measure.stage import NO_GPU, MeasureAudit, MeasureRequest, measure_subjects
from tritonaudit.progress import SILENT, Progress
from tritonaudit.report.compiled import CompiledSection
from tritonaudit.report.measured import MeasuredSection
from tritonaudit.report.ran import RanSection
from tritonaudit.report.section import Section
from tritonaudit.shown import shown_path
from tritonaudit.source.discover import discover
from tritonaudit.subject.find import subject_files
from tritonaudit.suites.gather import SubjectRun
from tritonaudit.suites.running import SubjectKey, memory
from tritonaudit.suites.stage import CPU_ENGINE, RunAudit, RunRequest, Where, gpu_for, run_subjects
from tritonaudit.suites.subjects import subjects_of
from tritonaudit.suites.worker import become_device

_WRAPPER_SECONDS = 120.0
NO_EARLIER = "`--against` names no result of stage 1"


class NoSuchSubject(Exception):
    """A file holds no subject of that name, or none at all."""


@dataclass(frozen=True)
class GateRequest:
    """Which stage's gate, for how many seconds each subject is tried, and on a GPU timed, in how many processes.

    `subject` is the name of one of the file's; without it all are asked. The result of stage 1 is `against`, an entry
    of a history. One that `keeps` times the subject whatever the stage, so that a later one can be held against it. The
    `seed` draws the cases that nobody can foresee.
    """

    stage: int
    seconds: float
    jobs: int = 1
    device: Where = Where.ANY
    subject: str | None = None
    against: Data | None = None
    keeps: bool = False
    seed: int = 0


@dataclass(frozen=True)
class Gated:
    """What a gate came to: the subjects' answers, what executed the launches, and the audit that they are from."""

    stage: int
    subjects: tuple[GateOfSubject, ...]
    device: str
    full: FullAudit

    @property
    def problems(self) -> tuple[Problem, ...]:
        return self.full.audit.problems

    @property
    def holds(self) -> bool:
        return bool(self.subjects) and all(one.holds for one in self.subjects)


def gate(path: Path, config: Config, request: GateRequest, progress: Progress = SILENT) -> Gated:
    """Ask the gate of a file's subjects. Raises NoSuchSubject, NoGpu, PartFileError, and KeyboardInterrupt."""
    warm_up()
    gpu = gpu_for(request.device)
    keys, problems = _subjects(path, config, request, gpu, progress)
    compiled = compile_paths([path], config, CompileRequest(jobs=request.jobs), progress)
    trying = RunRequest(request.seconds, request.jobs, device=request.device, seed=request.seed)
    ran = run_subjects(keys, config, trying, gpu, progress)
    measured = _measured(keys, config, request, gpu, progress)
    if ran.is_interrupted or (measured is not None and measured.is_interrupted):
        raise KeyboardInterrupt
    source = check(_files(path, ran.runs), config, jobs=request.jobs) if request.stage > 1 else Audit()
    full = _full(problems, source, compiled, ran, measured)
    wrappers = _wrappers(keys) if Item.NO_WAIT in asked(request.stage) else {}
    makes = _Materials(request, config, full, compiled, measured, wrappers)
    subjects = tuple(_asked(request.stage, makes.material(key, run)) for key, run in zip(keys, ran.runs, strict=True))
    return Gated(request.stage, subjects, gpu or CPU_ENGINE, full)


_ANSWERS: Mapping[Item, Callable[[Material], Answer]] = {
    Item.COMPILES: correct.compiles,
    Item.MATCHES: correct.matches,
    Item.GENUINE: correct.genuine,
    Item.EDGES: correct.edges,
    Item.SHAPES: correct.shapes,
    Item.COALESCED: optimised.coalesced,
    Item.POWERS_OF_2: optimised.powers_of_2,
    Item.AUTOTUNED: optimised.autotuned,
    Item.FASTER: optimised.faster,
    Item.MEASURED: tuned.measured,
    Item.COMPARED: tuned.compared,
    Item.BANDWIDTH: tuned.bandwidth,
    Item.NO_WAIT: tuned.no_wait,
}


def _asked(stage: int, material: Material) -> GateOfSubject:
    answers = tuple((item, _ANSWERS[item](material)) for item in asked(stage))
    return GateOfSubject(shown_path(material.run.path), material.run.name, answers)


# -- the parts of the audit ----------------------------------------------------------------------------------------


def _subjects(
    path: Path, config: Config, request: GateRequest, gpu: str, progress: Progress
) -> tuple[list[SubjectKey], list[Problem]]:
    found = discover([path], config)
    keys, problems, _ = subjects_of(subject_files(found.files), request.jobs, bool(gpu), progress)
    problems = [*found.problems, *problems]
    chosen = [key for key in keys if request.subject in (None, key[1])]
    if not chosen and not problems:
        names = ", ".join(name for _, name in keys)
        said = f"has no subject {request.subject!r}; it has {names}" if keys else "holds no subject"
        raise NoSuchSubject(f"{shown_path(path)} {said}")
    return chosen, problems


def _measured(
    keys: Sequence[SubjectKey], config: Config, request: GateRequest, gpu: str, progress: Progress
) -> MeasureAudit | None:
    """What timing came to; None where it is not asked for, or there is no GPU."""
    if not gpu or not (request.keeps or request.stage > 1):
        return None
    return measure_subjects(keys, config, MeasureRequest(request.seconds, request.jobs, request.device), progress)


def _files(path: Path, runs: Sequence[SubjectRun]) -> list[Path]:
    """The file, and those of the kernels that were launched."""
    return list(dict.fromkeys((path, *(Path(kernel.path) for run in runs for kernel in run.launched))))


def _full(
    problems: Sequence[Problem], source: Audit, compiled: CompileAudit, ran: RunAudit, measured: MeasureAudit | None
) -> FullAudit:
    audits = [source, compiled.audit, ran.audit, *([measured.audit] if measured is not None else [])]
    sections: list[Section] = [CompiledSection(compiled), RanSection(ran)]
    stages = {Stage.COMPILE, Stage.RUN}
    if measured is not None:
        sections.append(MeasuredSection(measured))
        stages.add(Stage.MEASURE)
    every = (*problems, *(problem for audit in audits for problem in audit.problems))
    audit = Audit(
        findings=tuple(finding for one in audits for finding in one.findings),
        problems=tuple(dict.fromkeys(every)),
        outcomes=tuple(outcome for one in audits for outcome in one.outcomes),
        files=compiled.audit.files,
        kernels=ran.audit.kernels,
    )
    return FullAudit(audit, tuple(sections), frozenset(stages))


def _wrappers(keys: Sequence[SubjectKey]) -> dict[SubjectKey, KernelRef]:
    """Where the subjects' wrappers stand, as processes find them in which the user's code runs."""
    limits = Limits(_WRAPPER_SECONDS, memory(1))
    found = run_tasks(wrapper_at, keys, workers=1, limits=limits, prepare=become_device, arguments=(False,))
    return {key: ref for key, ref in found if not isinstance(ref, Killed)}


# -- what the items are answered from ------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Materials:
    """Makes the material of each subject."""

    request: GateRequest
    config: Config
    full: FullAudit
    compiled: CompileAudit
    measured: MeasureAudit | None
    wrappers: Mapping[SubjectKey, KernelRef]

    def material(self, key: SubjectKey, run: SubjectRun) -> Material:
        entry = entry_of(self.full.audit, self.full.sections, None, None)
        kernels = self._kernels(run)
        earlier = _earlier(self.request.against, shown_path(key[0]), key[1])
        return Material(
            run,
            Sources(self.config.root),
            kernels,
            tuple(self._uncompiled(run, kernels)),
            self.full.audit.findings,
            self.wrappers.get(key),
            next((one for one in self.measured.subjects if (one.path, one.name) == key), None)
            if self.measured is not None
            else None,
            (self.measured.reason if self.measured is not None else "") or NO_GPU,
            _timings(entry, shown_path(key[0]), key[1]),
            earlier if isinstance(earlier, Timings) else None,
            earlier if isinstance(earlier, str) else "",
        )

    def _kernels(self, run: SubjectRun) -> tuple[CompiledKernel, ...]:
        """The compiled kernels that the subject launches: all of them, where it came to no launch."""
        launched = {(kernel.path, kernel.name) for kernel in run.launched}
        return tuple(one for one in self.compiled.kernels if not launched or (one.path, one.name) in launched)

    def _uncompiled(self, run: SubjectRun, kernels: Sequence[CompiledKernel]) -> Iterator[str]:
        known = {(kernel.path, kernel.name) for kernel in kernels}
        yield from (f"`{ref.name}` was not compiled" for ref in run.launched if (ref.path, ref.name) not in known)
        places = {f"{shown_path(Path(kernel.path))}:{kernel.span.line}" for kernel in kernels}
        outcomes = self.compiled.audit.outcomes
        yield from (one.reason for one in outcomes if one.check == "compile" and one.subject in places)


def _earlier(entry: Data | None, path: str, subject: str) -> Timings | str:
    """The subject in an entry of the history: by path and name, else by name, else the only one. Else why it is not."""
    if entry is None:
        return NO_EARLIER
    return _timings(entry, path, subject) or f"what `--against` names has no subject {subject!r}"


def _timings(entry: Data, path: str, subject: str) -> Timings | None:
    subjects: list[Data] = entry["subjects"]
    exact = [one for one in subjects if (one["path"], one["subject"]) == (path, subject)]
    named = [one for one in subjects if one["subject"] == subject]
    for found in (exact, named, subjects):
        if len(found) == 1:
            device = entry["environment"]["device"] if found[0]["sizes"] else None
            return Timings(found[0], device)
    return None
