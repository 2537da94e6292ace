"""Accesses that go past the end though a mask or a shape bounds them: with their stride the bound is too large."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonaudit.domains.affine import GIVEN, Affine, Atom
from tritonaudit.domains.facts import Access, KernelFlow
from tritonaudit.domains.value import Less
from tritonaudit.host.host import LaunchSite
from tritonaudit.host.values import Dims, Symbol, Tensor
from tritonaudit.queries.launched import as_passed
from tritonaudit.queries.memory import Memory, memory_of
from tritonaudit.queries.unbounded import bounded_index
from tritonaudit.queries.updates import parameter_of
from tritonaudit.source.nodes import spans

if TYPE_CHECKING:
    from libcst import CSTNode


@dataclass(frozen=True, eq=False)
class Overrun:
    """An index of `access` that goes up to `bound`, in steps of `stride`: `times` as far as the tensor of `shape`.

    `place` is where the stride, or what it makes of the index, is computed.
    """

    access: Access
    place: CSTNode
    bound: Affine
    stride: Affine
    times: str
    shape: tuple[str, ...]
    site: LaunchSite


def overruns(flow: KernelFlow) -> Iterator[Overrun]:
    """The first with each stride."""
    seen: set[str] = set()
    for access in flow.accesses:
        reaches = [(bound, stride) for bound, stride in _reaches(access) if len((bound * stride).terms) == 1]
        for site in flow.launches.sites if reaches else ():
            for bound, stride in reaches if not site.doubt else ():
                found = None if (key := f"{bound} {stride}") in seen else _overrun(flow, access, site, bound, stride)
                if found is not None:
                    seen.add(key)
                    yield found


def _overrun(flow: KernelFlow, access: Access, site: LaunchSite, bound: Affine, stride: Affine) -> Overrun | None:
    tensor = site.arguments.get(parameter_of(access) or "")
    memory = memory_of(site, tensor) if _has_known_rank(site, tensor) else None
    reach = as_passed(site, bound * stride)
    if memory is None or reach is None or len(reach.terms) != 1 or len(memory.elements.terms) != 1:
        return None
    ((reached, count),), ((held, size),) = reach.terms.items(), memory.elements.terms.items()
    extra = Counter(reached) - Counter(held)
    is_free = all(_is_a_number_given(site, atom) for atom in extra)
    if Counter(held) - Counter(reached) or count % size or not is_free or not (extra or count > size):
        return None
    more = [str(count // size)] if count > size else []
    times = " * ".join([*more, *sorted(_named(site, bound * stride, atom) for atom in extra.elements())])
    return Overrun(access, _place(flow, access, stride), bound, stride, times, _shape(site, memory), site)


def _has_known_rank(site: LaunchSite, value: object) -> bool:
    shape = value.shape if isinstance(value, Tensor) else Dims(value) if isinstance(value, Symbol) else None
    return not isinstance(shape, Dims) or shape.of.key in site.ranks


def _is_a_number_given(site: LaunchSite, atom: Atom) -> bool:
    """Whether callers give it as a number, more than 1 if they like, whatever the sizes of tensors are."""
    key, most = site.arithmetic.keys.get(atom), site.facts().bounds(Affine.of(atom))[1]
    return isinstance(key, tuple) and key[:1] == ("input",) and len(key) == 2 and (most is None or most > 1)


def _named(site: LaunchSite, reach: Affine, atom: Atom) -> str:
    """The kernel's parameter that is passed as this."""
    names = (one.name for one in reach.atoms())
    return next((name for name in names if site.argument(name) == Affine.of(atom)), atom.name)


def _shape(site: LaunchSite, memory: Memory) -> tuple[str, ...]:
    """The tensor's sizes, by the kernel's parameters that they are passed for where they are."""
    passed = {value: name for name in site.arguments if (value := site.argument(name)) is not None}
    return tuple(passed.get(size, str(size)) for size in memory.sizes)


def _reaches(access: Access) -> Iterator[tuple[Affine, Affine]]:
    """Up to where an index goes, and what it is multiplied by."""
    block, address = access.pointer.block, access.pointer.affine
    if block is not None:
        for size, stride in zip(block.shape, block.strides, strict=False) if access.checked else ():
            if size is not None and stride is not None:
                yield from ((end, stride) for end in _ends(size))
    elif address is not None and access.mask is not None:
        for condition in access.mask.mask or ():
            if isinstance(condition, Less) and condition.strict:
                yield from _of_condition(condition, address)


def _of_condition(condition: Less, address: Affine) -> Iterator[tuple[Affine, Affine]]:
    index = bounded_index(condition)
    lane = next(iter(index.lanes()), None)
    if lane is None:
        return
    stride = address.factor_of(lane)
    if all(address.terms.get(product) == factor for product, factor in (index * stride).terms.items()):
        yield from ((end, stride) for end in _ends(condition.gap + index))


def _ends(bound: Affine) -> Iterator[Affine]:
    """The parameter that a bound is, or what one that is cut off there is cut off at."""
    atom = bound.atom
    parts = atom.inner if atom is not None and atom.name == "minimum" else (bound,)
    yield from (part for part in parts if part.atom is not None and part.atom.kind in GIVEN)


def _place(flow: KernelFlow, access: Access, stride: Affine) -> CSTNode:
    """Where the stride is multiplied for the pointer of the access."""
    name, last = flow.tree.code(access.address), flow.tree.span(access.node).line
    made = [
        node
        for node in flow.function.nodes.of(ast.Assign)
        if node.lineno <= last and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    ]
    pointer = max(made, key=lambda node: node.lineno, default=None)
    strides = (product.node for product in flow.products if product.value.affine == stride)
    own = (node for node in strides if pointer is not None and spans(pointer, flow.tree.span(node).line))
    return next(own, access.node)
