"""`python bench/fidelity`: does the CPU engine compute what a GPU computes?

Real host code runs on the GPU, and every launch that it makes is recorded: its program, and its tensors before and
after. The engine executes the same programs on the same tensors, and what they leave is compared bit by bit; where that
differs, with what the errors lead to that were declared for each operation beforehand.

The exit code is 1 where a launch is unexplained, and 0 where there is no GPU to compare with.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.agreement.facts import Gpu
from bench.agreement.sides import Failed, run
from bench.corpus import ROOT
from bench.fidelity import opinions, tables
from bench.fidelity.comparing import FACTOR, GROUP
from bench.fidelity.jobs import Job, Ran, run_jobs, split
from bench.fidelity.judging import PERTURBED, become_judge, judge_file, killed
from bench.fidelity.recording import load
from bench.fidelity.rows import Row, Verdict, write
from tritonaudit.execute.killed import Killed
from tritonaudit.execute.pool import Limits, run_tasks

_IDLE = 150.0  # more than torch takes to be imported by all workers at once; a test that compiles for so long hangs
_RULE = f"""Shares are of the launches that are simulated, which the engine computes as an H100 does (`as_gpu`).
Exact: every byte of every tensor, any NaN for any other.
Within bounds: each element is no farther from the engine's than {FACTOR:g} times the largest deviation that it, or the
{GROUP} elements nearest to it in magnitude, show in up to {PERTURBED} executions with errors; or it is the neighbour,
where there are any deviations. With errors: every inexact result is moved by all of its declared error
(`tritonaudit/simulator/numerics/bounds.py`), sums are added in another order, products are fused with sums or not.
Explained: the engine finds a fault that decides the result, or another order of the programs gives another result, or
the GPU does not repeat its own, or somebody read why and wrote it down (`bench/fidelity/explanations.tsv`).
"""
_MOST_KEPT = 15 << 20  # bytes
_LIMITS = Limits(seconds=60, memory=8 << 30)


def main() -> int:
    """Record, judge, print."""
    arguments = _arguments()
    if arguments.again is not None:
        return _judge_again(arguments)
    gpu = Gpu(**json.loads(run([sys.executable, "-m", "bench.agreement.gpu", "describe"], {})))
    if gpu.not_run:
        print(f"NOT RUN: {gpu.not_run}")
        return 0
    print(f"# What the CPU engine computes, and what an {gpu.name} computes\n")
    print(f"Triton {gpu.triton}, torch {gpu.torch}\n")
    with tempfile.TemporaryDirectory() as scratch:
        rows = compared(arguments, Path(scratch))
        try:
            print(opinions.table(Path(scratch)))
        except Failed as failure:
            print(failure, file=sys.stderr)
            return 2
    return int(any(row.verdict is Verdict.UNEXPLAINED for row in rows))


def _judge_again(arguments: argparse.Namespace) -> int:
    """Judge what an earlier run has kept, where there need be no GPU."""
    with tempfile.TemporaryDirectory() as scratch:
        with zipfile.ZipFile(arguments.again) as archive:
            archive.extractall(scratch)
        rows, left = _judged(Path(scratch), arguments.workers, time.monotonic() + arguments.seconds)
        _show(rows, left, [])
    return int(any(row.verdict is Verdict.UNEXPLAINED for row in rows))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python bench/fidelity", description=(__doc__ or "").partition("\n")[0])
    folder: dict[str, Any] = {"type": Path, "action": "append", "default": [], "metavar": "DIR"}
    parser.add_argument(
        "--tests", **folder, help="a folder with tests for pytest, and maybe with their package in src/"
    )
    parser.add_argument("--scripts", **folder, help="a folder with files that test their own kernels when they are run")
    parser.add_argument("--output", type=Path, metavar="DIR", help="write rows.tsv and launches.zip there")
    parser.add_argument(
        "--again", type=Path, metavar="ZIP", help="judge the launches of an earlier launches.zip; no GPU"
    )
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)), metavar="N")
    parser.add_argument("--cases", type=int, default=32, metavar="N", help="of each test function, at most")
    parser.add_argument("--seconds", type=float, default=480.0, metavar="N", help="for all, half of it on the GPU")
    return parser.parse_args()


def compared(arguments: argparse.Namespace, scratch: Path) -> list[Row]:
    """All launches of all sources, printed and written as they come to their verdicts."""
    started = time.monotonic()
    ran = run_jobs(_jobs(arguments, scratch), arguments.workers, started + arguments.seconds / 2, _IDLE)
    _tell(f"recorded {len(list(scratch.glob('*.pt')))} launches in {time.monotonic() - started:.0f} s")
    rows, left = _judged(scratch, arguments.workers, started + arguments.seconds)
    _tell(f"judged {len(rows)} launches by {time.monotonic() - started:.0f} s")
    if arguments.output is not None:
        arguments.output.mkdir(parents=True, exist_ok=True)
        write(arguments.output / "rows.tsv", rows)
        _keep(rows, scratch, arguments.output / "launches.zip")
    _show(rows, left, ran)
    return rows


def _show(rows: Sequence[Row], left: int, ran: Sequence[Ran]) -> None:
    print(tables.shares(rows))
    print(_RULE)
    if left:
        print(f"{left} further launches were recorded; the time was over before they were judged.\n")
    print(_sources(ran))
    print(tables.operations(rows))
    print(tables.others(rows))


def _keep(rows: Sequence[Row], folder: Path, archive: Path) -> None:
    """Pack recorded launches that are not exact, as many as there is room for: a small one of each kernel first."""
    sizes = {row: (folder / row.file).stat().st_size for row in rows if row.verdict is not Verdict.EXACT}
    kernels = Counter[object]()
    ordered = []
    for row in sorted(sizes, key=sizes.__getitem__):
        kernels[row.verdict, row.place] += 1
        ordered.append((kernels[row.verdict, row.place], -list(Verdict).index(row.verdict), row.file))
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as stream:
        for _, _, name in sorted(ordered):
            if archive.stat().st_size < _MOST_KEPT - (folder / name).stat().st_size:
                stream.write(folder / name, name)


def _jobs(arguments: argparse.Namespace, scratch: Path) -> list[Job]:
    """The shares of all sources in turns, so that none comes last."""
    sources = [("tests", folder) for folder in arguments.tests]
    sources += [("scripts", folder) for folder in arguments.scripts]
    jobs = [
        Job(folder.name, kind, str(folder.resolve()), str(scratch), most=arguments.cases) for kind, folder in sources
    ]
    jobs.append(Job("subjects", "subjects", str(ROOT), str(scratch)))
    shares = [split(job, arguments.workers if job.kind != "subjects" else 2) for job in jobs]
    turns = max(map(len, shares))
    return [job for number in range(turns) for share in shares for job in share[number : number + 1]]


def _judged(folder: Path, workers: int, ends: float) -> tuple[list[Row], int]:
    """The rows of recorded launches, by source and test, and how many there was no time for."""
    paths = sorted(folder.glob("*.pt"))
    random.Random(0).shuffle(paths)  # where the time does not suffice, it has been for some of each source
    rows: list[Row] = []
    for path, row in run_tasks(judge_file, paths, workers=workers, limits=_LIMITS, prepare=become_judge):
        rows.append(replace(killed(load(path), row), file=path.name) if isinstance(row, Killed) else row)
        if time.monotonic() > ends:
            break
    return sorted(rows, key=lambda row: (row.source, row.unit, row.kernel)), len(paths) - len(rows)


def _sources(ran: Sequence[Ran]) -> str:
    """What each source ran, and what of it was not recorded."""
    lines = []
    for source in dict.fromkeys(one.source for one in ran):
        shares = [one for one in ran if one.source == source]
        left_out = sum((one.left_out for one in shares), Counter[str]())
        broken = [unit for one in shares for unit in one.broken]
        words = [f"{sum(one.begun for one in shares)} tests, scripts or cases begun"]
        words += [f"{count} launches left out: {reason}" for reason, count in sorted(left_out.items())]
        words += [f"ended the process: {', '.join(broken)}"] if broken else []
        words += [one.failure for one in shares if one.failure]
        lines.append(f"* {source}: {'; '.join(words)}")
    return "\n".join(lines) + "\n"


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
