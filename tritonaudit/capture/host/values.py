"""The values of host code that are no plain Python objects."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from tritonaudit.source.outline import Module

_ITEM_SIZES = {
    "bool": 1, "int1": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8,
    "uint64": 8, "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "float8_e4m3fn": 1, "float8_e5m2": 1,
    "float8_e4m3fnuz": 1, "float8_e5m2fnuz": 1,
}  # fmt: skip
_OTHER_NAMES = {
    "half": "float16", "float": "float32", "double": "float64", "int": "int32", "long": "int64", "short": "int16",
    "int1": "bool", "float8e4nv": "float8_e4m3fn", "float8e5": "float8_e5m2", "float8e4b8": "float8_e4m3fnuz",
    "float8e5b16": "float8_e5m2fnuz",
}  # fmt: skip


class _Unknown:
    """The one value of which nothing is known."""

    def __bool__(self) -> bool:
        raise TypeError("it is not known")

    def __repr__(self) -> str:
        return "unknown"


UNKNOWN: Any = _Unknown()


def is_known(value: Any) -> bool:
    """Whether a condition or an operator may look at it."""
    return value is not UNKNOWN and not isinstance(value, (HostFunction, Shape))


@dataclass(frozen=True)
class Dtype:
    """A dtype by torch's name, whether torch's or Triton's is meant."""

    name: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", _OTHER_NAMES.get(self.name, self.name))

    @staticmethod
    def is_name(name: str) -> bool:
        return name in _ITEM_SIZES or name in _OTHER_NAMES

    @property
    def itemsize(self) -> int:
        return _ITEM_SIZES.get(self.name, 2)

    @property
    def is_floating_point(self) -> bool:
        return "float" in self.name


@dataclass(frozen=True)
class Tensor:
    """A tensor; its dtype, and how many dimensions it has, where the text tells them."""

    dtype: str | None
    rank: int | None = None


@dataclass(frozen=True)
class Descriptor:
    """A tensor descriptor: the dtype, and the sizes of its block as far as they are known."""

    dtype: str | None
    block: tuple[Any, ...]


@dataclass(frozen=True)
class Shape:
    """The shape of a tensor, of which only names are known."""

    tensor: Tensor


@dataclass(frozen=True)
class HostFunction:
    """A function of the project's host code, and the names around it."""

    node: ast.FunctionDef
    module: Module
    names: dict[str, Any] = field(default_factory=dict, compare=False)
