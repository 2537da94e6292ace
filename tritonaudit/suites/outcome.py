"""What trying one case came to: plain data that goes from a worker to the report. Neither torch nor triton."""

from __future__ import annotations

from dataclasses import dataclass

from tritonaudit.capture.launch import KernelRef
from tritonaudit.subject.model import Case
from tritonaudit.suites.error_map import ErrorMap
from tritonaudit.suites.facts import Symptom

Place = tuple[str, int, int]
"""File (absolute), line and column, as the compiler counts them."""

Said = tuple[Symptom, str, bool]
"""What is wrong, in words, and whether that is certain."""

SightingKey = tuple[Symptom, KernelRef, Place | None]


@dataclass(frozen=True)
class Simplest:
    """The simplest case that was found to show something, and what was seen in it."""

    case: Case
    text: str


@dataclass(frozen=True)
class Sighting:
    """A symptom that one case shows: of which kernel, at which place of it (None: its `def`), and what was seen.

    Where no kernel is to blame, `kernel` is the wrapper. `is_certain` is False where it may be harmless. `related` are
    other places that have to do with it, and how. With a `question` it is no defect before somebody answers that: what
    was guessed of the inputs may be to blame. `launch` is where the kernel was launched, `calls` are those through
    which execution comes from the kernel to the place, as far as these are known.
    """

    symptom: Symptom
    kernel: KernelRef
    place: Place | None
    text: str
    is_certain: bool = True
    simplest: Simplest | None = None
    related: tuple[tuple[Place, str], ...] = ()
    launch: tuple[str, int] | None = None
    calls: tuple[Place, ...] = ()
    question: str = ""

    @property
    def key(self) -> SightingKey:
        """What makes two sightings one defect."""
        return self.symptom, self.kernel, self.place


@dataclass(frozen=True)
class Closeness:
    """How close the results of a case are to the reference, in the worst of them.

    `ratio` is the error over its budget: up to 1 it passes. `strict` and `loose` are the verdicts of today's
    convention, 1e-5 and 1e-3.
    """

    max_error: float
    ratio: float
    strict: bool
    loose: bool


@dataclass(frozen=True)
class CaseOutcome:
    """What trying one case of a subject came to.

    `checked` are the symptoms that were looked for; `unchecked` says of others why they were not. `blocks` are
    the sizes of the blocks that launches used, `launches` how many there were, `kernels` those that were launched, and
    `configs` what autotuners chose.
    `errors` says of each output that is wrong where it is so. `is_refused` where the wrapper itself says that it does
    not take the case, or the reference cannot do it either, or has no number there to compare with. `unsettled` was
    seen at other sizes than given, and nobody knows whether it is there as given, too. `asks_multiprocessors` where
    host code has asked how many there are. `operators` are those of torch that computed. `is_late` where all that is
    known is that it did not end in its time. `are_alike` where no result has two different numbers: it may be right by
    chance.
    """

    case: Case
    checked: frozenset[Symptom]
    sightings: tuple[Sighting, ...] = ()
    unchecked: tuple[tuple[Symptom, str], ...] = ()
    closeness: Closeness | None = None
    blocks: frozenset[int] = frozenset()
    launches: int = 0
    kernels: tuple[KernelRef, ...] = ()
    configs: tuple[str, ...] = ()
    seconds: float = 0.0
    errors: tuple[ErrorMap, ...] = ()
    is_refused: bool = False
    unsettled: frozenset[Symptom] = frozenset()
    asks_multiprocessors: bool = False
    is_late: bool = False
    operators: frozenset[str] = frozenset()
    are_alike: bool = False

    @property
    def way(self) -> tuple[frozenset[KernelRef], frozenset[str]]:
        """By which kernels and operators of torch it was computed."""
        return frozenset(self.kernels), self.operators
