"""What an audit runs on: a wrapper, how its inputs are made, and which cases it is tried on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

DTYPES = ("float32", "float16", "bfloat16")
"""What a subject is tried with unless it names its own."""


class Layout(Enum):
    """How the tensors of a case lie in memory."""

    CONTIGUOUS = "contiguous"
    TRANSPOSED = "transposed"
    EXPANDED = "expanded"
    OFFSET = "offset"


@dataclass(frozen=True)
class Case:
    """One way to call a subject: sizes by the names of its dimensions, a dtype, a layout, what fills the tensors.

    `device` is where its tensors belong: "cuda", also where a stand-in takes the GPU's place.
    """

    sizes: Mapping[str, int] = field(default_factory=dict)
    dtype: str = DTYPES[0]
    layout: Layout = Layout.CONTIGUOUS
    fill: str = "normal"
    seed: int = 0
    device: str = "cuda"

    def __getitem__(self, size: str) -> int:
        return self.sizes[size]

    @property
    def label(self) -> str:
        """What a report calls it: `batch=16 size=1000 float16 offset`."""
        sizes = [f"{name}={value}" for name, value in self.sizes.items()]
        layout = [] if self.layout is Layout.CONTIGUOUS else [self.layout.value]
        fill = [] if self.fill == "normal" else [self.fill]
        return " ".join([*sizes, self.dtype, *layout, *fill])


@dataclass(frozen=True, init=False)
class Tensor:
    """An input: its dimensions are numbers, or names whose sizes the case gives.

    Without a `dtype` it has the case's. An integer tensor holds values from `low` to below `high`, each a number or
    the name of a dimension.
    """

    dims: tuple[str | int, ...]
    dtype: str | None = None
    low: str | int = 0
    high: str | int = 2
    name: str = ""

    def __init__(
        self,
        *dims: str | int,
        dtype: str | None = None,
        low: str | int = 0,
        high: str | int = 2,
        name: str = "",
    ) -> None:
        for attribute, value in (("dims", dims), ("dtype", dtype), ("low", low), ("high", high), ("name", name)):
            object.__setattr__(self, attribute, value)


Inputs = Sequence[Any] | Callable[[Case], Any]


@dataclass(frozen=True)
class Subject:
    """A wrapper to be audited.

    `inputs` are its positional arguments, in which a `Tensor` stands for a tensor made by the case, or a function of
    the case that returns them: a tuple, a dict of keyword arguments, or a tuple of both. `reference` takes the same
    arguments. `mutates` names the arguments (position or keyword) that it changes by intent; `gradients` asks for the
    backward pass too. `sizes` says which sizes each named dimension is tried with, in place of the default sweep.
    """

    function: Callable[..., Any]
    reference: Callable[..., Any] | None = None
    inputs: Inputs = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    sizes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    dtypes: Sequence[str] = DTYPES
    mutates: Sequence[str | int] = ()
    gradients: bool = False
    baselines: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
