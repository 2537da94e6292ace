"""Whether a process that calls `judge` again and again from threads keeps its memory, files and processes.

The figures are of the caller, whose workers are processes beside it. The slope is that of a line through the later
three quarters of the samples. The exit code is 1 where the caller's memory grows by more than 8 KiB a call, where it
has more files or processes at the end than after the first quarter (workers that are just being replaced excepted), or
where a process or a folder of its own is left when it has ended.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from bench.corpus import ROOT
from bench.processes import environment, marked

_MARK = "TRITONAUDIT_CALLED_JUDGE"
_SHARED = f"tritonaudit-{os.getuid()}"
"""Where all tritonaudits of a user wait for their turns."""
_MOST_GROWTH = 8 << 10
_REPLACED = 4
"""Of the processes, and the files that lead to them: a worker has a supervisor, and may have a child."""


def add_arguments(parser: ArgumentParser) -> None:
    """What the command line takes."""
    parser.add_argument("--calls", type=int, default=500, metavar="N", help="[default: 500]")
    parser.add_argument("--threads", type=int, default=8, metavar="N", help="[default: 8]")
    parser.add_argument("--budget", type=float, default=1.0, metavar="SECONDS", help="[default: 1]")


def run(given: Namespace) -> int:
    """Have it called, and say what it held."""
    with tempfile.TemporaryDirectory(prefix="calls-") as folder:
        environ = {**environment(), _MARK: folder, "TMPDIR": folder, "TRITONAUDIT_CACHE": f"{folder}/cache"}
        command = [sys.executable, "-m", "bench.farm.calling", str(given.calls), str(given.threads), str(given.budget)]
        samples: list[dict[str, Any]] = []
        with subprocess.Popen(command, cwd=ROOT, env=environ, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                samples.append(json.loads(line))
                print(_shown(samples[-1]), flush=True)
        left = marked(f"{_MARK}={folder}")
        folders = [path.name for path in Path(folder).iterdir() if path.name not in ("cache", _SHARED)]
    later = samples[len(samples) // 4 :]
    growth, _ = statistics.linear_regression([one["calls"] for one in later], [one["resident"] for one in later])
    seconds, cpu = (
        (later[-1][what] - later[0][what]) / (later[-1]["calls"] - later[0]["calls"]) for what in ("seconds", "cpu")
    )
    print(f"{seconds:.2f} s a call, {cpu:.2f} s of processors; memory grows by {growth / 1024:+.2f} KiB a call")
    print(f"left: processes {left or 'none'}, folders {folders or 'none'}; exit code {process.returncode}")
    first, last = later[0], later[-1]
    grows = any(last[what] > first[what] + _REPLACED * given.threads for what in ("files", "processes"))
    return int(process.returncode != 0 or growth > _MOST_GROWTH or grows or bool(left) or bool(folders))


def _shown(sample: dict[str, Any]) -> str:
    return (
        f"{sample['calls']:5} calls {sample['seconds']:6.0f} s: {sample['resident'] / 2**20:.1f} MiB,"
        f" {sample['files']} files, {sample['processes']} processes, {sample['threads']} threads"
    )
