"""What running a subject showed of its kernels. Imports neither torch nor triton, so that rules may read it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from tritonaudit.finding import Elsewhere, Span, Witness


class Symptom(Enum):
    """What can be seen to be wrong when a subject runs; the value is what a report calls it."""

    WRONG_RESULT = "wrong result"
    NEW_NON_FINITE = "NaN or Inf where the reference has none"
    NONDETERMINISTIC = "another result when run again"
    WRONG_AT_BOUNDARY = "wrong only at the boundary"
    INPUT_CHANGED = "input changed"
    NOT_WRITTEN = "output not written"
    CRASH = "crash"
    HANG = "hang"
    OUT_OF_BOUNDS = "access out of bounds"
    RACE = "race between programs"
    UNINITIALISED = "read of what nobody wrote"
    UNDEFINED_LANE = "undefined lane used"
    COLLIDING_LANES = "colliding lanes"
    OVERFLOW = "integer overflow in an address"
    DIVISION_BY_ZERO = "integer division by zero"
    ASSERTION = "assertion failed"
    UNSTABLE = "unstable"
    NO_KERNEL = "no kernel launched"
    TORCH_WORK = "torch does the work"
    STALE = "stale result"
    ALIASED = "aliased output"
    NO_TENSOR = "output is no plain tensor"
    THREAD = "thread or stream beside the call"
    PATCHED = "checking functions replaced"
    WEAK_REFERENCE = "reference too weak"
    BROKEN_RELATION = "results that contradict each other"


WATCHED = frozenset(
    (
        Symptom.OUT_OF_BOUNDS,
        Symptom.RACE,
        Symptom.UNINITIALISED,
        Symptom.UNDEFINED_LANE,
        Symptom.COLLIDING_LANES,
        Symptom.OVERFLOW,
        Symptom.DIVISION_BY_ZERO,
        Symptom.ASSERTION,
        Symptom.HANG,
    )
)
"""What only the CPU engine looks for, which watches every access to memory; a hang shows anywhere."""
NOT_COMPILED = "the kernel does not compile"
"""What a crash's text begins with where the compiler rejects the kernel."""
MASKED_ALONE = "where only one of the tensors has a block of -inf"
"""What the text ends in of what is seen only there: an ordinary input, if it is a mask, and an odd one if not."""
NEAR_THE_LARGEST = "where numbers are near the largest of float16"
"""The same of results that are within its range, though few callers come so near to its end."""
SELDOM = (MASKED_ALONE, NEAR_THE_LARGEST)
CORE = "all that has to be tried"
"""What the check is called that is incomplete where a pass of the others would rest on too little."""
CROSS_CHECK = "agrees with TRITON_INTERPRET=1"
"""What the check is called that says nothing of a kernel: no verdict depends on it."""


@dataclass(frozen=True)
class Seen:
    """A symptom at a place of the kernel, over all cases that show it.

    `text` says what was seen in the case of the witness. `is_certain` is False where that may be harmless: an error
    within the widest bounds, an order of programs that no GPU may ever take. `related` are other places of the
    kernel's file that have to do with it, and how; `way` those through which execution comes to it, from the launch on.
    """

    symptom: Symptom
    span: Span
    cases: tuple[str, ...]
    text: str
    is_certain: bool = True
    witness: Witness | None = None
    related: tuple[tuple[Span, str], ...] = ()
    way: tuple[tuple[Span | Elsewhere, str], ...] = ()


@dataclass(frozen=True)
class RunKernel:
    """All that running one subject showed of one kernel. `span` is that of its name; `cases` were run."""

    path: str
    name: str
    span: Span
    subject: str
    cases: int
    seen: tuple[Seen, ...]

    def of(self, *symptoms: Symptom) -> tuple[Seen, ...]:
        """What was seen of these symptoms."""
        return tuple(one for one in self.seen if one.symptom in symptoms)

    def is_explained(self, seen: Seen, *causes: Symptom) -> bool:
        """Whether one of these shows for certain in every case that shows this, wherever in the kernel."""
        return any(one.is_certain and set(seen.cases) <= set(one.cases) for one in self.of(*causes))

    def is_explained_there(self, seen: Seen, *causes: Symptom) -> bool:
        """The same, at the place where this is seen."""
        there = tuple(one for one in self.seen if one.span == seen.span)
        return replace(self, seen=there).is_explained(seen, *causes)

    def has_known_cause(self, seen: Seen) -> bool:
        """Whether a wrong result comes of what other rules speak of: a program that waits, or how it is stored."""
        return self.is_explained(seen, Symptom.HANG) or self.is_explained_there(
            seen, Symptom.NOT_WRITTEN, Symptom.UNINITIALISED, Symptom.RACE, Symptom.COLLIDING_LANES
        )

    def is_at_boundary(self, span: Span) -> bool:
        """Whether most of the cases that are wrong at this place are so at the boundary alone."""
        wrong = [one for one in self.of(Symptom.WRONG_RESULT, Symptom.WRONG_AT_BOUNDARY) if one.span == span]
        sure = [one for one in wrong if one.is_certain] or wrong
        boundary = sum(len(one.cases) for one in sure if one.symptom is Symptom.WRONG_AT_BOUNDARY)
        return 2 * boundary > sum(len(one.cases) for one in sure)
