"""A driver with places that lose jobs: each subject has one line, and that of one which ends nowhere says why."""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Iterator
from pathlib import Path

import pytest

from tritonaudit.config import Config
from tritonaudit.farm.driving import Driver
from tritonaudit.farm.events import Answered, Event, FarmError, Joined, Left
from tritonaudit.farm.job import Answer, Job
from tritonaudit.farm.scheduler import Place
from tritonaudit.report.schema import breach

FILES = [(f"{number}.py", f"{number:064x}") for number in range(20)]
DEADLY = "13.py"


class Mortal:
    """Places each of which dies of one subject, and is then there again; every third other is timed by a second job."""

    def __init__(self, places: int) -> None:
        self.waiting: deque[Event] = deque(Joined(Place(f"p{number}", 3, times=1)) for number in range(places))
        self.done: Counter[tuple[str, bytes]] = Counter()
        self.born = places

    def start(self, place: str, job: Job) -> None:
        if job.path == DEADLY:
            self.waiting.append(Left(place))
            self.waiting.append(Joined(Place(f"p{self.born}", 3, times=1)))
            self.born += 1
            return
        self.done[job.path, job.tried] += 1
        if int(job.path.removesuffix(".py")) % 3 == 0 and not job.tried:
            self.waiting.append(Answered(Answer(job.number, tried=b"right")))
        else:
            self.waiting.append(Answered(Answer(job.number, json.dumps(job.path), "pass")))

    def events(self, seconds: float | None = None) -> Iterator[Event]:
        if self.waiting:
            yield self.waiting.popleft()

    def close(self) -> None:
        self.waiting.clear()


def test_a_deadly_subject_is_given_up_and_the_others_have_their_lines(tmp_path: Path) -> None:
    places = Mortal(2)
    reported = {one.path: one for one in Driver(list(FILES), Config(root=tmp_path), places).lines()}
    assert set(reported) == {path for path, _ in FILES}
    assert {one.verdict for path, one in reported.items() if path != DEADLY} == {"pass"}
    line = json.loads(reported[DEADLY].line)
    assert breach(line, "line.schema.json") is None
    assert (line["verdict"], line["digest"]) == ("error", dict(FILES)[DEADLY])
    assert "3 times" in line["errors"][0]["message"]
    assert "died" in line["errors"][0]["message"]


def test_without_a_place_it_ends_with_an_error(tmp_path: Path) -> None:
    with pytest.raises(FarmError, match="no place"):
        list(Driver(list(FILES), Config(root=tmp_path), Mortal(0), patience=0.01).lines())
