"""Which wrappers of published packages run on the CPU engine without a fault, and which kernels they launch."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from bench.judge.executing import become_ready, executed, loaded, small_cases
from bench.judge.noted import Noted, noted
from bench.judge.packages import Package
from tritonaudit.data import NotData, decode, encode
from tritonaudit.execute.killed import Killed
from tritonaudit.execute.pool import Limits, run_tasks

_LIMITS = Limits(seconds=120, memory=6 << 30)
_SECONDS = 15.0


@dataclass(frozen=True)
class Call:
    """A call that returns, with no fault: of the subject of that name of a file, on the inputs of a case.

    `kernels` are file, name and line of each kernel that it launches, and `pairs` counts its launches.
    """

    spec: Path
    subject: str
    noted: Noted
    kernels: tuple[tuple[str, str, int], ...]
    pairs: int
    seconds: float

    def within(self, package: Package) -> Call:
        """As it is kept: its files by their places in the package and among its specs, wherever these lie."""
        kernels = tuple((_below(path, package.site), name, line) for path, name, line in self.kernels)
        return replace(self, spec=Path(self.spec.name), kernels=kernels)

    def of(self, package: Package) -> Call:
        """As it is made: its files where the package lies now."""
        kernels = tuple((str(package.site / path), name, line) for path, name, line in self.kernels)
        return replace(self, spec=package.specs / self.spec, kernels=kernels)


@dataclass(frozen=True)
class Kept:
    """What is kept of a file: its calls, each `within` the package."""

    spec: str
    calls: tuple[Call, ...]


def healthy_calls(package: Package, work: Path, most: int, jobs: int) -> list[Call]:
    """Those of at most so many of its files; what was found before is kept, and a killed run goes on."""
    kept = work / "calls" / f"{package.name}.jsonl"
    kept.parent.mkdir(parents=True, exist_ok=True)
    known = dict(_kept(kept))
    missing = [path for path in package.spec_files(most) if path.name not in known]
    began = time.monotonic()
    with kept.open("a", encoding="utf-8") as file:
        for spec, found in run_tasks(
            calls_of,
            missing,
            workers=jobs,
            limits=_LIMITS,
            prepare=become_ready,
            arguments=(package.site, work / "required"),
        ):
            calls = () if isinstance(found, Killed) else found
            known[spec.name] = [call.within(package) for call in calls]
            file.write(encode(Kept(spec.name, tuple(known[spec.name]))).decode() + "\n")
            file.flush()
    calls = [call.of(package) for path in package.spec_files(most) for call in known.get(path.name, [])]
    kernels = {kernel for call in calls for kernel in call.kernels}
    print(
        f"{package.name}: {len(calls)} calls, {len(kernels)} kernels, {time.monotonic() - began:.0f} s",
        file=sys.stderr,
        flush=True,
    )
    return calls


def calls_of(spec: Path) -> tuple[Call, ...]:
    """The healthy calls of a file's subjects; for worker processes."""
    return tuple(_calls_of(spec))


def _calls_of(spec: Path) -> Iterator[Call]:
    subjects, _ = loaded(spec)
    for subject in subjects:
        for case in small_cases(subject):
            began = time.monotonic()
            found = executed(subject, noted(case), _SECONDS)
            if found.is_healthy:
                refs = [one.launch.kernel for one in found.launches]
                kernels = dict.fromkeys((one.path, one.name, one.line) for one in refs)
                seconds = time.monotonic() - began
                yield Call(spec, subject.name, noted(case), tuple(kernels), len(refs), seconds)


def _below(path: str, folder: Path) -> str:
    """The path from the folder, where it lies there."""
    return str(Path(path).relative_to(folder)) if Path(path).is_relative_to(folder) else path


def _kept(path: Path) -> Iterator[tuple[str, list[Call]]]:
    """What a file holds, but for a last line that a kill has cut off."""
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        with suppress(NotData):
            kept = decode(Kept, line)
            yield kept.spec, list(kept.calls)
