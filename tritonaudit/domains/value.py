"""Abstract values: what is known of a kernel's value without running it. None means not known."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import TYPE_CHECKING, Any

from tritonaudit.domains.affine import LOADED, Affine, Atom

if TYPE_CHECKING:
    from libcst import CSTNode

Dim = Affine | None
Shape = tuple[Dim, ...]  # () is a scalar

UNSIGNED = frozenset({"u1", "u8", "u16", "u32", "u64"})
INTEGERS = frozenset({"i1", "i8", "i16", "i32", "i64", "int"}) | UNSIGNED
WIDE = frozenset({"i64", "u64"})
HALF = frozenset({"fp16", "bf16", "fp8"})
FLOATS = frozenset({"fp8", "fp16", "bf16", "fp32", "fp64", "float"})
_WIDTH = {"float": 0, "fp8": 1, "fp16": 2, "bf16": 2, "fp32": 3, "fp64": 4}

DTYPES = {
    "float64": "fp64", "float32": "fp32", "float16": "fp16", "bfloat16": "bf16",
    "float8e5": "fp8", "float8e4nv": "fp8", "float8e4b8": "fp8", "float8e4b15": "fp8", "float8e5b16": "fp8",
    "int1": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
}  # fmt: skip


def as_dtype(written: str) -> str | None:
    """A scalar type as Triton writes it in a signature; None for what is none of them."""
    name = "fp8" if written.startswith("fp8") else "i1" if written == "u1" else str(written)
    return name if name in FLOATS | INTEGERS and name not in ("int", "float") else None


def element_of(parameter: str) -> str:
    """The dtype of what the pointer parameter points to: known by name only, and maybe 16 bits wide."""
    return f"*{parameter}"


def given_dtype(parameter: str) -> str:
    """The dtype that a constexpr parameter is."""
    return f"={parameter}"


def dtype_parameter(dtype: str) -> str | None:
    """The parameter that a launch gives the dtype by, where it is no other."""
    return dtype[1:] if dtype[:1] == "=" else None


def promote(left: str | None, right: str | None) -> str | None:
    """The dtype of an arithmetic result. Python's own numbers ("int", "float") take the other operand's dtype."""
    if left == right:
        return left
    if left is None or right is None:
        return None
    for one, other in ((left, right), (right, left)):
        if one == "int":
            return other
        if one == "float":
            return "fp32" if other in INTEGERS else other
        if one in FLOATS and other in INTEGERS:
            return one
        if one == "fp64":
            return one
    if left in FLOATS and right in FLOATS:
        return left if _WIDTH[left] >= _WIDTH[right] else right
    if left in INTEGERS and right in INTEGERS:
        return max(left, right, key=lambda dtype: (int(dtype[1:]), dtype[0] == "u"))
    return left if right in INTEGERS else right if left in INTEGERS else None


class Fill(Enum):
    """What padded lanes hold when it is not a number that the text gives."""

    COMPUTED = "a value computed from the padding"
    MAYBE_NAN = "0 times a value that may be infinite"


@dataclass(frozen=True)
class Less:
    """`0 < gap`, or `0 <= gap` when not strict: `offs < n` has the gap `n - offs`, however it is spelled."""

    gap: Affine
    strict: bool

    def axes(self) -> frozenset[int]:
        return self.gap.axes()

    def bounds(self) -> frozenset[int]:
        """The axes whose lanes it bounds from above: those of the terms that the gap subtracts."""
        below = (atom.axes for product, factor in self.gap.terms.items() if factor < 0 for atom in product)
        return frozenset().union(*below)

    def data_axes(self) -> frozenset[int]:
        """The axes along which it compares data rather than indices."""
        return frozenset().union(*(atom.axes for atom in self.gap.atoms() if atom.name == LOADED))


@dataclass(frozen=True)
class Opaque:
    """A condition of unknown content that may depend on these axes."""

    over: frozenset[int]

    def axes(self) -> frozenset[int]:
        return self.over

    def bounds(self) -> frozenset[int]:
        return self.over


Condition = Less | Opaque
Mask = frozenset[Condition]  # a conjunction
ALL_AXES = frozenset(range(-6, 0))
ANYTHING: Mask = frozenset((Opaque(ALL_AXES),))


@dataclass(frozen=True)
class Padding:
    """Lanes that fail `condition` hold `fill` instead of data.

    `load` is the masked load, None where a `tl.where` put it there; `base` is the load or the contraction that the
    value comes from, `place` the expression at which to fix it.
    """

    condition: Less
    fill: float | Fill
    load: CSTNode | None
    explicit: bool
    base: CSTNode | None = field(default=None, compare=False)
    place: CSTNode | None = field(default=None, compare=False)

    def axes(self) -> frozenset[int]:
        return self.condition.bounds()


@dataclass(frozen=True, eq=False)
class ExpTerm:
    """An `exp` of something not bounded above. `difference`: of two rows of one tensor against each other."""

    node: CSTNode
    base: str
    argument: Value
    path: tuple[Any, ...]
    difference: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """An operation of the text: its name, as LibCST or Triton has it, and the values and the place it had.

    Casts and layouts are no steps. `either` is where control meets, `carried` what a loop makes of a name.
    """

    operation: str
    operands: tuple[Value, ...]
    node: CSTNode | None = None


@dataclass(slots=True, eq=False)
class Value:
    """What is known of one value. Never changed once made; not frozen because millions are made.

    `affine` is its integer polynomial, for a pointer with the pointer parameter `origin` in it; `const` a number,
    string or dtype that the text gives; `upper` and `lower` bound its elements; `mask` is its meaning as a condition;
    `paddings` say what masked-off lanes hold, `murky` along which axes that is unknown;
    `raw` says that it is data as loaded or accumulated, with nothing subtracted, from the pointer `source`; `exps` are
    the overflowing exponentials it is a product of, `sums` those it is a sum of, `one_plus` those it is one more than,
    `inverse` those whose sum it is one over,
    `tainted` those it is computed from in any way;
    `narrowed` is the cast that may have made it 16 bits wide; `difference` says that it is each element of a row less
    each element of the same row; `made` is the floating-point operation that it is the result of; `wide` says of an
    integer that it may have 64 bits, having been cast so or computed from one that was.
    """

    shape: Shape | None = None
    dtype: str | None = None
    affine: Affine | None = None
    const: Any = None
    constexpr: bool = False
    upper: float | None = None
    lower: float | None = None
    mask: Mask | None = None
    paddings: tuple[Padding, ...] = ()
    murky: frozenset[int] = frozenset()
    parts: tuple[Value, ...] | None = None
    block: BlockPointer | None = None
    raw: bool = False
    origin: Atom | None = None
    source: str | None = None
    exps: tuple[ExpTerm, ...] = ()
    sums: tuple[ExpTerm, ...] = ()
    one_plus: tuple[ExpTerm, ...] = ()
    inverse: tuple[ExpTerm, ...] = ()
    tainted: tuple[ExpTerm, ...] = ()
    narrowed: CSTNode | None = None
    difference: bool = False
    made: Step | None = None
    wide: bool = False

    @property
    def rank(self) -> int | None:
        return None if self.shape is None else len(self.shape)

    @property
    def is_block(self) -> bool:
        """Certainly more than one element: a shape with a dimension that is not 1."""
        return bool(self.shape) and any(dim is not None and dim.value != 1 for dim in self.shape or ())

    def but(self, **changes: Any) -> Value:
        """A copy with these fields changed."""
        copy = object.__new__(Value)
        for name in _FIELDS:
            setattr(copy, name, getattr(self, name))
        for name, value in changes.items():
            setattr(copy, name, value)
        return copy


@dataclass(frozen=True)
class BlockPointer:
    """`tl.make_block_ptr` or a tensor descriptor: tensor shape, offsets and block shape, a dimension each.

    `base` is the address that it was made of, `strides` what its indices are multiplied with.
    """

    parameter: str | None
    shape: tuple[Affine | None, ...]
    offsets: tuple[Affine | None, ...]
    block: tuple[Affine | None, ...]
    descriptor: bool = False
    base: Affine | None = field(default=None, compare=False)
    strides: tuple[Affine | None, ...] = field(default=(), compare=False)


_FIELDS = tuple(entry.name for entry in fields(Value))
UNKNOWN = Value()


def scalar(dtype: str | None, affine: Affine | None = None, **more: Any) -> Value:
    return Value(shape=(), dtype=dtype, affine=affine, **more)


NONE = ("None", None)  # the constant None; a Value whose `const` is None has no known constant


def literal(value: Any) -> Value:
    """A constant of the text."""
    if value is None:
        return Value(shape=(), const=NONE, constexpr=True)
    affine = Affine.constant(int(value)) if isinstance(value, int) else None
    dtype = {bool: "i1", int: "int", float: "float"}.get(type(value))
    number = _rounded(value) if isinstance(value, float) else None
    if isinstance(value, int) and abs(value) < 2**1000:
        number = float(value)
    return Value(shape=(), dtype=dtype, affine=affine, const=value, constexpr=True, upper=number, lower=number)


def _rounded(number: float) -> float:
    """As float32 holds it, which is what Triton makes of a number with a point."""
    try:
        rounded: float = struct.unpack("f", struct.pack("f", number))[0]
    except OverflowError:  # too large for float32: Triton keeps it as float64
        return number
    return rounded


def broadcast(left: Shape | None, right: Shape | None) -> Shape | None:
    """The shape of an elementwise result; where two dimensions differ and neither is 1, the left one."""
    if left is None or right is None:
        return None
    if left == right or not right:
        return left
    if not left:
        return right
    rank = max(len(left), len(right))
    result: list[Dim] = []
    for position in range(1, rank + 1):
        a, b = (shape[-position] if position <= len(shape) else _ONE for shape in (left, right))
        result.append(b if a is not None and a.value == 1 else a)
    return tuple(reversed(result))


_ONE = Affine.constant(1)
