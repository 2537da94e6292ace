"""The arguments of a call in a kernel, evaluated, and what an operation makes of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from tritonaudit.flow.value import (
    UNKNOWN,
    Value,
)

if TYPE_CHECKING:
    from tritonaudit.flow.machine import Machine

Argument = tuple[Value, cst.BaseExpression]


@dataclass(frozen=True)
class Arguments:
    """A call's arguments, evaluated."""

    node: cst.Call
    positional: tuple[Argument, ...]
    keywords: dict[str, Argument]
    starred: bool

    @staticmethod
    def of(machine: Machine, node: cst.Call, first: Argument | None = None) -> Arguments:
        positional = [] if first is None else [first]
        keywords: dict[str, Argument] = {}
        starred = False
        for arg in node.args:
            value = machine.evaluate(arg.value)
            if arg.star:
                starred = True
            elif arg.keyword is not None:
                keywords[arg.keyword.value] = (value, arg.value)
            else:
                positional.append((value, arg.value))
        return Arguments(node, tuple(positional), keywords, starred)

    def get(self, index: int, name: str) -> Argument | None:
        """The argument at `index`, or by that name."""
        if index < len(self.positional):
            return self.positional[index]
        return self.keywords.get(name)

    def value(self, index: int, name: str) -> Value:
        found = self.get(index, name)
        return UNKNOWN if found is None else found[0]

    def values(self) -> dict[str, Value]:
        return {name: value for name, (value, _) in self.keywords.items()}


Operation = Callable[["Machine", Arguments], Value]


def dtype_of(argument: Argument | None) -> str | None:
    """The dtype that an argument names."""
    const = None if argument is None else argument[0].const
    return const[1] if isinstance(const, tuple) and const[0] == "dtype" else None


def is_none(argument: Argument | None) -> bool:
    """Whether the argument is written as None."""
    return argument is not None and isinstance(argument[1], cst.Name) and argument[1].value == "None"
