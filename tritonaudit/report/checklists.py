"""The checklists of an audit as data: what each item asks, and which rules and checks answer it.

An item whose answer no rule or check knows says why, and is never answered otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tritonaudit.measure.checks import Check
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.stability import HARDSHIPS


@dataclass(frozen=True)
class Item:
    """Something that is so or not.

    It is not so once a rule of `rules` (codes) finds something, or a check of `checks` (names of outcomes) fails; it
    is so when all of them were done and found nothing. A `flag` is the reverse: findings say that it is so.
    `unanswered` says why nothing can answer it.
    """

    text: str
    rules: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    flag: bool = False
    unanswered: str = ""


@dataclass(frozen=True)
class Done:
    """Something that an audit does, or has, where it comes to a verdict on `check`."""

    text: str
    check: str


@dataclass(frozen=True)
class Measured:
    """Something that the measure stage answers: by findings of `rules`, else where its check came to a verdict.

    A `flag` is so where there are such findings; anything else is not so.
    """

    text: str
    check: str
    rules: tuple[str, ...] = ()
    flag: bool = False


class Axis(Enum):
    """What the cases of a subject differ in; the value is what a report calls it."""

    SIZE = "size"
    BLOCK = "size next to a block size B"
    FILL = "fill"
    BATCH = "batch"
    LAYOUT = "layout"
    DTYPE = "dtype"


@dataclass(frozen=True)
class Value:
    """A value that some case of each subject should have.

    Of BLOCK, `value` is the pair (factor, offset) of a size factor * B + offset. Of DTYPE it is None: the subject names
    the dtypes.
    """

    text: str
    axis: Axis
    value: int | str | tuple[int, int] | None = None


@dataclass(frozen=True)
class Convention:
    """A verdict of today's convention, `strict` (1e-5) or `loose` (1e-3), which is shown and decides nothing."""

    text: str
    name: str


Entry = Item | Done | Value | Convention | Measured


@dataclass(frozen=True)
class Checklist:
    """Entries under a heading, after the part of the audit that they belong to."""

    title: str
    entries: tuple[Entry, ...]


def stability(name: str) -> str:
    """What the check of a hardship is called."""
    assert name in {hardship.name for hardship in HARDSHIPS}
    return f"stability: {name}"


def _named(*names: str) -> tuple[str, ...]:
    return tuple(map(stability, names))


_OVERFLOW = _named("exp overflow", "exp underflow")
_PRODUCTS = _named("product overflow", "small products")
_GUARDS = _named("rows of zeros", "rows wholly masked")
_MASKED = _named("rows wholly masked", "masked at the beginning of rows", "masked at the end of rows")
_ONLINE = _named("exp overflow", "large before small", "small before large")
_CANCELLATION = _named("cancellation", "cancellation in 16 bits")
_ALTERNATING = _named("alternating sums", "alternating sums in 16 bits")

_NO_RULE = "no rule reads it yet"
_NO_TRAFFIC = "loads and stores are not counted, and traffic is measured only on a GPU"

CORRECTNESS_INPUTS = Checklist(
    "1. Correctness: inputs",
    (
        *(Value(f"size {size}", Axis.SIZE, size) for size in (1, 64, 4096, 1048576, 1000)),
        Value("size B-1", Axis.BLOCK, (1, -1)),
        Value("size B", Axis.BLOCK, (1, 0)),
        Value("size B+1", Axis.BLOCK, (1, 1)),
        Value("size 2B+3", Axis.BLOCK, (2, 3)),
        Value("size 0 (empty)", Axis.SIZE, 0),
        *(Value(f"fill {fill}", Axis.FILL, fill) for fill in ("zeros", "ones", "1e6", "1e-6", "-1")),
        Value("fill of alternating signs", Axis.FILL, "alternating"),
        *(Value(f"fill {fill}", Axis.FILL, fill) for fill in ("1e38", "1e-38", "inf", "nan")),
        *(Value(f"batch {batch}", Axis.BATCH, batch) for batch in (1, 7, 256)),
        Value("layout contiguous", Axis.LAYOUT, "contiguous"),
        Value("layout transposed", Axis.LAYOUT, "transposed"),
        Value("layout expanded (stride 0)", Axis.LAYOUT, "expanded"),
        Value("layout sliced with an offset", Axis.LAYOUT, "offset"),
        Value("the dtypes that the subject names", Axis.DTYPE),
    ),
)

CORRECTNESS_VERDICTS = Checklist(
    "1. Correctness: verdicts and red flags",
    (
        Done("judged by an fp64 reference and PyTorch's own error", Symptom.WRONG_RESULT.value),
        Convention("within the strict 1e-5", "strict"),
        Convention("within the loose 1e-3", "loose"),
        Item("red flag: error above the budget", checks=(Symptom.WRONG_RESULT.value,), flag=True),
        Item("red flag: NaN or Inf where the reference has none", checks=(Symptom.NEW_NON_FINITE.value,), flag=True),
        Item(
            "red flag: a different result on a repeated run (race)",
            checks=(Symptom.NONDETERMINISTIC.value, Symptom.RACE.value),
            flag=True,
        ),
        Item(
            "red flag: boundary elements treated differently from PyTorch",
            checks=(Symptom.WRONG_AT_BOUNDARY.value,),
            flag=True,
        ),
        Item("red flag: an input changed in place", checks=(Symptom.INPUT_CHANGED.value,), flag=True),
        Item("red flag: an output element never written", checks=(Symptom.NOT_WRITTEN.value,), flag=True),
        Item(
            "red flag: an access out of bounds",
            rules=("TAM101", "TAM103"),
            checks=(Symptom.OUT_OF_BOUNDS.value,),
            flag=True,
        ),
    ),
)

STABILITY = Checklist(
    "2. Numerical stability",
    (
        Item("holds on exp overflow ([100, 200, 300])", checks=_named("exp overflow")),
        Item("holds on product overflow (1000 × 2.0)", checks=_named("product overflow")),
        Item("holds on exp underflow ([-100, -200, -300])", checks=_named("exp underflow")),
        Item("holds on small products (1000 × 0.5)", checks=_named("small products")),
        Item("holds on cancellation ([1e10, 1e10+1])", checks=_CANCELLATION),
        Item("holds on alternating sums ([1e8, -1e8, 1])", checks=_ALTERNATING),
        Item("holds on rows wholly masked (-inf)", checks=_MASKED),
        Item("holds on a row of zeros", checks=_named("rows of zeros")),
        Item("holds on ties", checks=_named("ties")),
        Item("holds on large decay", checks=_named("large decay")),
        Item("log-space for large exponentials", rules=("TAN102",), checks=_OVERFLOW),
        Item("log-sum for long products", checks=_PRODUCTS),
        Item("denominators guarded", checks=_GUARDS),
        Item("accumulation in higher precision", rules=("TAN101",)),
        Item("stable reductions", checks=_ALTERNATING),
        Item("no subtraction of near-equal values", checks=_CANCELLATION),
        Item(
            "logsumexp and softmax subtract the maximum",
            rules=("TAN102",),
            checks=_ONLINE,
        ),
        Item("variance by Welford or two passes for large N", checks=_named("a large mean")),
        Item(
            "red flag: exp of values above 80 without max subtraction",
            rules=("TAN102",),
            checks=_named("exp overflow"),
            flag=True,
        ),
        Item("red flag: division with no guard near zero", checks=_GUARDS, flag=True),
        Item("red flag: accumulation in fp16", rules=("TAN101",), flag=True),
        Item("red flag: subtraction of values of like magnitude", checks=_CANCELLATION, flag=True),
    ),
)

MEMORY = Checklist(
    "3. Memory patterns",
    (
        Item("coalescing: neighbouring lanes on neighbouring addresses", rules=("TAM301",)),
        Item("coalescing: no stride between lanes", rules=("TAM301",)),
        Item(
            "coalescing: 128-byte alignment",
            unanswered="TAM301 knows how many bytes a lane moves, not where the accesses of a warp begin",
        ),
        Item("reuse: working set against L1/L2", unanswered="no target has sourced cache sizes here yet"),
        Item("reuse: no round trip through global memory", unanswered=_NO_TRAFFIC),
        Item("traffic: each element loaded and stored once", unanswered=_NO_TRAFFIC),
        Item("traffic: intermediates in registers", rules=("TAM302", "TAP301")),
        Item("traffic: no redundant loads", rules=("TAM107",)),
    ),
)

PERFORMANCE = Checklist(
    "4. Performance",
    (
        Measured("timed at small, medium and large sizes", Check.TIMED.value),
        Measured("compared with PyTorch", Check.PYTORCH.value),
        Measured("compared with torch.compile", Check.COMPILED.value),
        Measured("compared with the baselines that the subject names", Check.BASELINES.value),
        Measured("interleaved, with the cache flushed", Check.TIMED.value),
        Measured("verified again after the timing", Check.VERIFIED.value),
        Measured("hardware efficiency against the datasheet and a measured rate", Check.ROOFLINE.value),
        Measured("red flag: slower than PyTorch at any size", Check.PYTORCH.value, ("TAP501",), flag=True),
        Measured("red flag: slower than torch.compile", Check.COMPILED.value, ("TAP502",), flag=True),
        Measured("red flag: efficiency below 50 %", Check.ROOFLINE.value, ("TAP503",), flag=True),
        Measured("red flag: cost that grows faster than the work", Check.ROOFLINE.value, ("TAP504",), flag=True),
        Measured("red flag: spread above 10 %", Check.TIMED.value, ("TAP505",), flag=True),
        Measured("red flag: faster than the GPU can be", Check.ROOFLINE.value, ("TAP506",), flag=True),
        Measured("roofline: FLOPs, bytes and arithmetic intensity", Check.ROOFLINE.value),
        Measured("roofline: ridge point and bound", Check.ROOFLINE.value),
        Measured("roofline: target of 90 % reached", Check.ROOFLINE.value, ("TAP503", "TAP507")),
        Measured("every hardware figure has its source", Check.ROOFLINE.value),
        Measured("profiled: what bounds it is counted, not guessed", Check.PROFILED.value),
    ),
)

PRACTICE = Checklist(
    "5. Best practices",
    (
        Item("constexpr for compile-time constants", rules=("TAC103",)),
        Item("powers of 2", rules=("TAC102",)),
        Item("grid from shapes", rules=("TAC203",)),
        Item("boundary masks", rules=("TAM101", "TAM103", "TAN105"), checks=(Symptom.OUT_OF_BOUNDS.value,)),
        Item("`@triton.autotune` with several configs", unanswered=_NO_RULE),
        Item("autotune key covers what matters", rules=("TAC202", "TAP201")),
        Item("`num_warps` and `num_stages` swept", unanswered=_NO_RULE),
        Done("a PyTorch reference beside each kernel", Symptom.WRONG_RESULT.value),
        Item("a docstring with shapes beside each kernel", unanswered=_NO_RULE),
        Item("a test beside each kernel", unanswered="no rule looks for tests"),
        Item("a benchmark beside each kernel", unanswered="no rule looks for benchmarks"),
    ),
)

CHECKLISTS = (CORRECTNESS_INPUTS, CORRECTNESS_VERDICTS, STABILITY, MEMORY, PERFORMANCE, PRACTICE)
