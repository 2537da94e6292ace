"""Which head of the keys a head of the queries belongs to, where several of them share one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.domains.affine import GIVEN, JOINED, Atom, AtomKind
from tritonaudit.domains.facts import KernelFlow, Product


@dataclass(frozen=True, eq=False)
class Interleaved:
    """`remainder`, the program's number modulo `count`, is a head of several tensors; of others it is the number."""

    remainder: ast.BinOp
    count: str
    whole: Product


def interleaved(flow: KernelFlow) -> Iterator[Interleaved]:
    """The remainders that choose a head of two tensors, where the program's number is a head of two others."""
    shared: dict[tuple[Atom, Atom], set[Atom]] = {}
    whole: dict[Atom, dict[Atom, Product]] = {}
    for product in flow.products:
        head, stride = _strided(product)
        if head is None or stride is None:
            continue
        if head.kind is AtomKind.PID:
            whole.setdefault(head, {}).setdefault(stride, product)
        elif (found := _remainder(head)) is not None:
            shared.setdefault(found, set()).add(stride)
    for (program, count), strides in shared.items():
        others = {s: p for s, p in whole.get(program, {}).items() if s not in strides}
        if len(strides) < 2 or len(others) < 2 or _is_split(flow, program) or not _multiplies(flow):
            continue
        if (node := _written(flow, count)) is not None:
            yield Interleaved(node, count.name, next(iter(others.values())))


def _strided(product: Product) -> tuple[Atom | None, Atom | None]:
    """A number and the parameter that it is multiplied by."""
    left, right = (None if value.affine is None else value.affine.atom for value in product.operands)
    if left is not None and left.kind is AtomKind.PARAM:
        left, right = right, left
    return (left, right) if right is not None and right.kind is AtomKind.PARAM else (None, None)


def _remainder(atom: Atom) -> tuple[Atom, Atom] | None:
    """The program and the count of `program % count`, also where an `if` takes the program's number itself."""
    if atom.name == JOINED:
        sides = [side.atom for side in atom.inner if side.atom is not None]
        found = [remainder for side in sides if (remainder := _remainder(side)) is not None]
        return found[0] if len(found) == 1 and len(sides) == 2 and found[0][0] in sides else None
    if atom.name != "Modulo":
        return None
    program, count = (side.atom for side in atom.inner)
    if program is None or count is None or program.kind is not AtomKind.PID or count.kind not in GIVEN:
        return None
    return program, count


def _is_split(flow: KernelFlow, program: Atom) -> bool:
    """Whether the program's number holds more than a head: then something is made of its quotient."""
    inside = {atom for p in flow.products if p.value.affine is not None for atom in p.value.affine.atoms_inside()}
    return any(atom.name == "FloorDivide" and program in atom.inner[0].atoms() for atom in inside)


def _multiplies(flow: KernelFlow) -> bool:
    return any(step.operation == "dot" for step in flow.all_steps)


def _written(flow: KernelFlow, count: Atom) -> ast.BinOp | None:
    remainders = (node for node in flow.function.nodes.of(ast.BinOp) if isinstance(node.op, ast.Mod))
    return next((n for n in remainders if isinstance(n.right, ast.Name) and n.right.id == count.name), None)
