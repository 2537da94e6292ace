"""The memory of torch's tensors: where their elements lie, and which operators allocate it and write to it."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

ALLOCATIONS = frozenset(("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"))
"""The operators whose result nobody has written to, by their names without a namespace."""


def storage_address(tensor: torch.Tensor) -> int:
    """Where its storage begins."""
    return int(tensor.untyped_storage().data_ptr())


def per_byte(tensor: torch.Tensor, bytes: torch.Tensor) -> torch.Tensor:
    """What is known of each byte of a storage, as the tensor sees it: of its shape, the bytes of an element last."""
    size = tensor.element_size()
    strides = (*(stride * size for stride in tensor.stride()), 1)
    return bytes.as_strided((*tensor.shape, size), strides, tensor.storage_offset() * size)


@functools.cache
def allocates(operator: Any) -> bool:
    """Whether nobody has written to what it gives."""
    return str(operator._schema.name).removeprefix("aten::") in ALLOCATIONS


@functools.cache
def parameters_written(operator: Any) -> tuple[tuple[int, str], ...]:
    """Those that an operator writes to, by place and by name."""
    return tuple(
        (place, argument.name)
        for place, argument in enumerate(operator._schema.arguments)
        if argument.alias_info is not None and argument.alias_info.is_write
    )


def written_by(operator: Any, args: Any, kwargs: Mapping[str, Any]) -> Iterator[torch.Tensor]:
    """The tensors that an operator writes to."""
    for place, name in parameters_written(operator):
        value = kwargs[name] if name in kwargs else args[place] if place < len(args) else None
        yield from (one for one in tree_leaves(value) if isinstance(one, torch.Tensor))
