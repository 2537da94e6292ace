"""Whether a farm that is killed again and again, and resumed, comes to the lines of one that nobody disturbs."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from pathlib import Path

from bench.hostile.subjects import HONEST, honest, hostile, write
from bench.processes import environment, marked, tritonaudit

_MARK = "TRITONAUDIT_KILLED_FARM"
"""A variable in the environment of what the bench starts, by which it knows what is left of that."""
_DEADLY = ("segfaults", "leaves")
_PATIENCE = 10.0
"""Seconds in which all processes of a killed farm must have ended."""


def add_arguments(parser: ArgumentParser) -> None:
    """What the command line takes."""
    parser.add_argument("--subjects", type=int, default=12, metavar="N", help="[default: 12]")
    parser.add_argument("--kills", type=int, default=10, metavar="N", help="[default: 10]")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="subjects at a time [default: 2]")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the moments [default: 1]")


def run(given: Namespace) -> int:
    """Kill, resume and compare; 1 where anything differs, or a process stays behind."""
    with tempfile.TemporaryDirectory(prefix="kills-") as name:
        folder = Path(name)
        write(folder / "project", subjects(given.subjects))
        expected, seconds = _undisturbed(folder, given.jobs)
        print(f"undisturbed: {len(expected)} lines in {seconds:.0f} s")
        faults = _killed(folder, given, expected, seconds)
    print("the lines are those of the undisturbed run" if not faults else f"faults: {faults}")
    return int(bool(faults))


def subjects(number: int) -> dict[str, str]:
    """Right and wrong ones in turn, and in the end those that end their process."""
    texts = [*honest().values()]
    made = {f"{number:03}": texts[number % len(HONEST)] for number in range(number - len(_DEADLY))}
    return {**made, **{f"deadly_{deed}": hostile(deed) for deed in _DEADLY}}


def _started(folder: Path, results: Path, jobs: int, *options: str) -> subprocess.Popen[bytes]:
    command = tritonaudit(
        "farm", ".", "--output", results, "--stages", "correctness,memory,stability,integrity", "--device", "cpu",
        "--cases", "0", "--budget", "120", "--seed", "7", "--jobs", str(jobs), *options,
    )  # fmt: skip
    return subprocess.Popen(
        list(map(str, command)),
        cwd=folder / "project",
        env={**environment(), "TRITONAUDIT_CACHE": f"{folder}/cache", _MARK: str(folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _undisturbed(folder: Path, jobs: int) -> tuple[Mapping[str, str], float]:
    began = time.monotonic()
    results = folder / "undisturbed.jsonl"
    _started(folder, results, jobs).wait()
    return _lines(results)[0], time.monotonic() - began


def _lines(results: Path) -> tuple[dict[str, str], bool]:
    """The whole lines by their paths, and whether one path has two."""
    texts = results.read_text().splitlines(keepends=True) if results.is_file() else []
    whole = [text for text in texts if text.endswith("\n")]
    found = {json.loads(text)["path"]: text for text in whole}
    return found, len(found) < len(whole)


def _killed(folder: Path, given: Namespace, expected: Mapping[str, str], seconds: float) -> list[str]:
    """Run it until it has been killed so often; each time that it ends by itself, it begins again without lines."""
    chance = random.Random(given.seed)
    results = folder / "results.jsonl"
    faults: list[str] = []
    kills = unions = 0
    while kills < given.kills or results.exists():
        process = _started(folder, results, given.jobs, "--resume")
        moment = chance.uniform(0, seconds) if kills < given.kills else None
        try:
            process.wait(moment)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
            faults += _compared(results, expected, f"kill {kills} at {moment:.1f} s")
        else:
            unions += 1
            faults += _compared(results, expected, f"union {unions}", is_whole=True)
            results.unlink()
        faults += _left(folder)
    print(f"{kills} kills, {unions} unions")
    return faults


def _compared(results: Path, expected: Mapping[str, str], when: str, *, is_whole: bool = False) -> list[str]:
    found, is_double = _lines(results)
    print(f"  {when}: {len(found)} lines", flush=True)
    faults = [f"{when}: {path} differs" for path, line in found.items() if expected.get(path) != line]
    faults += [f"{when}: a path has two lines"] if is_double else []
    return faults + ([f"{when}: lines are missing"] if is_whole and found.keys() != expected.keys() else [])


def _left(folder: Path) -> list[str]:
    deadline = time.monotonic() + _PATIENCE
    while left := [process for process in marked(f"{_MARK}={folder}") if process != os.getpid()]:
        if time.monotonic() > deadline:
            return [f"processes left: {left}"]
        time.sleep(0.1)
    return []
