"""Torch's operators on 16-bit floats as a GPU computes them, in float32: several on the CPU add up in 16 bits.

So what a test compares a kernel with has no error that it has not there. Imports torch: for processes of the command.
"""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from tritonaudit.simulator.operator_mode import OperatorMode

_FIRST = frozenset(
    (
        "native_layer_norm",
        "native_group_norm",
        "native_batch_norm",
        "_native_batch_norm_legit",
        "_scaled_dot_product_flash_attention_for_cpu",
    )
)
"""Of whose results the first is of the inputs' type; the others are statistics, which a GPU keeps in float32."""
_ALL = frozenset(
    (
        "native_layer_norm_backward",
        "native_group_norm_backward",
        "native_batch_norm_backward",
        "_scaled_dot_product_flash_attention_for_cpu_backward",
        "_fused_rms_norm",
        "_fused_rms_norm_backward",
        "embedding_dense_backward",
        "convolution",
        "convolution_backward",
        "sum",
        "mean",
        "var",
        "std",
        "prod",
        "cumsum",
        "cumprod",
        "logsumexp",
        "index_put",
        "index_add",
        "scatter_add",
    )
)
_NARROW = (torch.float16, torch.bfloat16)


class InSingle(OperatorMode):
    """While it is active, such operators compute in float32 and round their results once."""

    def on_operator(self, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        name = _name(function)
        if name not in _FIRST and name not in _ALL:
            return function(*args, **kwargs)
        given = [one for one in tree_leaves((args, kwargs)) if isinstance(one, torch.Tensor)]
        narrow = next((one.dtype for one in given if one.dtype in _NARROW), None)
        if narrow is None or kwargs.get("dtype") is not None or "out" in kwargs:
            return function(*args, **kwargs)
        args, kwargs = tree_map(_widened, (args, kwargs))
        result = function(*args, **kwargs)
        if name in _FIRST:
            return (_narrowed(result[0], narrow), *result[1:])
        return tree_map(functools.partial(_narrowed, dtype=narrow), result)


@functools.cache
def _name(function: Any) -> str:
    """Without its namespace; what writes in place keeps its underscore, and is none of them."""
    return str(function._schema.name).removeprefix("aten::")


def _widened(value: Any) -> Any:
    return value.float() if isinstance(value, torch.Tensor) and value.dtype in _NARROW else value


def _narrowed(value: Any, dtype: torch.dtype) -> Any:
    return value.to(dtype) if isinstance(value, torch.Tensor) and value.dtype == torch.float32 else value
