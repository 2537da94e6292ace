"""Has worker processes call subjects, and kernels that no subject launches, on stand-in GPUs; collects the launches."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from tritonaudit.absent.outcomes import stand_ins_said
from tritonaudit.capture.infer_task import MOST_CONFIGS, Inferred, InferTask
from tritonaudit.capture.launch import Launch
from tritonaudit.capture.task import (
    IMPORT_SECONDS,
    Captured,
    CaptureTask,
    Missed,
    SweepLaunches,
    Unloadable,
    become_gpu,
    capture,
    capture_all,
    find_subjects,
)
from tritonaudit.compile.kept import KeptLaunches
from tritonaudit.compile.phrases import counted, listed
from tritonaudit.compile.shared import callers, captured_for_all, inferred_for_all
from tritonaudit.execute.killed import Killed
from tritonaudit.execute.pool import Limits, run_tasks
from tritonaudit.finding import Outcome, Problem, Status
from tritonaudit.shown import shown_path
from tritonaudit.source.decode import Undecodable, decode
from tritonaudit.source.discover import project_root
from tritonaudit.source.outline import Unparsable, may_hold_kernels, outline

_LIMITS = Limits(seconds=300, memory=8 << 30)  # of all cases of a file's subjects, and then of one subject
_IMPORT = Limits(seconds=IMPORT_SECONDS + 10, memory=8 << 30)  # of a file's subjects
_INFERENCE = Limits(seconds=60, memory=8 << 30)  # of one kernel
_CHECK = "capture"

Item = TypeVar("Item")
Found = TypeVar("Found")


@dataclass(frozen=True)
class Gathered:
    """Launches on every target, and what could not be had.

    They were `begun` when the first result came, by the monotonic clock: what a worker imports first is over then.
    """

    launches: tuple[Launch, ...] = ()
    sweeps: tuple[SweepLaunches, ...] = ()
    problems: tuple[Problem, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    begun: float = math.inf

    def __or__(self, other: Gathered) -> Gathered:
        return Gathered(
            (*self.launches, *other.launches),
            (*self.sweeps, *other.sweeps),
            (*self.problems, *other.problems),
            (*self.outcomes, *other.outcomes),
            min(self.begun, other.begun),
        )


@dataclass(frozen=True)
class _Lost:
    """A file or a subject whose worker died."""

    path: Path
    subject: str
    target: str
    killed: Killed


_Result = Captured | Unloadable | _Lost


def capture_subjects(
    files: Sequence[Path],
    targets: Sequence[str],
    jobs: int,
    *,
    is_brief: bool = False,
    kept: KeptLaunches | None = None,
) -> Gathered:
    """The launches of every subject of the files and folders, on every target; of one call each where it is brief.

    Those that are `kept` are not called again, and others are for it to keep.
    """
    if not files:
        return Gathered()
    calling = callers(targets, len(files), jobs)

    def on_each(some: Sequence[str], had: Collection[tuple[Path, str]]) -> tuple[list[_Result], float]:
        return _on_each(
            some,
            jobs,
            files,
            lambda path, target: () if (path, target) in had else _known(path, target, is_brief, kept),
            lambda target, waiting, workers: _on(target, waiting, workers, is_brief, kept, calling.get(target, ())),
        )

    results, begun = on_each([*calling], ())
    had = {(one.task.path, one.target) for one in results if isinstance(one, Captured)}
    results += on_each([target for target in targets if target not in calling], had)[0]
    captured = sorted((one for one in results if isinstance(one, Captured)), key=lambda one: targets.index(one.target))
    return Gathered(
        launches=tuple(launch for one in captured for launch in one.launches),
        sweeps=tuple(sweep for one in captured if one.target == targets[0] for sweep in one.sweeps),
        problems=(*_unusable(results, targets), *_uncallable(captured, targets)),
        outcomes=(
            *_shortfalls(captured, targets),
            *stand_ins_said((one.task.path, one.stood_in) for one in captured),
        ),
        begun=begun,
    )


def infer_kernels(
    files: Sequence[Path],
    captured: Collection[KernelPlace],
    targets: Sequence[str],
    jobs: int,
    kept: KeptLaunches | None = None,
) -> Gathered:
    """The launches, as inferred, of the kernels in the files that were not captured, on every target.

    Those that are `kept` are not inferred again, and others are for it to keep.
    """
    tasks: list[InferTask] = []
    problems: list[Problem] = []
    for path in files:
        found = _inference(path, captured)
        if isinstance(found, Problem):
            problems.append(found)
        else:
            tasks.extend(found)
    if not tasks:
        return Gathered(problems=tuple(problems))

    calling = callers(targets, len(tasks), jobs)

    def on_each(
        some: Sequence[str], kernels: Sequence[InferTask], had: Collection[tuple[InferTask, str]]
    ) -> tuple[list[_Outcome], float]:
        return _on_each(
            some,
            jobs,
            kernels,
            lambda task, target: () if (task, target) in had else _known_of(task, target, kept),
            lambda target, waiting, workers: _inferred(target, waiting, workers, kept, calling.get(target, ())),
        )

    first, *others = calling
    results, begun = on_each([first], tasks, ())
    helpers = {task for _, task, outcome in results if isinstance(outcome, Inferred) and outcome.is_helper}
    kernels = [task for task in tasks if task not in helpers]
    for some in (others, [target for target in targets if target not in calling]):
        results += on_each(some, kernels, {(task, target) for target, task, _ in results})[0]
    results.sort(key=lambda result: targets.index(result[0]))
    return Gathered(
        launches=tuple(
            launch for _, _, outcome in results if isinstance(outcome, Inferred) for launch in outcome.launches
        ),
        problems=tuple(problems),
        outcomes=tuple(outcome for result in results for outcome in _uninferred(*result)),
        begun=begun,
    )


def _known(path: Path, target: str, is_brief: bool, kept: KeptLaunches | None) -> Sequence[_Result] | None:
    return None if kept is None else kept.captured(path, target, is_brief=is_brief)


_Outcome = tuple[str, InferTask, Inferred | Killed]
"""The target, what was to be inferred, and what came of it."""


def _known_of(task: InferTask, target: str, kept: KeptLaunches | None) -> tuple[_Outcome] | None:
    known = None if kept is None else kept.inferred(task, target)
    return None if known is None else ((target, task, known),)


def _inferred(
    target: str, tasks: Sequence[InferTask], workers: int, kept: KeptLaunches | None, others: Sequence[str]
) -> Iterator[_Outcome]:
    from tritonaudit.capture.unasked import infer_launches  # imports what reads source

    for task, outcome in run_tasks(
        infer_launches, tasks, workers=workers, limits=_INFERENCE, prepare=become_gpu, arguments=(target, *others)
    ):
        if isinstance(outcome, Killed):
            yield target, task, outcome
            continue
        for there, inferred in inferred_for_all(target, outcome).items():
            if kept is not None:
                kept.keep_inferred(there, inferred)
            yield there, task, inferred


KernelPlace = tuple[str, int]
"""A kernel's file, absolute, and the line of its `def`."""


def _inference(path: Path, captured: Collection[KernelPlace]) -> list[InferTask] | Problem:
    """The kernels of a file that were not captured, or why it cannot be read."""
    try:
        data = path.read_bytes()
        if not may_hold_kernels(data):
            return []
        module = outline(str(path), decode(data))
    except OSError as error:
        return Problem(shown_path(path), f"cannot be read: {error.strerror or error}")
    except Undecodable as error:
        return Problem(shown_path(path), f"cannot be decoded: {error.message}", error.line)
    except Unparsable as error:
        return Problem(shown_path(path), f"cannot be parsed: {error.message}", error.line)
    root = project_root(path)
    return [
        InferTask(root, path, function.qualname)
        for function in module.jit
        if (str(path), function.node.lineno) not in captured
    ]


def _uninferred(target: str, task: InferTask, outcome: Inferred | Killed) -> Iterator[Outcome]:
    if isinstance(outcome, Killed):
        reason = f"inferring a launch of `{task.kernel}` {outcome.message}"
    elif outcome.reason:
        reason = f"no launch of `{task.kernel}` can be inferred: {outcome.reason}"
    elif outcome.configs > MOST_CONFIGS:
        reason = f"of the {outcome.configs} configs of `{task.kernel}`, all but {MOST_CONFIGS} are left untried"
    else:
        return
    yield Outcome(_CHECK, shown_path(task.path), Status.NOT_RUN, target, reason)


def _on_each(
    targets: Sequence[str],
    jobs: int,
    items: Sequence[Item],
    known: Callable[[Item, str], Sequence[Found] | None],
    work: Callable[[str, Sequence[Item], int], Iterator[Found]],
) -> tuple[list[Found], float]:
    """What is known of the items on each target, and what comes of the work for the others of each; and from when on.

    The work for a target has its share of the processes, which are its own. What is known is looked up before any
    thread begins: each would read the project again, and wait for the others to do so.
    """
    found: dict[str, list[Found]] = {target: [] for target in targets}
    begun: list[float] = []
    waiting: dict[str, list[Item]] = {}
    for target in targets:
        for item in items:
            results = known(item, target)
            if results is None:
                waiting.setdefault(target, []).append(item)
            else:
                found[target].extend(results)
    at_once = min(jobs, len(waiting))

    def worked(target: str) -> None:
        for result in work(target, waiting[target], max(1, jobs // at_once)):
            begun.append(time.monotonic())
            found[target].append(result)

    if waiting:
        with ThreadPoolExecutor(at_once) as threads:
            list(threads.map(worked, waiting))
    return [result for results in found.values() for result in results], min(begun, default=math.inf)


def _on(
    target: str,
    files: Sequence[Path],
    workers: int,
    is_brief: bool,
    kept: KeptLaunches | None,
    others: Sequence[str],
) -> Iterator[_Result]:
    """A file's subjects in one task; where that dies, each in its own, so that only the one that kills it is lost.

    What nothing tells from them on the others comes, too.
    """
    again: list[Path] = []
    for path, outcome in run_tasks(
        partial(capture_all, is_brief=is_brief),
        files,
        workers=workers,
        limits=_LIMITS,
        prepare=become_gpu,
        arguments=(target, *others),
    ):
        if isinstance(outcome, Killed):
            again.append(path)
        elif isinstance(outcome, Unloadable):
            yield outcome
        else:
            for there, captured in _by_target(outcome).items():
                if kept is not None:
                    kept.keep_captured(path, there, captured, is_brief=is_brief)
                yield from captured
    if again:
        yield from _one_by_one(target, again, workers, is_brief)


def _by_target(outcome: Sequence[Captured]) -> dict[str, tuple[Captured, ...]]:
    """What was captured, where it is known of every subject of the file."""
    found: dict[str, list[Captured]] = {}
    for captured in outcome:
        for one in captured_for_all(captured):
            found.setdefault(one.target, []).append(one)
    return {target: tuple(some) for target, some in found.items() if len(some) == len(outcome)}


def _one_by_one(target: str, files: Sequence[Path], workers: int, is_brief: bool) -> Iterator[_Result]:
    tasks: list[CaptureTask] = []
    for path, names in run_tasks(
        find_subjects, files, workers=workers, limits=_IMPORT, prepare=become_gpu, arguments=(target,)
    ):
        if isinstance(names, Killed):
            yield _Lost(path, "", target, names)
        elif isinstance(names, Unloadable):
            yield names
        else:
            tasks.extend(CaptureTask(path, name, is_brief) for name in names.subjects)
    for task, outcome in run_tasks(
        capture, tasks, workers=workers, limits=_LIMITS, prepare=become_gpu, arguments=(target,)
    ):
        yield _Lost(task.path, task.subject, target, outcome) if isinstance(outcome, Killed) else outcome


def _unusable(results: Iterable[_Result], targets: Sequence[str]) -> Iterator[Problem]:
    """The files and subjects of which nothing came, each once with the targets where that is so."""
    alike: dict[Unloadable | _Lost, list[str]] = {}
    for result in results:
        if isinstance(result, _Lost):
            alike.setdefault(replace(result, target=""), []).append(result.target)
        elif isinstance(result, Unloadable):
            alike[result] = list(targets)
    for result, on in alike.items():
        if isinstance(result, Unloadable):
            yield Problem(shown_path(Path(result.path)), result.reason, result.line)
            continue
        what = f"the subject {result.subject!r}" if result.subject else "its subjects"
        last = next((line for line in reversed(result.killed.log.splitlines()) if line.strip()), "")
        said = f" ({last.strip()})" if last else ""
        message = f"capturing {what}{_only_on(on, targets)} {result.killed.message}{said}"
        yield Problem(shown_path(result.path), message)


def _uncallable(captured: Iterable[Captured], targets: Sequence[str]) -> Iterator[Problem]:
    """The subjects of which no case could be called, each once with the targets where that is so."""
    alike: dict[tuple[CaptureTask, int, Missed], list[str]] = {}
    for one in captured:
        if _is_uncallable(one):
            alike.setdefault((one.task, one.cases, one.missed[0]), []).append(one.target)
    for (task, cases, missed), on in alike.items():
        which = f"in all {cases} cases, such as {missed.case}" if cases > 1 else f"with {missed.case}"
        message = f"the subject {task.subject!r}{_only_on(on, targets)}, {which}: {missed.reason}"
        path, line = (missed.path, missed.line) if missed.path else (str(task.path), None)
        yield Problem(shown_path(Path(path)), message, line)


def _is_uncallable(captured: Captured) -> bool:
    return captured.failed == captured.cases > 0 and not all(one.is_absent for one in captured.missed)


def _shortfalls(captured: Iterable[Captured], targets: Sequence[str]) -> Iterator[Outcome]:
    """What subjects did not show, cases that could not be called or no launch at all, in the same words for targets."""
    alike: dict[tuple[CaptureTask, str], list[str]] = {}
    for one in captured:
        if not _is_uncallable(one):
            for said in _shortfall(one):
                alike.setdefault((one.task, said), []).append(one.target)
    for (task, said), on in alike.items():
        reason = f"the subject {task.subject!r}{_only_on(on, targets)}{said}"
        for target in on:
            yield Outcome(_CHECK, shown_path(task.path), Status.NOT_RUN, f"{task.subject}, {target}", reason)


def _shortfall(captured: Captured) -> Iterator[str]:
    alike: dict[Missed, list[str]] = {}
    for missed in captured.missed:
        alike.setdefault(replace(missed, case=""), []).append(missed.case)
    for missed, cases in alike.items():
        yield f", {_which(captured, cases)}: {_reason(missed)}"
    if not captured.launches and not captured.missed:
        yield " launches no kernel"


def _which(captured: Captured, cases: Sequence[str]) -> str:
    """`with n=1000 float32 and 2 other cases`."""
    if len(cases) == captured.cases > 1:
        return f"in all {len(cases)} cases"
    others = len(cases) - 1
    more = f" and {counted(others, 'other case')}" if others else ""
    return f"with {cases[0]}{more}"


def _only_on(on: Sequence[str], targets: Sequence[str]) -> str:
    """` on sm_90`, empty where it is all targets."""
    return "" if len(on) == len(targets) else f" on {listed(on)}"


def _reason(missed: Missed) -> str:
    return f"{missed.reason} ({shown_path(Path(missed.path))}:{missed.line})" if missed.path else missed.reason
