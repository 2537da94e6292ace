"""How much arithmetic operators of torch do: products by their shapes, all else by its simple operations per element.

Imports torch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry, sdpa_flop_count

from tritonaudit.suites.operators import Work, operator_of

_ATTENTION = "_scaled_dot_product"
_PER_ELEMENT = {
    "_log_softmax": 5, "_log_softmax_backward_data": 4, "_prelu_kernel_backward": 2, "_softmax": 5,
    "_softmax_backward_data": 4, "addcdiv": 3, "addcmul": 3, "addmv": 2, "binary_cross_entropy": 10,
    "binary_cross_entropy_backward": 7, "binary_cross_entropy_with_logits": 5, "dist": 3, "dot": 2, "elu": 4,
    "elu_backward": 6, "frac": 2, "gelu": 9, "gelu_backward": 18, "glu": 2, "glu_backward": 4, "hardsigmoid": 4,
    "hardswish": 5, "hardswish_backward": 3, "huber_loss": 7, "huber_loss_backward": 3, "lerp": 3,
    "linalg_vector_norm": 2, "log_sigmoid_backward": 5, "log_sigmoid_forward": 6, "logaddexp": 4, "logit": 3,
    "logit_backward": 3, "logsumexp": 4, "max_pool2d_with_indices": 2, "mish": 4, "mish_backward": 13, "mse_loss": 3,
    "mse_loss_backward": 3, "mv": 2, "native_batch_norm": 6, "native_batch_norm_backward": 9, "native_group_norm": 6,
    "native_group_norm_backward": 7, "native_layer_norm": 6, "native_layer_norm_backward": 14, "sigmoid": 4,
    "sigmoid_backward": 4, "silu": 5, "silu_backward": 9, "smooth_l1_loss": 7, "smooth_l1_loss_backward": 6,
    "softplus": 2, "softplus_backward": 6, "softshrink": 5, "tanh_backward": 4, "upsample_bilinear2d": 9,
    "var_mean": 2, "vdot": 2, "xlogy": 2,
}  # fmt: skip
"""Of operators that torch's own decompositions (2.13) take apart: how many simple ones there are for each element.

So an operation costs about the same however it is written. Others count as one.
"""
_TRANSFORMS = ("_fft_c2c", "_fft_r2c", "_fft_c2r")
_LINEAR_ALGEBRA = ("linalg_", "_linalg_", "cholesky", "geqrf", "lu_solve", "ormqr", "triangular_solve")
_CONVOLUTIONS = ("mkldnn_convolution", "slow_conv", "miopen_convolution", "mkldnn::_convolution")
_PRODUCTS = frozenset(
    (
        "_addmm_activation", "_cdist_forward", "_cudnn_rnn", "_euclidean_dist", "_grouped_mm", "_int_mm",
        "_pdist_forward", "_sparse_addmm", "_sparse_mm", "_trilinear", "_weight_int4pack_mm", "_weight_int8pack_mm",
        "miopen_rnn", "mkldnn_rnn_layer",
    )
)  # fmt: skip
"""Of matrices, which torch's own count leaves out."""


def cost(function: Any, args: Any, kwargs: Mapping[str, Any], result: Any) -> float:
    """The floating-point operations of one operator that computes."""
    if (count := flop_registry.get(function.overloadpacket)) is not None:
        return float(count(*args, **kwargs, out_val=result))
    operator = operator_of(function)
    name = operator.name
    if name.startswith(_ATTENTION):
        return _of_attention(name, args, kwargs)
    if name.startswith(_CONVOLUTIONS):
        return _of_convolution(args, kwargs, result)
    if name.startswith(_TRANSFORMS):
        return _of_transform(name, operator.named(args, kwargs)["dim"], args, kwargs, result)
    elements = _elements(args, kwargs, result)
    if name in _PRODUCTS or (name.startswith(_LINEAR_ALGEBRA) and name not in _PER_ELEMENT):
        return 2.0 * elements * _inner(args, kwargs)
    return _PER_ELEMENT.get(name, _PER_ELEMENT.get(f"_{name}", 1)) * elements


def _of_convolution(args: Any, kwargs: Mapping[str, Any], result: Any) -> float:
    """Each element of the larger side meets the weights of one channel."""
    image, weight = _tensors(args, kwargs)[:2]
    larger = max(prod(image.shape), *(prod(one.shape) for one in _tensors((), {}, result)))
    return float(2 * larger * prod(weight.shape) / max(weight.shape[0], 1))


def _of_transform(name: str, dims: Sequence[int], args: Any, kwargs: Mapping[str, Any], result: Any) -> float:
    """Of a Fourier transform 5 n log2 n for n complex numbers (Cooley and Tukey's), half as many for real ones."""
    whole = max((one.shape for one in _tensors(args, kwargs, result)), key=prod)
    length = prod(whole[dim] for dim in dims)
    return float((5.0 if name == "_fft_c2c" else 2.5) * prod(whole) * math.log2(max(length, 2)))


def _inner(args: Any, kwargs: Mapping[str, Any]) -> int:
    """How many products make one element, at the least: the shorter side of the smallest matrix that goes in."""
    return min((min(one.shape[-2:]) for one in _tensors(args, kwargs) if one.dim() > 1), default=1)


def _of_attention(name: str, args: Any, kwargs: Mapping[str, Any]) -> float:
    """Of attention as the CPU has it, which torch does not count: two products, and five backward."""
    shapes = [tuple(one.shape) for one in _tensors(args, kwargs)]
    is_backward = "backward" in name
    query, key, value = shapes[1:4] if is_backward else shapes[:3]
    return float(sdpa_flop_count(query, key, value)) * (2.5 if is_backward else 1.0)


def _elements(args: Any, kwargs: Mapping[str, Any], result: Any) -> float:
    """The elements that go in or come out, whichever are more."""
    return float(max((prod(one.shape) for one in _tensors(args, kwargs, result)), default=0))


def _tensors(args: Any, kwargs: Mapping[str, Any], result: Any = None) -> list[torch.Tensor]:
    return [one for one in tree_leaves((args, dict(kwargs), result)) if isinstance(one, torch.Tensor)]


@dataclass(frozen=True)
class Spent:
    """Floating-point operations: `forward`, and `backward` where autograd calls them."""

    forward: float = 0.0
    backward: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.forward + other.forward, self.backward + other.backward)


def spent_on(function: Any, args: Any, kwargs: Mapping[str, Any], result: Any) -> Spent:
    """What an operator that has just run has computed: nothing, if it only moves, makes or views numbers."""
    operator = operator_of(function)
    is_product = operator.name in _PRODUCTS or function.overloadpacket in flop_registry
    if operator.work_on(args, kwargs) is not Work.COMPUTES or not (is_product or _has_numbers(result)):
        return Spent()
    with torch._C.DisableTorchFunction():
        spent = cost(function, args, kwargs, result)
    return Spent(forward=spent) if torch._C._current_graph_task_id() == -1 else Spent(backward=spent)


class Arithmetic(TorchDispatchMode):  # type: ignore[misc]
    """Counts, while it is active, what operators compute."""

    def __init__(self) -> None:
        super().__init__()
        self.spent = Spent()

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = function(*args, **kwargs)
        self.spent += spent_on(function, args, kwargs, result)
        return result


def _has_numbers(result: Any) -> bool:
    """Whether it is more than indices and truth values."""
    return any(one.dtype.is_floating_point or one.dtype.is_complex for one in _tensors((), {}, result))
