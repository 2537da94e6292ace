"""A call of one of Triton's functions, its arguments by the names of its parameters."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tritonaudit.api.table import TENSOR, Parameter, table
from tritonaudit.ir.mistakes import MistakeKind
from tritonaudit.ir.values import UNKNOWN, Argument, Const, Value

if TYPE_CHECKING:
    from tritonaudit.ir.reader import Reader


@dataclass(frozen=True, eq=False)
class Bound:
    """The call; `rest` holds what a starred parameter takes, `positional` and `keywords` are as the text has them."""

    node: ast.Call
    origin: str
    named: dict[str, Argument]
    rest: tuple[Argument, ...]
    positional: tuple[Argument, ...] = ()
    keywords: Mapping[str, Argument] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.origin.rpartition(".")[2]

    def value(self, name: str) -> Value:
        """The value of an argument; UNKNOWN where it is not given."""
        found = self.named.get(name)
        return UNKNOWN if found is None else found[0]

    def node_of(self, name: str) -> ast.expr:
        found = self.named.get(name)
        return self.node if found is None else found[1]

    def given(self, name: str) -> bool:
        """Whether an argument is given that is not None."""
        found = self.named.get(name)
        return found is not None and not (isinstance(found[0], Const) and found[0].value is None)

    @property
    def text(self) -> str:
        """The first argument as it is written."""
        return ast.unparse(next(iter(self.named.values()))[1]) if self.named else ""

    def first(self) -> Value:
        """The first argument."""
        return next(iter(self.named.values()))[0] if self.named else UNKNOWN


def bind(
    reader: Reader,
    node: ast.Call,
    origin: str,
    positional: list[Argument],
    keywords: dict[str, Argument],
    method: bool = False,
) -> Bound:
    """The arguments of a call by the parameters of the newest release of the target that has the function.

    Of a `method`, the value that it belongs to is the first argument.
    """
    named: dict[str, Argument] = {}
    rest: list[Argument] = []
    names, star = _places(parameters(reader, origin))
    if method and not names:
        names, star = _places(parameters(reader, f"{TENSOR}.{origin.rpartition('.')[2]}"))
        names.insert(0, "self")
    for place, argument in enumerate(positional):
        if place < len(names):
            named[names[place]] = argument
        else:
            rest.append(argument)
    if star is not None and rest:
        named[star] = rest[0]
    twice = next((name for name in keywords if name in named), None)
    if twice is not None:
        reader.mistake(MistakeKind.ARGUMENTS, node, "twice", name=ast.unparse(node.func), parameter=twice)
    named.update(keywords)
    return Bound(node, origin, named, tuple(rest), tuple(positional), keywords)


def parameters(reader: Reader, origin: str) -> tuple[Parameter, ...]:
    """The parameters that the newest release of the target gives the function; none where it has it not."""
    definitions = table().name(origin).definitions
    for version in reversed(reader.target.versions):
        definition = definitions.get(version)
        if definition is not None and definition.parameters is not None:
            return definition.parameters
    return ()


def _places(found: tuple[Parameter, ...]) -> tuple[list[str], str | None]:
    names: list[str] = []
    for parameter in found:
        if parameter.star == "*":
            return names, parameter.name
        if parameter.keyword_only or parameter.star:
            break
        names.append(parameter.name)
    return names, None
