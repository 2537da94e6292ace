"""Which sums take a product into one fused multiply-add, as Triton's compiler makes them for NVIDIA's GPUs.

LLVM contracts block by block when it selects instructions. Before that, what does not change in a loop moves out of
it, and a product whose uses all lie in one later block may move there. The product is still computed for its other
uses. Of two products the one with fewer uses is taken, else the left one, once a sum's operands are in the order in
which they become known. All of this is read in the PTX of Triton 3.2 to 3.9. Where it is not known that a product
and a sum come into one block, they stay apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tritonaudit.simulator.ir import Block, Function, Module, Operation, Region

PRODUCT = "arith.mulf"
SUMS = ("arith.addf", "arith.subf")
_NEGATION = "arith.negf"
_MOVES = frozenset(("tt.splat", "tt.broadcast", "tt.expand_dims", "tt.reshape"))
"""What brings a product to a sum without an instruction of its own."""
_ELEMENTS = frozenset(("f16", "bf16", "f32", "f64"))
_LOOPS = frozenset(("scf.for", "scf.while"))
_BRANCHES = _LOOPS | {"scf.if", "tt.assert"}
_FUNCTIONS_WITH_BRANCHES = frozenset(("math.log", "math.log2", "math.sin", "math.cos", "math.erf"))
_LIBRARY_WITH_BRANCHES = frozenset(
    f"__nv_{name}f" for name in ("log", "log2", "log1p", "sin", "cos", "erf", "tanh", "pow")
)
"""Functions of float32 that become several blocks."""
_MOVING = ("arith.", "math.", "tt.bitcast", *_MOVES)
"""What is moved out of a loop that does not change it, by how the names begin."""
_KNOWN_IN_ORDER = (
    *("tt.load", "tt.dot", "tt.atomic", "tt.reduce", "tt.scan", "tt.trans", "tt.gather", "tt.histogram"),
    *("math.exp", "math.rsqrt", "math.sqrt", "math.log", "math.sin", "math.cos", "math.erf", "arith.divf"),
    *("tt.precise_", "tt.extern_elementwise"),
)
"""What becomes known one after the other, by how the names begin: memory, and calls that LLVM does not look into."""


@dataclass(frozen=True)
class Contraction:
    """A sum that takes in a product: the product's factors, and the operations that move them to the sum's shape.

    `is_left`: the product is the sum's left operand. `is_negative`: it takes part with its sign changed.
    """

    factors: tuple[int, int]
    moves: tuple[Operation, ...]
    is_left: bool
    is_negative: bool


@dataclass(frozen=True)
class Plan:
    """Of a module's values, by function and number: the sums that are contracted, and products that are not needed.

    A product is not needed where sums of the same line alone use it, and all of them take it in. `reduced` are the
    products that a reduction or scan combines where its sums can take them in.
    """

    sums: Mapping[tuple[str, int], Contraction]
    unneeded: frozenset[tuple[str, int]]
    reduced: Mapping[tuple[str, int], Contraction]


def plan_of(module: Module) -> Plan:
    """How the sums and products of a module are contracted."""
    sums: dict[tuple[str, int], Contraction] = {}
    unneeded: set[tuple[str, int]] = set()
    reduced: dict[tuple[str, int], Contraction] = {}
    for function in module.functions:
        text = _Text(function)
        planner = _Planner(text)
        for place in text.places:
            for operation in reversed(place.operations):
                planner.contract(operation, place)
        sums |= {(function.name, number): one for number, one in planner.sums.items()}
        unneeded |= {(function.name, number) for number in text.definition if planner.is_unneeded(number)}
        reduced |= {(function.name, number): one for number, one in planner.reduced()}
    return Plan(sums, frozenset(unneeded), reduced)


# -- the text of a function --------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Place:
    """A block of instructions; `before` is the one block from which alone it is entered, if there is one."""

    before: _Place | None = None
    is_last: bool = False
    operations: list[Operation] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class _Use:
    """What uses a value, past what moves it or changes its sign."""

    operation: Operation
    operand: int
    place: _Place


class _Text:
    """A function's operations in the blocks of instructions that they become part of, and where its values come from.

    `ranks` tell in which order values become known: memory and loops one after the other, the rest by its operands.
    """

    def __init__(self, function: Function) -> None:
        self.types = function.types
        self.places: list[_Place] = []
        self.definition: dict[int, Operation] = {}
        self.place: dict[int, _Place] = {}
        self.ranks: dict[int, int] = {}
        self._users: dict[int, list[_Use]] = {}
        self._loops: list[_Place] = []
        self._levels: dict[int, int] = {}
        self._arguments(function.arguments)
        self._function(function.region)

    def uses(self, number: int) -> list[_Use]:
        """The uses of a value in the end."""
        found: list[_Use] = []
        waiting = [number]
        while waiting:
            for use in self._users.get(waiting.pop(), ()):
                if use.operation.name in _MOVES or use.operation.name == _NEGATION:
                    waiting.append(use.operation.results[0])
                else:
                    found.append(use)
        return found

    def _function(self, region: Region) -> None:
        """Blocks that branches connect: one that a single branch enters follows on the block with that branch."""
        targets = [[target for target, _ in block.operations[-1].successors] for block in region.blocks]
        ends: list[_Place] = []
        for number, block in enumerate(region.blocks):
            sources = [source for source, each in enumerate(targets) for target in each if target == number]
            follows = len(sources) == 1 and sources[0] < number
            ends.append(self._block(block, _Place(ends[sources[0]] if follows else None)))
            ends[number].is_last = not targets[number]

    def _block(self, block: Block, place: _Place) -> _Place:
        """Read a block that begins in a place; gives the place in which it ends."""
        self.places.append(place)
        self._arguments(block.arguments)
        for operation in block.operations:
            self._operation(operation, place)
            if self._has_branches(operation):
                place = _Place()
                self.places.append(place)
        return place

    def _has_branches(self, operation: Operation) -> bool:
        """Whether what is behind an operation is in another block."""
        if operation.name in _FUNCTIONS_WITH_BRANCHES:
            return self.types[operation.results[0]].element == "f32"
        return operation.name in _BRANCHES or operation.attributes.get("symbol") in _LIBRARY_WITH_BRANCHES

    def _operation(self, operation: Operation, place: _Place) -> None:
        level = self._level(operation)
        place = place if level == len(self._loops) else self._loops[level]
        place.operations.append(operation)
        passed = [number for _, numbers in operation.successors for number in numbers]
        for operand, number in enumerate((*operation.operands, *passed)):
            self._users.setdefault(number, []).append(_Use(operation, operand, place))
        if operation.name in _LOOPS:
            self._loop(operation, place)
        else:
            for region in operation.regions:
                for block in region.blocks:
                    self._block(block, _Place(place if operation.name == "scf.if" else None))
        rank = self._rank(operation)
        for number in operation.results:
            self.definition[number] = operation
            self.place[number] = place
            self.ranks[number] = rank
            self._levels[number] = level

    def _loop(self, operation: Operation, place: _Place) -> None:
        """Before its first round is a place for what moves out of it."""
        self._loops.append(_Place(place))
        for region in operation.regions:
            self._block(region.block, _Place())
        self.places.append(self._loops.pop())

    def _level(self, operation: Operation) -> int:
        """In how many of the loops around it an operation changes."""
        if not operation.name.startswith(_MOVING):
            return len(self._loops)
        return max((self._levels.get(number, 0) for number in operation.operands), default=0)

    def _arguments(self, numbers: tuple[int, ...]) -> None:
        for number in numbers:
            self.ranks[number] = self._next_rank()
            self._levels[number] = len(self._loops)

    def _rank(self, operation: Operation) -> int:
        if operation.regions or operation.name.startswith(_KNOWN_IN_ORDER):
            return self._next_rank()
        rank = max((self.ranks.get(number, 0) for number in operation.operands), default=0)
        is_instruction = operation.operands and operation.name not in _MOVES and operation.name != _NEGATION
        return rank + 1 if is_instruction else rank

    def _next_rank(self) -> int:
        """Later than all that is known so far, by more than the operations on it count."""
        return (len(self.ranks) + 1) << 32


# -- decisions ---------------------------------------------------------------------------------------------------------


class _Planner:
    """Decides sum by sum, the last of each block first."""

    def __init__(self, text: _Text) -> None:
        self.sums: dict[int, Contraction] = {}
        self._text = text
        self._place: dict[int, _Place] = {}
        self._count: Counter[int] = Counter()
        for number, operation in text.definition.items():
            if operation.name == PRODUCT and text.types[number].element in _ELEMENTS:
                uses = text.uses(number)
                self._place[number] = place = _moved_to(text.place[number], uses)
                elsewhere = any(use.place is not place for use in uses)
                self._count[number] = sum(use.place is place for use in uses) + elsewhere

    def contract(self, operation: Operation, place: _Place) -> None:
        """Let the operation take in a product, if it is a sum that can."""
        if operation.name not in SUMS:
            return
        known = [found for operand in (0, 1) if (found := self._product(operation, operand, place)) is not None]
        if not known:
            return
        product, contraction = known[0] if len(known) == 1 else min(known, key=lambda one: self._order(operation, one))
        self.sums[operation.results[0]] = contraction
        self._take(product, contraction)

    def is_unneeded(self, number: int) -> bool:
        """Whether only sums of the value's line use it, and all of them have taken it in."""
        definition = self._text.definition[number]
        if number not in self._place or definition.location is None:
            return False
        line = (definition.location.path, definition.location.line)
        uses = self._text.uses(number)
        for use in uses:
            taken = self.sums.get(use.operation.results[0]) if use.operation.name in SUMS else None
            at = use.operation.location
            if taken is None or taken.is_left == bool(use.operand) or at is None or (at.path, at.line) != line:
                return False
        return bool(uses)

    def reduced(self) -> Iterator[tuple[int, Contraction]]:
        """The reductions and scans of products that are known in their place."""
        for place in self._text.places:
            for operation in place.operations:
                if operation.name in ("tt.reduce", "tt.scan") and len(operation.operands) == 1:
                    found = self._product(operation, 0, place)
                    if found is not None:
                        yield operation.results[0], found[1]

    def _product(self, operation: Operation, operand: int, place: _Place) -> tuple[int, Contraction] | None:
        """The product that is an operand of a sum in a place."""
        number = operation.operands[operand]
        is_negative = operation.name == "arith.subf" and operand == 1
        moves: list[Operation] = []
        while (made := self._text.definition.get(number)) is not None and made.name != PRODUCT:
            if made.name in _MOVES:
                moves.append(made)
            elif made.name == _NEGATION:
                is_negative = not is_negative
            else:
                return None
            number = made.operands[0]
        if made is None or self._place.get(number) is not place:
            return None
        a, b = made.operands
        return number, Contraction((a, b), tuple(reversed(moves)), operand == 0, is_negative)

    def _order(self, operation: Operation, found: tuple[int, Contraction]) -> tuple[int, int, bool]:
        product, contraction = found
        rank = self._text.ranks[product] if operation.name == "arith.addf" else 0
        return self._count[product], rank, not contraction.is_left

    def _take(self, product: int, contraction: Contraction) -> None:
        """The sum uses the product's factors from now on; they lose that use by a product that is used up."""
        self._count[product] -= 1
        if self._count[product]:
            for factor in contraction.factors:
                self._count[self._root(factor)] += 1

    def _root(self, number: int) -> int:
        """The value that is moved or changes its sign."""
        while (made := self._text.definition.get(number)) is not None:
            if made.name not in _MOVES and made.name != _NEGATION:
                break
            number = made.operands[0]
        return number


def _moved_to(place: _Place, uses: list[_Use]) -> _Place:
    """Where a product is computed in the end.

    It moves to where all its uses are, if that is entered from its own block alone or is where the function ends.
    """
    first, *others = [use.place for use in uses] or [place]
    is_one = all(other is first for other in others)
    return first if is_one and (first.before is place or first.is_last) else place
