"""A kernel that is tried: an operation and a way to compute it, labelled by what it does and not by how it scores.

A way is right if all its steps are in float32 (or as wide as the kernels that everyone uses have them: products of
numbers of the inputs' dtype), over all elements and with no step that loses many digits on these inputs. It is wrong if
it leaves something out, computes something else, overflows, or rounds between its steps to fewer digits. Ways whose
fault is below a rounding of the dtype by construction (a float16 factor in bfloat16) are not tried there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
import triton
import triton.language as tl

ALL = ("float32", "float16", "bfloat16")
HALVES = ("float16", "bfloat16")
WIDE = ("float32",)
Inputs = Sequence[torch.Tensor]
FLOAT32: Any = tl.float32
WIDTHS: dict[str, Any] = {"float16": tl.float16, "bfloat16": tl.bfloat16}


@dataclass(frozen=True)
class Launch:
    kernel: Any
    grid: tuple[int, ...]
    arguments: tuple[Any, ...]
    constants: Mapping[str, Any]


@dataclass(frozen=True)
class Way:
    """How an operation is computed: the kernel's constants, and in which dtypes it is tried.

    `narrow` is the kernel's sum in half precision: in the dtype itself, or in float16 beside float32.
    """

    name: str
    is_right: bool
    dtypes: tuple[str, ...] = ALL
    constants: Mapping[str, Any] = field(default_factory=dict)
    kernel: Any = None
    narrow: str = ""

    def constants_for(self, dtype: str) -> dict[str, Any]:
        """The constants, the kernel among them if it is not the operation's."""
        width = {"float32": "float16"}.get(dtype, dtype)
        own = {"kernel": self.kernel} if self.kernel is not None else {}
        return {**self.constants, **own, **({self.narrow: WIDTHS[width]} if self.narrow else {})}


@dataclass(frozen=True)
class Operation:
    """Inputs in float64, which are rounded to the dtype unless they are integers, and what is wanted of them."""

    name: str
    inputs: Callable[[], Inputs]
    reference: Callable[..., torch.Tensor]
    launch: Callable[[Inputs, torch.Tensor, dict[str, Any]], Launch]
    ways: Sequence[Way]


@dataclass(frozen=True)
class Trial:
    """One kernel in one dtype."""

    operation: Operation
    way: Way
    dtype: str

    @property
    def kernel_name(self) -> str:
        return f"{self.operation.name}: {self.way.name}"

    def inputs(self) -> Inputs:
        torch.manual_seed(0)
        dtype = getattr(torch, self.dtype)
        return [one.to(dtype) if one.is_floating_point() else one for one in self.operation.inputs()]


def right(name: str, dtypes: tuple[str, ...] = ALL, **more: Any) -> Way:
    return _way(name, True, dtypes, more)


def wrong(name: str, dtypes: tuple[str, ...] = ALL, **more: Any) -> Way:
    return _way(name, False, dtypes, more)


def _way(name: str, is_right: bool, dtypes: tuple[str, ...], more: dict[str, Any]) -> Way:
    own = {key: more.pop(key) for key in ("kernel", "narrow") if key in more}
    return Way(name, is_right, dtypes, {"HOW": name, **more}, **own)


def randn(*shape: int, scale: float = 1.0, shift: float = 0.0) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64) * scale + shift


def flat(kernel: Any) -> Callable[[Inputs, torch.Tensor, dict[str, Any]], Launch]:
    def launch(inputs: Inputs, out: torch.Tensor, constants: dict[str, Any]) -> Launch:
        return Launch(
            kernel, (triton.cdiv(out.numel(), 1024),), (*inputs, out, out.numel()), {"BLOCK": 1024, **constants}
        )

    return launch


def rows_of(kernel: Any, *scalars: Any, block: int = 0, height: bool = False) -> Callable[..., Launch]:
    def launch(inputs: Inputs, out: torch.Tensor, constants: dict[str, Any]) -> Launch:
        rows, columns = inputs[0].shape
        sizes = (rows, columns) if height else (columns,)
        own = {"BLOCK": block or triton.next_power_of_2(columns), **constants}
        return Launch(own.pop("kernel", kernel), (rows,), (*inputs, out, *sizes, *scalars), own)

    return launch


def wide(x: torch.Tensor) -> torch.Tensor:
    return x if x.dtype == torch.float64 else x.float()
