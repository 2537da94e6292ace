"""From a trace to findings: its launches are executed again in workers, and what they show is told at their kernels."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tritonaudit.capture.launch import KernelRef, Launch, TensorArgument
from tritonaudit.compile.audit import CompileAudit, judge_kernels
from tritonaudit.compile.compiling import compile_programs
from tritonaudit.compile.gather import gather as gather_compiled
from tritonaudit.compile.installed import triton_version
from tritonaudit.compile.places import Places
from tritonaudit.config import Config
from tritonaudit.engine import KernelFacts, judge
from tritonaudit.execute.killed import Killed
from tritonaudit.execute.pool import Limits, run_tasks
from tritonaudit.finding import EVERY_KERNEL, Audit, Outcome, Problem, Status, Witness
from tritonaudit.progress import SILENT, Progress
from tritonaudit.shown import shown_path
from tritonaudit.suites.facts import WATCHED, RunKernel, Seen, Symptom
from tritonaudit.suites.gather import outcome_of_check, way_to
from tritonaudit.suites.outcome import Sighting
from tritonaudit.suites.running import memory
from tritonaudit.suites.sentences import counted
from tritonaudit.trace.reading import Trace, read_blob
from tritonaudit.trace.recorded import Made, Recorded
from tritonaudit.trace.replay import Replayed, ReplayTask, launch_of, prepare, replay

_EXECUTIONS = 8
"""Of a launch in one task, at most: forward, backward, and with other contents or configs."""
_MOST_NAMED = 4
"""Tensors of a launch that are named."""
_BESIDE = 60.0
"""Seconds of a task for what is no execution."""
_OF_A_TARGET = ("arch", "supported_fp8_dtypes", "deprecated_fp8_dot_operand_dtypes")
_LOOKED_FOR = (*(symptom for symptom in Symptom if symptom in WATCHED), Symptom.NONDETERMINISTIC, Symptom.WRONG_RESULT)


@dataclass(frozen=True)
class ReplayRequest:
    """How many seconds an execution may take, in how many processes, for which targets launches are compiled, and
    which launches of the trace are looked at, by their numbers (none: all)."""

    seconds: float
    jobs: int
    targets: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True)
class TracedKernel:
    """How often a kernel was launched in how many seconds, how often it was `executed`, how many kinds were checked.

    `failures` are the reasons why others were not, with how often.
    """

    kernel: KernelRef
    launches: int
    executed: int
    kinds: int
    seconds: float
    failures: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class TraceAudit:
    """An audit with the trace that it is of, what was launched in it, and what compiling that came to, if asked."""

    audit: Audit
    trace: Trace
    kernels: tuple[TracedKernel, ...]
    compiled: CompileAudit | None = None


def check_trace(trace: Trace, config: Config, request: ReplayRequest, progress: Progress = SILENT) -> TraceAudit:
    """Check the launches of a trace."""
    chosen = [one for one in trace.recorded if one.instead_of is None and _is_chosen(one, request)]
    tasks = [ReplayTask(trace.path, one.number, request.seconds) for one in chosen]
    progress.stage("executing launches again", len(tasks))
    limits = Limits(_EXECUTIONS * request.seconds + _BESIDE, memory(request.jobs))
    replayed: dict[int, Replayed | Killed] = {}
    for task, outcome in run_tasks(replay, tasks, workers=request.jobs, limits=limits, prepare=prepare):
        replayed[task.number] = outcome
        progress.done("", "")
    texts = {_here(trace, one.path): read_blob(trace, one.text) for one in trace.sources}
    for one in trace.recorded:  # a file that the trace names, but does not hold, is not read
        texts.setdefault(_here(trace, one.launch.kernel.path), b"")
    places = Places(texts)
    kernels = [_kernel(trace, kernel, alike, replayed, places) for kernel, alike in _by_kernel(chosen).items()]
    learnt: dict[Path, list[KernelFacts]] = {}
    for kernel in kernels:
        learnt.setdefault(Path(kernel.path), []).append(kernel)
    audit = judge(learnt, config, texts)
    compiled = _compiled(trace, chosen, config, request, texts, progress) if request.targets else None
    damage = [one.damage for one in replayed.values() if isinstance(one, Replayed) and one.damage]
    traced = tuple(_traced(trace))
    audit = replace(
        audit,
        problems=(*(Problem(str(trace.path), text, in_file=False) for text in dict.fromkeys(damage)), *audit.problems),
        outcomes=(*_outcomes(trace, chosen, replayed), *_not_run(trace, traced, request), *audit.outcomes),
        kernels=len(traced),
    )
    return TraceAudit(audit, trace, traced, compiled)


def _is_chosen(one: Recorded, request: ReplayRequest) -> bool:
    return not request.numbers or one.number in request.numbers


def _by_kernel(recorded: Sequence[Recorded]) -> dict[KernelRef, list[Recorded]]:
    found: dict[KernelRef, list[Recorded]] = {}
    for one in recorded:
        found.setdefault(one.launch.kernel, []).append(one)
    return found


def _here(trace: Trace, path: str) -> str:
    """Where a file of the command's folder is now: below this one, if the trace was made elsewhere."""
    folder = trace.header.folder
    if os.path.exists(path) or not path.startswith(os.path.join(folder, "")):
        return path
    return os.path.join(os.getcwd(), os.path.relpath(path, folder))


# -- findings ----------------------------------------------------------------------------------------------------------


def _kernel(
    trace: Trace,
    kernel: KernelRef,
    recorded: Sequence[Recorded],
    replayed: dict[int, Replayed | Killed],
    places: Places,
) -> RunKernel:
    """What the launches of one kernel showed."""
    here = replace(kernel, path=_here(trace, kernel.path))
    found: dict[object, list[tuple[Sighting, Recorded]]] = {}
    for one in recorded:
        outcome = replayed.get(one.number)
        for sighting in outcome.sightings if isinstance(outcome, Replayed) else ():
            moved = _moved(trace, sighting, here)
            found.setdefault(moved.key, []).append((moved, one))
    seen = tuple(_seen(trace, alike, here, places) for alike in found.values())
    return RunKernel(here.path, here.name, places.name(here.path, here.line), "", len(recorded), seen)


def _moved(trace: Trace, sighting: Sighting, kernel: KernelRef) -> Sighting:
    """The sighting with its files where they are now."""
    place = sighting.place and (_here(trace, sighting.place[0]), *sighting.place[1:])
    return replace(
        sighting,
        kernel=kernel,
        place=place,
        related=tuple(((_here(trace, path), *at), how) for (path, *at), how in sighting.related),  # type: ignore[misc]
        launch=sighting.launch and (_here(trace, sighting.launch[0]), sighting.launch[1]),
        calls=tuple((_here(trace, path), line, column) for path, line, column in sighting.calls),
    )


def _seen(trace: Trace, alike: Sequence[tuple[Sighting, Recorded]], kernel: KernelRef, places: Places) -> Seen:
    """One defect over the launches that show it."""
    first, one = next((pair for pair in alike if pair[0].is_certain), alike[0])
    span, elsewhere = places.name(kernel.path, kernel.line), ""
    if first.place is not None:
        path, line, column = first.place
        if path == kernel.path:
            span = places.expression(path, line, column)
        else:
            elsewhere = f" ({shown_path(Path(path))}:{line})"
    related = tuple((places.expression(*at), how) for at, how in first.related if at[0] == kernel.path)
    way = tuple(way_to(first, kernel, places)) if not elsewhere else ()
    labels = tuple(dict.fromkeys(label_of(other) for _, other in alike))
    text = f"{first.text}{elsewhere}{_sampled(one)}"
    return Seen(first.symptom, span, labels, text, first.is_certain, _witness(trace, one), related, way)


def _sampled(one: Recorded) -> str:
    return "; of its larger tensors samples were kept" if any(held.is_sampled for held in one.storages) else ""


def _witness(trace: Trace, one: Recorded) -> Witness:
    return Witness(label_of(one), f"tritonaudit replay {shown_path(trace.path)} --launch {one.number}")


def label_of(one: Recorded) -> str:
    """`launch 3 in test_add[1000] (x float32[1000], out float32[1000])`: of which launch something is said."""
    test = f" in {one.test.rpartition('::')[2]}" if one.test else ""
    tensors = [
        f"{name} {value.dtype}[{', '.join(map(str, value.shape))}]"
        for name, value in one.launch.arguments
        if isinstance(value, TensorArgument)
    ]
    more = ", …" if len(tensors) > _MOST_NAMED else ""
    return f"launch {one.number}{test}" + (f" ({', '.join(tensors[:_MOST_NAMED])}{more})" if tensors else "")


# -- outcomes ----------------------------------------------------------------------------------------------------------


def _place(kernel: KernelRef) -> str:
    return f"{shown_path(Path(kernel.path))}:{kernel.line}: {kernel.name}"


def _outcomes(trace: Trace, recorded: Sequence[Recorded], replayed: dict[int, Replayed | Killed]) -> Iterator[Outcome]:
    """What looking for each symptom in the launches of each kernel came to."""
    for kernel, alike in _by_kernel(recorded).items():
        place = _place(replace(kernel, path=_here(trace, kernel.path)))
        outcomes = [replayed[one.number] for one in alike if one.number in replayed]
        known = [one for one in outcomes if isinstance(one, Replayed)]
        killed = [f"its process {one.message}" for one in outcomes if isinstance(one, Killed)]
        for symptom in _LOOKED_FOR:
            seen = [sighting for one in known for sighting in one.sightings if sighting.symptom is symptom]
            checked = sum(symptom in one.checked for one in known)
            reasons = [why for one in known for other, why in one.unchecked if other is symptom]
            if symptom in WATCHED or symptom is Symptom.NONDETERMINISTIC:
                reasons += killed
            yield from outcome_of_check(symptom.value, place, seen, checked, reasons)


def _traced(trace: Trace) -> Iterator[TracedKernel]:
    by_kernel: dict[KernelRef, list[Made]] = {}
    for made in trace.made:
        by_kernel.setdefault(made.kernel, []).append(made)
    for kernel, made_of in sorted(by_kernel.items(), key=lambda item: (item[0].path, item[0].line)):
        failures = Counter(made.failure for made in made_of if made.failure)
        kinds = sum(one.launch.kernel == kernel and one.instead_of is None for one in trace.recorded)
        yield TracedKernel(
            replace(kernel, path=_here(trace, kernel.path)),
            len(made_of),
            sum(not made.failure for made in made_of),
            kinds,
            sum(made.seconds for made in made_of),
            tuple(failures.most_common()),
        )


def _not_run(trace: Trace, kernels: Sequence[TracedKernel], request: ReplayRequest) -> Iterator[Outcome]:
    """What was not executed, not recorded, or not there at all."""
    for one in kernels:
        for reason, count in one.failures:
            yield Outcome(
                "run",
                _place(one.kernel),
                Status.NOT_RUN,
                f"{count:,} {'launch' if count == 1 else 'launches'}",
                reason,
            )
    missed = Counter((one.kernel, one.reason) for one in trace.unrecorded)
    for (kernel, reason), count in missed.items():
        place = _place(replace(kernel, path=_here(trace, kernel.path)))
        yield Outcome("record", place, Status.NOT_RUN, counted(count, "kind"), reason)
    for what, count in Counter(one.what for one in trace.unavailable).items():
        yield Outcome("run", what, Status.NOT_RUN, counted(count, "time"), "needs a GPU")
    if not trace.made:
        reason = "the command launches no Triton kernel" if trace.header.target else "it imports no torch"
        yield Outcome("run", EVERY_KERNEL, Status.NOT_RUN, reason=reason)
    elif not request.targets:
        yield Outcome("compile", EVERY_KERNEL, Status.NOT_RUN, reason="no --target was given")


# -- compiling ---------------------------------------------------------------------------------------------------------


def _compiled(
    trace: Trace,
    recorded: Sequence[Recorded],
    config: Config,
    request: ReplayRequest,
    texts: dict[str, bytes],
    progress: Progress,
) -> CompileAudit:
    """What the programs of the launches, as they were recorded, compile to on each target."""
    launches = [
        _retargeted(trace, launch_of(trace, one), target, label_of(one))
        for one in recorded
        if one.launch.program is not None
        for target in request.targets
    ]
    programs = [launch.program for launch in launches if launch.program is not None]
    compiled = compile_programs(programs, request.jobs, progress, explains=False)
    kernels = gather_compiled(launches, compiled.variants, (), Places(texts))
    audit = judge_kernels(kernels, None, config, texts)
    lost = tuple(
        Outcome("compile", _place(launch.kernel), Status.NOT_RUN, launch.case, compiled.lost[launch.program])
        for launch in launches
        if launch.program is not None and launch.program in compiled.lost
    )
    return CompileAudit(replace(audit, outcomes=(*audit.outcomes, *lost)), kernels, request.targets, triton_version())


def _retargeted(trace: Trace, launch: Launch, target: str, case: str) -> Launch:
    assert launch.program is not None
    options = tuple((name, value) for name, value in launch.program.options if name not in _OF_A_TARGET)
    program = replace(launch.program, target=target, options=options)
    kernel = replace(launch.kernel, path=_here(trace, launch.kernel.path))
    return replace(launch, kernel=kernel, target=target, program=program, case=case)
