"""The reductions and scans of a program's TTGIR: which thread holds which element that they combine."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tritonaudit.simulator.ir import Function, Location, Module, Operation
from tritonaudit.simulator.layouts import Axis, Basis, Layout, Layouts
from tritonaudit.simulator.slices import blocks_in
from tritonaudit.simulator.text.locations import Locations
from tritonaudit.simulator.text.tokens import Tokens, UnsupportedText


@dataclass(frozen=True)
class LaidOut:
    """One reduction or scan: in which function, what and where it is, and the layout of what it combines.

    `layout` is None where that is not understood. It tells the elements as TTIR counts them: Triton may give the
    elements of a block that is made one-dimensional any order that suits the threads which hold them. `before` are
    the shape and layout of the block before Triton gave it another shape.
    """

    function: str
    name: str
    location: Location | None
    axis: int
    shape: tuple[int, ...]
    layout: Layout | None
    before: tuple[tuple[int, ...], Layout | None]


def laid_out(text: str) -> list[LaidOut]:
    """Those of a text of TTGIR, in its order."""
    reader = _Reader(text)
    return [found for function, lines in reader.functions() for found in reader.reductions(function, lines)]


@lru_cache(maxsize=64)
def axes_of(module: Module, ttgir: str) -> Mapping[tuple[str, int], Axis]:
    """Of a module's reductions and scans, by function and first result, who holds the elements along their axis.

    Those are not among them of which that is not understood.
    """
    known = laid_out(ttgir)
    found: dict[tuple[str, int], Axis] = {}
    for function in module.functions:
        for operation in blocks_in(function.region.blocks):
            if operation.name in ("tt.reduce", "tt.scan"):
                axis = _axis(function, operation, known)
                if axis is not None:
                    found[function.name, operation.results[0]] = axis
    return found


def _axis(function: Function, operation: Operation, known: Sequence[LaidOut]) -> Axis | None:
    """The one that all have that became of an operation, as often as its loop is unrolled."""
    axis, shape = int(operation.attributes["axis"]), function.types[operation.operands[0]].shape
    place = (function.name, operation.name, operation.location)
    same = [one for one in known if (one.function, one.name, one.location) == place]
    axes = {
        None if one.layout is None else one.layout.along(axis) for one in same if (one.axis, one.shape) == (axis, shape)
    }
    (only_one,) = axes if len(axes) == 1 else (None,)
    if only_one is None or not only_one.is_whole or only_one.size != shape[axis]:
        return None
    return only_one


_FUNCTION = re.compile(r"^\s*tt\.func (?:public |private )?@(\"[^\"]*\"|[\w.$]+)")
_BEGIN = re.compile(
    r"^(?P<indent>\s*)%[\w:, ]+ = \"(?P<name>tt\.(?:reduce|scan))\"\((?P<operands>[^)]*)\) <\{(?P<rest>.*)"
)
_AXIS = re.compile(r"axis = (\d+) : i32")
_END = re.compile(r"^\s*\}\) : (?P<types>.*) loc\((?P<location>.*)\)$")
_DEFINED = re.compile(r"^\s*(?P<result>%\w+) = (?P<name>[\w.]+) (?P<operands>.*?) : (?P<types>.*) loc\(.*\)$")
_VALUE = re.compile(r"%\w+(?:#\d+)?")
_TENSOR = re.compile(r"tensor<((?:\d+x)+)")
_KEEPS_PLACES = ("arith.", "math.", "ttg.convert_layout", "tt.extern_elementwise")


class _Reader:
    def __init__(self, text: str) -> None:
        self._locations = Locations(text)
        self._layouts = Layouts(text)

    def functions(self) -> Iterator[tuple[str, list[str]]]:
        """The lines of each function."""
        name, lines = "", list[str]()
        for line in self._locations.rest.splitlines():
            if found := _FUNCTION.match(line):
                yield name, lines
                name, lines = found[1].strip('"'), []
            lines.append(line)
        yield name, lines

    def reductions(self, function: str, lines: list[str]) -> Iterator[LaidOut]:
        made = {found["result"]: found for line in lines if (found := _DEFINED.match(line))}
        for number, line in enumerate(lines):
            begin = _BEGIN.match(line)
            if begin is None:
                continue
            end = next(_END.match(one) for one in lines[number:] if one.startswith(f"{begin['indent']}}})"))
            axis = _AXIS.search(begin["rest"])
            if end is None or axis is None:
                continue
            shape, layout = self._tensors(end["types"])[0]
            operand = begin["operands"].split(",")[0].strip()
            if layout is not None:
                layout = self._as_counted(layout, operand, made)
            before = self._before(operand, made) or (shape, layout)
            location = self._location(end["location"])
            yield LaidOut(function, begin["name"], location, int(axis[1]), shape, layout, before)

    def _location(self, text: str) -> Location | None:
        try:
            return self._locations.read(Tokens(f"({text})"))
        except UnsupportedText:
            return None

    def _tensors(self, text: str) -> list[tuple[tuple[int, ...], Layout | None]]:
        """The shapes and layouts of the blocks in a list of types."""
        found = []
        for match in _TENSOR.finditer(text):
            shape = tuple(int(size) for size in match[1].split("x")[:-1])
            inside = _inside(text[match.start() + len("tensor") :])
            _, comma, encoding = inside.partition(", ")
            found.append((shape, self._layouts.of(encoding, shape) if comma else None))
        return found

    def _before(self, operand: str, made: dict[str, re.Match[str]]) -> tuple[tuple[int, ...], Layout | None] | None:
        found = None
        while (definition := made.get(operand)) is not None and definition["name"] in ("tt.reshape", "tt.trans"):
            found = self._tensors(definition["types"])[0]
            operand = _VALUE.findall(definition["operands"])[0]
        return found

    def _as_counted(self, layout: Layout, operand: str, made: dict[str, re.Match[str]]) -> Layout | None:
        """The layout with the elements as TTIR counts them, if they were put in another order before."""
        definition = _reordering(operand, made)
        if definition is None:
            return layout
        (shape, before), (flat, after) = self._tensors(definition["types"])
        if before is None or after is None or len(flat) > 1:
            return None
        moved: dict[Basis, Basis] = {}
        for old, new in ((before.registers, after.registers), (before.lanes, after.lanes), (before.warps, after.warps)):
            if len(old) != len(new):
                return None
            for one, other in zip(old, new, strict=True):
                if any(one) != any(other):
                    return None
                moved[other] = (_flat(one, shape),)
        return layout.mapped(moved)


def _reordering(value: str, made: dict[str, re.Match[str]]) -> re.Match[str] | None:
    """The reshape behind a value that put elements in another order, if only what keeps their places lies between."""
    definition = made.get(value)
    if definition is None:
        return None
    if definition["name"] == "tt.reshape":
        return definition if " allow_reorder" in definition["operands"] else None
    if not definition["name"].startswith(_KEEPS_PLACES):
        return None
    found = (_reordering(operand, made) for operand in _VALUE.findall(definition["operands"]))
    return next((one for one in found if one is not None), None)


def _flat(basis: Basis, shape: tuple[int, ...]) -> int:
    """The index of an element when all axes are made one."""
    found = 0
    for index, size in zip(basis, shape, strict=True):
        found = found * size + index
    return found


def _inside(text: str) -> str:
    """What stands in the angle brackets that a text begins with."""
    depth = 0
    for place, character in enumerate(text):
        depth += {"<": 1, ">": -1}.get(character, 0)
        if not depth:
            return text[1:place]
    return text
