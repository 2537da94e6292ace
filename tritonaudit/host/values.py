"""The values of host code.

An integer is a polynomial, a number included; `bool`, `float`, `str`, `None`, tuples, lists and dictionaries are
Python's own. All else is one of the classes below. Only frames and objects change once they are made; those with slots
are not frozen because so many are made.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tritonaudit.domains.affine import Affine

if TYPE_CHECKING:
    from tritonaudit.host.scopes import Scope
    from tritonaudit.source.outline import JitFunction

Value = Any
"""Any of them. Which one it is, is asked with `isinstance` where it matters."""

Key = tuple[object, ...]


@dataclass(slots=True, unsafe_hash=True)
class Symbol:
    """A value of which only its identity is known: what comes in, or what cannot be evaluated, which has a `reason`.

    `roots` are the inputs that it was made of.
    """

    key: Key
    name: str
    reason: str = ""
    roots: frozenset[str] = frozenset()

    def part(self, name: str) -> Symbol:
        """An attribute of it."""
        return Symbol((*self.key, name), f"{self.name}.{name}", self.reason, self.roots)


@dataclass(slots=True, eq=False)
class Test:
    """A condition that sizes or inputs decide. Of `polynomial` it says `== 0` or `<= 0`; others are known by `key`."""

    __test__ = False  # no test of pytest's

    relation: str
    key: Key
    text: str
    polynomial: Affine | None = None
    reason: str = ""
    roots: frozenset[str] = frozenset()
    _hash: int = field(default=0, init=False, repr=False)

    def __hash__(self) -> int:
        if not self._hash:
            self._hash = hash((self.relation, self.key, self.polynomial))
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Test):
            return False
        return (self.relation, self.key, self.polynomial) == (other.relation, other.key, other.polynomial)


@dataclass(slots=True, unsafe_hash=True)
class Condition:
    """A test, or its opposite."""

    test: Test
    holds: bool = True

    @property
    def opposite(self) -> Condition:
        return Condition(self.test, not self.holds)

    def __str__(self) -> str:
        return self.test.text if self.holds else f"not ({self.test.text})"


@dataclass(frozen=True)
class Ratio:
    """`a / b` of integers, until it is rounded."""

    above: Affine
    below: Affine


@dataclass(frozen=True)
class Dtype:
    """A dtype by torch's name, whether torch's or Triton's is meant."""

    name: str

    @property
    def itemsize(self) -> int | None:
        """The bytes of an element; None of names without a number of bits."""
        bits = "8" if self.name == "bool" else "".join(filter(str.isdigit, self.name.partition("_")[0][-2:]))
        return max(int(bits) // 8, 1) if bits else None


@dataclass(slots=True, unsafe_hash=True)
class Dims:
    """The sizes of a tensor whose number of dimensions is not known, those from `first` up to `last` (None: all)."""

    of: Symbol
    first: int = 0
    last: int | None = None


Shape = tuple[Value, ...] | Dims


@dataclass(slots=True, eq=False)
class Tensor:
    """A tensor. `made` says how: given, or by the function that made it; strides None are those of the `storage`."""

    symbol: Symbol
    shape: Shape
    strides: tuple[Value, ...] | None
    dtype: Value
    made: str = "given"
    is_contiguous: bool = False

    @property
    def is_given(self) -> bool:
        return self.made == "given"


@dataclass(frozen=True, eq=False)
class Described:
    """A tensor descriptor that the host makes, with the sizes of its block."""

    tensor: Tensor
    block: Value


@dataclass(frozen=True)
class External:
    """A name of a library, dotted."""

    name: str


@dataclass(eq=False)
class Frame:
    """The names of a function that runs, and those around it."""

    scope: Scope
    names: dict[str, Value] = field(default_factory=dict)
    outer: Frame | None = None
    owner: str = ""


@dataclass(slots=True, eq=False)
class Function:
    """A function of the project, or a lambda, with the names around it; `first` is what a method is bound to.

    It `is_bare` where its decorators are done with.
    """

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    frame: Frame
    first: Value = None
    is_bound: bool = False
    is_bare: bool = False

    @property
    def name(self) -> str:
        return getattr(self.node, "name", "a lambda")


@dataclass(slots=True, eq=False)
class Builtin:
    """A function that the evaluator knows, or a method with its object."""

    name: str
    call: Callable[[list[Value], dict[str, Value]], Value]


@dataclass(frozen=True, eq=False)
class Partial:
    function: Value
    args: tuple[Value, ...]
    keywords: dict[str, Value]


@dataclass(frozen=True, eq=False)
class Class:
    node: ast.ClassDef
    frame: Frame


@dataclass(eq=False)
class Object:
    """An instance of a class of the project (None: of no matter which), with the attributes that were set."""

    of: Class | None
    symbol: Symbol
    fields: dict[str, Value] = field(default_factory=dict)


@dataclass(eq=False)
class Kernel:
    """A jit function, and the file that it stands in; it is another function once its body was edited."""

    function: JitFunction
    scope: Scope

    def stands_at(self, path: str, line: int) -> bool:
        """Whether it is the one whose text begins there; a file may have been parsed more than once."""
        return self.function.first_line == line and self.scope.module.path == path


@dataclass(frozen=True, eq=False)
class Launcher:
    """`kernel[grid]`, before it is called."""

    kernel: Value
    grid: Value


@dataclass(frozen=True)
class Config:
    """What an autotuner tries: constants of the kernel and options of the launch."""

    constants: tuple[tuple[str, Value], ...]
    options: tuple[tuple[str, Value], ...]
    node: ast.expr | None = None

    @property
    def given(self) -> dict[str, Value]:
        return dict(self.constants)


@dataclass(frozen=True)
class Bag:
    """What a loop or a comprehension runs over, whose elements are not known one by one."""

    symbol: Symbol
    element: Value = None


@dataclass(frozen=True)
class Rest:
    """What is passed by `*`: arguments of unknown number, made of `symbol`."""

    symbol: Symbol


def number(value: int) -> Affine:
    return Affine.constant(value)


def as_number(value: Value) -> int | None:
    """The integer, where it is one; truth values are none."""
    return value.value if isinstance(value, Affine) else None


def roots_of(values: Iterable[Value], depth: int = 3) -> frozenset[str]:
    """The inputs that values were made of."""
    found: set[str] = set()
    for value in values:
        if isinstance(value, Symbol):
            found |= value.roots
        elif isinstance(value, (Tensor, Object)):
            found |= value.symbol.roots
        elif isinstance(value, Dims):
            found |= value.of.roots
        elif isinstance(value, Affine):
            found |= {root for atom in value.atoms_inside() for root in _roots_of_atom(atom.name, atom.inner)}
        elif isinstance(value, Condition):
            found |= value.test.roots
        elif isinstance(value, (tuple, list)) and depth:
            found |= roots_of(value, depth - 1)
        elif isinstance(value, dict) and depth:
            found |= roots_of(value.values(), depth - 1)
    return frozenset(found)


def _roots_of_atom(name: str, inner: tuple[Affine, ...]) -> tuple[str, ...]:
    return () if inner else (name.partition(".")[0],)
