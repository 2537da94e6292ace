"""What host code makes of small tensors of integers, in a case whose tensors have no memory. Imports torch.

An order, an offset or a count that the wrapper computes decides where a kernel goes, just as what it was given does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

import torch
from torch.utils._pytree import tree_leaves, tree_map

from tritonaudit.simulator.operator_mode import OperatorMode
from tritonaudit.subject.model import INTEGER
from tritonaudit.suites.integers import LARGEST, Contents, filled, identity


class Known(Protocol):
    """Who knows what tensors without memory hold."""

    contents: Contents


class Followed(OperatorMode):
    """Inside it, an operation on tensors whose contents are known is done on these, too, and its result is known then.

    What it writes to otherwise is no longer known. The tensors that are known live as long as this does, so that no
    other one takes their place.
    """

    def __init__(self, known: Known) -> None:
        super().__init__()
        self._known = known
        self._alive: list[torch.Tensor] = []

    def on_operator(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        returned = func(*args, **kwargs)
        taken, made = _tensors((args, kwargs)), _tensors(returned)
        are_known = all(filled(one, self._known.contents) is not one for one in taken)
        if taken and are_known and all(one.is_meta and one.numel() <= LARGEST for one in made):
            with suppress(Exception):  # not every operation is there for both
                self._follow(func, args, kwargs, made)
                return returned
        self._forget(func, args, kwargs)
        return returned

    def _follow(
        self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], made: Sequence[torch.Tensor]
    ) -> None:
        contents = self._known.contents
        there, named = tree_map(lambda leaf: _there(leaf, contents), (args, dict(kwargs)))
        results = {
            identity(hollow): result
            for hollow, result in zip(made, _tensors(func(*there, **named)), strict=True)
            if identity(hollow) not in contents and _is_of_integers(result) and hollow.stride() == result.stride()
        }
        self._alive += made
        self._known.contents = {**contents, **results}

    def _forget(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """What the operation writes to is not known any more."""
        passed = zip(func._schema.arguments, args, strict=False)
        named = ((one, kwargs[one.name]) for one in func._schema.arguments if one.name in kwargs)
        written = [value for one, value in (*passed, *named) if one.alias_info is not None and one.alias_info.is_write]
        gone = {identity(tensor) for tensor in _tensors(written)}
        if gone & self._known.contents.keys():
            self._known.contents = {key: one for key, one in self._known.contents.items() if key not in gone}


def _there(leaf: Any, contents: Contents) -> Any:
    """An argument of an operation, on the CPU."""
    return torch.device("cpu") if isinstance(leaf, torch.device) else filled(leaf, contents)


def _tensors(values: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(values) if isinstance(leaf, torch.Tensor)]


def _is_of_integers(tensor: torch.Tensor) -> bool:
    return str(tensor.dtype).removeprefix("torch.") in INTEGER
