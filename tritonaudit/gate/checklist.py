"""What the gate of each stage asks, and what an answer is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tritonaudit.finding import Status

STAGES = (1, 2, 3)
"""A port goes from naive to basic optimisation to tuned; the gate of a stage asks what those before it ask, too."""


class Item(Enum):
    """Something that has to hold; the value is its stage, its name in data, and what a report calls it."""

    COMPILES = (1, "compiles", "compiles")
    MATCHES = (1, "matches", "matches the reference")
    GENUINE = (1, "genuine", "the kernels do the work")
    EDGES = (1, "edges", "edge cases hold")
    SHAPES = (1, "shapes", "all shapes hold")
    COALESCED = (2, "coalesced", "accesses are coalesced")
    POWERS_OF_2 = (2, "powers-of-2", "blocks are powers of 2")
    AUTOTUNED = (2, "autotuned", "autotuned")
    FASTER = (2, "faster", "faster than the result of stage 1")
    MEASURED = (3, "measured", "measured")
    COMPARED = (3, "compared", "compared with torch.compile")
    BANDWIDTH = (3, "bandwidth", "bandwidth analysed")
    NO_WAIT = (3, "no-wait", "no needless synchronisation")

    @property
    def stage(self) -> int:
        return self.value[0]

    @property
    def key(self) -> str:
        return self.value[1]

    @property
    def text(self) -> str:
        return self.value[2]


def asked(stage: int) -> tuple[Item, ...]:
    """What the gate of a stage asks, those of earlier stages first."""
    return tuple(item for item in Item if item.stage <= stage)


@dataclass(frozen=True)
class Answer:
    """Whether an item holds, and why that is said. `status` is PASS, FAIL, or NOT_RUN where it is unknown."""

    status: Status
    reason: str


def passed(reason: str) -> Answer:
    return Answer(Status.PASS, reason)


def failed(reason: str) -> Answer:
    return Answer(Status.FAIL, reason)


def not_run(reason: str) -> Answer:
    return Answer(Status.NOT_RUN, reason)


@dataclass(frozen=True)
class GateOfSubject:
    """The answers of a subject, in the order of the items."""

    path: str
    subject: str
    answers: tuple[tuple[Item, Answer], ...]

    @property
    def holds(self) -> bool:
        return all(answer.status is Status.PASS for _, answer in self.answers)

    def count(self, status: Status) -> int:
        """How many items came to that."""
        return sum(answer.status is status for _, answer in self.answers)
