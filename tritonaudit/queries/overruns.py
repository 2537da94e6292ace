"""Accesses that go past the end though a mask or a shape bounds them: with their stride the bound is too large."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonaudit.domains.affine import GIVEN, Affine
from tritonaudit.domains.facts import Access, KernelFlow
from tritonaudit.domains.value import Less
from tritonaudit.kernel.launch import Launch
from tritonaudit.kernel.tensor_shapes import is_free, passed_shape
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
    launch: Launch


def overruns(flow: KernelFlow) -> Iterator[Overrun]:
    """The first with each stride."""
    seen: set[str] = set()
    for access in flow.accesses if flow.launches.launches else ():
        reaches = [(bound, stride, counts) for bound, stride in _reaches(access) if (counts := _counts(bound * stride))]
        for launch in flow.launches.launches if reaches else ():
            found = _overrun(flow, access, launch, reaches)
            if found is not None and (key := f"{found.bound} {found.stride}") not in seen:
                seen.add(key)
                yield found


def _overrun(
    flow: KernelFlow, access: Access, launch: Launch, reaches: list[tuple[Affine, Affine, Counter[str]]]
) -> Overrun | None:
    free = {name for _, _, counts in reaches for name in counts if is_free(launch, name)}
    passed = launch.arguments.get(parameter_of(access) or "") if free else None
    shape = None if passed is None else passed_shape(launch, passed)
    for bound, stride, counts in reaches if shape is not None else ():
        extra = counts - Counter(shape)
        if shape is not None and extra and extra.keys() <= free and not Counter(shape) - counts:
            times = " * ".join(sorted(extra.elements()))
            return Overrun(access, _place(flow, access, stride), bound, stride, times, shape, launch)
    return None


def _counts(reach: Affine) -> Counter[str]:
    """The parameters that a product is of; none where it is anything else."""
    if len(reach.terms) != 1:
        return Counter()
    ((product, factor),) = reach.terms.items()
    if factor < 1 or any(atom.kind not in GIVEN for atom in product):
        return Counter()
    return Counter(atom.name for atom in product)


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
