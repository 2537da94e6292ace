"""The arguments of a call in a kernel, evaluated, and what an operation makes of them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import libcst as cst

from tritonaudit.domains.value import (
    UNKNOWN,
    Value,
)
from tritonaudit.ir.bound import Bound
from tritonaudit.ir.model import Operand, Operation

if TYPE_CHECKING:
    from tritonaudit.domains.machine import Machine

Argument = tuple[Value, Any]
"""What is known of an argument, and its expression in the kernel's tree."""


@dataclass(frozen=True)
class Arguments:
    """A call's arguments, evaluated."""

    node: Any
    positional: tuple[Argument, ...]
    keywords: dict[str, Argument]
    operation: Operation

    @staticmethod
    def of_call(machine: Machine, operation: Operation) -> Arguments:
        """As the text of the call has them; those of a helper's operation stand where the kernel calls it."""
        node = machine.node(operation)
        found = operation.detail
        given: Sequence[Operand]
        named: Mapping[str, Operand]
        if isinstance(found, Bound):
            given, named = found.positional, found.keywords
        else:
            given = tuple(one for name, one in operation.arguments.items() if name not in _keywords(operation))
            named = {name: one for name, one in operation.arguments.items() if name in _keywords(operation)}

        def argument(one: Operand) -> Argument:
            return machine.fact(one[0]), machine.concrete(one[1]) or node

        return Arguments(
            node,
            tuple(argument(one) for one in given),
            {name: argument(one) for name, one in named.items()},
            operation,
        )

    @property
    def key(self) -> int:
        """A number that stands for the operation."""
        return id(self.operation)

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


Handler = Callable[["Machine", Arguments], Value]


def dtype_of(argument: Argument | None) -> str | None:
    """The dtype that an argument names."""
    const = None if argument is None else argument[0].const
    return const[1] if isinstance(const, tuple) and const[0] == "dtype" else None


def is_none(argument: Argument | None) -> bool:
    """Whether the argument is written as None."""
    return argument is not None and isinstance(argument[1], cst.Name) and argument[1].value == "None"


def _keywords(operation: Operation) -> frozenset[str]:
    """The arguments of a call that the text gives by name."""
    node = operation.node
    return (
        frozenset(keyword.arg for keyword in node.keywords if keyword.arg)
        if isinstance(node, ast.Call)
        else frozenset()
    )
