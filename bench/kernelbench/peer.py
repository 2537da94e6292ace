"""KernelBench's own evaluation of the same files: its published code, taken from a folder, each file a process."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.kernelbench.files import File
from bench.kernelbench.judging import RIGHT, UNDECIDED, WRONG, Judged
from tritonaudit.subject.find import reference_of

TRIALS = 5
_SECONDS = 60.0
MARK = "== verdict: "
_FOR_PROMPTS = {"openai": "OpenAI", "litellm": "completion", "dotenv": "load_dotenv"}
"""Packages that its evaluation imports and does not use: they ask models for kernels."""


def evaluated(written: Mapping[Path, File], folder: Path, *, is_timed: bool, jobs: int) -> list[Judged]:
    """What KernelBench, whose sources are in the folder, says of each file; timed ones one after the other."""
    with ThreadPoolExecutor(1 if is_timed else jobs) as threads:
        done = threads.map(lambda path: _evaluated(path, folder, is_timed=is_timed), written)
        return [_judged(file, *said) for file, said in zip(written.values(), done, strict=True)]


def _judged(file: File, verdict: str, seconds: float, reason: str) -> Judged:
    fault = file.fault.name if file.fault is not None else ""
    return Judged(file.name, fault, verdict, ("KernelBench",) if verdict == WRONG else (), seconds, reason)


def _evaluated(path: Path, folder: Path, *, is_timed: bool) -> tuple[str, float, str]:
    return asked(Path(__file__), folder, path, *(["--timed"] if is_timed else []))


def asked(script: Path, folder: Path, path: Path, *options: str) -> tuple[str, float, str]:
    """What a process of this script says of a file, with a folder on its path: the verdict, its seconds, and why."""
    began = time.monotonic()
    command = [sys.executable, str(script), str(path), *options]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(folder), os.environ.get("PYTHONPATH", "")))}
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, env=environment, check=False)
    except subprocess.TimeoutExpired:
        return UNDECIDED, time.monotonic() - began, f"took longer than {_SECONDS:.0f} s"
    seconds = time.monotonic() - began
    said = [line.removeprefix(MARK) for line in ran.stdout.splitlines() if line.startswith(MARK)]
    if not said:
        last = (ran.stderr.strip().splitlines() or [""])[-1]
        return UNDECIDED, seconds, f"exit code {ran.returncode}: {last}"
    is_right = json.loads(said[-1])
    return (RIGHT if is_right else WRONG), seconds, ""


def main(arguments: Sequence[str] | None = None) -> None:
    """Evaluate one file, with KernelBench on the path, and print what that came to."""
    parser = argparse.ArgumentParser()
    parser.add_argument("path", type=Path)
    parser.add_argument("--timed", action="store_true")
    given = parser.parse_args(arguments)
    import torch

    for name, needed in _FOR_PROMPTS.items():
        _stand_in(name, needed)
    from kernelbench.eval import eval_kernel_against_ref

    text = given.path.read_text(encoding="utf-8")
    beside = reference_of(given.path)
    whole = text if beside is None else beside.read_text(encoding="utf-8")
    reference = whole.partition("@triton.jit")[0]  # it executes this without a file, which no kernel can do without
    result = eval_kernel_against_ref(
        reference,
        text,
        num_correct_trials=TRIALS,
        measure_performance=given.timed,
        num_perf_trials=100,
        device=torch.device("cuda:0"),
        backend="triton",
    )
    print(MARK + json.dumps(bool(result is not None and result.compiled and result.correctness)))


def _stand_in(name: str, needed: str) -> None:
    """An empty module for a package that is not installed."""
    if find_spec(name) is None:
        sys.modules[name] = ModuleType(name)
        setattr(sys.modules[name], needed, lambda *_, **__: None)


if __name__ == "__main__":
    main()
