"""What an audit runs on: a wrapper, how its inputs are made, and which cases it is tried on."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tritonaudit.subject.dimension import Dimension, check_dimension, names_in, size_of

if TYPE_CHECKING:
    from tritonaudit.subject.given import Given

DTYPES = ("float32", "float16", "bfloat16")
"""What a subject is tried with unless it names its own."""

FLOATING = (
    "float64", "float32", "float16", "bfloat16",
    "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
)  # fmt: skip
INTEGER = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool")
"""The dtypes, by torch's names, that a `Tensor` can have."""


class Layout(Enum):
    """How the tensors of a case lie in memory: all in one way, or, padded and spread, each with strides of its own.

    Padded, the first that is a matrix, or more, lies contiguously, and each after it has one more element between
    rows. Spread, the last one of any dimensions does, and each before it has one more element between its elements.
    """

    CONTIGUOUS = "contiguous"
    TRANSPOSED = "transposed"
    EXPANDED = "expanded"
    OFFSET = "offset"
    PADDED = "padded"
    SPREAD = "spread"


OF_GRADIENTS = (Layout.EXPANDED, Layout.SPREAD, Layout.TRANSPOSED)
"""How what a backward pass begins with may lie."""


@dataclass(frozen=True)
class Case:
    """One way to call a subject: sizes by the names of its dimensions, a dtype, a layout, what fills the tensors.

    `fill` is "normal", "alternating" (1, -1, 1, …), "zeros", "ones" or a number as text: "1e6", "-1", "inf", "nan"; or
    several, repeated along each row ("1e8,-1e8,1"), normal around a number ("1000+normal"), with every other row
    of one ("-inf rows"), or one in the first half of each row and another in the second ("100|-100"), or a few among
    normal numbers ("nan among normal"). Where a function gives the tensors, also one of
    `Given.fills`, such as "nan among given"; a dimension that is given with the size 100 is `dim_100`, and has another
    only where `sizes` names it.
    `gradient` is how that lies which a backward pass begins with: expanded it is as `.sum()` gives it.
    With `parameters`, a digest of them, models have other numbers, drawn by the seed, in place of those parameters that
    are one number throughout when a model is new, as weights of 1 are.
    Along the dimension `far` the elements of each tensor lie so far apart that no int32 counts where the last one is.
    `device` is where its tensors belong: "cuda", also where a stand-in takes the GPU's place.
    """

    sizes: Mapping[str, int] = field(default_factory=dict)
    dtype: str = DTYPES[0]
    layout: Layout = Layout.CONTIGUOUS
    fill: str = "normal"
    seed: int = 0
    device: str = "cuda"
    gradient: Layout = Layout.CONTIGUOUS
    far: str = ""
    parameters: str = ""

    def __getitem__(self, dim: Dimension) -> int:
        """The size of a dimension: `case["rows"]`, `case["2 * rows"]`."""
        return size_of(dim, self.sizes)

    @property
    def is_as_given(self) -> bool:
        """Whether nothing of it varies what a function for the inputs gives."""
        return not self.sizes and self.is_plain

    @property
    def is_plain(self) -> bool:
        """Whether its tensors lie contiguously and hold normal numbers, and models have the parameters of new ones."""
        are_usual = not self.far and not self.parameters
        return self.layout is self.gradient is Layout.CONTIGUOUS and self.fill == "normal" and are_usual

    @property
    def label(self) -> str:
        """What a report calls it: `batch=16 size=1000 float16 offset`."""
        sizes = [f"{name}={value}" for name, value in self.sizes.items()]
        layout = [] if self.layout is Layout.CONTIGUOUS else [self.layout.value]
        fill = [] if self.fill == "normal" else [self.fill]
        seed = [f"seed={self.seed}"] if self.seed else []
        gradient = [] if self.gradient is Layout.CONTIGUOUS else [f"{self.gradient.value} gradient"]
        far = [f"far apart along {self.far}"] if self.far else []
        parameters = ["other parameters"] if self.parameters else []
        return " ".join([*sizes, self.dtype, *layout, *fill, *gradient, *far, *parameters, *seed])


@dataclass(frozen=True, init=False)
class Tensor:
    """An input: its dimensions are names whose sizes the case gives, numbers, or such as `"2 * hidden"`.

    Without any it is a scalar tensor. Without a `dtype` (torch's, or its name) it has the case's. An integer tensor
    holds values from `low` to below `high`, each a number or a dimension. Where neither is said they are 0 and 1, and
    in one case any that the dtype holds, if the reference takes these. Raises ValueError for what cannot be made.
    """

    dims: tuple[Dimension, ...]
    dtype: str | None = None
    low: Dimension = 0
    high: Dimension = 2
    name: str = ""
    is_unbounded: bool = False

    def __init__(
        self,
        *dims: Dimension,
        dtype: Any = None,
        low: Dimension | None = None,
        high: Dimension | None = None,
        name: str = "",
    ) -> None:
        known = None if dtype is None else _dtype_name(dtype)
        is_unbounded = low is None and high is None and known in INTEGER and known != "bool"
        low, high = (0 if low is None else low), (2 if high is None else high)
        for dim in dims:
            check_dimension(dim)
        for bound in (low, high):
            check_dimension(abs(bound) if isinstance(bound, int) else bound)
        for attribute, value in (("dims", dims), ("dtype", known), ("low", low), ("high", high), ("name", name)):
            object.__setattr__(self, attribute, value)
        object.__setattr__(self, "is_unbounded", is_unbounded)


@dataclass(frozen=True)
class Size:
    """An argument that is the size of a dimension: `Size("rows")` where a wrapper is told how many rows there are."""

    dim: Dimension

    def __post_init__(self) -> None:
        check_dimension(self.dim)


@dataclass(frozen=True)
class Offsets:
    """An argument that says where sequences begin and end in one long tensor, as `cu_seqlens` does.

    It holds `parts` + 1 integers from 0 up to `total`, each a dimension; the parts have unequal lengths.
    """

    parts: Dimension
    total: Dimension
    dtype: str = "int32"

    def __post_init__(self) -> None:
        check_dimension(self.parts)
        check_dimension(self.total)
        object.__setattr__(self, "dtype", _dtype_name(self.dtype))


VARIABLE_SUFFIX = "_subject"
"""What the variable of a subject may end in, so that it does not hide the wrapper; no part of the subject's name."""

TIMED = ("small", "medium", "large")
"""What `Subject.timed` may name."""

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_INPUT_KEYWORDS = frozenset(("size", "fill", "pattern", "special", "batch", "dtype", "device"))

Inputs = Sequence[Any] | Callable[..., Any]


@dataclass(frozen=True)
class Subject:
    """A wrapper to be audited.

    `inputs` are its positional arguments and `keywords` those given by name: a `Tensor` stands for a tensor made by
    the case, a `Size` for the size of a dimension, `Offsets` for those of sequences, also inside lists, tuples and
    dicts. Or `inputs` is a function of
    the case that returns the arguments: a tensor, a tuple, a dict of keyword arguments, or a tuple of a tuple and a
    dict. A function whose parameters are some of `size`, `fill`, `pattern`, `special`, `batch`, `dtype` and `device`
    is given these instead. What it makes is varied, too: see `given`.

    `reference` takes the same arguments. `mutates` names the arguments that the wrapper changes by intent, each by its
    position, its keyword or the name of the wrapper's parameter; `gradients` asks for the backward pass too. `sizes`
    says which sizes each named dimension is tried with, in place of the default sweep, and `timed` which each has where
    the subject is timed "small", "medium" and "large".
    `flops` and `bytes` are functions of the case: the floating-point operations that it takes, a product with its
    addition being two, and the bytes that must go through memory, in place of what is counted. `torch_share` is the
    part of the reference's arithmetic, from 0 to 1, that operators of torch may do in a call; where it is not said,
    half of it is too much, and a fifth worth a warning. Raises ValueError, with the remedy, for what cannot be tried.
    """

    function: Callable[..., Any]
    reference: Callable[..., Any] | None = None
    inputs: Inputs = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    sizes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    dtypes: Sequence[str] = DTYPES
    mutates: Sequence[str | int] = ()
    gradients: bool = False
    baselines: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    timed: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    flops: Callable[[Case], float] | None = None
    bytes: Callable[[Case], float] | None = None
    torch_share: float | None = None

    def __post_init__(self) -> None:
        _check_callables(self)
        if isinstance(self.inputs, (str, Mapping, Tensor, Size, Offsets)) or not (
            callable(self.inputs) or isinstance(self.inputs, Sequence)
        ):
            raise ValueError(f"inputs={self.inputs!r} is neither a list nor a function: write inputs=[Tensor(…), …]")
        if isinstance(self.dtypes, str) or not self.dtypes:
            raise ValueError(f"dtypes={self.dtypes!r} is not a list of dtypes: write dtypes=['float16']")
        object.__setattr__(self, "dtypes", tuple(_dtype_name(dtype) for dtype in self.dtypes))
        if isinstance(self.mutates, str):
            raise ValueError(f"mutates={self.mutates!r} is not a list: write mutates=[{self.mutates!r}]")
        if self.torch_share is not None and not 0 <= self.torch_share <= 1:
            raise ValueError(f"torch_share={self.torch_share!r} is not a fraction: write a number from 0 to 1")
        object.__setattr__(self, "mutates", tuple(_places(self)))
        _check_sizes(self)
        _check_timed(self)

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The names of its dimensions in the order in which its arguments first have them, then those of `sizes`."""
        dims = (dim for part in _parts(self._arguments) for dim in _shape(part))
        return tuple(dict.fromkeys((*(name for dim in dims for name in names_in(dim)), *self.sizes)))

    @property
    def input_keywords(self) -> tuple[str, ...]:
        """The keywords that its function for the inputs takes in place of the case; none where it takes the case."""
        if not callable(self.inputs):
            return ()
        try:
            parameters = inspect.signature(self.inputs).parameters
        except (TypeError, ValueError):
            return ()
        return tuple(parameters) if _INPUT_KEYWORDS.issuperset(parameters) else ()

    @cached_property
    def given(self) -> Given | None:
        """What its function for the inputs gives, made once; None where it has none, or that cannot be known."""
        if not callable(self.inputs) or self.tensors or self.offsets:
            return None
        try:
            from tritonaudit.subject.finding_given import found
        except ImportError:  # whoever lacks torch has no tensors to be given
            return None
        return found(self)

    @cached_property
    def takes_any_integers(self) -> bool:
        """Whether integers of which it does not say how large they are may be any, as far as its reference shows."""
        if not any(tensor.is_unbounded for tensor in self.tensors):
            return False
        try:
            from tritonaudit.subject.asking import takes_any_integers
        except ImportError:
            return False
        return takes_any_integers(self)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The `Tensor`s among its arguments; none where a function makes them."""
        return tuple(part for part in _parts(self._arguments) if isinstance(part, Tensor))

    @property
    def offsets(self) -> tuple[Offsets, ...]:
        """The `Offsets` among its arguments."""
        return tuple(part for part in _parts(self._arguments) if isinstance(part, Offsets))

    @property
    def read_only(self) -> tuple[Tensor, ...]:
        """Those of its tensors that it does not change by intent."""
        positional = [] if callable(self.inputs) else list(enumerate(self.inputs))
        kept = [value for place, value in (*positional, *self.keywords.items()) if place not in self.mutates]
        return tuple(part for part in _parts(kept) if isinstance(part, Tensor))

    @property
    def _arguments(self) -> tuple[Any, ...]:
        positional = () if callable(self.inputs) else tuple(self.inputs)
        return (*positional, *self.keywords.values())


def _dtype_name(dtype: Any) -> str:
    """The name of a dtype, given as its name or as torch's own."""
    name = str(dtype).removeprefix("torch.")
    if name not in (*FLOATING, *INTEGER):
        raise ValueError(f"unknown dtype {name!r}: write one of {', '.join((*FLOATING, *INTEGER))}")
    return name


def _check_callables(subject: Subject) -> None:
    optional = {"reference": subject.reference, "flops": subject.flops, "bytes": subject.bytes}
    given = {"function": subject.function, **{role: value for role, value in optional.items() if value is not None}}
    for role, function in {**given, **subject.baselines}.items():
        if not callable(function):
            raise ValueError(f"{role}={function!r} cannot be called: give the function itself")


def _places(subject: Subject) -> Iterator[str | int]:
    """The positions and keywords that `mutates` names; a parameter of the wrapper's stands for its position."""
    for place in subject.mutates:
        if isinstance(place, str):
            yield from _named_places(subject, place)
        elif callable(subject.inputs) or 0 <= place < len(subject.inputs):
            yield place
        else:
            raise ValueError(f"mutates names the position {place}, but there are {len(subject.inputs)} inputs, from 0")


def _named_places(subject: Subject, name: str) -> Iterator[str | int]:
    """Where an argument of that name may be: a function for the inputs may give it by its position or its keyword."""
    kinds, is_made = _kinds(subject.function), callable(subject.inputs)
    positional = [parameter for parameter, kind in kinds.items() if kind in _POSITIONAL]
    if not callable(subject.inputs):
        del positional[len(subject.inputs) :]
    if name in subject.keywords:
        yield name
    elif name in positional:
        yield positional.index(name)
        if is_made:
            yield name
    elif is_made and (not kinds or name in kinds or inspect.Parameter.VAR_KEYWORD in kinds.values()):
        yield name
    else:
        names = ", ".join(dict.fromkeys((*positional, *subject.keywords))) or "none"
        raise ValueError(f"mutates names {name!r}, but no argument has this name (there are: {names})")


def _kinds(function: Callable[..., Any]) -> Mapping[str, Any]:
    """The kinds of a function's parameters, by their names; none where that is unknown."""
    try:
        return {name: parameter.kind for name, parameter in inspect.signature(function).parameters.items()}
    except (TypeError, ValueError):  # as of some that are built in
        return {}


def _check_sizes(subject: Subject) -> None:
    for name, sizes in subject.sizes.items():
        if isinstance(sizes, str) or not isinstance(sizes, Sequence) or not sizes:
            raise ValueError(f"the sizes of {name!r} are {sizes!r}: write a list of numbers, such as [64, 1000]")
        if wrong := [size for size in sizes if not isinstance(size, int) or size < 0]:
            raise ValueError(f"the sizes of {name!r} hold {wrong[0]!r}: each is a number of 0 or more")
    if callable(subject.inputs):
        return
    parts = list(_parts(subject._arguments))
    dims = {name for part in parts for dim in _shape(part) for name in names_in(dim)}
    uses = {name for part in parts for dim in _mentioned(part) for name in names_in(dim)}
    listed = ", ".join(sorted(dims)) or "none"
    if unknown := sorted(set(subject.sizes) - dims - uses):
        raise ValueError(f"sizes are given for {unknown[0]!r}, but no Tensor has this dimension (there are: {listed})")
    if unknown := sorted(uses - dims - set(subject.sizes)):
        raise ValueError(f"{unknown[0]!r} has no size: no Tensor has this dimension (there are: {listed})")


def _check_timed(subject: Subject) -> None:
    if unknown := [name for name in subject.timed if name not in TIMED]:
        raise ValueError(f"timed names the size {unknown[0]!r}: there are {', '.join(TIMED)}")
    for name, sizes in subject.timed.items():
        if not isinstance(sizes, Mapping):
            raise ValueError(
                f"timed[{name!r}] is {sizes!r}: write the size of each dimension, such as {{'rows': 4096}}"
            )
        for dimension, size in sizes.items():
            if not callable(subject.inputs) and dimension not in subject.dimensions:
                listed = ", ".join(subject.dimensions) or "none"
                raise ValueError(
                    f"timed gives {dimension!r} a size, but no Tensor has this dimension (there are: {listed})"
                )
            if not isinstance(size, int) or isinstance(size, bool) or size < 1:
                raise ValueError(f"timed[{name!r}] gives {dimension!r} the size {size!r}: a size is a number above 0")


def _shape(part: Any) -> tuple[Dimension, ...]:
    """The dimensions that an argument has."""
    if isinstance(part, Tensor):
        return part.dims
    return (part.parts, part.total) if isinstance(part, Offsets) else ()


def _mentioned(part: Any) -> tuple[Dimension, ...]:
    """The dimensions that an argument speaks of without having them."""
    if isinstance(part, Tensor):
        return (part.low, part.high)
    return (part.dim,) if isinstance(part, Size) else ()


def _parts(value: Any) -> Iterator[Any]:
    """What an argument is made of: the members of lists, tuples and dicts, and anything else itself."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for member in value:
            yield from _parts(member)
    else:
        yield value
