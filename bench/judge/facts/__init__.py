"""What the source brain states of published kernels, against executions on the CPU engine.

    python bench/judge facts (--manifest FILE | --corpus DIR) --work DIR [--specs N] [--package NAME …] [--jobs N]
                             [--output FILE]

The packages of the manifest are installed in the folder, or lie in one as they are, and their wrappers are called on
small inputs as inferred. Each dtype, shape, bound and number that is stated of a variable is held against what Triton's
operation of that name gives. Every contradiction is a defect, whatever rule it feeds; with --output all of them are
written down.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import astuple, fields
from pathlib import Path

from bench.judge.calls import Call, healthy_calls
from bench.judge.executing import become_ready
from bench.judge.facts.comparing import Compared, Contradiction
from bench.judge.facts.trying import Held, Task, hold
from bench.judge.keeping import folder
from bench.judge.noted import Noted
from bench.judge.packages import Package, prepared, unpacked
from tritonaudit.execute.killed import Killed
from tritonaudit.execute.pool import Limits, run_tasks

_LIMITS = Limits(seconds=300, memory=8 << 30)
_SHOWN = 40
_SMALL = 16


def main(options: Sequence[str]) -> None:
    """Hold all facts against all launches, and print the tables."""
    parser = argparse.ArgumentParser(
        prog="python bench/judge facts", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    packages = parser.add_mutually_exclusive_group(required=True)
    packages.add_argument("--manifest", type=Path, metavar="FILE", help="columns package and version")
    packages.add_argument("--corpus", type=Path, metavar="DIR", help="a folder for each package")
    parser.add_argument("--work", type=folder, required=True, metavar="DIR", help="what a run needs, and has found")
    parser.add_argument("--specs", type=int, default=170, metavar="N", help="files of a package [default: 170]")
    parser.add_argument("--package", action="append", metavar="NAME", help="only this one; may be repeated")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write every contradiction, as TSV")
    asked = parser.parse_args(options)
    found: dict[str, list[Compared]] = {}
    ready = prepared(asked.manifest, asked.work) if asked.manifest else unpacked(asked.corpus, asked.work)
    for package in ready:
        if asked.package is None or package.name in asked.package:
            calls = healthy_calls(package, asked.work, asked.specs, asked.jobs)
            found[package.name] = list(_held(package, calls, asked.work, asked.jobs))
    launches = [one for some in found.values() for one in some]
    contradictions = list(dict.fromkeys(wrong for one in launches for wrong in one.contradictions))
    print(by_package(found), by_fact(launches), shown(contradictions), sep="\n\n")
    if asked.output is not None:
        with asked.output.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter="\t")
            writer.writerow([field.name for field in fields(Contradiction)])
            writer.writerows(map(astuple, contradictions))


def _held(package: Package, calls: Sequence[Call], work: Path, jobs: int) -> Iterator[Compared]:
    by_subject: dict[tuple[Path, str], list[Call]] = {}
    for call in calls:
        by_subject.setdefault((call.spec, call.subject), []).append(call)
    tasks = [
        Task(spec, subject, (*(one.noted for one in some), _smaller(some[0].noted)), package.site)
        for (spec, subject), some in by_subject.items()
    ]
    prepare = (package.site, work / "required")
    for task, held in run_tasks(hold, tasks, workers=jobs, limits=_LIMITS, prepare=become_ready, arguments=prepare):
        one = Held((), held.message) if isinstance(held, Killed) else held
        if one.reason:
            print(f"{task.spec.name}: NOT RUN: {one.reason}", file=sys.stderr, flush=True)
        yield from one.launches


def _smaller(noted: Noted) -> Noted:
    """A case of other sizes, of which it is not asked whether the call is healthy."""
    sizes = tuple((name, size // 2 + 1 if size > _SMALL else size) for name, size in noted.sizes)
    return Noted(sizes, noted.dtype, noted.layout)


def by_package(found: dict[str, list[Compared]]) -> str:
    """Pairs of kernel and launch, facts and contradictions of each package."""
    lines = ["| package | kernels | launches | facts | contradicted |", "|---|---|---|---|---|"]
    for name, launches in [*found.items(), ("**all**", [one for some in found.values() for one in some])]:
        kernels = {(one.path, one.kernel) for one in launches}
        facts = sum(number for one in launches for _, number in one.checked)
        wrong = {contradiction for one in launches for contradiction in one.contradictions}
        lines.append(f"| {name} | {len(kernels)} | {len(launches)} | {facts} | {len(wrong)} |")
    return "\n".join(lines)


def by_fact(launches: Sequence[Compared]) -> str:
    """Facts and contradictions by kind."""
    checked: Counter[str] = Counter()
    for one in launches:
        checked.update(dict(one.checked))
    wrong = Counter(one.fact for one in {wrong for launch in launches for wrong in launch.contradictions})
    lines = ["| fact | held against a launch | contradicted, by place |", "|---|---|---|"]
    return "\n".join((*lines, *(f"| {fact} | {checked[fact]} | {wrong[fact]} |" for fact in sorted(checked))))


def shown(contradictions: Sequence[Contradiction]) -> str:
    """The first of them, a line each."""
    lines = ["| kernel | line | variable | fact | stated | seen |", "|---|---|---|---|---|---|"]
    for one in contradictions[:_SHOWN]:
        where = f"{Path(one.path).name}: {one.kernel}"
        lines.append(f"| {where} | {one.line} | {one.variable} | {one.fact} | {one.stated[:60]} | {one.seen[:60]} |")
    return "\n".join(lines)
