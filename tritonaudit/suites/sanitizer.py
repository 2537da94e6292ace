"""A subject's calls under NVIDIA's compute-sanitizer, whose report becomes sightings. For workers with a GPU.

As a program (`python -m tritonaudit.suites.sanitizer FILE`) it makes the calls that the pickled `Calls` in FILE name.
"""

from __future__ import annotations

import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tritonaudit.capture.launch import KernelRef
from tritonaudit.subject.model import Case
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.outcome import CaseOutcome, Sighting

NAME = "compute-sanitizer"
SYMPTOMS = frozenset((Symptom.OUT_OF_BOUNDS,))
_MARK = "== tritonaudit: case "
_CACHING = {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}
"""Each tensor is an allocation of its own, so that what lies behind it belongs to no other."""
_ACCESS = re.compile(r"Invalid __global__ (?P<what>\w+) of size (?P<size>\d+) bytes?")
_AT = re.compile(r"at (?P<kernel>[\w.]+)(?:\(.*?\))?(?:\+0x[0-9a-f]+)?(?: in (?P<path>.+?):(?P<line>\d+))?$")
_THREAD = re.compile(r"by thread \((?P<thread>[\d,]+)\) in block \((?P<block>[\d,]+)\)")
_PLACE = re.compile(r"(?:and is|is) (?P<place>[\d,]+ bytes (?:after|before|inside).*)")


@dataclass(frozen=True)
class Calls:
    """Which cases of a subject to call."""

    path: Path
    subject: str
    cases: tuple[Case, ...]


def is_there() -> bool:
    """Whether the sanitizer is installed."""
    return shutil.which(NAME) is not None


def sanitized(calls: Calls, kernels: Sequence[KernelRef], seconds: float) -> list[CaseOutcome]:
    """What the sanitizer sees in the calls; `kernels` are those that the subject is known to launch."""
    with tempfile.NamedTemporaryFile(prefix="tritonaudit-", suffix=".calls") as file:
        file.write(pickle.dumps(calls))
        file.flush()
        command = [NAME, "--tool", "memcheck", "--print-limit", "50", sys.executable, "-m", __name__, file.name]
        environment = {**os.environ, **_CACHING, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        try:
            ran = subprocess.run(command, capture_output=True, text=True, timeout=seconds, env=environment, check=False)
            text, reason = ran.stdout, f"under {NAME} the case was not reached"
        except subprocess.TimeoutExpired as error:
            text = error.stdout.decode(errors="replace") if isinstance(error.stdout, bytes) else error.stdout or ""
            reason = f"{NAME} took longer than {seconds:.0f} s"
    return list(_outcomes(calls.cases, text, kernels, reason))


def _outcomes(cases: Sequence[Case], text: str, kernels: Sequence[KernelRef], reason: str) -> Iterator[CaseOutcome]:
    parts = text.split(_MARK)
    reported = {int(part.partition("\n")[0]): part for part in parts[1:]}
    for number, case in enumerate(cases):
        if number not in reported:
            yield CaseOutcome(case, frozenset(), unchecked=((Symptom.OUT_OF_BOUNDS, reason),))
        else:
            yield CaseOutcome(case, SYMPTOMS, tuple(dict.fromkeys(sightings(reported[number], kernels))))


def sightings(text: str, kernels: Sequence[KernelRef]) -> Iterator[Sighting]:
    """The accesses that a report of the sanitizer calls invalid, each place of the source once."""
    seen: set[tuple[str, str]] = set()
    lines = [line.removeprefix("=========").strip() for line in text.splitlines()]
    for number, line in enumerate(lines):
        access = _ACCESS.search(line)
        if access is None:
            continue
        about = lines[number + 1 : number + 6]
        at = next(filter(None, map(_AT.match, about)), None)
        if at is None or (at["kernel"], at["line"] or "") in seen:
            continue
        seen.add((at["kernel"], at["line"] or ""))
        kernel = next((one for one in kernels if one.name.rpartition(".")[2] == at["kernel"]), None)
        if kernel is None:
            continue
        place = (_path(at["path"], kernel), int(at["line"]), 1) if at["line"] else None
        thread = next(filter(None, map(_THREAD.search, about)), None)
        where = next(filter(None, map(_PLACE.search, about)), None)
        who = f" by program ({thread['block']})" if thread else ""
        beyond = f", {where['place']}" if where else ""
        what = _WORDS.get(access["what"], access["what"])
        said = f"{NAME}: out-of-bounds {what} of {access['size']} bytes{who}{beyond}"
        yield Sighting(Symptom.OUT_OF_BOUNDS, kernel, place, said)


_WORDS = {"read": "load", "write": "store"}


def _path(reported: str, kernel: KernelRef) -> str:
    """The file that the report means, which it may name without its folder."""
    return kernel.path if os.path.basename(reported) == os.path.basename(kernel.path) else reported


def main(file: str) -> None:
    """Make the calls, each after its mark."""
    import torch

    from tritonaudit.capture.task import loaded
    from tritonaudit.subject.inputs import run_subject

    calls: Calls = pickle.loads(Path(file).read_bytes())
    subject = loaded(calls.path)[calls.subject]
    for number, case in enumerate(calls.cases):
        print(f"{_MARK}{number}", flush=True)
        try:
            run_subject(subject, case)
            torch.cuda.synchronize()
        except Exception as error:
            print(f"{type(error).__name__}: {error}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
