"""One run through a wrapper: the names, sizes and facts that it has met so far."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tritonaudit.domains.affine import Affine, Atom
from tritonaudit.host.arithmetic import Arithmetic
from tritonaudit.host.facts import EQUAL, IS, TRUTH, Contradiction, Facts, equal
from tritonaudit.host.values import (
    Class,
    Condition,
    Config,
    Dims,
    Function,
    Kernel,
    Key,
    Object,
    Ratio,
    Symbol,
    Tensor,
    Test,
    Value,
    number,
    roots_of,
)

CONTIGUOUS = "contiguous"


class Raises(Exception):
    """The host code raises here; the reason in words."""


class OutOfBudget(Exception):
    """The wrapper takes more steps than are worth taking."""


class Restart(Exception):
    """How many dimensions a tensor has was learnt after it was asked for sizes: the path is run again with it.

    `chosen` is the condition that says so, where it may go either way.
    """

    def __init__(self, key: Key, rank: int) -> None:
        super().__init__(key)
        self.key, self.rank = key, rank
        self.chosen: Condition | None = None


@dataclass(frozen=True, eq=False)
class Recorded:
    """A launch as the run met it; `called` has what the host code calls sizes."""

    kernel: Kernel
    call: ast.Call
    arguments: dict[str, Value]
    grid: tuple[Value, ...] | Symbol
    written: tuple[ast.expr, ...]
    options: dict[str, Value]
    configs: tuple[Config, ...]
    conditions: tuple[Condition, ...]
    ranks: dict[Key, int]
    calls: tuple[Function, ...]
    is_whole: bool
    called: Mapping[Atom, str]


@dataclass(eq=False)
class Run:
    """The state of one run. `sizes` are the numbers that are put in for inputs, by their names.

    `choices` say which way to go where a condition may go either way; `settled` has all that went one of its ways.
    `read` gets the functions whose text it rests on, and `dead` are the statements of the running one that do nothing.
    """

    arithmetic: Arithmetic
    sizes: Mapping[str, int]
    choices: Mapping[Test, bool]
    ranks: dict[Key, int]
    steps: int
    call: Callable[[Run, Value, list[Value], dict[str, Value], ast.AST | None], Value]
    read: set[ast.AST] = field(default_factory=set)
    dead: frozenset[int] = frozenset()
    facts: Facts = field(init=False)
    settled: list[Condition] = field(default_factory=list)
    launches: list[Recorded] = field(default_factory=list)
    calls: list[Function] = field(default_factory=list)
    fields: dict[Key, Value] = field(default_factory=dict)
    of_modules: dict[tuple[str, str], Value] = field(default_factory=dict)
    written: dict[int, tuple[Value, list[ast.expr]]] = field(default_factory=dict)
    kinds: dict[Key, str] = field(default_factory=dict)
    called: dict[Atom, str] = field(default_factory=dict)
    _asked_sizes: set[Key] = field(default_factory=set)
    _tensors: dict[Key, Tensor] = field(default_factory=dict)
    _rank_of: dict[Atom, Symbol] = field(default_factory=dict)
    _node: ast.AST | None = None
    _made: dict[Key, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.facts = Facts(self.arithmetic)

    def step(self, node: ast.AST | None = None) -> None:
        self.steps -= 1
        self._node = node or self._node
        if self.steps < 0:
            raise OutOfBudget

    def spend(self, steps: int) -> None:
        """Take so many steps at once."""
        self.steps -= steps
        if self.steps < 0:
            raise OutOfBudget

    def apply(self, function: Value, args: list[Value], keywords: dict[str, Value], node: ast.AST | None) -> Value:
        """What a call of the function returns."""
        return self.call(self, function, args, keywords, node)

    def fresh(self) -> Key:
        """What tells a value that is made here from others: the place, the calls that led here, which time it is."""
        place = (id(self._node), *(id(function.node) for function in self.calls))
        self._made[place] = self._made.get(place, 0) + 1
        return (*place, self._made[place])

    # -- values ------------------------------------------------------------------------------------------------

    def unknown(self, reason: str, *made_of: Value, name: str = "") -> Symbol:
        """A value of its own that cannot be evaluated."""
        return Symbol(self.fresh(), name or "a value", reason, roots_of(made_of))

    def integer(self, value: Value, least: int | None = None) -> Affine | None:
        """The value as an integer; None where it is none."""
        if isinstance(value, Affine):
            return value
        if isinstance(value, bool):
            return number(int(value))
        if isinstance(value, float):
            return number(int(value)) if value.is_integer() and abs(value) < 1 << 62 else None
        if isinstance(value, Symbol):
            return self.size(value, value.key, value.name, least)
        if isinstance(value, Ratio):
            return None
        return None

    def size(self, of: Symbol, key: Key, name: str, least: int | None = None) -> Affine:
        """An integer that belongs to a value: a number where one is put in."""
        if not of.reason and name in self.sizes:
            return number(self.sizes[name])
        return self.arithmetic.symbol(key, name, not of.reason, None if least is None else number(least))

    def tensor(self, value: Value) -> Tensor | None:
        """The value as a tensor; what comes in is one as soon as it is used as one."""
        if isinstance(value, Symbol):
            if value.key not in self._tensors:
                self._tensors[value.key] = Tensor(value, Dims(value), None, value.part("dtype"))
            return self._tensors[value.key]
        return value if isinstance(value, Tensor) else None

    # -- shapes ------------------------------------------------------------------------------------------------

    def dims(self, shape: Value) -> tuple[Value, ...] | Dims:
        """The sizes one by one, where their number is known."""
        if not isinstance(shape, Dims):
            return tuple(shape)
        rank = self.ranks.get(shape.of.key)
        if rank is None:
            return shape
        return tuple(self.dim(shape.of, index) for index in range(rank)[shape.first : shape.last])

    def dim(self, of: Symbol, index: int) -> Affine:
        """The size of a dimension, counted from the end where the number of dimensions is not known."""
        return self._of_dimension(of, "shape", index, 0)

    def stride(self, of: Symbol, index: int, what: str = "stride") -> Affine:
        return self._of_dimension(of, what, index, None)

    def _of_dimension(self, of: Symbol, what: str, index: int, least: int | None) -> Affine:
        rank = self.ranks.get(of.key)
        if rank is None:
            self._asked_sizes.add(of.key)
        else:
            if not -rank <= index < rank:
                raise Raises(f"`{of.name}` has no dimension {index}")
            index %= rank
        name = f"{of.name}.shape[{index}]" if what == "shape" else f"{of.name}.{what}({index})"
        return self.size(of, (*of.key, what, index), name, least)

    def item(self, shape: Dims, index: int) -> Value:
        """The size at a place of a shape that is not known one by one."""
        if index >= 0:
            return self.dim(shape.of, shape.first + index)
        return self.dim(shape.of, index if shape.last is None else shape.last + index)

    def count(self, shape: Value) -> Affine | None:
        """The number of elements of a shape."""
        known = self.dims(shape)
        if isinstance(known, Dims):
            self._asked_sizes.add(known.of.key)
            part = "" if (known.first, known.last) == (0, None) else f".shape[{known.first or ''}:{known.last or ''}]"
            name = f"{known.of.name}{part}.numel()"
            return self.size(known.of, (*known.of.key, "numel", known.first, known.last), name, 0)
        total = number(1)
        for value in known:
            factor = self.integer(value)
            if factor is None:
                return None
            total = self.arithmetic.times(total, factor)
        return total

    def rank(self, shape: Value) -> Value:
        known = self.dims(shape)
        if not isinstance(known, Dims):
            return number(len(known))
        rank = self.size(known.of, (*known.of.key, "rank"), f"{known.of.name}.ndim", 0)
        self._asked_sizes.add(known.of.key)
        if rank.atom is not None:
            self._rank_of[rank.atom] = known.of
        elif rank.value is not None:
            self.ranks[known.of.key] = rank.value
        return rank - number(known.first - (known.last or 0))

    def learn_rank(self, of: Symbol, rank: int) -> None:
        """The tensor has so many dimensions. Raises Raises where it has another number."""
        known = self.ranks.get(of.key)
        if known is not None and known != rank:
            raise Raises(f"`{of.name}` has {known} dimensions, not {rank}")
        if known is None and of.key in self._asked_sizes:
            raise Restart(of.key, rank)
        self.ranks[of.key] = rank

    def unpacked(self, shape: Dims, before: int, after: int, is_starred: bool) -> list[Value]:
        """A shape taken apart: names before a starred one, which takes a shape itself, and after it."""
        known = self.dims(shape)
        if isinstance(known, Dims) and not is_starred:
            self.learn_rank(known.of, before + known.first - (known.last or 0))
            known = self.dims(shape)
        if not isinstance(known, Dims):
            middle = known[before : len(known) - after] if is_starred else ()
            return [*known[:before], *([middle] if is_starred else []), *known[len(known) - after :][:after]]
        end = (known.last or 0) - after
        rest = Dims(known.of, known.first + before, end or None)
        head = [self.item(known, index) for index in range(before)]
        return [*head, rest, *(self.item(known, index - after) for index in range(after))]

    # -- conditions --------------------------------------------------------------------------------------------

    def truth(self, value: Value, first: bool = True) -> bool:
        """Whether the value is true on this path; where either may be, `choices` decide, or it is what is `first`."""
        condition = self.condition(value)
        if isinstance(condition, bool):
            return condition
        return self.settle(condition.test, first is condition.holds) is condition.holds

    def settle(self, test: Test, first: bool) -> bool:
        """Go one of the ways that a test may go."""
        known = self.facts.decide(test)
        if known is not None:
            return known
        condition = Condition(test, self.choices.get(test, first))
        self.settled.append(condition)
        try:
            self._assume(condition)
        except Restart as restart:
            restart.chosen = condition
            raise
        return condition.holds

    def _assume(self, condition: Condition) -> None:
        self.facts.assume(condition)
        if condition.test.polynomial is not None and condition.holds and condition.test.relation == EQUAL:
            self._learn_rank_from(condition.test.polynomial)

    def _learn_rank_from(self, polynomial: Affine) -> None:
        """`x.dim() == 3` tells the number of dimensions."""
        constant = polynomial.terms.get((), 0)
        atom = (polynomial - number(constant)).atom
        if atom is not None and atom in self._rank_of:
            self.learn_rank(self._rank_of[atom], -constant)

    def condition(self, value: Value) -> Condition | bool:
        """Python's truth of a value."""
        if isinstance(value, Condition):
            known = self.facts.decide(value.test)
            return value if known is None else known is value.holds
        if isinstance(value, Affine):
            return self.condition(Condition(equal(value, f"{value} == 0"), False))
        if isinstance(value, Symbol):
            return Condition(Test(TRUTH, value.key, f"`{value.name}`", None, value.reason, value.roots))
        if isinstance(value, (Tensor, Function, Class, Object, Kernel)):
            return True
        if isinstance(value, (bool, int, float, str, tuple, list, dict, type(None))):
            return bool(value)
        return True

    def is_none(self, value: Value) -> Condition | bool:
        if isinstance(value, Symbol):
            test = Test(IS, (value.key, None), f"{value.name} is None", None, value.reason, value.roots)
            return self.condition(Condition(test))
        return value is None

    def require(self, value: Value, reason: str) -> None:
        """What an assertion demands: the path goes on under it alone."""
        condition = self.condition(value)
        if isinstance(condition, bool):
            if not condition:
                raise Raises(reason)
            return
        try:
            self._assume(condition)
        except Contradiction:
            raise Raises(reason) from None
