"""Operations that are a bit off. Imports torch: for processes in which user code runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.flop_counter import flop_registry

from tritonaudit.simulator.operator_mode import OperatorMode
from tritonaudit.suites.formats import nearest, unit
from tritonaudit.suites.noise import Normal

Tensor: TypeAlias = torch.Tensor

_TIMES = 2
"""How often the same operation may round what came of itself: what it does more often adds up, and is kept wide."""


class Roundings(OperatorMode):
    """Inside it, the result of each operation that rounds is off by about one rounding of float32, at random.

    A mean of equal numbers may be off by a rounding from each of them, which no error of the numbers shows; a sum is
    off by the root of how many numbers it adds up (Higham, Accuracy and Stability of Numerical Algorithms, 2002, 2.8).
    Sums and products of integers are not, as long as float32 holds all that comes on the way.
    Where it `keeps_exact` what float32 holds is no rounding's result. The `sign` turns all of them around.
    """

    def __init__(self, draw: int, *, keeps_exact: bool = False, sign: int = 1) -> None:
        super().__init__()
        self._normal = Normal(draw)
        self._keeps_exact = keeps_exact
        self._unit = sign * unit(torch.float32)

    def on_operator(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        returned = func(*args, **kwargs)
        if _is_alias(func) or _is_exact(func) or _is_exact_on_integers(func, args, returned):
            return returned
        if func.overloadpacket in _NORMALISING and returned.dtype == torch.float64:
            returned = self._by_sums(returned, func.overloadpacket, args[0], args[1])
        summed = _numbers_in_each(returned, args)
        return tree_map(lambda value: self._off(value, math.sqrt(summed)), returned)

    def _by_sums(self, returned: Tensor, packet: Any, numbers: Tensor, dim: int) -> Tensor:
        """Probabilities by the logarithm of the sum of each row, as kernels keep it, which is rounded."""
        kept = numbers.double().logsumexp(dim, keepdim=True)
        error = self._off(kept) - kept
        return returned - error if packet is torch.ops.aten._log_softmax else returned * torch.exp(-error)

    def _off(self, value: Any, times: float = 1.0) -> Any:
        if not isinstance(value, torch.Tensor) or value.dtype != torch.float64:
            return value
        error = self._normal.like(value, value.shape).mul_(self._unit * times)
        if self._keeps_exact:
            error.mul_(value != value.float().double())
        return value * error.add_(1)


_NORMALISING = (torch.ops.aten._log_softmax, torch.ops.aten._softmax)


@contextmanager
def rounding_once(dtype: Any, draw: int, *, products: bool) -> Iterator[RoundingOnce]:
    """While it lasts, what is computed in float64 is computed as a kernel may that has numbers of a narrow dtype.

    What an operation gives is rounded once to the dtype before something is computed from it, as a kernel does that
    keeps it in memory, or multiplies it on tensor cores; of `products` only what enters a product of matrices is, as
    all else that becomes numbers of float32 stays wide. Sums are of float32 (Markidis et al., arXiv 1803.04014: tensor
    cores round what they multiply and not what they add up), so that these are not rounded: what has fewer elements
    than the one tensor that it is computed from, such as a mean, and what an operation makes of its own result again
    and again. The first draw rounds to the nearest number; others are off by as much, each number up or down by chance.
    """
    with sdpa_kernel(SDPBackend.MATH), RoundingOnce(dtype, draw, products=products) as rounding:
        yield rounding


class RoundingOnce(OperatorMode):
    """Rounds results in place where they are first used, so that whoever uses them has the same; the last are not.

    `_waiting` are those that are yet to be rounded, and `_depths` how often each operation is behind one, by storage.
    """

    def __init__(self, dtype: Any, draw: int, *, products: bool) -> None:
        super().__init__()
        self.has_rounded = False
        self._dtype = dtype
        self._products = products
        self._normal = Normal(draw) if draw else None
        self._waiting: dict[int, Tensor] = {}
        self._depths: dict[int, Mapping[Any, int]] = {}

    def on_operator(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        if _is_view(func):
            return func(*args, **kwargs)
        taken = _wide_tensors((args, kwargs))
        is_exact = _is_exact(func) or _is_factor(func, taken)
        is_waiting = is_exact and any(_storage(one) in self._waiting for one in taken)
        if not is_exact and (not self._products or func.overloadpacket in flop_registry):
            for one in taken:
                self._round(one)
        returned = func(*args, **kwargs)
        if not _is_alias(func) or is_exact:
            made = _wide_tensors(returned)
            for one in made:
                depths = self._depths_behind(taken)
                if not is_exact:
                    operation = func, one.shape
                    depths[operation] = depths.get(operation, 0) + 1
                    is_waiting = depths[operation] <= _TIMES and not _is_sum(one, made, taken)
                self._depths[_storage(one)] = depths
                if is_waiting:
                    self._waiting[_storage(one)] = one
        return returned

    def _depths_behind(self, taken: Sequence[Tensor]) -> dict[Any, int]:
        depths: dict[Any, int] = {}
        for one in taken:
            for operation, depth in self._depths.get(_storage(one), {}).items():
                depths[operation] = max(depth, depths.get(operation, 0))
        return depths

    def _round(self, tensor: Tensor) -> None:
        waiting = self._waiting.pop(_storage(tensor), None)
        if waiting is None:
            return
        error = nearest(waiting, self._dtype).sub_(waiting).nan_to_num_(0.0, 0.0, 0.0)
        if self._normal is not None:
            error.mul_(self._normal.like(waiting, waiting.shape).sign_())
        waiting.add_(error)
        self.has_rounded = True


def _wide_tensors(values: Any) -> list[Tensor]:
    leaves = (leaf for leaf in tree_leaves(values) if isinstance(leaf, torch.Tensor))
    return [leaf for leaf in leaves if leaf.dtype == torch.float64 and leaf.layout == torch.strided and leaf.numel()]


def _numbers_in_each(made: Any, args: Any) -> float:
    """How many numbers of the only tensor that goes in each element is made of: those of a sum."""
    taken = _wide_tensors(args)
    if len(taken) != 1 or not isinstance(made, torch.Tensor) or not made.numel():
        return 1.0
    return max(1.0, float(taken[0].numel() / made.numel()))


def _storage(tensor: Tensor) -> int:
    return int(tensor.untyped_storage().data_ptr())


def _is_sum(made: Tensor, beside: Sequence[Tensor], taken: Sequence[Tensor]) -> bool:
    """Whether it is fewer numbers than it is made of, or than what is made beside it."""
    number = made.numel()
    return any(number < one.numel() for one in beside) or (len(taken) == 1 and number < taken[0].numel())


def _is_factor(func: Any, taken: Sequence[Tensor]) -> bool:
    """Whether all numbers are multiplied by the same one, which may be done before they are rounded, or after."""
    is_scaling = func._schema.name in ("aten::mul", "aten::div")
    return is_scaling and sum(one.dim() > 0 for one in taken) == 1


def _is_alias(func: Any) -> bool:
    return any(one.alias_info is not None for one in func._schema.returns)


def _is_view(func: Any) -> bool:
    return _is_alias(func) and not any(one.alias_info.is_write for one in func._schema.returns if one.alias_info)


def _is_exact(func: Any) -> bool:
    return _name(func) in _EXACT


def _name(func: Any) -> str:
    """That of an operator, in place or not."""
    return str(func._schema.name.rpartition("::")[2].removesuffix("_"))


def _is_exact_on_integers(func: Any, args: Any, returned: Any) -> bool:
    """Whether integers are added or multiplied to others that are so small that float32 holds each sum on the way."""
    name = _name(func)
    taken = _wide_tensors(args)
    if name not in _ON_INTEGERS or not taken or not all(map(_holds_integers, (*taken, *_wide_tensors(returned)))):
        return False
    largest = [max(1.0, float(one.abs().max())) for one in taken]
    terms = taken[0].shape[-1] if func.overloadpacket in flop_registry else _numbers_in_each(returned, args)
    return terms * (sum(largest) if name in _SUMS else math.prod(largest)) <= _INTEGERS


def _holds_integers(tensor: Tensor) -> bool:
    return bool(torch.equal(tensor, tensor.round()))


_INTEGERS = float(1 << 24)
"""Up to there float32 holds each of them."""
_SUMS = frozenset({"add", "sub", "rsub", "sum"})
_ON_INTEGERS = frozenset({*_SUMS, "mul", "mm", "bmm", "remainder", "fmod"})

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
