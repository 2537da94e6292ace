"""Faults injected into published kernels: the engine decides which they are, and it is counted who tells of them.

    python bench/judge faults --manifest FILE --work DIR [--seed S] [--specs N] [--tasks N] [--most N]
                            [--package NAME …] [--jobs N] [--output FILE] [--sheets DIR]

The packages of the manifest are installed in the folder, and their wrappers called as inferred, and in other ways: with
sizes that differ and are of several tiles, with what is optional, with flags turned, with tensors that lie otherwise. A
mutant is faulty where the CPU engine sees a fault, another result or no end; unreached where its code did not run, or
was compiled to the same. Where the bits of all results are the same in all calls, it is equal only if nothing depends
on the lanes that it fills otherwise, whatever they hold; else it is alike, and nobody knows of other calls. The source
brain tells of it where a rule has more findings in a kernel of that file than before. What was tried is kept in the
folder, and a killed run goes on; it takes time by the wrappers and by the jobs among which these are split.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from bench.judge.calls import Call, healthy_calls
from bench.judge.executing import become_ready
from bench.judge.faults.detecting import Asked, Detected, asked_of, tell, with_detected
from bench.judge.faults.mutants import Target, targets_of
from bench.judge.faults.sheets import write_sheets
from bench.judge.faults.tables import classes, growth, noise, operators, rules, time_taken
from bench.judge.faults.trying import Chosen, Task, Tried, try_task
from bench.judge.keeping import BRAIN, Kept, all_done, folder
from bench.judge.packages import Package, prepared
from tritonaudit.execute.pool import Limits

_LIMITS = Limits(seconds=1500, memory=8 << 30)
_RUNS = tuple(f"tritonaudit/{name}" for name in ("capture", "execute", "simulator", "subject", "suites/late.py"))
_MAKES = tuple(f"bench/judge/faults/{name}.py" for name in ("mutants", "operators"))
_CALLS = tuple(f"bench/judge/{name}.py" for name in ("choosing", "executing", "forked", "noted", "reaching", "varying"))
_TRIES = tuple(f"bench/judge/faults/{name}.py" for name in ("arms", "fills", "programs", "putting", "trying"))
_EXECUTED = (*_RUNS, *_MAKES, *_CALLS, *_TRIES, "bench/mutation")
"""What decides what mutants come to."""
_DETECTS = (*BRAIN, *_MAKES, "bench/judge/faults/detecting.py", "bench/mutation")
"""What decides what is detected in them."""


def main(options: Sequence[str]) -> None:
    """Try all mutants, and print the tables."""
    parser = argparse.ArgumentParser(
        prog="python bench/judge faults", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--manifest", type=Path, required=True, metavar="FILE", help="columns package and version")
    parser.add_argument("--work", type=folder, required=True, metavar="DIR", help="what a run needs, and has found")
    parser.add_argument("--seed", type=int, default=1, metavar="S")
    parser.add_argument("--specs", type=int, default=170, metavar="N", help="files of a package [default: 170]")
    parser.add_argument("--tasks", type=int, default=32, metavar="N", help="wrappers of a package [default: 32]")
    parser.add_argument("--most", type=int, default=2, metavar="N", help="mutants of an operator and function")
    parser.add_argument("--package", action="append", metavar="NAME", help="only this one; may be repeated")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write each operator's class and figures, as JSON")
    parser.add_argument("--sheets", type=Path, metavar="DIR", help="write mutants for a reader of what the engine says")
    asked = parser.parse_args(options)
    tasks: list[Task] = []
    began = time.monotonic()
    for package in prepared(asked.manifest, asked.work, asked.package):
        calls = healthy_calls(package, asked.work, asked.specs, asked.jobs)
        tasks += tasks_of(package, calls, asked.seed, asked.most, asked.tasks)
    found = _tried(tasks, asked.work, asked.jobs)
    detected = _detected(tasks, found, asked.work, asked.jobs)
    tried = [with_detected(one, of_it) for one, of_it in zip(found, detected, strict=True)]
    trials = [trial for one in tried for trial in one.trials]
    print(operators(trials), rules(trials), noise(detected), growth(trials), sep="\n\n")
    print("", time_taken(tried, asked.jobs, time.monotonic() - began), sep="\n")
    if asked.sheets is not None:
        write_sheets(trials, asked.sheets, asked.seed)
    if asked.output is not None:
        asked.output.write_text(json.dumps(classes(trials), indent=1), encoding="utf-8")
    for one in tried:
        if one.reason:
            print(f"NOT RUN: {one.reason}", file=sys.stderr)


def tasks_of(package: Package, calls: Sequence[Call], seed: int, most: int, tasks: int) -> Iterator[Task]:
    """At most so many, evenly spread, one for each subject.

    Each kernel of the package is tried in the shortest of the calls that launch it.
    """
    shortest: dict[tuple[str, str, int], Call] = {}
    for call in sorted(calls, key=lambda one: one.seconds):
        for kernel in call.kernels:
            if Path(kernel[0]).is_relative_to(package.site):
                shortest.setdefault(kernel, call)
    by_subject: dict[tuple[Path, str], list[tuple[str, str, int]]] = {}
    for kernel, call in shortest.items():
        by_subject.setdefault((call.spec, call.subject), []).append(kernel)
    subjects = sorted(by_subject.items())
    for (spec, subject), kernels in subjects[:: max(1, -(-len(subjects) // tasks))]:
        cases = tuple(one.noted for one in calls if (one.spec, one.subject) == (spec, subject))
        targets = tuple(dict.fromkeys(target for kernel in sorted(kernels) for target in _targets(*kernel)))
        yield Task(spec, subject, cases, targets, package.site, seed, most)


def _targets(path: str, name: str, line: int) -> Iterator[Target]:
    text = Path(path).read_text(encoding="utf-8")
    return targets_of(text, path, name.rpartition(".")[2], line)


def _tried(tasks: Sequence[Task], work: Path, jobs: int) -> list[Tried]:
    """The trials of each task, in the calls that were chosen before; those that are chosen now are kept."""
    chosen = Kept(work, "chosen", _CALLS)
    before = [chosen.get(_calling(task), Chosen) or Chosen() for task in tasks]
    found = all_done(
        Kept(work, "faults", _EXECUTED),
        Tried,
        try_task,
        [replace(task, chosen=one.calls) for task, one in zip(tasks, before, strict=True)],
        lambda task, message: Tried((), (), f"{task.spec.name}: {message}"),
        title="tried",
        workers=jobs,
        limits=_LIMITS,
        prepare=become_ready,
        arguments=lambda task: (task.root, work / "required"),
        size=lambda task: len(task.targets),
    )
    for task, one in zip(tasks, found, strict=True):
        if one.calls:
            chosen.put(_calling(task), Chosen(one.calls))
    return found


def _calling(task: Task) -> Task:
    """What decides which calls are chosen."""
    return replace(task, targets=(), seed=0, most=0)


def _detected(tasks: Sequence[Task], tried: Sequence[Tried], work: Path, jobs: int) -> list[Detected]:
    """What the source tells of those mutants that are faulty, or that Triton refuses."""
    return all_done(
        Kept(work, "detected", _DETECTS),
        Detected,
        tell,
        [asked_of(task, one) for task, one in zip(tasks, tried, strict=True)],
        lambda _, message: Detected((), (), message),
        title="detected",
        workers=jobs,
        limits=_LIMITS,
        size=_read,
    )


def _read(asked: Asked) -> int:
    """How much is to be read: a file once for each of its mutants."""
    return sum(len(numbers) * Path(target.path).stat().st_size for target, numbers in asked.targets)
