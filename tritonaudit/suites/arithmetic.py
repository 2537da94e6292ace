"""How much arithmetic operators of torch do: products by their shapes, all else by its simple operations per element.

Imports torch.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import torch
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry, sdpa_flop_count

from tritonaudit.simulator.operator_mode import OperatorMode
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
        "_addmm_activation", "_cdist_forward", "_cudnn_rnn", "_euclidean_dist", "_foreach_mm", "_grouped_mm", "_int_mm",
        "_pdist_forward", "_sparse_addmm", "_sparse_mm", "_trilinear", "_weight_int4pack_mm", "_weight_int8pack_mm",
        "miopen_rnn", "mkldnn_rnn_layer",
    )
)  # fmt: skip
"""Of matrices, which torch's own count leaves out."""
_BAGS = (
    "_embedding_bag", "_embedding_bag_forward_only", "_embedding_bag_backward",
    "_embedding_bag_per_sample_weights_backward",
)  # fmt: skip
"""What multiplies rows of a table with weights, one for each place in it, and adds them up."""
_FEW_PER_ELEMENT = frozenset(
    (
        "_add_relu", "_amp_foreach_non_finite_check_and_unscale", "_batch_norm_no_update", "_batch_norm_with_update",
        "_batch_norm_with_update_functional", "_embedding_bag_dense_backward", "_fused_adam", "_fused_adamw",
        "_fused_rms_norm", "_fused_rms_norm_backward", "_fused_sgd", "_jagged_to_padded_dense_forward",
        "_masked_scale", "_native_batch_norm_legit", "_native_batch_norm_legit_functional",
        "_native_batch_norm_legit_no_training", "_padded_dense_to_jagged_forward", "_prelu_kernel",
        "_segment_reduce_backward", "_thnn_fused_gru_cell", "_thnn_fused_lstm_cell",
        "_thnn_fused_lstm_cell_backward_impl", "_unsafe_index_put",
        "_unsafe_masked_index", "_unsafe_masked_index_put_accumulate", "_weight_norm_interface",
        "_weight_norm_interface_backward", "addr", "batch_norm_backward", "complex", "copysign", "cudnn_batch_norm",
        "cudnn_batch_norm_backward", "embedding_dense_backward", "floor_divide", "fractional_max_pool2d",
        "grid_sampler_2d",
        "grid_sampler_2d_backward", "grid_sampler_3d", "grid_sampler_3d_backward", "heaviside", "index_add",
        "index_reduce", "masked_scatter_backward", "max_unpool2d", "max_unpool3d", "miopen_batch_norm",
        "miopen_batch_norm_backward", "multi_margin_loss", "multilabel_margin_loss_forward", "nll_loss2d_backward",
        "nll_loss2d_forward", "nll_loss_backward", "nll_loss_forward", "polar", "put", "quantize_per_tensor",
        "resize_as", "rrelu_with_noise", "rrelu_with_noise_backward", "rrelu_with_noise_functional", "scatter_add",
        "scatter_reduce", "segment_reduce", "soft_margin_loss", "soft_margin_loss_backward",
    )
)  # fmt: skip
"""Of operators on several tensors of numbers, which torch does not tag as pointwise, those that are no product."""
_TAGS = {getattr(torch.Tag, name) for name in ("pointwise", "reduction") if hasattr(torch.Tag, name)}
"""Of what does an operation for each element; some releases have one of them only."""


@functools.cache
def _as_counted(function: Any) -> Any:
    """The operator as torch counts it, which knows `addmm` and not that it works in place, too; None if it does not."""
    if (packet := function.overloadpacket) in flop_registry:
        return packet
    packet = getattr(torch.ops.aten, operator_of(function).name, None)
    return packet if packet in flop_registry else None


def cost(function: Any, args: Any, kwargs: Mapping[str, Any], result: Any) -> float:
    """The floating-point operations of one operator that computes."""
    if (packet := _as_counted(function)) is not None:
        named = {name: value for name, value in kwargs.items() if name != "out"}
        return float(flop_registry[packet](*args, **named, out_val=result))
    operator = operator_of(function)
    name = operator.name
    if name in _BAGS:
        return _of_bag(operator.named(args, kwargs))
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


def _of_bag(named: Mapping[str, Any]) -> float:
    """Each place in a bag meets a row of the table, and a weight where there are any."""
    table = named["grad"] if "grad" in named else named["weight"]
    is_weighted = "grad" in named or named.get("per_sample_weights") is not None
    return float((2 if is_weighted else 1) * named["indices"].numel() * table.shape[-1])


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
    """The elements that go in or come out, whichever are more; tensors in a list are worked on one after the other."""
    lists = [one for one in (*args, *kwargs.values()) if isinstance(one, (list, tuple))]
    listed = (sum(prod(one.shape) for one in _tensors(some, {})) for some in lists)
    return float(max((*(prod(one.shape) for one in _tensors(args, kwargs, result)), *listed), default=0))


def _tensors(args: Any, kwargs: Mapping[str, Any], result: Any = None) -> list[torch.Tensor]:
    return [one for one in tree_leaves((args, dict(kwargs), result)) if isinstance(one, torch.Tensor)]


def most(function: Any, args: Any, kwargs: Mapping[str, Any]) -> float:
    """The operations that an operator may do of which nothing tells what it computes; 0 where that is known.

    What is not torch's own may hold any numbers itself, and has no bound. Torch's own that has one tensor of numbers
    (a sort, a sum along an axis, pooling) does few operations for each of them, as has what torch tags as pointwise or
    a reduction. Several that are not tagged may be multiplied with one another like matrices: of the three sizes of a
    product each is in two of its three matrices, so that the root of all three numbers of elements is their product.
    """
    operator = operator_of(function)
    if _is_known(function):
        return 0.0
    if "::" in operator.name:
        return math.inf
    sizes = sorted(one.numel() for one in _tensors(args, kwargs) if one.is_floating_point() or one.is_complex())
    several = [size for size in sizes if size > 1][-3:]
    return 2.0 * math.sqrt(prod([*several, several[-1]][:3])) if len(several) > 1 else 0.0


@functools.cache
def _is_known(function: Any) -> bool:
    """Whether `cost` says of one of torch's own operators what it does."""
    name = operator_of(function).name
    packet = getattr(torch.ops.aten, name, None)
    tagged = {tag for one in packet.overloads() for tag in getattr(packet, one).tags} if packet is not None else set()
    return (
        _as_counted(function) is not None
        or any({f"_{name}", name} & set(table) for table in (_PER_ELEMENT, _PRODUCTS, _BAGS, _FEW_PER_ELEMENT))
        or name.startswith((_ATTENTION, *_CONVOLUTIONS, *_TRANSFORMS, *_LINEAR_ALGEBRA, "_foreach_"))
        or bool(tagged & _TAGS)
        or _is_of_a_known(name)
    )


def _is_of_a_known(name: str) -> bool:
    """Whether it is the gradient of something that is done for each element: it does no more."""
    base = getattr(torch.ops.aten, name.removesuffix("_backward"), None) if name.endswith("_backward") else None
    if base is None:
        return False
    function = getattr(base, base.overloads()[0])
    return not any("Tensor" in str(one.type) for one in function._schema.arguments[1:] if not one.is_out)


@dataclass(frozen=True)
class Spent:
    """Floating-point operations: `forward`, and `backward` where autograd calls them; and those of `integers`.

    Integers are most often indices. Where a call gives nothing else they are what it is there for.

    `unknown` are operators of which nobody knows what they compute, beyond an operation for each element: that may be
    as much as `at_most` more.
    """

    forward: float = 0.0
    backward: float = 0.0
    at_most: float = 0.0
    unknown: frozenset[str] = frozenset()
    integers: float = 0.0

    def of_integers(self) -> Spent:
        """The same where operations on integers count as others do."""
        return replace(self, forward=self.forward + self.integers, integers=0.0)

    def of_floats(self) -> Spent:
        """The same where they do not count."""
        return replace(self, integers=0.0)

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.forward + other.forward,
            self.backward + other.backward,
            self.at_most + other.at_most,
            self.unknown | other.unknown,
            self.integers + other.integers,
        )


def spent_on(function: Any, args: Any, kwargs: Mapping[str, Any], result: Any) -> Spent:
    """What an operator that has just run has computed: nothing, if it only moves, makes or views numbers."""
    operator = operator_of(function)
    is_product = operator.name in _PRODUCTS or _as_counted(function) is not None
    if operator.work_on(args, kwargs) is not Work.COMPUTES:
        return Spent()
    with torch._C.DisableTorchFunction():
        if not (is_product or _has_numbers(result)):
            return Spent(integers=cost(function, args, kwargs, result))
        spent, more = cost(function, args, kwargs, result), most(function, args, kwargs)
    unknown = frozenset((operator.name,) if more else ())
    is_forward = torch._C._current_graph_task_id() == -1
    return Spent(spent if is_forward else 0.0, 0.0 if is_forward else spent, more, unknown)


class Arithmetic(OperatorMode):
    """Counts, while it is active, what operators compute."""

    def __init__(self) -> None:
        super().__init__()
        self.spent = Spent()

    def on_operator(self, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        result = function(*args, **kwargs)
        self.spent += spent_on(function, args, kwargs, result)
        return result

    def on_function_of_functions(self, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Raises NotImplementedError: what is computed in it is not seen."""
        raise NotImplementedError(f"nobody sees what {function} computes")


class Operators(OperatorMode):
    """Notes, while it is active, which operators compute, by name, and on how many elements at most."""

    def __init__(self) -> None:
        super().__init__()
        self._elements: dict[str, int] = {}

    def on_operator(self, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        result = function(*args, **kwargs)
        if (operator := operator_of(function)).work_on(args, kwargs) is Work.COMPUTES:
            self._note(operator.name, args, kwargs, result)
        return result

    def on_function_of_functions(self, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        result = function(*args, **kwargs)
        self._note(str(function), args, kwargs, result)
        return result

    def _note(self, name: str, args: Any, kwargs: Mapping[str, Any], result: Any) -> None:
        elements = max((one.numel() for one in _tensors(args, kwargs, result)), default=0)
        self._elements[name] = max(elements, self._elements.get(name, 0))

    def of_at_least(self, elements: float) -> frozenset[str]:
        """Those that have computed on so many elements."""
        return frozenset(name for name, most in self._elements.items() if most >= elements)


def _has_numbers(result: Any) -> bool:
    """Whether it is more than indices and truth values."""
    return any(one.dtype.is_floating_point or one.dtype.is_complex for one in _tensors((), {}, result))
