"""Operations that are a bit off. Imports torch: for processes in which user code runs."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

from tritonaudit.suites.formats import unit
from tritonaudit.suites.noise import Normal


class Roundings(TorchDispatchMode):  # type: ignore[misc]
    """Inside it, the result of each operation that rounds is off by about one rounding of float32, at random.

    A mean of equal numbers may be off by a rounding from each of them, which no error of the numbers shows.
    """

    def __init__(self, draw: int) -> None:
        super().__init__()
        self._normal = Normal(draw)

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        returned = func(*args, **(kwargs or {}))
        schema = func._schema
        is_alias = any(one.alias_info is not None for one in schema.returns)
        if is_alias or schema.name.rpartition("::")[2] in _EXACT:
            return returned
        return tree_map(self._off, returned)

    def _off(self, value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or value.dtype != torch.float64:
            return value
        return value * self._normal.like(value, value.shape).mul_(unit(torch.float32)).add_(1)


_EXACT = frozenset({
    "_to_copy", "_unsafe_view", "abs", "amax", "amin", "arange", "as_strided_copy", "bernoulli", "cat", "ceil",
    "clamp", "clamp_max", "clamp_min", "clone", "constant_pad_nd", "copy", "cummax", "cummin", "diagonal_copy",
    "embedding", "empty", "empty_like", "empty_strided", "expand_copy", "eye", "fill", "flip", "floor", "full",
    "full_like", "gather", "index", "index_put", "index_select", "linspace", "masked_fill", "masked_select", "max",
    "maximum", "min", "minimum", "native_dropout", "neg", "new_empty", "new_empty_strided", "new_full", "new_ones",
    "new_zeros", "ones", "ones_like", "rand", "rand_like", "randn", "randn_like", "relu", "repeat", "roll", "round",
    "scalar_tensor", "scatter", "select_scatter", "sgn", "sign", "slice_scatter", "sort", "stack", "threshold",
    "topk", "tril", "triu", "trunc", "unfold_copy", "where", "zeros", "zeros_like",
})  # fmt: skip
"""What moves or chooses numbers, or makes them, and rounds none."""
