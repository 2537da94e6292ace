"""What operators of torch do: view, allocate, make constants, move elements, or compute. Imports torch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from tritonaudit.simulator.torch_memory import ALLOCATIONS, parameters_written


class Work(Enum):
    """What an operator does with numbers."""

    VIEWS = "views them"
    ALLOCATES = "allocates memory for them"
    MAKES = "makes them of nothing"
    MOVES = "moves them"
    COMPUTES = "computes them"


_CONSTANTS = frozenset(
    (
        "zeros", "zeros_like", "new_zeros", "zero", "ones", "ones_like", "new_ones", "full", "full_like", "new_full",
        "fill", "arange", "linspace", "logspace", "eye", "scalar_tensor", "tril_indices", "triu_indices", "rand",
        "rand_like", "randn", "randn_like", "randint", "randint_like", "randperm", "normal", "uniform", "bernoulli",
        "random", "exponential", "_efficientzerotensor", "lift_fresh",
    )
)  # fmt: skip
_MOVEMENTS = frozenset(
    (
        "copy", "clone", "_to_copy", "lift_fresh_copy", "cat", "stack", "hstack", "vstack", "index", "index_select",
        "gather", "take", "embedding", "repeat", "repeat_interleave", "flip", "roll", "rot90", "constant_pad_nd",
        "where", "masked_fill", "masked_scatter", "index_put", "_index_put_impl", "_unsafe_index", "index_copy",
        "index_fill", "scatter", "slice_scatter", "select_scatter", "diagonal_scatter", "as_strided_scatter",
        "_reshape_copy", "view_copy", "permute_copy", "expand_copy", "transpose_copy", "tril", "triu", "diag_embed",
        "pixel_shuffle", "pixel_unshuffle", "_unsafe_view", "reflection_pad1d", "reflection_pad2d", "replicate_pad1d",
        "replicate_pad2d", "im2col", "resize", "set", "fill_from",
    )
)  # fmt: skip


PLACES = frozenset(("index", "indices", "mask", "condition", "repeats"))
"""Parameters of operators that move elements, and that say where to."""


@dataclass(frozen=True)
class Operator:
    """What an operator's schema says of it; its name is without the trailing underscore of one that works in place."""

    name: str
    is_view: bool
    parameters: tuple[str, ...]
    written: int = 0

    def work_on(self, args: Any, kwargs: Mapping[str, Any]) -> Work:
        """What it does with these arguments."""
        if self.is_view:
            return Work.VIEWS
        if self.name in ALLOCATIONS:
            return Work.ALLOCATES
        tensors = [one for one in tree_leaves((args, dict(kwargs))) if isinstance(one, torch.Tensor)]
        if self.name in _CONSTANTS and len(tensors) <= self.written + self.is_like:
            return Work.MAKES
        moves = self.name in _MOVEMENTS or self.name == "fill"
        return Work.MOVES if moves and not any(map(_is_lazy, tensors)) else Work.COMPUTES

    @property
    def is_like(self) -> bool:
        """Whether it takes a tensor for its shape alone."""
        return self.name.endswith("_like") or self.name.startswith("new_")

    def named(self, args: Any, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments by the names of their parameters."""
        return {**dict(zip(self.parameters, args, strict=False)), **kwargs}

    def functional(self, function: Any) -> Callable[..., Any]:
        """The same operator, for arguments without `out`."""
        overload = function._overloadname
        found: Callable[..., Any] = function if "out" not in overload else function.overloadpacket
        return found


def _is_lazy(tensor: torch.Tensor) -> bool:
    """Whether it is a view of numbers that whoever reads them conjugates or negates."""
    return bool(tensor.is_conj() or tensor.is_neg())


@functools.cache
def operator_of(function: Any) -> Operator:
    """What the schema of an operator says of it."""
    schema = function._schema
    name = schema.name.partition("::")[2] if schema.name.startswith("aten::") else schema.name
    returned = [one.alias_info for one in schema.returns if one.alias_info is not None]
    in_place = name.endswith("_") and not name.endswith("__")
    return Operator(
        name[:-1] if in_place else name,
        bool(returned) and not parameters_written(function),
        tuple(argument.name for argument in schema.arguments),
        len(parameters_written(function)),
    )
