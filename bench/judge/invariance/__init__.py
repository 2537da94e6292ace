"""How little the findings of the source stage depend on edits that mean nothing.

    python bench/judge invariance --corpus DIR --work DIR [--seed S] [--kernels N] [--jobs N] [--output FILE]

Each edit turns the text of a file into another one that means the same. What is found in a kernel before should be
found after it, at the same place, and nothing else. Files of the corpus are drawn by seed until they hold as many
kernels with findings and as many without. What was tried is kept in the folder, and a killed run goes on.
"""

from __future__ import annotations

import argparse
import csv
import random
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.corpus import add_corpus_argument, packages
from bench.judge.invariance.tables import by_edit, by_rule, rows
from bench.judge.invariance.trying import Kernels, Task, Tried, kernels_of, try_file
from bench.judge.keeping import BRAIN, Kept, all_done, folder
from tritonaudit.execute.pool import Limits

_LIMITS = Limits(seconds=600, memory=4 << 30)
_AT_ONCE = 400
"""Files that are looked at before it is asked whether they are enough."""


def main(options: Sequence[str]) -> None:
    """Try all edits, and print the tables."""
    parser = argparse.ArgumentParser(
        prog="python bench/judge invariance", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_corpus_argument(parser)
    parser.add_argument("--work", type=folder, required=True, metavar="DIR", help="what a run has found")
    parser.add_argument("--seed", type=int, default=1, metavar="S")
    parser.add_argument("--kernels", type=int, default=500, metavar="N", help="of each kind [default: 500]")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write every finding lost or new, as TSV")
    asked = parser.parse_args(options)
    tasks = drawn(asked.corpus, asked.work, asked.seed, asked.kernels, asked.jobs)
    tried = all_done(
        Kept(asked.work, "invariance", (*BRAIN, "bench/judge/invariance")),
        Tried,
        try_file,
        sorted(tasks, key=_package),
        lambda task, message: Tried(task.file, Kernels((), frozenset()), (), message),
        title="edited",
        workers=asked.jobs,
        limits=_LIMITS,
    )
    shutil.rmtree(asked.work / "copies", ignore_errors=True)
    print(by_edit(tried), by_rule(tried), sep="\n\n")
    if asked.output is not None:
        with asked.output.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter="\t").writerows(rows(tried))
    for one in tried:
        if one.reason:
            print(f"{one.path}: NOT RUN: {one.reason}", file=sys.stderr)


def drawn(corpus: Path, work: Path, seed: int, most: int, jobs: int) -> list[Task]:
    """Files in an order by seed, until there are enough kernels with findings and without."""
    tasks = [
        Task(package, str(path.relative_to(package)), work / "copies")
        for package in packages(corpus)
        for path in sorted(package.rglob("*.py"))
        if path.is_file()
    ]
    random.Random(seed).shuffle(tasks)
    kept = Kept(work, "drawn", BRAIN)
    found = clean = 0
    chosen: list[Task] = []
    for first in range(0, len(tasks), _AT_ONCE):
        some = sorted(tasks[first : first + _AT_ONCE], key=_package)
        held = all_done(
            kept,
            Kernels,
            kernels_of,
            some,
            lambda task, message: Kernels((), frozenset()),
            title="looked at",
            workers=jobs,
            limits=_LIMITS,
        )
        for task, one in zip(some, held, strict=True):
            with_any, without = len(one.found), len(one.names) - len(one.found)
            if (with_any and found < most) or (without and clean < most):
                chosen.append(task)
                found += with_any
                clean += without
        if found >= most and clean >= most:
            break
    return chosen


def _package(task: Task) -> Path:
    """Files of one package one after the other, so that it is read and copied once."""
    return task.package
