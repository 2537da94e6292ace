"""How much arithmetic operators of torch do: products by their shapes, all else by its simple operations per element.

An operator that torch can take apart counts as what it consists of, so that a softmax costs the same however it is
written. Imports torch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import torch
from torch._decomp import decomposition_table
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.flop_counter import flop_registry

from tritonaudit.suites.operators import Work, operator_of

_DEEPEST = 4
"""Operators inside operators are taken apart up to here."""
_known: dict[object, float] = {}


def cost(function: Any, args: Any, kwargs: Mapping[str, Any], result: Any) -> float:
    """The floating-point operations of one operator that computes."""
    if (count := flop_registry.get(function.overloadpacket)) is not None:
        return float(count(*args, **kwargs, out_val=result))
    key = _key(function, args, kwargs)
    if key not in _known:
        _known[key] = _taken_apart(function, args, kwargs, 0) or _elements(args, kwargs, result)
    return _known[key]


class Arithmetic(TorchDispatchMode):  # type: ignore[misc]
    """Counts, while it is active, what operators compute: `forward`, and `backward` where autograd calls them."""

    def __init__(self, depth: int = 0) -> None:
        super().__init__()
        self.forward = 0.0
        self.backward = 0.0
        self._depth = depth

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = function(*args, **kwargs)
        self.add(function, args, kwargs, result)
        return result

    def add(self, function: Any, args: Any, kwargs: Mapping[str, Any], result: Any) -> None:
        """Count an operator, unless it only moves, makes or views numbers."""
        if operator_of(function).work_on(args, kwargs) is not Work.COMPUTES or not _has_numbers(result):
            return
        with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
            if self._depth:
                part = _taken_apart(function, args, kwargs, self._depth)
                spent = part or _elements(args, kwargs, result)
            else:
                spent = cost(function, args, kwargs, result)
        if torch._C._current_graph_task_id() == -1:
            self.forward += spent
        else:
            self.backward += spent


def _has_numbers(result: Any) -> bool:
    """Whether it is more than indices and truth values."""
    return any(isinstance(one, torch.Tensor) and one.dtype.is_floating_point for one in tree_leaves(result))


def _elements(args: Any, kwargs: Mapping[str, Any], result: Any) -> float:
    """One operation for each element that goes in or comes out, whichever are more."""
    tensors = [one for one in tree_leaves((args, dict(kwargs), result)) if isinstance(one, torch.Tensor)]
    return float(max((prod(one.shape) for one in tensors), default=0))


def _taken_apart(function: Any, args: Any, kwargs: Mapping[str, Any], depth: int) -> float:
    """What the operators cost that it consists of; 0 where it cannot be taken apart."""
    parts: Callable[..., Any] | None = decomposition_table.get(function)
    if parts is None or depth >= _DEEPEST:
        return 0.0
    counting = Arithmetic(depth + 1)
    try:
        hollow_args, hollow_kwargs = tree_map(_hollow, (args, dict(kwargs)))
        with counting:
            parts(*hollow_args, **hollow_kwargs)
    except Exception:  # many need values, or fit some devices only
        return 0.0
    return counting.forward + counting.backward


def _hollow(value: Any) -> Any:
    return value.to("meta") if isinstance(value, torch.Tensor) else value


def _key(function: Any, args: Any, kwargs: Mapping[str, Any]) -> object:
    leaves = tree_leaves((args, dict(kwargs)))
    return function, tuple(
        (tuple(one.shape), one.dtype) if isinstance(one, torch.Tensor) else repr(one) for one in leaves
    )
