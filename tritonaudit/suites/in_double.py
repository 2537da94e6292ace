"""Computes in float64 what a reference computes in less, or in float32 what it computes in more.

Imports torch: for processes in which user code runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map

NARROWER = frozenset((torch.float32, torch.float16, torch.bfloat16))


class InDouble(TorchFunctionMode):  # type: ignore[misc]
    """Inside it, what would be computed in floating point of 16 or 32 bits is computed in float64.

    Parameters of a model and casts of the reference's own are such, too; what is written to keeps its type.
    """

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name in ("float", "half", "bfloat16"):
            return args[0].double()
        if name in _ACCESSES:
            return func(*args, **kwargs)
        if name == "view" and isinstance(dtype := args[-1] if len(args) > 1 else kwargs.get("dtype"), torch.dtype):
            return _bits(args[0], dtype)
        keeps = name.endswith("_") or name in ("__setitem__", "__get__", "__set__") or "out" in kwargs
        made = _double_type if keeps else _double
        return func(*_mapped(made, args), **_mapped(made, kwargs)) if kwargs else func(*_mapped(made, args))


class InSingle(TorchFunctionMode):  # type: ignore[misc]
    """Inside it, what would be computed in float64 is computed in float32; `has_narrowed` says whether anything was."""

    def __init__(self) -> None:
        super().__init__()
        self.has_narrowed = False

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name == "double":
            self.has_narrowed = True
            return args[0].float()
        if name in _ACCESSES:
            return func(*args, **kwargs)
        args, kwargs = _mapped(self._single, (args, kwargs))
        return func(*args, **kwargs)

    def _single(self, value: Any) -> Any:
        if isinstance(value, torch.dtype) and value == torch.float64:
            self.has_narrowed = True
            return torch.float32
        return value


class SeesDouble(TorchFunctionMode):  # type: ignore[misc]
    """Says, when it was active, whether there `is_any` float64 that InSingle would have narrowed."""

    def __init__(self) -> None:
        super().__init__()
        self.is_any = False

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if not self.is_any:
            self.is_any = getattr(func, "__name__", "") == "double" or _holds_double((args, kwargs))
        return func(*args, **(kwargs or {}))


def _holds_double(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_holds_double, value))
    if isinstance(value, dict):
        return any(map(_holds_double, value.values()))
    return isinstance(value, torch.dtype) and value == torch.float64


_OF_32_BITS = frozenset(getattr(torch, name) for name in ("int32", "uint32") if hasattr(torch, name))
_ACCESSES = frozenset(("requires_grad_", "backward", "data_ptr", "untyped_storage", "storage_offset", "detach"))


def _bits(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Those of numbers in another type: of numbers of float32, in as many elements, where they are computed wider."""
    if tensor.dtype == torch.float64 and dtype in _OF_32_BITS:
        tensor = tensor.float()
    viewed = tensor.view(dtype)
    return viewed.double() if dtype in NARROWER and tensor.dtype not in NARROWER else viewed


def _mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """As `tree_map`, of which torch's own costs more than most operators."""
    kind = type(value)
    if kind in (tuple, list):
        return kind([_mapped(function, member) for member in value])
    if kind is dict:
        return {key: _mapped(function, member) for key, member in value.items()}
    return tree_map(function, value) if isinstance(value, (tuple, list, dict)) else function(value)


def _double_type(value: Any) -> Any:
    return torch.float64 if isinstance(value, torch.dtype) and value in NARROWER else value


def _double(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.double() if value.dtype in NARROWER else value
    return _double_type(value)
