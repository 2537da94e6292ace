"""PTX of one kernel as instructions: what the compiler prints, with its data in constant arrays."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tritonaudit.simulator.numerics.unsupported import Unsupported


@dataclass(frozen=True)
class Instruction:
    """One instruction: `name` with its modifiers, and operands as they are written.

    `guard` is the predicate under which it is executed, `is_negated` whether where that does not hold. The operands of
    a branch are the target's place in the code.
    """

    name: str
    operands: tuple[str, ...]
    guard: str = ""
    is_negated: bool = False


@dataclass(frozen=True)
class Code:
    """A kernel's body: its instructions, where labels stand, and arrays of bytes.

    `last_reads` tells of every register after which instruction nothing reads it any more. `is_assembly`: it stands in
    a kernel's source. Then it is not known which thread executes it, and of approximations whose bits are not known
    what they approximate will do.
    """

    instructions: tuple[Instruction, ...]
    labels: Mapping[str, int]
    arrays: Mapping[str, bytes]
    last_reads: Mapping[str, int] = field(default_factory=dict)
    is_assembly: bool = False


_ARRAY = re.compile(r"^\s*\.(?:visible )?\.?(?:global|const) .*?\.b8 ([\w$]+)\[\d+\] = \{([^}]*)\}", re.MULTILINE)
_KERNEL = re.compile(r"\.entry\s+[\w$]+\(.*?\)[^{]*\{(.*?)^\}", re.DOTALL | re.MULTILINE)
_SKIPPED = re.compile(r"//[^\n]*|/\*.*?\*/|^\s*\.(?:loc|file|section)[^\n]*", re.MULTILINE)
_STATEMENT = re.compile(
    r"\s*(?:(?P<label>[$\w]+):|(?P<brace>[{}])|\.[^;]*;|"
    r"(?:@(?P<negated>!?)\s*(?P<guard>[%\w$]+)\s+)?(?P<name>[a-z][\w.:]*)\s*(?P<operands>[^;]*);|$)"
)
_OPERAND = re.compile(r"\{[^}]*\}|\[[^\]]*\]|[^\s,]+")
_REGISTER = re.compile(r"[%a-zA-Z_][\w.]*")
_BRANCHES = ("bra", "bra.uni")


def parse(text: str) -> Code:
    """The one kernel of a PTX module. Raises Unsupported where it has functions or what cannot be read."""
    kernel = _KERNEL.search(text)
    if kernel is None or re.search(r"^\s*\.(?:visible |weak )?\.?func\b", text, re.MULTILINE):
        raise Unsupported("PTX", "a function")
    arrays = {name: bytes(int(one) & 0xFF for one in numbers.split(",")) for name, numbers in _ARRAY.findall(text)}
    instructions, labels = _statements(kernel[1])
    return Code(tuple(instructions), labels, arrays, _last_reads(instructions, labels))


def parse_assembly(text: str, results: Sequence[str]) -> Code:
    """Inline assembly that gives what these registers hold in the end. Raises Unsupported."""
    instructions, labels = _statements(text)
    kept = dict.fromkeys(results, len(instructions))
    return Code(tuple(instructions), labels, {}, _last_reads(instructions, labels) | kept, is_assembly=True)


def _statements(text: str) -> tuple[list[Instruction], dict[str, int]]:
    """Instructions, and before which of them labels stand."""
    instructions: list[Instruction] = []
    labels: dict[str, int] = {}
    body = _SKIPPED.sub("", text)
    place = 0
    while place < len(body):
        found = _STATEMENT.match(body, place)
        if found is None or found.end() == place:
            raise Unsupported("PTX", body[place:].strip().partition("\n")[0])
        place = found.end()
        if found["label"]:
            labels[found["label"]] = len(instructions)
        elif found["name"]:
            operands = tuple(_OPERAND.findall(found["operands"]))
            instructions.append(Instruction(found["name"], operands, found["guard"] or "", bool(found["negated"])))
    return instructions, labels


def _last_reads(instructions: list[Instruction], labels: Mapping[str, int]) -> dict[str, int]:
    """The last read of each register in the text; what a loop reads is needed to its end."""
    found: dict[str, int] = {}
    for place, one in enumerate(instructions):
        for register in _REGISTER.findall(" ".join((one.guard, *one.operands))):
            found[register] = place
    for place, one in enumerate(instructions):
        start = labels.get(one.operands[0], place) if one.name in _BRANCHES else place
        for inner in instructions[start:place]:
            for register in _REGISTER.findall(" ".join((inner.guard, *inner.operands))):
                found[register] = max(found[register], place)
    return found
