"""Executes what safe fixes make of the kernels of packages, and counts what that came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.fidelity.tables import table
from bench.fixes.making import PUBLISHED
from bench.fixes.published import Task, Trial, Tried, try_fixes
from bench.judge.calls import Call, healthy_calls
from bench.judge.executing import become_ready
from bench.judge.keeping import BRAIN, Kept, all_done
from bench.judge.packages import Package, unpacked
from tritonaudit.execute.pool import Limits

_LIMITS = Limits(seconds=900, memory=8 << 30)
_DECIDING = (*BRAIN, "bench/fixes", "tritonaudit/capture", "tritonaudit/simulator")
_OUTCOMES = ("fixed", "unchanged", "changed", "wrong", "not run")


def tried(corpus: Path, work: Path, specs: int, seconds: float, most: int, jobs: int) -> list[Tried]:
    """What the kernels of all packages came to that a call without a fault launches within so many seconds.

    Package by package, of each the shortest calls first.
    """
    tasks: list[Task] = []
    for package in unpacked(corpus, work):
        calls = [one for one in healthy_calls(package, work, specs, jobs) if one.seconds <= seconds]
        tasks += [task for _, task in sorted(_tasks(package, calls, most), key=lambda one: one[0].seconds)]
    places = {task: place for place, task in enumerate(tasks)}
    return all_done(
        Kept(work, "fixed", _DECIDING),
        Tried,
        try_fixes,
        tasks,
        lambda task, message: Tried((), f"{task.spec.name}: {message}"),
        title="fixed",
        workers=jobs,
        limits=_LIMITS,
        prepare=become_ready,
        arguments=lambda task: (task.root, work / "required"),
        size=lambda task: -places[task],
    )


def _tasks(package: Package, calls: Sequence[Call], most: int) -> Iterator[tuple[Call, Task]]:
    """One for each subject; each kernel of the package in the shortest of the calls that launch it."""
    shortest: dict[tuple[str, str, int], Call] = {}
    for call in sorted(calls, key=lambda one: one.seconds):
        for kernel in call.kernels:
            if Path(kernel[0]).is_relative_to(package.site):
                shortest.setdefault(kernel, call)
    by_call: dict[Call, list[tuple[str, str, int, int]]] = {}
    for number, (kernel, call) in enumerate(sorted(shortest.items(), key=lambda one: one[0])):
        by_call.setdefault(call, []).append((*kernel, number))
    for call, kernels in by_call.items():
        yield call, Task(call.spec, call.subject, call.noted, tuple(kernels), package.site, most)


def tables(found: Sequence[Tried]) -> str:
    """What trials came to by rule and fault, then what is wrong, and what was not run and why."""
    trials = [trial for one in found for trial in one.trials]
    kernels = {(trial.path, trial.kernel, trial.line) for trial in trials}
    groups = sorted({(trial.rule, trial.seed != PUBLISHED, trial.seed) for trial in trials})
    lines = [_line(rule, seed, trials) for rule, _, seed in groups]
    head = ("code", "fault", "trials:", *(f"{name}:" for name in _OUTCOMES), "found after:")
    return "\n".join(
        (
            table(head, (*lines, ("**all**", "", *_counts(trials)))),
            f"{len(trials)} fixes of {len(kernels)} kernels\n",
            *(_shown(one) for one in trials if one.is_bad or one.outcome in ("changed", "not run")),
            *(f"NOT RUN: {one.reason}" for one in found if one.reason),
        )
    )


def _line(rule: str, seed: str, trials: Sequence[Trial]) -> tuple[object, ...]:
    return (rule, seed, *_counts([one for one in trials if (one.rule, one.seed) == (rule, seed)]))


def _counts(trials: Sequence[Trial]) -> tuple[int, ...]:
    outcomes = Counter(one.outcome for one in trials)
    return (len(trials), *(outcomes[name] for name in _OUTCOMES), sum(bool(one.problem) for one in trials))


def _shown(trial: Trial) -> str:
    what = f"{trial.rule} {trial.seed}: {trial.path}:{trial.line} {trial.kernel}: {trial.outcome}: {trial.detail}"
    return f"{what}; {trial.problem}" if trial.problem else what
