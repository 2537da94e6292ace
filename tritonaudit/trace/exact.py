"""Torch's operators as exact as a GPU's, which adds up 16-bit floats in float32, and many numbers in a tree.

Several on the CPU add up in 16 bits, or one number after the other. So what a test compares a kernel with has no error
that it has not there. Imports torch: for processes of the command.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
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
        "nll_loss_forward",
        "nll_loss2d_forward",
        "mse_loss",
        "smooth_l1_loss",
        "huber_loss",
        "binary_cross_entropy",
        "linalg_vector_norm",
        "dot",
        "index_put",
        "index_add",
        "scatter_add",
    )
)
_LONG = frozenset(("native_layer_norm_backward", "native_group_norm_backward", "native_batch_norm_backward"))
"""Those that add up long columns one after the other: in float32 they lose digits, too."""
_WIDER = {torch.float16: torch.float32, torch.bfloat16: torch.float32}
_WIDER_STILL = {**_WIDER, torch.float32: torch.float64}


class AsExact(OperatorMode):
    """While it is active, such operators compute in a wider type and round their results once."""

    def on_operator(self, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        name = _name(function)
        if name not in _FIRST and name not in _ALL and name not in _LONG:
            return function(*args, **kwargs)
        wider = _WIDER_STILL if name in _LONG else _WIDER
        given = [one for one in tree_leaves((args, kwargs)) if isinstance(one, torch.Tensor)]
        narrow = next((one.dtype for one in given if one.dtype in wider), None)
        if narrow is None or kwargs.get("dtype") is not None or "out" in kwargs:
            return function(*args, **kwargs)
        wide = torch.float64 if name in _LONG else wider[narrow]
        args, kwargs = tree_map(_cast(wider.keys(), wide), (args, kwargs))
        result = function(*args, **kwargs)
        back = _cast((wide,), narrow)
        return (back(result[0]), *result[1:]) if name in _FIRST else tree_map(back, result)


@functools.cache
def _name(function: Any) -> str:
    """Without its namespace; what writes in place keeps its underscore, and is none of them."""
    return str(function._schema.name).removeprefix("aten::")


def _cast(those: Any, to: torch.dtype) -> Callable[[Any], Any]:
    """Casts a tensor of one of those types."""
    return lambda value: value.to(to) if isinstance(value, torch.Tensor) and value.dtype in those else value
