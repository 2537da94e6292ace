"""Loaded indices of which the kernel itself shows that they may be negative."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from tritonaudit.domains.affine import LOADED, Affine, Atom
from tritonaudit.domains.facts import Access, KernelFlow
from tritonaudit.domains.value import Less, Step, Value
from tritonaudit.queries.unbounded import flattened

if TYPE_CHECKING:
    from libcst import CSTNode


@dataclass(frozen=True, eq=False)
class NegativeIndex:
    """An access at a loaded index, and the place that shows, in words, that the index may be negative."""

    access: Access
    shown: CSTNode
    why: str


def negative_indices(flow: KernelFlow) -> Iterator[NegativeIndex]:
    """The accesses at an index that may be negative, where neither a mask nor an `if` looks at it."""
    loads = _loads(flow)
    compared = dict(_compared(flow))
    for access in flow.accesses:
        address = access.pointer.affine
        if address is None:
            continue
        for atom in sorted({atom for atom in address.atoms() if atom.name == LOADED}, key=lambda atom: atom.id):
            sources = loads.get(atom.inner[0], []) if atom.inner else []
            if len(sources) != 1 or _is_looked_at(access, sources[0], atom):
                continue
            padded = _is_padded_negative(sources[0])
            if padded and _masks_as(access, sources[0]):
                continue  # what is compared may be the padding
            if atom in compared:
                yield NegativeIndex(access, compared[atom], "the kernel takes a negative one for none")
                break
            if padded:
                yield NegativeIndex(access, sources[0].node, "it is negative in the lanes that its own mask leaves out")
                break


def _loads(flow: KernelFlow) -> dict[Affine, list[Access]]:
    """The loads by their address: what is loaded twice may be either of the two."""
    found: dict[Affine, list[Access]] = {}
    for access in flow.accesses:
        if access.kind == "load" and access.pointer.affine is not None:
            found.setdefault(access.pointer.affine, []).append(access)
    return found


# -- what shows that an index may be negative ----------------------------------------------------------------------


def _compared(flow: KernelFlow) -> Iterator[tuple[Atom, CSTNode]]:
    """The loaded values that are compared with -1, or tested for being negative."""
    for step in flow.steps:
        if len(step.operands) == 2 and step.node is not None and _tests_sign(step):
            for operand in step.operands:
                atom = _loaded(operand)
                if atom is not None:
                    yield atom, step.node


def _tests_sign(step: Step) -> bool:
    number = step.operands[1].const
    if type(number) is not int:
        return False
    return (step.operation, number) in {
        ("Equal", -1),
        ("NotEqual", -1),
        ("GreaterThan", -1),
        ("LessThanEqual", -1),
        ("LessThan", 0),
        ("GreaterThanEqual", 0),
    }


def _loaded(value: Value) -> Atom | None:
    """The loaded value that this is, nothing added."""
    if value.affine is None or len(value.affine.terms) != 1:
        return None
    (product, factor), *_ = value.affine.terms.items()
    return product[0] if factor == 1 and len(product) == 1 and product[0].name == LOADED else None


def _is_padded_negative(load: Access) -> bool:
    """`other=-1`."""
    if load.mask is None or not load.mask.mask or not isinstance(load.node, cst.Call):
        return False
    for index, argument in enumerate(load.node.args):
        named = argument.keyword is not None and argument.keyword.value == "other"
        if named or (argument.keyword is None and index == 2):
            other = argument.value
            negative = isinstance(other, cst.UnaryOperation) and isinstance(other.operator, cst.Minus)
            return negative and isinstance(other, cst.UnaryOperation) and isinstance(other.expression, cst.Integer)
    return False


# -- what keeps a negative index out -------------------------------------------------------------------------------


def _is_looked_at(access: Access, load: Access, atom: Atom) -> bool:
    """Whether a mask, or an `if` that the load does not stand under, may look at the index; else it is unknown."""
    if any(not guard.constexpr and guard not in load.path for guard in access.path):
        return True
    if access.mask is None:
        return False
    conditions = access.mask.mask
    return conditions is None or any(
        not isinstance(condition, Less) or atom in condition.gap.atoms_inside() for condition in conditions
    )


def _masks_as(access: Access, load: Access) -> bool:
    """Whether the access leaves out the lanes that the load leaves out."""
    mine = _gaps(access)
    return mine is not None and (theirs := _gaps(load)) is not None and theirs <= mine


def _gaps(access: Access) -> frozenset[object] | None:
    conditions = access.mask.mask if access.mask is not None else frozenset()
    if conditions is None or not all(isinstance(condition, Less) for condition in conditions):
        return None
    return frozenset((flattened(c.gap), c.strict) for c in conditions if isinstance(c, Less))
