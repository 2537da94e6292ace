"""What would follow if a load filled the lanes that its mask leaves out with another number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tritonaudit.domains.affine import GIVEN, AtomKind
from tritonaudit.domains.facts import KernelFlow, Reduction
from tritonaudit.domains.machine import Machine
from tritonaudit.domains.value import Less, Value

if TYPE_CHECKING:
    from libcst import CSTNode

_ARITHMETIC = ("Add", "Subtract", "Multiply", "Divide", "exp", "exp2", "log", "log2", "to", "cast")
_REDUCED = ("sum", "max", "min", "argmax", "argmin", "softmax")
_FOLLOWED = frozenset((*_ARITHMETIC, *_REDUCED, "store"))
"""Operations of which it is known what they make of such lanes."""


def is_neutral_everywhere(flow: KernelFlow, load: CSTNode, fill: float) -> bool:
    """Whether the lanes would then change no reduction that they reach, and no store would write what became of them.

    That is not said of a load that may leave out all its lanes: what is infinite would be all that there is.
    """
    if flow.kernel is None or not _holds_data(flow, load):
        return False
    again = KernelFlow(
        flow.module, flow.function, flow.tree, flow.launches, flow.target, flow.is_helper, flow.for_vendor, flow.types
    )
    machine = Machine(again, flow.kernel, {id(load): fill})
    machine.run()
    reached = [
        one for one in machine.facts if any(_holds(machine.fact(value), load) for value, _ in one.arguments.values())
    ]
    carried = any(_holds(fact, load) for one, fact in machine.facts.items() if not one.arguments)
    return (
        not carried
        and all(one.name in _FOLLOWED for one in reached)
        and not any(poisoned_by(one, load) for one in again.reductions)
        and not any(_writes(one.stored, one.mask, load) for one in again.accesses)
    )


def poisoned_by(reduction: Reduction, load: CSTNode) -> bool:
    """Whether what the load leaves empty reaches the reduction, and is not neutral for it."""
    return any(padding.load is load for padding in reduction.poisoned)


def _holds_data(flow: KernelFlow, load: CSTNode) -> bool:
    """Whether the same lanes are left out in every program, so that it has data wherever there is any."""
    access = next((one for one in flow.accesses if one.node is load), None)
    conditions = access.mask.mask if access is not None and access.mask is not None else frozenset()
    return bool(conditions) and all(
        isinstance(one, Less) and {atom.kind for atom in one.gap.atoms()} <= {*GIVEN, AtomKind.LANE}
        for one in conditions or ()
    )


def _holds(value: Value, load: CSTNode) -> bool:
    return any(padding.load is load for padding in value.paddings)


def _writes(stored: Value | None, mask: Value | None, load: CSTNode) -> bool:
    known = mask.mask if mask is not None and mask.mask is not None else frozenset()
    lanes = () if stored is None else stored.paddings
    return any(padding.load is load and padding.condition not in known for padding in lanes)
