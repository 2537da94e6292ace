"""Whether a farm of thousands of pairs, of which it is known what they are, comes to the verdicts that are known.

The pairs are those of `templates.py`. Printed are the verdicts by kind, those that are not as known, seconds for each
subject and GPU, how long the beginning and the end take, when few go on, and for how much of the time something was
timed on each GPU, and had it to itself. Lines are kept in --output as they come, and those that it has are not made
again. The exit code is 1 where a verdict is not as known.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import tempfile
import threading
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.corpus import ROOT
from bench.farm.templates import Generated, Kind, generated
from tritonaudit.audit import PERFORMANCE, RUN_PARTS, AuditRequest
from tritonaudit.config import Config
from tritonaudit.execute.turns import turns_folder
from tritonaudit.farm.driving import Driver
from tritonaudit.farm.events import Answered, Event, Joined
from tritonaudit.farm.job import Asked, Job
from tritonaudit.farm.local import LocalPlaces, gpus

_LOOK_SECONDS = 0.05
_RIGHT, _NOT_RIGHT = ("pass", "warn"), ("fail", "error")


def add_arguments(parser: ArgumentParser) -> None:
    """What the command line takes."""
    parser.add_argument("--subjects", type=int, default=2000, metavar="N", help="[default: 2000]")
    parser.add_argument("--device", choices=("cpu", "gpu"), default="gpu", help="[default: gpu]")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), metavar="N", help="[default: cores]")
    parser.add_argument("--budget", type=float, default=1.0, metavar="SECONDS", help="[default: 1]")
    parser.add_argument("--large", action="store_true", help="about a million elements in each tensor")
    parser.add_argument("--timed", action="store_true", help="time what is right, too, which needs a GPU")
    parser.add_argument("--output", type=Path, metavar="FILE")


def run(given: Namespace) -> int:
    """Audit them all, and compare."""
    with tempfile.TemporaryDirectory(prefix="many-") as name:
        project = Path(name, "project")
        pairs = generated(project, given.subjects, is_large=given.large)
        known = {str(pair.path.relative_to(project)): pair for pair in pairs}
        os.environ["PYTHONPATH"] = os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", "")))
        output = given.output.absolute() if given.output else Path(name, "lines.jsonl")
        os.chdir(project)
        parts = RUN_PARTS | ({PERFORMANCE} if given.timed else set())
        asked = Asked(Config(root=project), AuditRequest(parts, given.budget, 1, given.device, seed=7))
        lines = {path: line for path, line in _kept(output).items() if path in known}
        missing = [path for path in known if path not in lines]
        places = _Watched(asked, given.jobs)
        began = time.monotonic()
        came: list[float] = []
        with output.open("a", encoding="utf-8") as file, _Taken() as taken:
            for path, line in _lines(missing, asked, places):
                came.append(time.monotonic() - began)
                lines[path] = line
                file.write(line)
                file.flush()
        seconds = time.monotonic() - began
        os.chdir(ROOT)
    used = max(1, places.gpus)
    print(f"{len(missing)} subjects in {seconds:.0f} s: {used * seconds / max(1, len(missing)):.2f} s for each and GPU")
    for share in (0.1, 0.5, 0.9) if came else ():
        print(f"{share:.0%} of them within {came[int(len(came) * share)]:.0f} s")
    if given.timed:
        whole = f"of {used} × {seconds:.0f} s"
        print(f"timing slots busy: {places.busy / (used * seconds):.0%} {whole}; alone on the GPU: {taken.share:.0%}")
    verdicts = {path: json.loads(line)["verdict"] for path, line in lines.items()}
    print(table(known, verdicts))
    return int(not all(is_as_known(pair, verdicts[path]) for path, pair in known.items()))


@dataclass
class _Watched(LocalPlaces):
    """Places of this machine, of which it is known for how many seconds in all each timed something."""

    asked: Asked
    jobs: int
    gpus: int = 0
    busy: float = 0.0
    _timed: dict[str, set[int]] = field(default_factory=dict)
    _since: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__(self.asked, self.jobs)

    def start(self, place: str, job: Job) -> None:
        if job.tried:
            if not (timed := self._timed.setdefault(place, set())):
                self._since[place] = time.monotonic()
            timed.add(job.number)
        super().start(place, job)

    def events(self, seconds: float | None = None) -> Iterator[Event]:
        for event in super().events(seconds):
            if isinstance(event, Joined):
                self.gpus += bool(event.place.times)
            elif isinstance(event, Answered):
                self._end(event.answer.number)
            yield event

    def _end(self, number: int) -> None:
        for place, timed in self._timed.items():
            if number in timed:
                timed.remove(number)
                self.busy += 0.0 if timed else time.monotonic() - self._since.pop(place)


class _Taken:
    """For which share of the time some process has a GPU of this machine to itself, as the file shows that it locks."""

    def __init__(self) -> None:
        self._is_over = threading.Event()
        self._looks = self._found = 0
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> _Taken:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    @property
    def share(self) -> float:
        return self._found / max(1, self._looks)

    def _look(self) -> None:
        folder = turns_folder()
        rooms = [] if folder is None else [folder / f"gpu-{gpu or 0}-room" for gpu in gpus()]
        while rooms and not self._is_over.wait(_LOOK_SECONDS):
            self._looks += len(rooms)
            self._found += sum(map(_is_taken, rooms))


def _is_taken(room: Path) -> bool:
    if not room.exists():
        return False
    with room.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _lines(paths: Sequence[str], asked: Asked, places: LocalPlaces) -> Iterator[tuple[str, str]]:
    files = [(path, hashlib.sha256(Path(path).read_bytes()).hexdigest()) for path in paths]
    try:
        for one in Driver(files, asked.config, places).lines():
            yield one.path, one.line
    finally:
        places.close()


def _kept(output: Path) -> dict[str, str]:
    if not output.is_file():
        return {}
    return {json.loads(line)["path"]: line for line in output.read_text(encoding="utf-8").splitlines()}


def is_as_known(pair: Generated, verdict: str) -> bool:
    """What is right passes, warned of or not; of all else it is said that it is not right."""
    return verdict in (_RIGHT if pair.kind.is_right else _NOT_RIGHT)


def table(known: Mapping[str, Generated], verdicts: Mapping[str, str]) -> str:
    """A line for each kind, and one for each pair of which another verdict is known."""
    lines = ["| pairs | number | verdicts | as known |", "|---|---|---|---|"]
    for kind in Kind:
        alike = {path: pair for path, pair in known.items() if pair.kind is kind}
        said = Counter(verdicts[path] for path in alike)
        right = sum(is_as_known(pair, verdicts[path]) for path, pair in alike.items())
        shown = ", ".join(f"{number} {verdict}" for verdict, number in said.most_common())
        deeds = len({pair.deed for pair in alike.values()})
        lines.append(f"| {kind.value}, in {deeds} ways | {len(alike)} | {shown} | {right} |")
    others = [path for path, pair in known.items() if not is_as_known(pair, verdicts[path])]
    lines += ["", f"{len(known) - len(others)} of {len(known)} verdicts are as known"]
    lines += [f"{path}: {known[path].deed or 'right'}: {verdicts[path]}" for path in others]
    return "\n".join(lines)
