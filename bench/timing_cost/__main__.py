"""What timing costs: the seconds of each phase, for one pair as KernelBench has them and for several. Needs a GPU.

    python bench/timing_cost [--pairs N] [--seconds S] [--jobs J] [--stage]

First one pair, then N of about a million elements each go through the measure stage, with caches of compilers that are
empty and then with those that the first time left: a table says what each phase took in the mean of the pairs, and for
how long the GPU had to be left to one alone. Then the whole audit is timed from outside, unless `--stage` is given.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.processes import run, tritonaudit
from bench.timing_cost import pairs, phases
from tritonaudit.execute.killed import Killed
from tritonaudit.execute.pool import Limits, run_tasks
from tritonaudit.finding import Status
from tritonaudit.measure.stage import at_once
from tritonaudit.measure.worker import Done, GpuTask, MeasureTask, Word
from tritonaudit.progress import SILENT
from tritonaudit.suites.running import memory
from tritonaudit.suites.stage import NoGpu, Where, gpu_for
from tritonaudit.suites.subjects import subjects_of

_LIMIT = 900.0
_CACHES = {"TRITON_CACHE_DIR": "triton", "TORCHINDUCTOR_CACHE_DIR": "inductor", "TRITONAUDIT_CACHE": "tritonaudit"}


@dataclass(frozen=True)
class Cost:
    """What measuring so many pairs cost: the mean seconds of each phase, those of the whole, and what went wrong."""

    title: str
    pairs: int
    wall: float
    seconds: Mapping[str, float]
    ceilings: float
    wrong: tuple[str, ...]


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(
        prog="python bench/timing_cost", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=8, metavar="N")
    parser.add_argument("--seconds", type=float, default=30.0, metavar="S", help="for each pair [default: 30]")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="J", help="processes at once")
    parser.add_argument("--stage", action="store_true", help="only the measure stage, not the whole audit")
    arguments = parser.parse_args()
    try:
        print(f"{gpu_for(Where.GPU)}, {arguments.jobs} jobs, {at_once(arguments.jobs)} subjects at once", flush=True)
    except NoGpu as error:
        sys.exit(f"python bench/timing_cost: {error}")
    with tempfile.TemporaryDirectory() as folder:
        _costs(Path(folder), arguments.pairs, arguments.seconds, arguments.jobs)
        if not arguments.stage:
            _audits(Path(folder), arguments.pairs, arguments.seconds, arguments.jobs)


def _costs(folder: Path, number: int, seconds: float, jobs: int) -> None:
    costs: list[Cost] = []
    for name, count in (("one", 1), ("several", number)):
        files = pairs.written(folder / name, count)
        keys, problems, _ = subjects_of(files, jobs, True, SILENT)
        for problem in problems:
            print(f"{problem.path}: {problem.message}")
        os.environ.update({variable: str(folder / f"{name}-{part}") for variable, part in _CACHES.items()})
        tasks = [MeasureTask(*key, seconds) for key in keys]
        ceilings = GpuTask(folder / f"{name}-ceilings")
        costs += [_cost(f"{count}, {state}", tasks, ceilings, jobs) for state in ("cold", "warm")]
    _print(costs)


def _cost(title: str, tasks: Sequence[MeasureTask], ceilings: GpuTask, jobs: int) -> Cost:
    """What it takes to measure these, as the stage does it."""
    total: defaultdict[str, float] = defaultdict(float)
    reached = 0.0
    wrong: list[str] = []
    workers = at_once(jobs)

    def hear(task: object, entry: object) -> None:
        if isinstance(entry, Done) and isinstance(task, MeasureTask) and entry.row.status is not Status.PASS:
            wrong.append(f"{task.path.name} {entry.row.case.label}: {entry.row.status.value} {entry.row.reason}")

    began = time.perf_counter()
    for task, outcome in run_tasks(
        phases.measured,
        (ceilings, *tasks),
        workers=workers,
        limits=Limits(_LIMIT, memory(workers)),
        prepare=phases.become,
        hear=hear,
        hears=Word,
    ):
        if isinstance(outcome, Killed):
            wrong.append(f"{task}: {outcome.message}\n{outcome.log}")
        elif isinstance(task, GpuTask):
            reached = sum(seconds for phase, seconds in outcome.items() if phase != phases.IMPORTS)
        else:
            for phase, taken in outcome.items():
                total[phase] += taken
    wall = time.perf_counter() - began
    means = {phase: seconds / len(tasks) for phase, seconds in total.items()}
    return Cost(title, len(tasks), wall, means, reached, tuple(wrong))


def _print(costs: Sequence[Cost]) -> None:
    names = sorted({name for cost in costs for name in cost.seconds}, key=lambda name: -costs[0].seconds.get(name, 0.0))
    print(f"\n{'seconds for a pair':28}" + "".join(f"{cost.title:>12}" for cost in costs))
    for name in names:
        print(f"{name:28}" + "".join(f"{cost.seconds.get(name, 0.0):12.2f}" for cost in costs))
    exclusive = [sum(cost.seconds.get(name, 0.0) for name in phases.EXCLUSIVE) for cost in costs]
    print(f"{'with the GPU to itself':28}" + "".join(f"{seconds:12.2f}" for seconds in exclusive))
    print(f"{'what the GPU can reach, once':28}" + "".join(f"{cost.ceilings:12.2f}" for cost in costs))
    print(f"{'the stage, for all':28}" + "".join(f"{cost.wall:12.2f}" for cost in costs))
    print(f"{'the stage, for each':28}" + "".join(f"{cost.wall / cost.pairs:12.2f}" for cost in costs), flush=True)
    for cost in costs:
        for line in cost.wrong:
            print(f"{cost.title}: {line}", flush=True)


def _audits(folder: Path, number: int, seconds: float, jobs: int) -> None:
    """Whole audits with the command line, and their timing without the rest."""
    print()
    for name, count in (("one", 1), ("several", number)):
        for state in ("cold", "warm"):
            caches = {variable: str(folder / f"audit-{name}-{part}") for variable, part in _CACHES.items()}
            for only in ((), ("--only", "performance")) if state == "warm" else ((),):
                options = ("--device", "gpu", "--budget", f"{seconds:g}", "--jobs", str(jobs), *only)
                ran = run(tritonaudit("audit", folder / name, *options), limit=_LIMIT, variables=caches)
                what = "timing only" if only else "whole audit"
                reported = f"{ran.wall:.1f} s, {ran.wall / count:.1f} s for each, exit code {ran.code}"
                print(f"{what} of {count}, {state}: {reported}", flush=True)


if __name__ == "__main__":
    main()
