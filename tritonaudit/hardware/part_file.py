"""Reads parts from JSON, ours or a user's, and refuses a figure without a source. See parts.schema.json."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tritonaudit.hardware.parts import (
    BANDWIDTH,
    L2,
    L3,
    MEMORY,
    MULTIPROCESSORS,
    REGISTERS,
    SHARED_MEMORY,
    UNITS,
    Part,
    Rate,
    rate_name,
    target_figures,
)
from tritonaudit.hardware.roofline import Conflict, Figure
from tritonaudit.hardware.targets import Source, known_targets

FIGURES = {
    "bandwidth": BANDWIDTH,
    "memory": MEMORY,
    "l2": L2,
    "l3": L3,
    "shared memory": SHARED_MEMORY,
    "registers": REGISTERS,
    "multiprocessors": MULTIPROCESSORS,
}
RATES = {"matrix rate": True, "vector rate": False}
PRINTED_UNITS = {
    "": ("", 1.0),
    "GB/s": ("GB/s", 1.0),
    "TB/s": ("GB/s", 1e3),
    "KiB": ("B", 2.0**10),
    "MiB": ("B", 2.0**20),
    "GiB": ("B", 2.0**30),
    "GB": ("B", 1e9),
    "GFLOPS": ("TFLOP/s", 1e-3),
    "TFLOPS": ("TFLOP/s", 1.0),
    "PFLOPS": ("TFLOP/s", 1e3),
    "TOPS": ("TOP/s", 1.0),
    "POPS": ("TOP/s", 1e3),
}
"""The units that a source may print a figure in: our unit for it, and by what the number is multiplied."""

_PART_KEYS = {"title", "target", "devices", "figures"}
_STATEMENT_KEYS = {"printed", "unit", "sparse", "of", "source", "place", "quote"}
_FIGURE_KEYS = _STATEMENT_KEYS | {"figure", "operands", "accumulator", "note", "conflicts"}


class PartFileError(ValueError):
    """A file of parts that cannot be used: which file, at which key, and why."""

    def __init__(self, file: str, key: str, message: str) -> None:
        super().__init__(f"{file}: {key}: {message}" if key else f"{file}: {message}")


def read_part_file(file: Path) -> dict[str, Part]:
    """The parts of a user's file. Raises PartFileError."""
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise PartFileError(str(file), "", f"cannot be read: {reason}") from error
    return parse_parts(text, str(file))


def parse_parts(text: str, file: str) -> dict[str, Part]:
    """The parts by their names. Raises PartFileError."""
    try:
        data = json.loads(text)
    except ValueError as error:
        raise PartFileError(file, "", f"is not JSON: {error}") from error
    whole = _Node(file, "", data).table({"$schema", "sources", "parts"}, needed={"sources", "parts"})
    sources = {key: node.text() for key, node in whole["sources"].members()}
    return {name: _part(name, node, sources) for name, node in whole["parts"].members()}


def _part(name: str, node: _Node, sources: Mapping[str, str]) -> Part:
    keys = node.table(_PART_KEYS, needed={"title", "figures"})
    target = keys["target"].one_of(known_targets()) if "target" in keys else None
    devices = tuple(device.text() for device in keys["devices"].items()) if "devices" in keys else ()
    given: dict[str, Figure] = {}
    rates: list[Rate] = []
    for entry in keys["figures"].items():
        found = _figure(entry, sources)
        if isinstance(found, Rate):
            rates.append(found)
        elif found.name in given:
            raise entry.wrong("is given twice")
        else:
            given[found.name] = found
    common = [figure for figure in (target_figures(target) if target else ()) if figure.name not in given]
    return Part(name, keys["title"].text(), target, devices, (*given.values(), *common), tuple(rates))


def _figure(node: _Node, sources: Mapping[str, str]) -> Figure | Rate:
    keys = node.table(_FIGURE_KEYS, needed={"figure", "printed"})
    kind = keys["figure"].one_of((*FIGURES, *RATES))
    conflicts = tuple(
        _conflict(entry, sources, kind) for entry in (keys["conflicts"].items() if "conflicts" in keys else ())
    )
    note = keys["note"].text() if "note" in keys else ""
    if kind in FIGURES:
        if extra := sorted({"operands", "accumulator", "sparse"} & set(keys)):
            raise keys[extra[0]].wrong(f"has no meaning for {kind!r}")
        name = FIGURES[kind]
        stated = _stated(keys, sources, kind)
        return Figure(name, stated.value, stated.unit, stated.source, conflicts, _joined(stated.derived, note))
    if "operands" not in keys:
        raise node.wrong("a rate needs `operands`, the dtype that is multiplied")
    operands = keys["operands"].text()
    accumulator = keys["accumulator"].text() if "accumulator" in keys else None
    stated = _stated(keys, sources, kind)
    is_silent = RATES[kind] and accumulator is None and stated.value is not None
    notes = _joined(stated.derived, "the source does not say what sums are kept in" if is_silent else "", note)
    name = rate_name(operands, accumulator, RATES[kind])
    return Rate(
        operands, accumulator, RATES[kind], Figure(name, stated.value, stated.unit, stated.source, conflicts, notes)
    )


def _conflict(node: _Node, sources: Mapping[str, str], kind: str) -> Conflict:
    keys = node.table(_STATEMENT_KEYS, needed={"printed", "source", "place", "quote"})
    stated = _stated(keys, sources, kind)
    if stated.value is None or stated.source is None:
        raise node.wrong("says nothing: a conflict needs a number in `printed`")
    return Conflict(stated.value, stated.source)


@dataclass(frozen=True)
class _Statement:
    """What a source states of one device and dense operands, in our unit, and how that was derived from its words."""

    value: float | None
    unit: str
    source: Source | None = None
    derived: str = ""


def _stated(keys: Mapping[str, _Node], sources: Mapping[str, str], kind: str) -> _Statement:
    usual = UNITS[FIGURES[kind]] if kind in FIGURES else "TFLOP/s"
    printed = keys["printed"].number_or_none()
    if printed is None:
        return _Statement(None, usual)
    source = _source(keys, sources)
    unit, factor = PRINTED_UNITS[keys["unit"].one_of(PRINTED_UNITS)] if "unit" in keys else ("", 1.0)
    if unit not in ((usual,) if kind in FIGURES else ("TFLOP/s", "TOP/s")):
        raise keys.get("unit", keys["printed"]).wrong(f"{kind!r} is not given in {unit or 'a bare number'!r}")
    sparse = keys["sparse"].flag() if "sparse" in keys else False
    devices = keys["of"].count() if "of" in keys else 1
    value = round(printed * factor / devices / (2 if sparse else 1), 6)
    halved = "half of what is printed, which is with 2:4 sparsity" if sparse else ""
    shared = f"what is printed for {devices}, divided by {devices}" if devices > 1 else ""
    return _Statement(value, unit, source, _joined(halved, shared))


def _source(keys: Mapping[str, _Node], sources: Mapping[str, str]) -> Source:
    for key in ("source", "place", "quote"):
        if key not in keys:
            raise keys["printed"].wrong(f"has no `{key}`: a figure needs its source, the place in it and its words")
    return Source(sources[keys["source"].one_of(sources)], keys["place"].text(), keys["quote"].text())


def _joined(*notes: str) -> str:
    return "; ".join(filter(None, notes))


@dataclass(frozen=True)
class _Node:
    """A value of the file and the key that it stands at, for messages."""

    file: str
    key: str
    value: Any

    def wrong(self, message: str) -> PartFileError:
        return PartFileError(self.file, self.key, message)

    def members(self) -> list[tuple[str, _Node]]:
        if not isinstance(self.value, dict):
            raise self.wrong("is not an object")
        dot = f"{self.key}." if self.key else ""
        return [(key, _Node(self.file, f"{dot}{key}", value)) for key, value in self.value.items()]

    def table(self, allowed: set[str], needed: set[str]) -> dict[str, _Node]:
        members = dict(self.members())
        if unknown := sorted(set(members) - allowed):
            raise members[unknown[0]].wrong(f"is not known here; there are {', '.join(sorted(allowed))}")
        if missing := sorted(needed - set(members)):
            raise self.wrong(f"has no `{missing[0]}`")
        return members

    def items(self) -> list[_Node]:
        if not isinstance(self.value, list):
            raise self.wrong("is not an array")
        return [_Node(self.file, f"{self.key}[{place}]", value) for place, value in enumerate(self.value)]

    def text(self) -> str:
        if not isinstance(self.value, str) or not self.value.strip():
            raise self.wrong(f"is {self.value!r}; a text is needed")
        return self.value

    def one_of(self, known: Iterable[str]) -> str:
        if self.value not in (names := list(known)):
            raise self.wrong(f"is {self.value!r}; known are {', '.join(map(repr, names))}")
        return str(self.value)

    def number_or_none(self) -> float | None:
        if self.value is None:
            return None
        if (
            isinstance(self.value, bool)
            or not isinstance(self.value, (int, float))
            or not 0 < self.value < float("inf")
        ):
            raise self.wrong(f"is {self.value!r}; a number above 0 is needed, or null where it is unknown")
        return float(self.value)

    def count(self) -> int:
        if isinstance(self.value, bool) or not isinstance(self.value, int) or self.value < 1:
            raise self.wrong(f"is {self.value!r}; a number of devices is needed")
        return self.value

    def flag(self) -> bool:
        if not isinstance(self.value, bool):
            raise self.wrong(f"is {self.value!r}; true or false is needed")
        return self.value
