"""What KernelBench's own evaluation and gpucheck say of the pairs that `many` judges. It needs a GPU.

Each pair is a process, as both are published: KernelBench (the `src` of its repository) with five trials, gpucheck in a
test of the inputs as given, with five seeds, and of its own shapes where all that is given has one. A process that does
not end within a minute, or dies, finds fault. Printed are the verdicts by kind, and seconds each.
"""

from __future__ import annotations

import os
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from bench.farm import gpuchecked
from bench.farm.many import table
from bench.farm.templates import generated
from bench.kernelbench import peer
from bench.kernelbench.judging import RIGHT, UNDECIDED, WRONG

_VERDICTS = {RIGHT: "pass", WRONG: "fail", UNDECIDED: "error"}


def add_arguments(parser: ArgumentParser) -> None:
    """What the command line takes."""
    parser.add_argument("--subjects", type=int, default=200, metavar="N", help="[default: 200]")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), metavar="N", help="[default: cores]")
    parser.add_argument("--large", action="store_true", help="about a million elements in each tensor")
    parser.add_argument("--kernelbench", type=Path, metavar="DIR", help="the `src` of its repository")
    parser.add_argument("--gpucheck", type=Path, metavar="DIR", help="where its package is")


def run(given: Namespace) -> int:
    """Have each of them that is there judge all pairs."""
    with tempfile.TemporaryDirectory(prefix="peers-") as name:
        folder = Path(name)
        pairs = {str(pair.path): pair for pair in generated(folder, given.subjects, is_large=given.large)}

        def judge(title: str, verdict: Callable[[Path], str]) -> None:
            began = time.monotonic()
            with ThreadPoolExecutor(given.jobs) as threads:
                said = dict(zip(pairs, threads.map(verdict, map(Path, pairs)), strict=True))
            seconds = time.monotonic() - began
            print(f"== {title}: {len(pairs)} pairs in {seconds:.0f} s, {seconds / len(pairs):.2f} s each")
            print(table(pairs, said).replace(f"{folder}/", ""), flush=True)

        if given.kernelbench:
            judge("KernelBench", partial(_verdict, peer.__file__, given.kernelbench.resolve(), ()))
        if given.gpucheck:
            judge("gpucheck", partial(_verdict, gpuchecked.__file__, given.gpucheck.resolve(), (peer.MARK,)))
    return 0


def _verdict(script: str, package: Path, options: Sequence[str], path: Path) -> str:
    verdict, _, _ = peer.asked(Path(script), package, path, *options)
    return _VERDICTS[verdict]
