"""What the text of a TTIR module says: its arguments, locations and matrix products; and edits of its arguments."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise


@dataclass(frozen=True)
class Location:
    """A place in a source file, line and column as the compiler counts them."""

    path: str
    line: int
    column: int


@dataclass(frozen=True)
class Argument:
    """An argument of the kernel: its SSA name without the `%`, its MLIR type and its attributes (`tt.divisibility`).

    `parameter` is the name in the source where the module tells it, which it does from Triton 3.6 on.
    """

    name: str
    type: str
    attributes: tuple[tuple[str, str], ...]
    location: str
    parameter: str | None

    @property
    def is_pointer(self) -> bool:
        return self.type.startswith("!tt.ptr")

    @property
    def is_integer(self) -> bool:
        return re.fullmatch(r"i(8|16|32|64)", self.type) is not None

    @property
    def divisibility(self) -> int:
        """What its value is known to be divisible by; 1 where nothing is."""
        known = dict(self.attributes).get("tt.divisibility", "1 : i32")
        return int(known.split()[0])

    def __str__(self) -> str:
        attributes = ", ".join(f"{name} = {value}" for name, value in self.attributes)
        return " ".join(filter(None, (f"%{self.name}: {self.type}", attributes and f"{{{attributes}}}", self.location)))


_KERNEL = re.compile(r"tt\.func public @[^(]*\(")
_ARGUMENT = re.compile(r"%(?P<name>[\w.$-]+): (?P<rest>.*)", re.DOTALL)
_ALIAS = re.compile(r"^(#loc\d*) = loc\((.*)\)$", re.MULTILINE)
_FILE = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+):(\d+)')
_NAMED = re.compile(r'"((?:[^"\\]|\\.)*)"\((.*)\)$', re.DOTALL)
_CALL_SITE = re.compile(r"callsite\((#loc\d*) at (#loc\d*)\)")
_FUSED = re.compile(r"fused(?:<[^>]*>)?\[(.*)\]")
_MEMORY = re.compile(r"\btt\.(?:load|store|atomic_rmw|atomic_cas)\b")
_DOT = re.compile(r"\btt\.dot(_scaled)? (?P<rest>[^\n]*)")
_LEFT_FORMAT = re.compile(r"\blhs = (\w+)")
_TENSOR = re.compile(r"tensor<(?:\d+x)*([^,>]+)")

_TRITON_TYPES = {
    "f8E4M3FN": "fp8e4nv",
    "f8E4M3FNUZ": "fp8e4b8",
    "f8E5M2": "fp8e5",
    "f8E5M2FNUZ": "fp8e5b16",
    "f16": "fp16",
    "bf16": "bf16",
    "f32": "fp32",
    "f64": "fp64",
    "i8": "int8",
}


@dataclass(frozen=True)
class Module:
    """The text of a module with one kernel, after Triton's `make_ttir`."""

    text: str

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        """Those of the kernel, in order."""
        return tuple(self._argument(text) for text in _split(self._arguments_text))

    @cached_property
    def body(self) -> str:
        """From behind the kernel's arguments on."""
        return self.text[self._arguments_end :]

    @cached_property
    def counts_columns_from_zero(self) -> bool:
        """Whether locations count columns from 0, within the dedented source, as those before Triton 3.9 do.

        The kernel itself then stands at column 0, which does not occur where columns count from 1.
        """
        return any(location.column == 0 for location in self._locations.values() if location is not None)

    def location(self, text: str) -> Location | None:
        """Where an operation stands that ends in `text`, such as `loc(#loc12)`: in the innermost function inlined."""
        _, found, location = text.rpartition("loc(")
        return self._resolve(location.rstrip()[:-1]) if found else None

    def memory_operations(self) -> dict[Location, str]:
        """Where the operations on pointers stand, `tt.load` and the like."""
        found = ((self.location(line), match[0]) for line in self.text.split("\n") if (match := _MEMORY.search(line)))
        return {location: operation for location, operation in found if location is not None}

    def dots(self) -> tuple[tuple[str, int], ...]:
        """How many matrix products it has, by the type of their left operand as Triton calls it, commonest first."""
        types = Counter(_left_type(match["rest"], bool(match[1])) for match in _DOT.finditer(self.text))
        return tuple(types.most_common())

    def assuming(self, divisible: Collection[str] = (), one: Collection[str] = ()) -> Module:
        """The module in which the values of the arguments `divisible` are divisible by 16, and those of `one` are 1."""
        arguments = [_divisible(a) if a.name in divisible else a for a in self.arguments]
        body = self.body
        for argument in self.arguments:
            if argument.name in one:
                body = _with_one(body, argument)
        return Module(self.text[: self._arguments_start] + ", ".join(map(str, arguments)) + body)

    # -- parts of the text -----------------------------------------------------------------------------------------

    @cached_property
    def _arguments_start(self) -> int:
        match = _KERNEL.search(self.text)
        if match is None:
            raise ValueError("the module has no kernel")
        return match.end()

    @cached_property
    def _arguments_end(self) -> int:
        return next(end for end, depth in _depths(self.text, self._arguments_start) if depth < 0)

    @property
    def _arguments_text(self) -> str:
        return self.text[self._arguments_start : self._arguments_end]

    def _argument(self, text: str) -> Argument:
        match = _ARGUMENT.match(text)
        if match is None:
            raise ValueError(f"not an argument: {text}")
        parts = [part.strip() for part in _split(match["rest"], " ")]
        attributes = next((part[1:-1] for part in parts if part.startswith("{")), "")
        location = next((part for part in parts if part.startswith("loc(")), "")
        pairs = (tuple(item.split(" = ", 1)) for item in _split(attributes))
        return Argument(
            match["name"],
            parts[0],
            tuple((pair[0], pair[1] if len(pair) == 2 else "unit") for pair in pairs),
            location,
            self._parameter(location),
        )

    def _parameter(self, location: str) -> str | None:
        match = _NAMED.match(location[len("loc(") : -1])
        return match[1] if match else None

    # -- locations -------------------------------------------------------------------------------------------------

    @cached_property
    def _aliases(self) -> dict[str, str]:
        return dict(_ALIAS.findall(self.text))

    @cached_property
    def _locations(self) -> dict[str, Location | None]:
        return {alias: self._resolve(alias) for alias in self._aliases}

    def _resolve(self, text: str) -> Location | None:
        text = self._aliases.get(text, text)
        if match := _CALL_SITE.fullmatch(text):
            return self._resolve(match[1]) or self._resolve(match[2])
        if match := _FILE.fullmatch(text):
            return Location(_unescaped(match[1]), int(match[2]), int(match[3]))
        if match := _NAMED.fullmatch(text):
            return self._resolve(match[2])
        if match := _FUSED.fullmatch(text):
            return next(filter(None, map(self._resolve, _split(match[1]))), None)
        return None


def _divisible(argument: Argument) -> Argument:
    others = tuple(item for item in argument.attributes if item[0] != "tt.divisibility")
    return replace(argument, attributes=(("tt.divisibility", "16 : i32"), *others))


def _with_one(body: str, argument: Argument) -> str:
    """A constant defined first in the body takes the argument's place in it."""
    constant = f"one_for_{argument.name}"
    header, _, rest = body.partition("\n")
    renamed = re.sub(rf"%{re.escape(argument.name)}(?![\w.$-])", f"%{constant}", rest)
    return f"{header}\n    %{constant} = arith.constant 1 : {argument.type}\n{renamed}"


def _left_type(rest: str, is_scaled: bool) -> str:
    if is_scaled and (match := _LEFT_FORMAT.search(rest)):
        return match[1]
    tensor = _TENSOR.search(rest)
    element = tensor[1] if tensor else "?"
    return _TRITON_TYPES.get(element, element)


def _unescaped(text: str) -> str:
    return re.sub(r"\\([0-9A-Fa-f]{2}|.)", lambda m: chr(int(m[1], 16)) if len(m[1]) == 2 else m[1], text)


# -- text with brackets ----------------------------------------------------------------------------------------------


def _depths(text: str, start: int = 0) -> Iterator[tuple[int, int]]:
    """Each position outside of strings with the number of brackets open behind it."""
    depth = 0
    in_string = False
    position = start
    while position < len(text):
        character = text[position]
        if in_string:
            position += character == "\\"
            in_string = character != '"'
        elif character == '"':
            in_string = True
        elif character in "([{<":
            depth += 1
        elif character in ")]}" or (character == ">" and text[position - 1] != "-"):
            depth -= 1
        if not in_string:
            yield position, depth
        position += 1


def _split(text: str, separator: str = ",") -> list[str]:
    """The parts between separators that stand in no brackets, stripped; none of an empty text."""
    cuts = [position for position, depth in _depths(text) if depth == 0 and text[position] == separator]
    edges = [-1, *cuts, len(text)]
    parts = [text[left + 1 : right].strip() for left, right in pairwise(edges)]
    return [part for part in parts if part]
