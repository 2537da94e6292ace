"""What the cases of a subject may differ in, and by which values. Imports neither torch nor triton."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from tritonaudit.subject.given import (
    AMONG_NORMAL,
    ANY_INTEGERS,
    INTEGERS,
    MOST_ALONE,
    OF_TENSOR,
    REACHING,
    REARRANGED,
    RUNS,
    SCALED,
    Given,
    special_of,
)
from tritonaudit.subject.model import FLOATING, INTEGER, Layout, Subject, Tensor
from tritonaudit.subject.size_kind import SizeKind, size_kind, size_names, takes_dtype
from tritonaudit.suites.given_sizes import ordinary_sizes, smaller_sizes
from tritonaudit.suites.limits import LARGEST, Limits, can_be_made

Value = int | str

SIZES = (1000, 1, 0, 4096, 64, LARGEST)
"""What a large dimension is tried with whatever the blocks are; what most often goes wrong is first."""

BESIDE_MIDDLES = "448,17.001,-18.999,34.002,18.001"
"""Beside the middles between floats of 8 bits, of which 448 is one: a rounding to 16 bits before goes to the middle."""
HALF_WAY = "4,1.75,-0.75,2.5,-3.5,0.25,-1.25"
"""Half way between numbers of floats of 4 bits, of which 4 is one, or between integers: where a rounding goes."""
OPPOSITE_HALVES = "1e4|-1e4"
"""Large numbers whose sum is small: the sum of either half is beyond float16."""
FILLS = (
    "zeros",
    "inf",
    "nan",
    HALF_WAY,
    OPPOSITE_HALVES,
    BESIDE_MIDDLES,
    "1e6",
    "-1",
    "alternating",
    "ones",
    "1e38",
    "1e-6",
    "1e-38",
)
"""What fills tensors besides normal numbers."""
NAN_AMONG = f"nan{AMONG_NORMAL}"
"""What does so of tensors that no function gives, beside ordinary sizes: all of NaN has met the others."""
ZEROS_AMONG = f"0{AMONG_NORMAL}"
"""Likewise: a zero of one tensor meets other numbers of the next."""
_BESIDE_ORDINARY = frozenset((NAN_AMONG, ZEROS_AMONG, HALF_WAY, OPPOSITE_HALVES, ANY_INTEGERS, REACHING, RUNS))

_SHOWN_IN = {OPPOSITE_HALVES: "float16"}
"""The dtype in which a fill shows most, where tensors have that."""

_UNUSUAL_LAYOUTS = (Layout.TRANSPOSED, Layout.OFFSET, Layout.EXPANDED)
_OTHER_SIZES = {
    SizeKind.BATCH: (7, 1, 0, 256),
    SizeKind.COUNT: (1, 3),
    SizeKind.HEAD_DIM: (80, 40, 16, 128),
}
_MIDDLING = 64
_LARGEST_MIDDLING = 4096
_HUGE = 1 << 16
_ANY = 4096
"""Up to so large a dimension may have any size."""
_FEW_LAUNCHES = 2
"""As many as most calls make; those that make more go over a size in host code, and so do they in each case."""
_MOST_WORK = 16
"""By how much less of all other sizes a case then has: a loop of a hundred launches leaves some thousand elements."""
QUICK = 4
"""The part of the limits, one in so many, that an ordinary case may have."""


@dataclass(frozen=True)
class AxisValue:
    """A value of an axis: the size of a dimension, by its name, or of `dtype`, `layout` or `fill`."""

    axis: str
    value: Value

    def __str__(self) -> str:
        return f"{self.axis}={self.value}" if isinstance(self.value, int) else f"{self.axis} {self.value}"


@dataclass(frozen=True)
class LeftOut:
    """A value that a plan has in no case, or, where the reason says so, not with every value of another axis."""

    value: AxisValue
    reason: str


@dataclass(frozen=True)
class Axis:
    """One thing in which cases differ. The ordinary value is first, then what most often goes wrong.

    Those of `alone` are tried with ordinary values of the other axes only. `smaller` are sizes that make room for a
    large one of another dimension, from large to small. `odd` is one that is about as large as the ordinary one. A size
    may be any up to `most`, or only one of the values where that is 0. `turns` are those of the values at which code
    does something else, as it compares with such numbers.
    """

    name: str
    values: tuple[Value, ...]
    alone: frozenset[Value] = frozenset()
    smaller: tuple[int, ...] = ()
    odd: int | None = None
    most: int = 0
    turns: tuple[int, ...] = ()

    @property
    def ordinary(self) -> Value:
        return self.values[0]


@dataclass(frozen=True)
class Axes:
    """The axes of a subject: those of its sizes, then dtype, layout and fill.

    `given` are the sizes that a function gives where a case does not choose others. A call makes so many `launches`.
    """

    sizes: tuple[Axis, ...]
    dtype: Axis
    layout: Axis
    fill: Axis
    left_out: tuple[LeftOut, ...]
    limits: Limits
    _unheld: frozenset[tuple[str, str]]
    given: Mapping[str, int] = field(default_factory=dict)
    launches: int = 0

    @property
    def share_beside_a_size(self) -> int:
        """That a case about one size has of the limits: each launch may go through all elements."""
        return QUICK * min(max(1, self.launches // _FEW_LAUNCHES), _MOST_WORK)

    @property
    def all(self) -> tuple[Axis, ...]:
        return (*self.sizes, self.dtype, self.layout, self.fill)

    def holds(self, dtype: Value, fill: Value) -> bool:
        """Whether tensors of the dtype can hold what fills them."""
        return (fill, dtype) not in self._unheld

    def holder(self, fill: Value) -> Value:
        """The dtype for a fill beside ordinary values: the first that holds it, unless it shows most in another one."""
        most = _SHOWN_IN.get(str(fill))
        holding = [dtype for dtype in self.dtype.values if self.holds(dtype, fill)]
        return most if most in holding else holding[0]

    def go_together(self, one: Axis, value: Value, other: Axis, others_value: Value) -> bool:
        """Whether a case may have values of two axes both, apart from how large it is."""
        if other is not self.fill:
            return one is not self.fill or self.go_together(other, others_value, one, value)
        if one is self.dtype:
            return self.holds(value, others_value)
        if self.given and one is not self.layout and not _says_much(others_value):
            return value == one.ordinary
        return others_value == "normal" or not is_huge(value)


def _says_much(fill: Value) -> bool:
    """Whether a fill of given tensors is worth trying at other sizes, too: how large numbers are, hardly."""
    return fill == "normal" or fill in REARRANGED or special_of(str(fill)) is not None


def is_huge(value: Value) -> bool:
    """Whether a size takes long, and shows little with a special fill that a size of 4096 does not."""
    return isinstance(value, int) and value > _HUGE


def axes_of(
    subject: Subject,
    blocks: Sequence[int] = (),
    later: Sequence[int] = (),
    thresholds: Sequence[int] = (),
    launches: int = 0,
) -> Axes:
    """The axes of a subject whose launches used blocks of these sizes, `later` ones on other than ordinary sizes.

    Its code compares with these `thresholds`, and makes so many launches in a call.
    """
    blocks = tuple(sorted({block for block in blocks if 1 <= block <= LARGEST}, reverse=True))
    given = subject.given
    if given is None or size_names(subject):
        sizes, left_out, limits = _axes_of_sizes(subject, blocks, later, _turns(thresholds))
    else:
        sizes, left_out, limits = _axes_of_given_sizes(given, blocks, later, _turns(thresholds))
    dtype, dropped = _dtype_axis(subject)
    layout, not_laid_out = _layout_axis(subject)
    fill, unheld, not_filled = _fill_axis(subject, dtype)
    left_out += [*dropped, *not_laid_out, *not_filled]
    as_given = {} if given is None else given.sizes
    return Axes(tuple(sizes), dtype, layout, fill, tuple(left_out), limits, frozenset(unheld), as_given, launches)


def shrunk(
    sizes: Mapping[str, int],
    smaller: Mapping[str, Sequence[int]],
    limits: Limits,
    *,
    keep: Sequence[str] = (),
    share: int = 1,
) -> dict[str, int]:
    """The sizes, where they are too large with the largest made smaller in turn, but for those to keep."""
    fitting = dict(sizes)
    while not limits.allow(fitting, share):
        options = {
            name: below
            for name, size in fitting.items()
            if name not in keep and (below := [less for less in smaller[name] if less < size])
        }
        if not options:
            break
        largest = max(options, key=lambda name: fitting[name])
        fitting[largest] = options[largest][0]
    return fitting


# -- sizes ---------------------------------------------------------------------------------------------------------


def _axes_of_sizes(
    subject: Subject, blocks: Sequence[int], later: Sequence[int], turns: Sequence[int]
) -> tuple[list[Axis], list[LeftOut], Limits]:
    names = size_names(subject)
    smaller = {name: _smaller(subject, name, blocks) for name in names}
    limits = Limits(subject, {name: sizes[-1] for name, sizes in smaller.items()})
    ordinary = _ordinary(subject, smaller, limits)
    sizes: list[Axis] = []
    left_out: list[LeftOut] = []
    for name in names:
        axis, dropped = _size_axis(subject, name, ordinary[name], smaller[name], (*blocks, *later), turns, limits)
        sizes.append(axis)
        left_out += dropped
    return sizes, left_out, limits


def _smaller(subject: Subject, name: str, blocks: Sequence[int]) -> tuple[int, ...]:
    """The ordinary size of a dimension if nothing else needs room, then smaller ones."""
    if name in subject.sizes:
        named = subject.sizes[name]
        first = next((size for size in named if size), 0)
        return (first, *sorted({size for size in named if 0 < size < first}, reverse=True))
    kind = size_kind(subject, name)
    if kind is not SizeKind.LARGE:
        return (kind.usual, kind.least)
    middling = max((block for block in blocks if _MIDDLING <= block <= _LARGEST_MIDDLING), default=_MIDDLING)
    return tuple(sorted({middling, _MIDDLING, 16, 1}, reverse=True))


def _ordinary(subject: Subject, smaller: Mapping[str, Sequence[int]], limits: Limits) -> dict[str, int]:
    """Sizes that are quick to execute, or, where tensors as of `n - 1000` cannot have them, the first that they can."""
    middling = shrunk({name: sizes[0] for name, sizes in smaller.items()}, smaller, limits, share=QUICK)
    growing = [name for name in middling if name not in subject.sizes and size_kind(subject, name) is SizeKind.LARGE]
    larger = ({**middling, **dict.fromkeys(growing, size)} for size in (SizeKind.LARGE.usual, 4096, LARGEST))
    allowed = (sizes for sizes in larger if limits.allow(sizes))
    return next((sizes for sizes in (middling, *allowed) if can_be_made(subject, sizes)), middling)


def _size_axis(
    subject: Subject,
    name: str,
    ordinary: int,
    smaller: tuple[int, ...],
    blocks: Sequence[int],
    turns: Sequence[int],
    limits: Limits,
) -> tuple[Axis, list[LeftOut]]:
    if name in subject.sizes:
        wanted, alone, left_out = tuple(subject.sizes[name]), frozenset((0,)), []
        if not set(_sizes(subject, name, ())) <= set(wanted):
            left_out.append(LeftOut(AxisValue(name, "other sizes"), "the subject names the sizes to try"))
    else:
        turns = turns if size_kind(subject, name) is SizeKind.LARGE else ()
        wanted, left_out = (*_sizes(subject, name, blocks), *turns), []
        alone = frozenset((*_around(blocks[1:]), *turns)) - {*SIZES, *_around(blocks[:1]), ordinary} | {0}
        if limits.are_for_products:  # a loop over as much takes seconds
            alone |= {size for size in wanted if is_huge(size) and size != ordinary}
    values = tuple(dict.fromkeys((ordinary, *wanted)))
    too_large = {size: why for size in values if (why := limits.excess({name: size}))}
    left_out += [LeftOut(AxisValue(name, size), why) for size, why in too_large.items()]
    fitting = tuple(size for size in values if size not in too_large)
    is_free = name not in subject.sizes and size_kind(subject, name) is SizeKind.LARGE
    odd, turning = _odd(fitting, is_free=is_free), _among(fitting, turns) if is_free else ()
    return Axis(name, fitting, alone, smaller, odd, _ANY * is_free, turning), left_out


def _among(values: Sequence[int], turns: Sequence[int]) -> tuple[int, ...]:
    return tuple(turn for turn in turns if turn in values)


def _odd(sizes: Sequence[int], *, is_free: bool) -> int | None:
    """An odd size about as large as the first, and not 1: less by one, where sizes are free."""
    if is_free and sizes[0] > 2 and sizes[0] % 2 == 0:
        return sizes[0] - 1
    odd = [size for size in sizes if size % 2 and size > 1]
    return min(odd, key=lambda size: abs(size - sizes[0]), default=None)


def _sizes(subject: Subject, name: str, blocks: Sequence[int]) -> tuple[int, ...]:
    """What a dimension is tried with, besides its ordinary size.

    Next to a multiple of the largest block is next to one of each smaller power of 2, so that it comes first.
    """
    kind = size_kind(subject, name)
    if kind is not SizeKind.LARGE:
        return _OTHER_SIZES[kind]
    return tuple(dict.fromkeys((*_around(blocks[:1]), *SIZES, *_around(blocks[1:]))))


def _turns(thresholds: Sequence[int]) -> tuple[int, ...]:
    """Sizes on both sides of the thresholds, and these."""
    sides = [size for threshold in thresholds for size in (threshold + 1, threshold - 1)]
    return tuple(size for size in dict.fromkeys((*sides, *thresholds)) if 0 < size <= LARGEST)


def _around(blocks: Sequence[int]) -> tuple[int, ...]:
    """Sizes that are likely to go wrong with these blocks, none of them beyond the largest."""
    near = ((2 * block + 3, block + 1, block - 1, block) for block in blocks)
    return tuple(size for sizes in near for size in sizes if size <= LARGEST)


# -- sizes in place of those given -----------------------------------------------------------------------------------


def _axes_of_given_sizes(
    given: Given, blocks: Sequence[int], later: Sequence[int], turns: Sequence[int]
) -> tuple[list[Axis], list[LeftOut], Limits]:
    """The axes of those dimensions that may have other sizes, as large as given where that is quick."""
    alike = Subject(_as_given, inputs=[Tensor(*tensor.dims) for tensor in given.tensors])
    smaller = {name: smaller_sizes(given, name, size, blocks) for name, size in given.sizes.items()}
    limits = Limits(alike, {name: sizes[-1] for name, sizes in smaller.items()})
    ordinary = ordinary_sizes(given, blocks, lambda sizes: limits.allow(sizes, QUICK))
    left_out = [LeftOut(AxisValue(name, "other sizes"), why) for name, why in given.kept.items()]
    sizes: list[Axis] = []
    for name, size in ordinary.items():
        axis, dropped = _given_size_axis(given, name, size, (*blocks, *later), turns, limits)
        sizes.append(axis)
        left_out += dropped
    return sizes, left_out, limits


def _as_given() -> None:
    """In place of a wrapper where the shapes of what it is given matter."""


def _given_size_axis(
    given: Given, name: str, ordinary: int, blocks: Sequence[int], turns: Sequence[int], limits: Limits
) -> tuple[Axis, list[LeftOut]]:
    wanted = (*_around(blocks[:1]), 1, *_around(blocks[1:]), *turns)
    alone = frozenset((*_around(blocks[1:]), *turns)) - {*_around(blocks[:1]), ordinary, 1}
    others = [size for size in wanted if size != ordinary]
    refused = {size: given.why_not({name: size}) for size in sorted(others, reverse=True)}  # the largest tells most
    reasons = {size: refused[size] or limits.excess({name: size}) for size in others}
    left_out = [LeftOut(AxisValue(name, size), why) for size, why in reasons.items() if why]
    fitting = (ordinary, *(size for size, why in reasons.items() if not why))
    smaller = smaller_sizes(given, name, ordinary, blocks)
    is_free = not given.why_not({name: ordinary - 1})
    odd = _odd(fitting, is_free=is_free)
    return Axis(name, fitting, alone, smaller, odd, _ANY * is_free, _among(fitting, turns)), left_out


# -- dtypes, layouts and fills -------------------------------------------------------------------------------------


def _dtype_axis(subject: Subject) -> tuple[Axis, list[LeftOut]]:
    dtypes = tuple(dict.fromkeys(subject.dtypes))
    if takes_dtype(subject):
        return Axis("dtype", dtypes), []
    why = "the function for the inputs takes none" if callable(subject.inputs) else "no tensor has the case's"
    return Axis("dtype", dtypes[:1]), [LeftOut(AxisValue("dtype", dtype), why) for dtype in dtypes[1:]]


def _layout_axis(subject: Subject) -> tuple[Axis, list[LeftOut]]:
    """What differs from tensor to tensor is no layout of one alone, which is therefore left out of nothing."""
    ranks = _ranks(subject)
    padded = (Layout.PADDED,) if sum(rank > 1 for rank in ranks) > 1 else ()
    spread = (Layout.SPREAD,) if sum(rank > 0 for rank in ranks) > 1 else ()
    unusual = (*_UNUSUAL_LAYOUTS, *padded, *spread)
    reasons = {layout: why for layout in unusual if (why := _why_not_laid_out(subject, layout))}
    layouts = tuple(layout.value for layout in (Layout.CONTIGUOUS, *unusual) if layout not in reasons)
    return Axis("layout", layouts), [LeftOut(AxisValue("layout", one.value), why) for one, why in reasons.items()]


def _ranks(subject: Subject) -> list[int]:
    """The numbers of dimensions of the tensors that can be laid out."""
    given = () if subject.given is None else subject.given.tensors
    return [len(one.dims) for one in subject.tensors] + [len(one.dims) for one in given if one.is_contiguous]


def _why_not_laid_out(subject: Subject, layout: Layout) -> str | None:
    if callable(subject.inputs) and subject.given is None:
        return "a function makes the inputs"
    given = () if subject.given is None else subject.given.tensors
    if given and not any(tensor.is_contiguous for tensor in given):
        return "no tensor is given contiguously"
    ranks = _ranks(subject)
    if max(ranks, default=0) < 1:
        return "no tensor has dimensions"
    if layout is Layout.TRANSPOSED and max(ranks) < 2:
        return "no tensor has two dimensions"
    if given:
        return None
    if layout is Layout.EXPANDED and not any(tensor.dims for tensor in subject.read_only):
        return "every tensor is changed intentionally"
    return None


def _fill_axis(subject: Subject, dtypes: Axis) -> tuple[Axis, set[tuple[str, str]], list[LeftOut]]:
    """The fills, those that tensors of a dtype cannot hold, and what was left out."""
    if (given := subject.given) is not None and not (given.heeds_fills and subject.input_keywords):
        return _given_fill_axis(subject, given, dtypes)
    if why := _why_not_filled(subject):
        left_out = [LeftOut(AxisValue("fill", fill), why) for fill in FILLS]
        return Axis("fill", ("normal", *_fills_of_integers(subject)), _BESIDE_ORDINARY), set(), left_out
    left_out = [LeftOut(AxisValue("fill", fill), why) for fill in FILLS if (why := _why_not_asked(subject, fill))]
    among: tuple[str, ...] = () if callable(subject.inputs) else (NAN_AMONG, ZEROS_AMONG, *_nan_alone(subject))
    among += _fills_of_integers(subject)
    made = [fill for fill in (*FILLS, *among) if fill not in {one.value.value for one in left_out}]
    unheld: set[tuple[str, str]] = set()
    for fill in made:
        without = {str(dtype): holder for dtype in dtypes.values if (holder := _cannot_hold(subject, str(dtype), fill))}
        unheld |= {(fill, dtype) for dtype in without}
        left_out += [LeftOut(AxisValue("fill", fill), why) for why in dict.fromkeys(without.values())]
    tried = [fill for fill in made if any((fill, dtype) not in unheld for dtype in dtypes.values)]
    return Axis("fill", ("normal", *tried), _BESIDE_ORDINARY.union(_nan_alone(subject))), unheld, left_out


def _nan_alone(subject: Subject) -> tuple[str, ...]:
    """NaN among the numbers of one of several tensors: what another one makes of it shows."""
    floating = [place for place, one in enumerate(subject.tensors) if one.dtype is None or one.dtype in FLOATING]
    return tuple(f"{NAN_AMONG}{OF_TENSOR}{place}" for place in floating[:MOST_ALONE]) if len(floating) > 1 else ()


def _fills_of_integers(subject: Subject) -> tuple[str, ...]:
    """Those of integers that the subject's tensors hold, within what they hold unless that may be any."""
    holds_some = any(tensor.dtype in INTEGER for tensor in subject.tensors)
    return (*((ANY_INTEGERS,) if subject.takes_any_integers else ()), *((RUNS,) if holds_some else ()))


def _given_fill_axis(subject: Subject, given: Given, dtypes: Axis) -> tuple[Axis, set[tuple[str, str]], list[LeftOut]]:
    """The fills that do not leave what was given, those of every subject and those of given values in turn."""
    in_turn = [fill for together in zip_longest(given.fills, FILLS) for fill in together if fill]
    reasons = {fill: why for fill in in_turn if (why := _why_not_taken(given, fill))}
    unheld = {
        (fill, str(dtype))
        for fill in in_turn
        for dtype in dtypes.values
        if fill not in reasons and _cannot_hold(subject, str(dtype), fill)
    }
    reasons |= {
        fill: "no dtype holds it"
        for fill in in_turn
        if fill not in reasons and all((fill, dtype) in unheld for dtype in dtypes.values)
    }
    left_out = [LeftOut(AxisValue("fill", fill), why) for fill, why in reasons.items() if fill in FILLS]
    tried = (fill for fill in in_turn if fill not in reasons)
    return Axis("fill", ("normal", *tried), _BESIDE_ORDINARY), unheld, left_out


def _why_not_taken(given: Given, fill: str) -> str:
    if given.takes(fill) or given.heeds_fills:
        return ""
    if not any(tensor.is_floating for tensor in given.tensors):
        return "no tensor holds floating-point numbers"
    return "no tensor given has numbers of that range"


def _why_not_filled(subject: Subject) -> str | None:
    if callable(subject.inputs):
        takes_some = not subject.input_keywords or {"fill", "pattern", "special"} & set(subject.input_keywords)
        return None if takes_some else "the function for the inputs takes none"
    return (
        None
        if any(_dtypes_made(subject, dtype) for dtype in subject.dtypes)
        else "no tensor holds floating-point numbers"
    )


def _why_not_asked(subject: Subject, fill: str) -> str:
    """Why a function for the inputs cannot be asked for a fill by its keywords; nothing where it can, or has none."""
    if not subject.input_keywords:
        return ""
    if (keyword := _keyword(fill)) not in subject.input_keywords:
        return f"the function for the inputs takes no `{keyword}`"
    return "the function for the inputs takes a single number" if {",", "|"} & set(fill) else ""


def _keyword(fill: str) -> str:
    return {"alternating": "pattern", "inf": "special", "nan": "special"}.get(fill, "fill")


def _cannot_hold(subject: Subject, dtype: str, fill: str) -> str | None:
    """Why the tensors of a case with this dtype cannot be filled so."""
    made = _dtypes_made(subject, dtype, fill)
    if fill in (*INTEGERS, REACHING, ANY_INTEGERS):
        return None
    if not made:
        return f"{dtype} holds no floating-point numbers"
    return next((f"{one} cannot hold it" for one in made if not _NUMBERS[one].hold(fill)), None)


def _dtypes_made(subject: Subject, dtype: str, fill: str = "") -> tuple[str, ...]:
    """The floating-point dtypes of the tensors of a case with this dtype: where a fill scales some, of these only."""
    if subject.given is not None:
        usual = subject.dtypes[0] if takes_dtype(subject) else ""
        filled = [
            one
            for number, one in enumerate(subject.given.tensors)
            if not fill.startswith(SCALED) or one.takes(fill, number)
        ]
        made = [dtype if given.dtype == usual else given.dtype for given in filled]
    else:
        tensors = [Tensor()] if callable(subject.inputs) else subject.tensors
        made = [tensor.dtype or dtype for tensor in tensors]
    return tuple(dict.fromkeys(one for one in made if one in FLOATING))


@dataclass(frozen=True)
class _Numbers:
    """What a floating-point dtype holds: up to its largest number, and no positive one below the least."""

    largest: float
    least: float
    has_infinity: bool = True
    is_signed: bool = True

    def hold(self, fill: str) -> bool:
        if (special := special_of(fill)) is not None:
            return math.isnan(special[0]) or self.has_infinity
        if fill in REARRANGED:
            return True
        match fill.removeprefix(SCALED):
            case "nan" | "ones":
                return True
            case "inf":
                return self.has_infinity
            case "zeros" | "alternating" | "-1":
                return self.is_signed
        numbers = [float(number) for number in fill.removeprefix(SCALED).replace("|", ",").split(",")]
        is_taken = self.is_signed or min(numbers) > 0
        return is_taken and all(self.least <= abs(number) <= self.largest for number in numbers)


_NUMBERS = {
    "float64": _Numbers(1.7e308, 4.9e-324),
    "float32": _Numbers(3.4e38, 1.4e-45),
    "float16": _Numbers(65504, 2.0**-24),
    "bfloat16": _Numbers(3.38e38, 2.0**-133),
    "float8_e4m3fn": _Numbers(448, 2.0**-9, has_infinity=False),
    "float8_e4m3fnuz": _Numbers(240, 2.0**-10, has_infinity=False),
    "float8_e5m2": _Numbers(57344, 2.0**-16),
    "float8_e5m2fnuz": _Numbers(57344, 2.0**-17, has_infinity=False),
    "float8_e8m0fnu": _Numbers(2.0**127, 2.0**-127, has_infinity=False, is_signed=False),  # powers of 2, no 0
}


def largest(dtype: str) -> float:
    """The largest number of a dtype; infinity of one that holds no floating-point numbers."""
    return _NUMBERS[dtype].largest if dtype in _NUMBERS else math.inf


def has_infinity(dtype: str) -> bool:
    """Whether a dtype has infinities, or holds no floating-point numbers."""
    return dtype not in _NUMBERS or _NUMBERS[dtype].has_infinity
