"""A kernel's call as it was inferred: what to pass for each parameter, and why. Imports neither torch nor triton."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any


class ArgumentKind(Enum):
    """What a parameter is given."""

    POINTER = "pointer"
    DESCRIPTOR = "tensor descriptor"
    INTEGER = "whole number"
    FLOAT = "float"
    BOOLEAN = "truth value"
    CONSTEXPR = "constexpr"
    NONE = "None"


@dataclass(frozen=True)
class Argument:
    """What one parameter is given.

    `value` is for a pointer the dtype of its elements by torch's name, for a descriptor a pair of that and the sizes
    of its block, for a constexpr a number, a string, a `Dtype`, a `FunctionName` or None. `reason` says what it is
    inferred from; `guessed` that nothing gives it.
    """

    name: str
    kind: ArgumentKind
    value: Any
    reason: str
    guessed: bool = False

    @property
    def sentence(self) -> str:
        """What is assumed of the parameter, and on what grounds."""
        if self.kind is ArgumentKind.POINTER:
            return f"`{self.name}` points to {self.value}: {self.reason}"
        if self.kind is ArgumentKind.DESCRIPTOR:
            return f"`{self.name}` describes a tensor of {self.value[0]}: {self.reason}"
        if self.kind in (ArgumentKind.INTEGER, ArgumentKind.FLOAT, ArgumentKind.BOOLEAN):
            return f"`{self.name}` is a {self.kind.value}: {self.reason}"
        return f"`{self.name}` is {_shown(self.value)}: {self.reason}"


@dataclass(frozen=True)
class FunctionName:
    """A jit function that is passed to a kernel, by its name in the kernel's file."""

    name: str


@dataclass(frozen=True)
class InferredCall:
    """A call of a kernel for which nobody wrote a subject.

    So many of the arguments as `positional` says are passed by position, which an autotuner's pruner can tell.
    `options` are the launch's own, such as num_warps. `tried` are the
    arguments that the compiler rejected before.
    """

    arguments: tuple[Argument, ...]
    positional: int = 0
    options: tuple[tuple[str, Any], ...] = ()
    tried: tuple[tuple[Argument, ...], ...] = ()

    def __getitem__(self, name: str) -> Argument:
        return next(argument for argument in self.arguments if argument.name == name)


def _shown(value: Any) -> str:
    name = getattr(value, "name", None)
    return name if isinstance(name, str) else repr(value)
