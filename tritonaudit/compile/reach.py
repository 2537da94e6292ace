"""Which of a kernel's arguments decide where it accesses memory, and which only whether: a backward slice of TTIR."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container
from dataclasses import dataclass, field
from itertools import permutations

from tritonaudit.compile.ttir import Location, Module


@dataclass(frozen=True)
class Reach:
    """The arguments that reach an access, by their SSA names.

    `address` reach its address, `mask` only its mask. `lane_strides` are those of `address` by which something that
    differs between lanes is multiplied, where nothing differs between lanes without being multiplied: then lanes that
    stand beside each other access what does not.
    """

    address: frozenset[str]
    mask: frozenset[str]
    lane_strides: frozenset[str]


def reaches(module: Module) -> dict[Location, Reach]:
    """What reaches the loads, stores and atomics of the kernel, by where they stand in the source."""
    slicer = _Slicer(module)
    slicer.read(module.body)
    found: dict[Location, Reach] = {}
    for access in slicer.accesses:
        if access.location is not None:
            reach = slicer.reach(access)
            before = found.get(access.location)
            found[access.location] = reach if before is None else _union(before, reach)
    return found


def _union(a: Reach, b: Reach) -> Reach:
    address = a.address | b.address
    return Reach(address, (a.mask | b.mask) - address, a.lane_strides | b.lane_strides)


@dataclass(frozen=True)
class _Access:
    location: Location | None
    address: str
    mask: str | None


@dataclass
class _Region:
    """An operation whose region is being read: what its results, and its blocks' arguments, are made of."""

    results: list[str]
    operands: list[str]
    carried: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)


_VALUE = re.compile(r"%[\w.$-]+(?:#\d+)?")
_RESULTS = re.compile(r"\s*(%[\w.$-]+(?::\d+)?(?:, %[\w.$-]+(?::\d+)?)*) = (.*)")
_OPERATION = re.compile(r'\s*"?([a-z_]+\.[\w.]+)"?')
_CARRIED = re.compile(r"(?:iter_args|scf\.while ?)\(([^)]*)\)")
_INITIAL = re.compile(r"(%[\w.$-]+) = (%[\w.$-]+(?:#\d+)?)")
_COUNTER = re.compile(r"scf\.for (?:unsigned )?(%[\w.$-]+) = (%\S+) to %\S+ step (%\S+)")
_BLOCK_ARGUMENT = re.compile(r"(%[\w.$-]+): ")
_ACCESSES = {"tt.load": 1, "tt.store": 2, "tt.atomic_rmw": 2, "tt.atomic_cas": 3}
"""The operations on pointers, with the position of their mask among their operands; the address is at 0."""
_YIELDS = ("scf.yield", "scf.condition", "tt.reduce.return", "tt.scan.return", "tt.map_elementwise.return")


class _Slicer:
    """Reads a function's body line by line into a graph: each value, under a name of its own, with what it is made of.

    MLIR reuses the names of values in regions beside each other, so a name is looked up from the region it is in.
    """

    def __init__(self, module: Module) -> None:
        self._module = module
        self._arguments = dict.fromkeys(f"%{argument.name}" for argument in module.arguments)
        self._made_of: dict[str, set[str]] = defaultdict(set)
        self._products: dict[str, tuple[str, ...]] = {}
        self._ranges: set[str] = set()
        self._regions: list[_Region] = [_Region([], [], names={name: name for name in self._arguments})]
        self._fresh = 0
        self.accesses: list[_Access] = []

    def read(self, body: str) -> None:
        for line in body.split("\n")[1:]:
            text = line.strip()
            if text.startswith("}"):
                self._close(text)
            elif text.startswith("^"):
                self._block(text)
            elif text:
                self._operation(text)
            if not self._regions:
                return

    # -- the graph -------------------------------------------------------------------------------------------------

    def reach(self, access: _Access) -> Reach:
        address = self._arguments_among(self._sources(access.address))
        mask = self._arguments_among(self._sources(access.mask)) if access.mask else frozenset()
        return Reach(address, mask - address, self._lane_strides(access.address))

    def _lane_strides(self, address: str) -> frozenset[str]:
        if self._sources(address, stop_at=self._products) & self._ranges:
            return frozenset()
        return frozenset(
            argument
            for product in self._sources(address) & self._products.keys()
            for factor, other in permutations(map(self._sources, self._products[product]))
            if other & self._ranges and not factor & self._ranges
            for argument in self._arguments_among(factor)
        )

    def _arguments_among(self, values: set[str]) -> frozenset[str]:
        return frozenset(value[1:] for value in values & self._arguments.keys())

    def _sources(self, value: str, stop_at: Container[str] = ()) -> set[str]:
        """The values that it is made of, with itself; not those that the values to stop at are made of."""
        seen: set[str] = set()
        pending = [value]
        while pending:
            value = pending.pop()
            if value not in seen:
                seen.add(value)
                pending.extend(() if value in stop_at else self._made_of[value])
        return seen

    # -- the text --------------------------------------------------------------------------------------------------

    def _operation(self, text: str) -> None:
        match = _RESULTS.match(text)
        names, rest = (match[1].split(", "), match[2]) if match else ([], text)
        operation = _OPERATION.match(rest)
        kind = operation[1] if operation else ""
        operands = self._operands(rest)
        results = [unique for name in names for unique in self._define(name)]
        if kind in _ACCESSES and operands:
            position = _ACCESSES[kind]
            mask = operands[position] if len(operands) > position else None
            self.accesses.append(_Access(self._module.location(text), operands[0], mask))
        if kind in _YIELDS:
            self._yield(operands)
        elif rest.endswith("{"):
            self._open(rest, kind, results, operands)
        elif kind not in _ACCESSES:  # of what is loaded, nothing is known
            for result in results:
                self._made_of[result].update(operands)
            if kind == "arith.muli" and len(operands) == 2:
                self._products.update((result, tuple(operands)) for result in results)
            if kind == "tt.make_range":
                self._ranges.update(results)

    def _operands(self, text: str) -> list[str]:
        """The values that an operation takes, without those that its region defines."""
        return [self._look_up(name) for name in _VALUE.findall(text) if self._look_up(name)]

    def _open(self, text: str, kind: str, results: list[str], operands: list[str]) -> None:
        carried = _CARRIED.search(text)
        initial = [(name, self._look_up(value)) for name, value in _INITIAL.findall(carried[1] if carried else "")]
        counter = _COUNTER.search(text)
        steps = [self._look_up(value) for value in counter.groups()[1:]] if counter else []
        region = _Region(results, operands)
        self._regions.append(region)
        for name, value in initial:
            region.carried += self._define(name)
            self._made_of[region.carried[-1]].add(value)
        if counter:
            self._made_of[self._define(counter[1])[0]].update(steps)
        elif kind != "scf.if":
            for result in results:
                self._made_of[result].update(operands)
        for result, (_, value) in zip(results, initial, strict=False):
            self._made_of[result].add(value)

    def _close(self, text: str) -> None:
        """The end of a region; `} else {` and `} do {` begin the next one of the same operation."""
        region = self._regions.pop()
        if text.endswith("{"):
            self._regions.append(_Region(region.results, region.operands, region.carried))

    def _block(self, text: str) -> None:
        """`^bb0(%a: f32, %b: f32):`, whose arguments may be anything that the operation takes or carries."""
        region = self._regions[-1]
        for name in _BLOCK_ARGUMENT.findall(text):
            for unique in self._define(name):
                self._made_of[unique].update([*region.operands, *region.carried])

    def _yield(self, values: list[str]) -> None:
        region = self._regions[-1]
        for position, value in enumerate(values):
            for targets in (region.results, region.carried):
                if len(targets) == len(values):
                    self._made_of[targets[position]].add(value)
                else:
                    for target in targets:
                        self._made_of[target].add(value)

    def _define(self, name: str) -> list[str]:
        """Names of their own for a result, or for each of the `%name:2` of an operation with several."""
        base, _, count = name.partition(":")
        self._fresh += 1
        if not count:
            self._regions[-1].names[base] = f"{base} {self._fresh}"
            return [f"{base} {self._fresh}"]
        uniques = [f"{base}#{number} {self._fresh}" for number in range(int(count))]
        self._regions[-1].names.update({f"{base}#{number}": unique for number, unique in enumerate(uniques)})
        return uniques

    def _look_up(self, name: str) -> str:
        return next((region.names[name] for region in reversed(self._regions) if name in region.names), "")
