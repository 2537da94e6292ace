"""What is known of a value when Triton reads it: a tensor's type and shape, or a constant. None means not known.

`made` is the operation of the kernel that gives the value; two values of one type are equal whatever made them.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from tritonaudit.ir.model import Operation
    from tritonaudit.kernel.project import Function

Dim = int | None
Shape = tuple[Dim, ...]  # () is a scalar

SIGNED = ("i1", "i8", "i16", "i32", "i64")
UNSIGNED = ("u8", "u16", "u32", "u64")
FP8 = ("fp8e5", "fp8e4nv", "fp8e4b15", "fp8e4b8", "fp8e5b16")
FLOATS = (*FP8, "fp16", "bf16", "fp32", "fp64")
INTEGERS = (*SIGNED, *UNSIGNED)

DTYPES = {
    "float64": "fp64", "float32": "fp32", "float16": "fp16", "bfloat16": "bf16",
    "float8e5": "fp8e5", "float8e4nv": "fp8e4nv", "float8e4b8": "fp8e4b8", "float8e4b15": "fp8e4b15",
    "float8e5b16": "fp8e5b16", "int1": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
}  # fmt: skip
"""Triton's names of dtypes, and how they are written in signatures."""

SPELLED = {short: name for name, short in DTYPES.items()}

_MOST_IN_TUPLE = 256

POINTER = "*"
"""The dtype of a pointer to something unknown; one to fp16 is `*fp16`."""


class Dtype(str):
    """A dtype as a value: what `x.dtype` and `tl.float32` are."""

    __slots__ = ()


class Anything:
    """The value of a constant that only a launch gives."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


ANY = Anything("ANY")
ANY_INT = Anything("ANY_INT")
"""The value of a constant that a launch gives and that is an int, since shapes are made of it."""
ANY_FLOAT = Anything("ANY_FLOAT")
"""The value of a constant that is a float whatever a launch gives: a quotient."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A scalar or block of a kernel. `free`: a parameter that may turn out to be None, 1 or a pointer at a launch."""

    dtype: str | None
    shape: Shape | None
    free: bool = False
    made: Made | None = field(default=None, compare=False, repr=False)

    @property
    def is_pointer(self) -> bool:
        return self.dtype is not None and self.dtype.startswith("*")

    @property
    def is_block(self) -> bool:
        """Certainly no scalar."""
        return bool(self.shape)

    @property
    def numel(self) -> int | None:
        """The number of elements, where all dimensions are known."""
        if self.shape is None:
            return None
        product = 1
        for dim in self.shape:
            if dim is None:
                return None
            product *= dim
        return product


@dataclass(frozen=True, slots=True)
class Const:
    """A constant of the compiler's: a Python number, string, None, dtype or tuple; `ANY` where a launch gives it."""

    value: Any
    made: Made | None = field(default=None, compare=False, repr=False)

    @property
    def known(self) -> bool:
        return not isinstance(self.value, Anything)


@dataclass(frozen=True, slots=True)
class Tuple:
    """Several values; `literal`: a tuple or list that the kernel writes itself."""

    items: tuple[Value, ...]
    literal: bool = False

    @property
    def size(self) -> int:
        """How many values it holds that are no tuples."""
        return sum(item.size if isinstance(item, Tuple) else 1 for item in self.items)

    @property
    def bounded(self) -> Value:
        """Itself, or UNKNOWN where it holds too many: a tuple of two that is doubled in each line soon does."""
        return self if self.size <= _MOST_IN_TUPLE else UNKNOWN


@dataclass(frozen=True, slots=True)
class Named:
    """Something of a module, by its dotted name: of Triton's, of Python's or of another library's."""

    origin: str


@dataclass(frozen=True, slots=True)
class Helper:
    """A jit function of the project."""

    function: Function


@dataclass(frozen=True, slots=True)
class Plain:
    """A function of the host's, which kernels cannot call."""

    name: str


@dataclass(frozen=True, slots=True)
class Method:
    """A method of a value, not yet called."""

    receiver: Value
    name: str


@dataclass(frozen=True, slots=True)
class BlockPointer:
    """What `tl.make_block_ptr` gives: a pointer to blocks of this shape."""

    dtype: str | None
    shape: Shape | None
    made: Made | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Descriptor:
    """What `tl.make_tensor_descriptor` gives: blocks of this shape of a tensor."""

    dtype: str | None
    shape: Shape | None
    made: Made | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Missing:
    """A name that a path through the code leaves without a value; `why` says which."""

    why: str
    line: int


@dataclass(frozen=True, slots=True)
class Spent:
    """The variable of a loop after the loop, which has no defined value."""

    line: int


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value of whose type nothing is known."""

    made: Made | None = field(default=None, compare=False, repr=False)


UNKNOWN = Unknown()


@dataclass(frozen=True, slots=True)
class Literal:
    """The number that a tensor is made of by an assignment."""

    value: Any


Value = Tensor | Const | Tuple | Named | Helper | Plain | Method | BlockPointer | Descriptor | Missing | Spent | Unknown
Argument = tuple["Value", ast.expr]
Made: TypeAlias = "Operation | Literal"

NONE = Const(None)


def is_number(value: Value) -> bool:
    """A constant that is a Python number, of a value that may be unknown."""
    return isinstance(value, Const) and isinstance(value.value, (Anything, bool, int, float))


def dtype_of_number(value: Any) -> str | None:
    """The dtype that a Python number takes as a tensor."""
    if isinstance(value, bool):
        return "i1"
    if value is ANY_INT:
        return "i32"
    if isinstance(value, int):
        for dtype, low, high in _INTEGER_LITERALS:
            if low <= value < high:
                return dtype
        return None
    if isinstance(value, float):
        magnitude = abs(value)
        plain = magnitude in (0.0, float("inf")) or value != value or 2.0**-126 <= magnitude <= _MAX_FLOAT32
        return "fp32" if plain else "fp64"
    return None


_MAX_FLOAT32 = (2 - 2**-23) * 2.0**127
_INTEGER_LITERALS = (
    ("i32", -(2**31), 2**31),
    ("u32", 2**31, 2**32),
    ("i64", -(2**63), 2**63),
    ("u64", 2**63, 2**64),
)


def as_tensor(value: Value) -> Value:
    """What a plain assignment makes of a value: numbers become tensors."""
    if isinstance(value, Tuple):
        return Tuple(tuple(as_tensor(item) for item in value.items), value.literal)
    if isinstance(value, Const):
        if not value.known:
            return Tensor("i32", (), made=value.made) if value.value is ANY_INT else Unknown(value.made)
        if isinstance(value.value, tuple):
            return Tuple(tuple(as_tensor(Const(item)) for item in value.value))
        if isinstance(value.value, (bool, int, float)):
            return Tensor(dtype_of_number(value.value), (), made=value.made or Literal(value.value))
    return value


def text_of_type(value: Value) -> str:
    """The type as a person would write it: `fp32`, `a 16×32 block of fp32`, `the constant 4`."""
    if isinstance(value, Tensor):
        if value.is_pointer:
            kind = f"pointer to {value.dtype[1:]}" if value.dtype and value.dtype != POINTER else "pointer"
        else:
            kind = value.dtype or "an unknown dtype"
        if not value.shape:
            return kind
        size = "×".join("?" if dim is None else str(dim) for dim in value.shape)
        return f"a block of {kind} with shape {size}" if value.dtype else f"a block with shape {size}"
    if isinstance(value, Const):
        return "a constant" if not value.known else f"the constant {value.value!r}"
    if isinstance(value, Tuple):
        return f"a tuple of {len(value.items)}"
    if isinstance(value, BlockPointer):
        return "a block pointer"
    return "a tensor descriptor" if isinstance(value, Descriptor) else "a value"


def differ(left: Value, right: Value) -> bool:
    """Whether the two certainly have different types."""
    if isinstance(left, Tensor) and isinstance(right, Tensor):
        if left.free or right.free:
            return False
        if left.dtype is not None and right.dtype is not None and left.dtype != right.dtype:
            return POINTER not in (left.dtype, right.dtype) or left.is_pointer != right.is_pointer
        return _shapes_differ(left.shape, right.shape)
    if isinstance(left, Tuple) and isinstance(right, Tuple):
        return len(left.items) != len(right.items) or any(map(differ, left.items, right.items))
    return False


def _shapes_differ(left: Shape | None, right: Shape | None) -> bool:
    if left is None or right is None:
        return False
    if len(left) != len(right):
        return True
    return any(a is not None and b is not None and a != b for a, b in zip(left, right, strict=True))


def joined(left: Value, right: Value) -> Value:
    """What is known of a value that is one of the two."""
    if left == right:
        return left
    if isinstance(left, Const) and isinstance(right, Const):
        return Const(ANY)
    if isinstance(left, Tensor) and isinstance(right, Tensor):
        dtype = left.dtype if left.dtype == right.dtype else None
        shape: Shape | None = None
        if left.shape is not None and right.shape is not None and len(left.shape) == len(right.shape):
            shape = tuple(a if a == b else None for a, b in zip(left.shape, right.shape, strict=True))
        return Tensor(dtype, shape, left.free or right.free)
    if isinstance(left, Tuple) and isinstance(right, Tuple) and len(left.items) == len(right.items):
        return Tuple(tuple(map(joined, left.items, right.items)))
    if isinstance(left, (Missing, Spent)):
        return right
    return left if isinstance(right, (Missing, Spent)) else UNKNOWN
