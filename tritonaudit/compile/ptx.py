"""Reads PTX: which source line accesses global memory how wide, and which matrix instructions there are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from tritonaudit.compile.accesses import Access
from tritonaudit.compile.facts import AccessKind
from tritonaudit.compile.ttir import Location

_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"((?:[^"\\]|\\.)*)"(?:\s+"((?:[^"\\]|\\.)*)")?', re.MULTILINE)
_LOC = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)")
_INSTRUCTION = re.compile(r"(?:^|[;{}])\s*(?:@!?%?\w+\s+)?([a-z]\w*)((?:\.[\w:]+)+)\s*([^;]*)")
_TYPE = re.compile(r"(?:bf|tf|[busf])(\d+)(?:x(\d))?")
_VECTOR = re.compile(r"v(\d)")
_COPY_BYTES = re.compile(r"\[[^\]]*\]\s*,\s*\[[^\]]*\]\s*,\s*(0x[0-9a-fA-F]+|\d+)")
_MATRIX = re.compile(r"\b(?:wgmma\.mma_async|tcgen05\.mma|mma\.sync|mma\.sp|wmma\.mma)[\w.:]*")

_KINDS = {
    "ld": AccessKind.LOAD,
    "ldu": AccessKind.LOAD,
    "st": AccessKind.STORE,
    "atom": AccessKind.ATOMIC,
    "red": AccessKind.ATOMIC,
}


def accesses(ptx: str) -> Iterator[Access]:
    """Each access to global memory whose line is known, in the order of the text.

    An access belongs to the line that contains it, also where a helper was inlined. Of the locations within a block
    of inline assembly only the first is the user's: Triton 3.9 counts the block's own lines on from it.
    """
    for location, opcode, qualifiers, operands in _instructions(ptx):
        access = _kind_and_bytes(opcode, qualifiers, operands)
        if access is not None and location is not None:
            yield Access(location, *access)


def matrix_instructions(ptx: str) -> tuple[str, ...]:
    """The matrix instructions with all their qualifiers, each once, sorted."""
    return tuple(sorted(set(_MATRIX.findall(ptx))))


def location_of_line(ptx: str, number: int) -> Location | None:
    """Which source line the PTX's line `number` (from 1) was made from."""
    return next((location for _, location in islice(_lines(ptx, _files(ptx)), number - 1, None)), None)


def _instructions(ptx: str) -> Iterator[tuple[Location | None, str, list[str], str]]:
    for line, location in _lines(ptx, _files(ptx)):
        if ".global" in line or "cp." in line:
            for opcode, qualifiers, operands in _INSTRUCTION.findall(line.split("//")[0]):
                yield location, opcode, qualifiers[1:].split("."), operands


def _lines(ptx: str, files: dict[int, str]) -> Iterator[tuple[str, Location | None]]:
    """Each line with the location that holds in it."""
    location: Location | None = None
    in_assembly = placed = False
    for line in ptx.split("\n"):
        text = line.lstrip()
        if text.startswith("// begin inline asm"):
            in_assembly, placed = True, False
        elif text.startswith("// end inline asm"):
            in_assembly = False
        elif match := _LOC.match(line):
            if not (in_assembly and placed):
                number, row, column = map(int, match.groups())
                location = Location(files[number], row, column) if row and number in files else None
            placed = True
        yield line, location


def _files(ptx: str) -> dict[int, str]:
    return {
        int(number): _unescaped(f"{first}/{second}" if second else first)
        for number, first, second in _FILE.findall(ptx)
    }


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def _kind_and_bytes(opcode: str, qualifiers: list[str], operands: str) -> tuple[AccessKind, int] | None:
    if opcode == "cp":
        return _copy(qualifiers, operands)
    kind = _KINDS.get(opcode)
    if kind is None or "global" not in qualifiers:
        return None
    types = [match for match in map(_TYPE.fullmatch, qualifiers) if match]
    if not types:
        return None
    vector = next((int(match[1]) for match in map(_VECTOR.fullmatch, qualifiers) if match), 1)
    return kind, vector * int(types[-1][1]) * int(types[-1][2] or 1) // 8


def _copy(qualifiers: list[str], operands: str) -> tuple[AccessKind, int] | None:
    """`cp.async` copies as many bytes per lane as its third operand says; `cp.async.bulk`, per block."""
    if "async" not in qualifiers or "global" not in qualifiers or "prefetch" in qualifiers:
        return None
    if "bulk" in qualifiers:
        return AccessKind.BULK_COPY, 0
    match = _COPY_BYTES.match(operands)
    return (AccessKind.ASYNC_COPY, int(match[1], 0)) if match else None
