"""The memory of what a launch passes: the sizes of a tensor, and where its elements lie."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from tritonaudit.domains.affine import ONE, ZERO, Affine
from tritonaudit.host.host import LaunchSite
from tritonaudit.host.values import Dims, Key, Symbol, Tensor
from tritonaudit.queries.sizes import inputs_of

WITHOUT_CONTENTS = frozenset(("empty", "empty_like", "new_empty"))
"""The functions that make a tensor of whatever was in its memory before."""


@dataclass(frozen=True, eq=False)
class Memory:
    """A tensor by its name in the host code: its sizes, and how many elements there are from its first to its last.

    `strides` are None where nothing is known of them but what the host code asks. `made` says by which function it came
    about, "given" where it was passed in; then it `is_free` to have any strides. `is_sure`: it has no more sizes.
    """

    name: str
    sizes: tuple[Affine, ...]
    elements: Affine
    strides: tuple[Affine, ...] | None
    made: str
    is_free: bool
    is_sure: bool = True


@lru_cache(maxsize=256)
def memory_for(site: LaunchSite, parameter: str) -> Memory | None:
    """What is known of the memory of what a launch passes for a parameter."""
    return memory_of(site, site.arguments.get(parameter))


def key_for(site: LaunchSite, parameter: str) -> Key | None:
    """The key of the tensor that a launch passes for a parameter; None of what may be no tensor."""
    passed = site.arguments.get(parameter)
    symbol = passed.symbol if isinstance(passed, Tensor) else passed
    return symbol.key if isinstance(symbol, Symbol) else None


def memory_of(site: LaunchSite, value: object) -> Memory | None:
    """What is known of the memory of something that is passed; None of what may be no tensor."""
    if isinstance(value, Symbol) and not value.reason:
        value = Tensor(value, Dims(value), None, None)
    if not isinstance(value, Tensor):
        return None
    name, shape = value.symbol.name, value.shape
    is_sure = not isinstance(shape, Dims) or shape.of.key in site.ranks
    is_free = value.is_given and not value.is_contiguous and value.strides is None
    if isinstance(shape, Dims):
        rank = site.ranks.get(shape.of.key) or _least_rank(site, shape.of.name)
        if (shape.first, shape.last) != (0, None) or shape.of.reason:
            return None
        if rank is None:
            key, text = (*shape.of.key, "numel", 0, None), f"{shape.of.name}.numel()"
            return Memory(name, (), site.arithmetic.symbol(key, text, True, ZERO), None, value.made, is_free, is_sure)
        shape = tuple(
            site.arithmetic.symbol((*shape.of.key, "shape", index), f"{shape.of.name}.shape[{index}]", True, ZERO)
            for index in range(rank)
        )
    dims = tuple(site.integer(one) for one in shape)
    sizes = tuple(one for one in dims if one is not None)
    if len(sizes) < len(dims):
        return None
    if value.strides is None:
        rows = None if is_free else tuple(_product(site, sizes[index + 1 :]) for index in range(len(sizes)))
        return Memory(name, sizes, _product(site, sizes), rows, value.made, is_free, is_sure)
    given = tuple(site.integer(one) for one in value.strides)
    strides = tuple(one for one in given if one is not None)
    if len(strides) < len(sizes):
        return None
    total = ONE
    for dim, stride in zip(sizes, strides, strict=False):
        total = total + site.arithmetic.times(dim - ONE, stride)
    return Memory(name, sizes, total, strides, value.made, False, is_sure)


def _least_rank(site: LaunchSite, name: str) -> int | None:
    """The number of dimensions that the host code asks for; None where it counts the elements, or from the end."""
    values = [site.integer(value) for value in site.arguments.values()] + [site.axis(axis) for axis in range(3)]
    rank = 0
    for atom in inputs_of(value for value in values if value is not None):
        owner, _, index = atom.name.removesuffix("]").removesuffix(")").rpartition(".")
        if owner == name:
            what, _, number = index.replace("(", "[").partition("[")
            if what not in ("shape", "stride") or not number.isdigit():
                return None
            rank = max(rank, int(number) + 1)
    return rank or None


def _product(site: LaunchSite, values: Iterable[Affine]) -> Affine:
    total = ONE
    for value in values:
        total = site.arithmetic.times(total, value)
    return total
