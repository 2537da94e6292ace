"""A function's body: values by number, regions, blocks and operations."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from tritonaudit.simulator.ir import Block, Location, Operation, Region, Type
from tritonaudit.simulator.text.attributes import read_attribute, read_attributes, read_constant, symbol
from tritonaudit.simulator.text.draft import Draft, result_types, segments
from tritonaudit.simulator.text.locations import Locations
from tritonaudit.simulator.text.tokens import Tokens, UnsupportedText, unquoted
from tritonaudit.simulator.text.types import is_unsigned, read_type, read_types, type_of

_LABEL = re.compile(r"\^bb\d+")

Form = Callable[["Body", Draft], None]


class Body:
    """Reads a function's regions; `types` and `names` grow by the values that are defined."""

    def __init__(self, tokens: Tokens, locations: Locations) -> None:
        self.tokens = tokens
        self.types: list[Type] = []
        self.names: dict[int, str] = {}
        self._locations = locations
        # By their printed names. Regions beside each other use the same names, each defined again before it is used.
        self._values: dict[str, int] = {}

    # -- values ----------------------------------------------------------------------------------------------------

    def define(self, name: str, *types: Type) -> tuple[int, ...]:
        """New values, which the text calls by the name (`%x`), or by it and their place (`%x#1`) if there are more."""
        first = len(self.types)
        self.types += types
        self._values[name] = first
        return tuple(range(first, len(self.types)))

    def value(self) -> int:
        """The value that stands at the cursor."""
        found = self._known(self.tokens.current)
        self.tokens.take()
        return found

    def _known(self, token: str) -> int:
        name, _, place = token.partition("#")
        if name not in self._values:
            self.tokens.fail(f"`{token}` is not a value known here")
        return self._values[name] + int(place or 0)

    def values(self, closing: str) -> list[int]:
        """Those up to the closing token, which the cursor goes past."""
        found = []
        while not self.tokens.accept(closing):
            found.append(self.value())
            self.tokens.accept(",")
        return found

    def location(self) -> Location | None:
        self.tokens.expect("loc")
        return self._locations.read(self.tokens)

    def name(self, value: int, location: Location | None) -> None:
        """What the source calls the value, if its location says so."""
        if location is not None and location.name:
            self.names[value] = location.name

    # -- regions ---------------------------------------------------------------------------------------------------

    def region(self, arguments: tuple[int, ...] = (), implied: str = "") -> Region:
        """From behind its `{` to behind its `}`; `implied` ends a block whose last operation is not printed."""
        blocks: list[Block] = []
        if self.tokens.current[:1] != "^":
            blocks.append(Block(arguments, self._operations(implied)))
        while not self.tokens.accept("}"):
            if self.tokens.current != f"^bb{len(blocks)}":
                self.tokens.fail(f"expected the block `^bb{len(blocks)}` instead of `{self.tokens.current}`")
            self.tokens.take()
            blocks.append(Block(self._block_arguments(), self._operations(implied)))
        return Region(tuple(blocks))

    def _block_arguments(self) -> tuple[int, ...]:
        arguments: tuple[int, ...] = ()
        if self.tokens.accept("("):
            while not self.tokens.accept(")"):
                name = self.tokens.take()
                self.tokens.expect(":")
                (value,) = self.define(name, read_type(self.tokens))
                self.name(value, self.location())
                arguments += (value,)
                self.tokens.accept(",")
        self.tokens.expect(":")
        return arguments

    def _operations(self, implied: str) -> tuple[Operation, ...]:
        found = []
        while self.tokens.current[:1] not in ("}", "^"):
            found.append(self._operation())
        if implied and (not found or found[-1].name != implied):
            found.append(Operation(implied))
        return tuple(found)

    # -- operations ------------------------------------------------------------------------------------------------

    def _operation(self) -> Operation:
        if (parts := self.tokens.plain()) is not None:
            return self._plain(parts)
        results = self._result_names()
        token = self.tokens.take()
        draft = Draft(unquoted(token) if token[0] == '"' else token)
        form = _quoted if token[0] == '"' else _FORMS.get(token, _printed)
        draft.expected = sum(count for _, count in results)
        form(self, draft)
        self._check_types(draft)
        return self._finished(results, draft, self.location())

    def _plain(self, parts: re.Match[str]) -> Operation:
        """The operation whose parts are given, which are those of the token at the cursor."""
        results = [(parts["result"], 1)] if parts["result"] else []
        draft = Draft(parts["name"], len(results))
        if parts["word"] and not draft.word(parts["word"]):
            self.tokens.fail(f"{draft.name}: `{parts['word']}` is not understood")
        draft.operands = [self._known(name) for name in parts["operands"].split(", ")] if parts["operands"] else []
        draft.segments = segments(draft.name, len(draft.operands))
        if parts["attributes"]:
            draft.attributes.update(self._attributes(parts["attributes"]))
        _typed(draft, self._types(parts["types"]), self._types(parts["results"]) if parts["results"] else None)
        self._check_types(draft)
        found = self._finished(results, draft, self._locations.alias(parts["location"], self.tokens))
        self.tokens.take()
        return found

    def _attributes(self, text: str) -> dict[str, Any]:
        try:
            return read_attributes(Tokens(text[1:]))
        except UnsupportedText as error:
            self.tokens.fail(error.message)

    def _types(self, text: str) -> list[Type]:
        return [type_of(one, self.tokens) for one in text.split(", ")]

    def _check_types(self, draft: Draft) -> None:
        if len(draft.types) != draft.expected:
            self.tokens.fail(f"{draft.name}: {len(draft.types)} types for {draft.expected} results")

    def _finished(self, results: list[tuple[str, int]], draft: Draft, location: Location | None) -> Operation:
        return Operation(
            draft.name,
            tuple(draft.operands),
            self._define_results(results, draft, location),
            draft.attributes,
            tuple(draft.regions),
            draft.segments,
            tuple(draft.successors),
            location,
        )

    def _result_names(self) -> list[tuple[str, int]]:
        """The names on the left of an operation, each with the number of values that share it."""
        found = []
        while self.tokens.current[:1] == "%":
            name = self.tokens.take()
            found.append((name, self.tokens.integer() if self.tokens.accept(":") else 1))
            if not self.tokens.accept(","):
                self.tokens.expect("=")
        return found

    def _define_results(
        self, results: list[tuple[str, int]], draft: Draft, location: Location | None
    ) -> tuple[int, ...]:
        defined: tuple[int, ...] = ()
        for name, count in results:
            defined += self.define(name, *draft.types[len(defined) : len(defined) + count])
        if len(defined) == 1:
            self.name(defined[0], location)
        return defined

    def attributes(self, draft: Draft) -> None:
        """Those in braces, if there are any."""
        if self.tokens.accept("{"):
            draft.attributes.update(read_attributes(self.tokens))


# -- forms that most operations have -----------------------------------------------------------------------------------


def _printed(body: Body, draft: Draft) -> None:
    """What most operations have: operands, words and attributes in any order, then the types."""
    _operands(body, draft)
    _types(body, draft)


def _operands(body: Body, draft: Draft) -> None:
    """Up to the types, if any; `tt.print` has its operands behind a colon of their own."""
    tokens = body.tokens
    groups: list[int] = []
    is_grouped = False
    while tokens.current not in ("loc", "->") and not (tokens.current == ":" and tokens.following[:1] != "%"):
        if tokens.accept("["):
            group = body.values("]")
            draft.operands += group
            groups.append(len(group))
            is_grouped = True
        elif tokens.current[:1] == "%":
            draft.operands.append(body.value())
            groups.append(1)
        else:
            _item(body, draft)
    draft.segments = tuple(groups) if is_grouped else segments(draft.name, len(draft.operands))


def _item(body: Body, draft: Draft) -> None:
    tokens = body.tokens
    first = tokens.current[:1]
    if first in (",", "(", ")", ":"):
        tokens.take()
    elif first == "{":
        body.attributes(draft)
    elif first == "@":
        draft.attributes["callee"] = symbol(tokens.take())
    elif first == "^":
        _successor(body, draft)
    elif first == '"' and draft.string(unquoted(tokens.current)):
        tokens.take()
    elif first.isalpha():
        _word(body, draft)
    else:
        tokens.fail(f"{draft.name}: `{tokens.current}` is not understood")


def _word(body: Body, draft: Draft) -> None:
    """`name = value`, `name<value, ...>`, or a word whose place says what it means."""
    tokens = body.tokens
    if tokens.following == "=":
        name = tokens.take()
        tokens.take()
        draft.attributes[name] = read_attribute(tokens)
    elif tokens.following[:1] == "<":
        name = tokens.take()
        draft.attributes[name] = tuple(item.strip() for item in tokens.take()[1:-1].split(","))
    elif draft.word(tokens.current):
        tokens.take()
    else:
        tokens.fail(f"{draft.name}: `{tokens.current}` is not understood")


def _successor(body: Body, draft: Draft) -> None:
    label = body.tokens.take()
    if not _LABEL.fullmatch(label):
        body.tokens.fail(f"`{label}` is not the name of a block")
    passed: list[int] = []
    if body.tokens.accept("("):
        passed = body.values(":")
        while not body.tokens.accept(")"):
            read_type(body.tokens)
            body.tokens.accept(",")
    draft.successors.append((int(label[len("^bb") :]), tuple(passed)))


def _types(body: Body, draft: Draft) -> None:
    printed = read_types(body.tokens) if body.tokens.accept(":") else []
    _typed(draft, printed, read_types(body.tokens) if body.tokens.accept("->") or body.tokens.accept("to") else None)


def _typed(draft: Draft, printed: Sequence[Type], results: Sequence[Type] | None) -> None:
    """Set the types of the results; `printed` stand behind the colon, `results` behind an arrow, if there is one."""
    if results is not None:
        draft.types = results if len(results) == draft.expected else [*results] * draft.expected
    elif draft.expected:
        draft.types = result_types(draft.name, printed, draft.expected)


def _quoted(body: Body, draft: Draft) -> None:
    """MLIR's generic form, `"name"(operands) <{properties}> ({regions}) {attributes} : (types) -> types`."""
    tokens = body.tokens
    tokens.expect("(")
    draft.operands = body.values(")")
    if tokens.accept("["):
        while not tokens.accept("]"):
            _successor(body, draft)
            tokens.accept(",")
    if tokens.accept("<{"):
        draft.attributes.update(read_attributes(tokens, "}>"))
    if tokens.accept("("):
        while not tokens.accept(")"):
            tokens.expect("{")
            draft.regions.append(body.region())
            tokens.accept(",")
    body.attributes(draft)
    tokens.expect(":")
    read_types(tokens)
    tokens.expect("->")
    draft.types = read_types(tokens)
    given = draft.attributes.pop("operandSegmentSizes", None)
    draft.segments = given or segments(draft.name, len(draft.operands))


# -- operations with a form of their own -------------------------------------------------------------------------------


def _constant(body: Body, draft: Draft) -> None:
    body.attributes(draft)
    draft.attributes["value"], type = read_constant(body.tokens)
    draft.types = (type,)


def _dot_scaled(body: Body, draft: Draft) -> None:
    """The operands become the factors, the addend and the scales; the segments say which scales there are.

    They are printed as `%a scale %s, %b scale %t, %c`; Triton 3.2 leaves the words out and has a scale of `%a` alone.
    """
    _printed(body, draft)
    scales = draft.scales or ([1] if len(draft.operands) == 4 else [])
    others = [operand for place, operand in enumerate(draft.operands) if place not in scales]
    draft.operands = [*others, *(draft.operands[place] for place in scales)]
    draft.segments = (1, 1, 1, int(1 in scales), int(any(place > 1 for place in scales)))


def _descriptor_store(body: Body, draft: Draft) -> None:
    """`%descriptor[%index, ...], %value`, of which the value is the second operand.

    The smallest and largest of unsigned numbers (`umin`, `umax`) are known by the descriptor's type alone.
    """
    _operands(body, draft)
    if len(draft.operands) < 2:
        body.tokens.fail(f"{draft.name}: a descriptor and a value are missing")
    descriptor, *indices, value = draft.operands
    draft.operands = [descriptor, value, *indices]
    draft.segments = (1, 1, len(indices))
    body.tokens.expect(":")
    if is_unsigned(body.tokens) and draft.attributes.get("kind") in ("min", "max"):
        draft.attributes["kind"] = f"u{draft.attributes['kind']}"
    read_types(body.tokens)


def _for(body: Body, draft: Draft) -> None:
    tokens = body.tokens
    if tokens.accept("unsigned"):
        draft.attributes["unsignedCmp"] = True
    variable = tokens.take()
    tokens.expect("=")
    draft.operands.append(body.value())
    for word in ("to", "step"):
        tokens.expect(word)
        draft.operands.append(body.value())
    carried = _initialised(body, draft) if tokens.accept("iter_args") else []
    if carried:
        tokens.expect("->")
        draft.types = read_types(tokens)
    counter = read_type(tokens) if tokens.accept(":") else Type("index")
    tokens.expect("{")
    arguments = body.define(variable, counter) + _defined(body, carried, draft.types)
    draft.regions.append(body.region(arguments, implied="scf.yield"))
    body.attributes(draft)


def _while(body: Body, draft: Draft) -> None:
    tokens = body.tokens
    carried = _initialised(body, draft) if tokens.current == "(" else []
    tokens.expect(":")
    before = read_types(tokens)
    tokens.expect("->")
    draft.types = read_types(tokens)
    tokens.expect("{")
    draft.regions.append(body.region(_defined(body, carried, before)))
    tokens.expect("do")
    tokens.expect("{")
    draft.regions.append(body.region())
    tokens.accept("attributes")
    body.attributes(draft)


def _if(body: Body, draft: Draft) -> None:
    tokens = body.tokens
    draft.operands.append(body.value())
    if tokens.accept("->"):
        draft.types = read_types(tokens)
    tokens.expect("{")
    draft.regions.append(body.region(implied="scf.yield"))
    if tokens.accept("else"):
        tokens.expect("{")
        draft.regions.append(body.region(implied="scf.yield"))
    body.attributes(draft)


def _initialised(body: Body, draft: Draft) -> list[str]:
    """The names in `(%name = %operand, ...)`; the operands go to the draft."""
    body.tokens.expect("(")
    names = []
    while not body.tokens.accept(")"):
        names.append(body.tokens.take())
        body.tokens.expect("=")
        draft.operands.append(body.value())
        body.tokens.accept(",")
    return names


def _defined(body: Body, names: list[str], types: Sequence[Type]) -> tuple[int, ...]:
    if len(names) != len(types):
        body.tokens.fail(f"{len(names)} values have {len(types)} types")
    return tuple(value for name, type in zip(names, types, strict=True) for value in body.define(name, type))


_FORMS: dict[str, Form] = {
    "arith.constant": _constant,
    "scf.for": _for,
    "scf.if": _if,
    "scf.while": _while,
    "tt.descriptor_reduce": _descriptor_store,
    "tt.descriptor_store": _descriptor_store,
    "tt.dot_scaled": _dot_scaled,
    "tt.experimental_descriptor_store": _descriptor_store,
}
