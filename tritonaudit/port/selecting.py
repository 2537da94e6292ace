"""From the variants of operations to those to use: each is validated, the right ones are timed, one is chosen."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tritonaudit.audit import AuditRequest
from tritonaudit.config import Config
from tritonaudit.finding import Problem
from tritonaudit.measure.counting import Counted, count_files
from tritonaudit.measure.facts import Gpu, Row
from tritonaudit.measure.stage import NO_GPU, MeasureRequest, measure_subjects
from tritonaudit.port.attempts import Attempt, attempts_at
from tritonaudit.port.choosing import NONE_RIGHT, Choice, chosen_by_resources, chosen_by_time
from tritonaudit.port.costs import Compilable, Resources, Times, compiled, times_of
from tritonaudit.port.folders import Operation
from tritonaudit.port.repairing import Repairer
from tritonaudit.port.techniques import techniques_of
from tritonaudit.port.validating import Verdict, validated
from tritonaudit.progress import SILENT, Progress
from tritonaudit.suites.running import SubjectKey
from tritonaudit.suites.stage import Where


@dataclass(frozen=True)
class SelectRequest:
    """How variants are audited, on the GPU of that name or without one; then they are compiled for `target`.

    `logs` is the folder of the logs. A `repairer` is asked to repair variants that fail.
    """

    audit: AuditRequest
    logs: Path
    target: str
    gpu: str = ""
    repairer: Repairer | None = None


@dataclass(frozen=True)
class Considered:
    """A variant: what its source uses, what became of it, and of attempts at it.

    `times` or `resources` are what it costs, where it is right; `uncosted` says why that is not known.
    """

    name: str
    path: Path
    techniques: tuple[str, ...]
    verdict: Verdict
    attempts: tuple[Attempt, ...] = ()
    times: Times | None = None
    resources: Resources | None = None
    uncosted: str = ""

    @property
    def repaired(self) -> Attempt | None:
        """The attempt that is right, where there is one."""
        return next((attempt for attempt in self.attempts if attempt.is_right), None)

    @property
    def right(self) -> tuple[Path, Verdict] | None:
        """The file of it that is right: its own, or an attempt's."""
        if self.verdict.is_right:
            return self.path, self.verdict
        repaired = self.repaired
        if repaired is None or repaired.path is None or repaired.verdict is None:
            return None
        return repaired.path, repaired.verdict

    @property
    def title(self) -> str:
        """What a log calls what of it may be chosen."""
        return f"{self.name} (attempt {self.repaired.number})" if self.repaired else self.name


@dataclass(frozen=True)
class Selected:
    """All that selecting among the variants of an operation showed.

    `work` is that of the operation at its sizes, `gpu` what timed them; without one `untimed` says why.
    """

    operation: Operation
    variants: tuple[Considered, ...]
    choice: Choice
    device: str
    target: str
    work: tuple[Counted, ...] = ()
    gpu: Gpu | None = None
    untimed: str = ""

    @property
    def chosen(self) -> Considered | None:
        return next((one for one in self.variants if one.right and one.title == self.choice.name), None)


def select_all(
    operations: Sequence[Operation], config: Config, request: SelectRequest, progress: Progress = SILENT
) -> Iterator[tuple[Operation, Selected | Problem]]:
    """What selecting came to, operation by operation; one that fails costs itself only. Raises KeyboardInterrupt.

    On a GPU all are validated together, and then timed together, for most of both can be done at once.
    """
    groups = [tuple(operations)] if request.gpu else [(operation,) for operation in operations]
    for group in groups:
        yield from _isolated(group, config, request, progress)


def _isolated(
    operations: Sequence[Operation], config: Config, request: SelectRequest, progress: Progress
) -> Iterator[tuple[Operation, Selected | Problem]]:
    """What selecting for these together came to; each by itself where that fails."""
    try:
        found = select(operations, config, request, progress)
    except Exception as error:  # a defect of ours costs one operation, not the rest
        if len(operations) > 1:
            for operation in operations:
                yield from _isolated((operation,), config, request, progress)
            return
        place = traceback.extract_tb(error.__traceback__)[-1]
        defect = f"{type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})"
        said = f"tritonaudit failed on this operation, please report it: {defect}"
        yield operations[0], Problem(str(operations[0].folder), said)
    else:
        yield from zip(operations, found, strict=True)


def select(
    operations: Sequence[Operation], config: Config, request: SelectRequest, progress: Progress = SILENT
) -> tuple[Selected, ...]:
    """Validate every variant, have those that fail rewritten where that is asked for, and choose among the right."""
    verdicts = validated(operations, config, request.audit, progress)
    considered = [_considered(one, verdicts, config, request, progress) for one in operations]
    work = _work([path for path in map(_loaded, considered) if path is not None], request)
    found = [_untimed(*each, work, request) for each in zip(operations, considered, strict=True)]
    if request.gpu and any(variant.right for one in found for variant in one.variants):
        found = _timed(found, config, request, progress)
    return tuple(_compiled(one, config, request, progress) if one.untimed else one for one in found)


def _loaded(variants: Sequence[Considered]) -> Path | None:
    """The file whose subject says what the operation's work is."""
    right = (one.right[0] for one in variants if one.right)
    return next(right, next((one.path for one in variants if one.verdict.is_loaded), None))


def _untimed(
    operation: Operation,
    variants: tuple[Considered, ...],
    work: Mapping[Path, tuple[Counted, ...]],
    request: SelectRequest,
) -> Selected:
    """What there is before anything is timed or compiled."""
    loaded = _loaded(variants)
    done = work.get(loaded, ()) if loaded is not None else ()
    untimed = "" if request.gpu else NO_GPU
    return Selected(operation, variants, NONE_RIGHT, _device(variants), request.target, done, untimed=untimed)


def _considered(
    operation: Operation,
    verdicts: Mapping[Path, Verdict],
    config: Config,
    request: SelectRequest,
    progress: Progress,
) -> tuple[Considered, ...]:
    considered = []
    for path in operation.files:
        verdict = verdicts[path]
        one = Considered(path.stem, path, techniques_of(path), verdict)
        if request.repairer is not None and not verdict.is_right:
            progress.stage(f"having {path.stem} rewritten", 0)

            def validate(attempt: Path) -> Verdict:
                return validated([replace(operation, files=(attempt,))], config, request.audit, progress)[attempt]

            attempts = attempts_at(operation, path, verdict, request.repairer, request.logs, validate)
            one = replace(one, attempts=attempts)
        considered.append(one)
    return tuple(considered)


def _device(variants: Sequence[Considered]) -> str:
    tried = (attempt.verdict for one in variants for attempt in one.attempts if attempt.verdict)
    return next((verdict.device for verdict in (*(one.verdict for one in variants), *tried) if verdict.device), "")


def _work(paths: Sequence[Path], request: SelectRequest) -> dict[Path, tuple[Counted, ...]]:
    counted, _ = count_files(paths, request.target, request.audit.jobs)
    return {path: tuple(one for one in counted if one.path == path) for path in paths}


def _timed(found: Sequence[Selected], config: Config, request: SelectRequest, progress: Progress) -> list[Selected]:
    """The same with times and choices by them; unchanged but for the reason where the GPU could not be used."""
    keys = [(one.right[0], one.right[1].subject) for each in found for one in each.variants if one.right]
    asked = MeasureRequest(request.audit.seconds, request.audit.jobs, Where.GPU, is_brief=True)
    measured = measure_subjects(keys, config, asked, progress)
    if measured.is_interrupted:
        raise KeyboardInterrupt
    gpu = measured.gpu
    if gpu is None:
        return [
            replace(one, untimed=measured.reason) if any(other.right for other in one.variants) else one
            for one in found
        ]
    rows = {(subject.path, subject.name): subject.rows for subject in measured.subjects}
    return [_by_times(one, rows, gpu) for one in found]


def _by_times(found: Selected, rows: Mapping[SubjectKey, Sequence[Row]], gpu: Gpu) -> Selected:
    """The same with the times of its variants, and the choice by them; where none is right without a choice."""
    variants = tuple(
        _with_times(one, times_of(rows.get((one.right[0], one.right[1].subject), ()))) if one.right else one
        for one in found.variants
    )
    timed = [(one.title, one.times) for one in variants if one.times is not None]
    if not timed:
        return found
    return replace(found, variants=variants, choice=chosen_by_time(timed), gpu=gpu)


def _with_times(one: Considered, times: Times) -> Considered:
    why = "; ".join(f"{size}: {reason}" for size, reason in times.missing)
    return replace(one, times=times, uncosted=why or ("" if times.sizes else "no size of it was timed"))


def _compiled(found: Selected, config: Config, request: SelectRequest, progress: Progress) -> Selected:
    """The same with what the compiler makes of each right variant, and the choice by that."""
    right = {one.name: one.right for one in found.variants if one.right}
    if not right:
        return found
    progress.stage("compiling what is right", 0)
    asked = [Compilable(path, verdict.subject, verdict.launched) for path, verdict in right.values()]
    made = dict(zip(right, compiled(asked, request.target, config, request.audit.jobs), strict=True))
    variants = tuple(_with_resources(one, made[one.name]) if one.right else one for one in found.variants)
    known = [(one.title, one.resources) for one in variants if one.resources is not None]
    return replace(found, variants=variants, choice=chosen_by_resources(known, request.target))


def _with_resources(one: Considered, made: Resources | str) -> Considered:
    return replace(one, uncosted=made) if isinstance(made, str) else replace(one, resources=made)
