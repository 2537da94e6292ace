"""What watches torch's operators, also those that are given functions, such as `torch.cond`. Imports torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch._higher_order_ops
from torch.utils._python_dispatch import TorchDispatchMode


class OperatorMode(TorchDispatchMode):  # type: ignore[misc]
    """Sees, while it is active, each operator that is called, and in its turn what each branch or loop calls."""

    supports_higher_order_operators = True

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if isinstance(function, torch._ops.OpOverload):
            return self.on_operator(function, args, kwargs)
        if (written_out := _WRITTEN_OUT.get(function)) is None:
            return self.on_function_of_functions(function, args, kwargs)
        TorchDispatchMode.__enter__(self)
        try:
            return written_out(*args, **kwargs)
        finally:
            TorchDispatchMode.__exit__(self, None, None, None)

    def on_operator(self, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """What an operator gives, which has a schema."""
        raise NotImplementedError

    def on_function_of_functions(self, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """What one gives that calls functions, in which nothing is seen."""
        return function(*args, **kwargs)


def _cond(condition: Any, when_true: Callable[..., Any], otherwise: Callable[..., Any], operands: Any = ()) -> Any:
    return (when_true if bool(condition) else otherwise)(*operands)


def _while_loop(
    goes_on: Callable[..., Any], body: Callable[..., Any], carried: Any, beside: Any = (), **_: Any
) -> tuple[Any, ...]:
    state = tuple(one.clone() if isinstance(one, torch.Tensor) else one for one in carried)
    while bool(goes_on(*state, *beside)):
        state = tuple(body(*state, *beside))
    return state


_WRITTEN_OUT: dict[Any, Callable[..., Any]] = {
    torch.ops.higher_order.cond: _cond,
    torch.ops.higher_order.while_loop: _while_loop,
}
"""What those do that only choose what is called: the same without them."""
