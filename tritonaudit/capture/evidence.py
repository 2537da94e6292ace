"""What is gathered of a kernel's parameters: evidence of what each is used for, and of what comes in where."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

STRONG = 3
"""The weight of evidence that leaves little doubt."""


class Evidence(Enum):
    """What a use says of a parameter, or for a pointer of the elements that it points to."""

    POINTER = "an address"
    DESCRIPTOR = "a tensor descriptor"
    NUMBER = "a number itself, and no address"
    INTEGER = "an integer"
    FLOAT = "a float"
    BOOLEAN = "a truth value"
    TABLE = "addresses"
    BYTE = "bytes that are taken apart"
    SMALL_INTEGER = "operands of an integer product"
    TILE = "a tile's size"
    COUNT = "the number of unrolled rounds"
    FLAG = "a condition"
    NONE = "compared with None"
    DTYPE = "a dtype"


@dataclass
class Use:
    """The evidence for one parameter, weighed, and the constants that it is compared with."""

    evidence: Counter[Evidence] = field(default_factory=Counter)
    compared: list[Any] = field(default_factory=list)

    def __getitem__(self, kind: Evidence) -> int:
        return self.evidence[kind]

    def __contains__(self, kind: Evidence) -> bool:
        return self.evidence[kind] > 0


Place = tuple[str, int]  # path and line


@dataclass
class Uses:
    """The uses of every parameter of a kernel.

    `reach` tells which parameters come into the expressions of a line, `dots` those of each matrix product's operands,
    `names` those of each variable, `ranks` how many coordinates a descriptor takes.
    """

    parameters: dict[str, Use]
    reach: dict[Place, set[str]] = field(default_factory=dict)
    dots: dict[Place, list[tuple[frozenset[str], frozenset[str]]]] = field(default_factory=dict)
    names: dict[str, set[str]] = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)
