"""Stores of several programs to one place, and loads of what other threads of the program may not have stored yet."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.domains.affine import GIVEN, Affine, Atom, Kind
from tritonaudit.domains.facts import Access, KernelFlow, exclusive
from tritonaudit.domains.value import Less
from tritonaudit.kernel.dependence import NO_AXES, Axes, Dependence, Number, Part, Write
from tritonaudit.kernel.launch import Launch
from tritonaudit.kernel.programs import is_several, several_programs
from tritonaudit.queries.updates import parameter_of, updates
from tritonaudit.source.nodes import names_in

_LOCKS = re.compile(r"atomic_(cas|xchg|load|poll)|inline_asm")


@dataclass(frozen=True, eq=False)
class Overwrite:
    """A store by every program along `axis` of the launch's grid to one place; `updates`: of what it has read there.

    The place is made by `address`. `shared` is the part of the program's number that alone decides on it, where it is
    not the same for all programs of the axis.
    """

    store: Access
    address: ast.expr
    axis: int
    launch: Launch
    parameter: str
    updates: bool
    shared: Part | None = None


def overwrites(flow: KernelFlow) -> Iterator[Overwrite]:
    """The stores whose place is the same for all programs of an axis, and what they store is not."""
    if not flow.launches.launches or _LOCKS.search(flow.module.text_of(flow.function)):
        return
    axes = list(several_programs(flow.launches))
    if all(_is_told_apart(flow, axis) for _, axis in axes):
        return
    dependence = Dependence(flow.module, flow.function)
    writes = [write for write in dependence.writes if _may_meet(dependence, write, [axis for _, axis in axes])]
    if not writes:
        return  # as in nearly all kernels; places in the text are dear
    stores = {flow.tree.span(access.node).line: access for access in flow.accesses if access.kind == "store"}
    changed = {id(update.written): update.parameter for update in updates(flow)}
    for write in writes:
        access = stores.get(write.call.lineno)
        parameter = None if access is None else parameter_of(access)
        if access is None or parameter is None or _is_added_up_otherwise(flow, access, parameter):
            continue
        where = dependence.may(write.address, *write.conditions) | _chosen(dependence, access, write)
        what = dependence.surely(write.value)
        updates_it = id(access) in changed
        for launch, axis in axes:
            shared = None if _is_free_of(axis, where) else _shared(flow, dependence, launch, axis, where, what)
            if shared is None and (not _is_free_of(axis, where) or (_is_free_of(axis, what) and not updates_it)):
                continue
            if not _asks(launch, axis, write):
                address = dependence.made(write.address)
                yield Overwrite(access, address, axis, launch, parameter, updates_it, shared)
                break


def _is_added_up_otherwise(flow: KernelFlow, store: Access, parameter: str) -> bool:
    """Whether a constexpr chooses between the store and an atomic operation: it tells if there are several programs."""
    chosen = tuple(guard for guard in store.path if guard.constexpr)
    return any(
        access.kind == "atomic" and parameter_of(access) == parameter and exclusive(access.path, chosen)
        for access in flow.accesses
    )


def _is_told_apart(flow: KernelFlow, axis: int) -> bool:
    """Whether the address of every store has the program's whole number along the axis, as flow sees at once."""
    return all(_has_number(_atoms(access), axis) for access in flow.accesses if access.kind == "store")


def _atoms(access: Access) -> set[Atom]:
    """What the address is made of and computed from; of a quotient or a remainder it is itself what counts.

    The address of a block pointer is made of its base and its offsets.
    """
    block = access.pointer.block
    waiting = [access.pointer.affine] if block is None else [block.base, *block.offsets]
    found: set[Atom] = set()
    while waiting:
        part = waiting.pop()
        new = set() if part is None else set(part.atoms()) - found
        found |= new
        for atom in new:
            waiting.extend(atom.inner[1:] if atom.name in _PARTS else atom.inner)
    return found


_PARTS = ("FloorDivide", "Modulo")


def _has_number(atoms: set[Atom], axis: int) -> bool:
    """Whether it is there as a whole, or its quotient and its remainder by the same number are."""
    if any(atom.grid_axis == axis for atom in atoms):
        return True
    split = [atom for atom in atoms if len(atom.inner) == 2 and (of := atom.inner[0].atom) and of.grid_axis == axis]
    quotients = {atom.inner[1] for atom in split if atom.name == "FloorDivide"}
    return any(atom.inner[1] in quotients for atom in split if atom.name == "Modulo")


def _may_meet(dependence: Dependence, write: Write, axes: list[int]) -> bool:
    """Whether the place does not give the whole of the program's number along an axis."""
    where = dependence.may(write.address, *write.conditions)
    return not all(_is_held(axis, where) for axis in axes)


def _is_free_of(axis: int, numbers: Axes) -> bool:
    return all(_axis(number) != axis for number in numbers)


def _axis(number: Number) -> int:
    return number if isinstance(number, int) else _axis(number.of)


def _shared(
    flow: KernelFlow, dependence: Dependence, launch: Launch, axis: int, where: Axes, what: Axes
) -> Part | None:
    """The quotient of the program's number that the place depends on, where the value depends on its remainder too."""
    for number in where:
        if not isinstance(number, Part) or number.remainder or _axis(number) != axis or _is_held(number.of, where):
            continue
        lost = {number.of, Part(number.of, number.by, True)}
        if lost & what and _is_split(flow, dependence, launch, number.by):
            return number
    return None


def _is_held(number: Number, numbers: Axes) -> bool:
    """Whether the numbers give this one: it is there, or what it is a part of, or something of both of its parts."""
    if number in numbers or (isinstance(number, Part) and _is_held(number.of, numbers)):
        return True
    parts = {part for other in numbers for part in _lineage(other) if part.of == number}
    return any(Part(number, part.by, not part.remainder) in parts for part in parts)


def _lineage(number: Number) -> Iterator[Part]:
    """The part, what it is a part of, and so on."""
    while isinstance(number, Part):
        yield number
        number = number.of


def _is_split(flow: KernelFlow, dependence: Dependence, launch: Launch, by: str) -> bool:
    """Whether the divisor, written in the kernel, is more than 1 for some sizes."""
    node = dependence.made(ast.parse(by, mode="eval").body)
    operands = node.args if isinstance(node, ast.Call) else [node]
    if isinstance(node, ast.Call) and (ast.unparse(node.func).rpartition(".")[2] != "cdiv" or len(operands) != 2):
        return False
    given = [launch.arguments.get(operand.id) if isinstance(operand, ast.Name) else operand for operand in operands]
    if given[0] is None or not is_several(flow.launches, launch, given[0]):
        return False
    if len(given) == 1:
        return True
    if given[1] is None:
        return isinstance(operands[1], ast.Name) and flow.launches.is_tuned(operands[1].id)
    return is_several(flow.launches, launch, ast.Call(ast.Name("cdiv", ast.Load()), [given[0], given[1]], []))


def _chosen(dependence: Dependence, access: Access, write: Write) -> Axes:
    """The axes of the programs that the mask may choose; one that bounds lanes by a size chooses none."""
    if write.mask is None:
        return NO_AXES
    conditions = None if access.mask is None else access.mask.mask
    if conditions and all(isinstance(c, Less) and c.gap.lanes() for c in conditions):
        return NO_AXES
    return dependence.may(write.mask)


def _asks(launch: Launch, axis: int, write: Write) -> bool:
    """Whether the store stands under a condition on what the launch counts the programs of the axis by."""
    counted = _words(launch.axes[axis]) | _words(launch.definition(launch.axes[axis]))
    about = counted | {name for name, argument in launch.arguments.items() if _words(argument) & counted}
    return any(_words(condition) & about for condition in write.conditions)


def _words(node: ast.expr) -> set[str]:
    """The names in an expression of the host code, those of `META["SPLIT_K"]` included."""
    return names_in(node) | {
        n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)
    }


# -- within a program ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class EarlyLoad:
    """`load` reads what other threads of the program may not have stored yet, by `store`."""

    store: Access
    load: Access


_WAITS = re.compile(
    r"barrier|atomic|asm|\b(dot|dot_scaled|sum|max|min|argmax|argmin|reduce|sort|topk|cumsum|cumprod|associative_scan"
    r"|histogram|gather|trans|permute|reshape|join|cat|flip|softmax|xor_sum)\("
)


def early_loads(flow: KernelFlow) -> Iterator[EarlyLoad]:
    """The first load of each pointer that reads what other lanes have stored."""
    seen: set[str | None] = set()
    for index, load in enumerate(flow.accesses):
        if load.kind != "load" or load.pointer.affine is None or parameter_of(load) in seen:
            continue
        for store in reversed(flow.accesses[:index]):
            if store.kind == "store" and _is_of_others(flow, store, load) and not _waits(flow, store, load):
                seen.add(parameter_of(load))
                yield EarlyLoad(store, load)
                break


def _is_of_others(flow: KernelFlow, store: Access, load: Access) -> bool:
    stored, loaded = store.pointer.affine, load.pointer.affine
    if stored is None or loaded is None or store.pointer.shape is None or parameter_of(store) is None:
        return False
    if parameter_of(store) != parameter_of(load) or exclusive(store.path, load.path):
        return False
    if load.pointer.shape is None:
        return False
    if _base(stored) != _base(loaded) and not _is_mirrored(stored, loaded):
        return False
    if not stored.lanes() and not loaded.lanes():
        return _decides(flow, load)
    return _lanes(stored) != _lanes(loaded)


def _lanes(address: Affine) -> Affine:
    return Affine({product: factor for product, factor in address.terms.items() if any(a.axes for a in product)})


def _is_mirrored(stored: Affine, loaded: Affine) -> bool:
    """Whether the load goes through the same elements from the other end."""
    apart = loaded - stored
    moved = (atom for product in apart.terms for atom in product if not any(a.axes for a in product))
    return _lanes(stored) == -_lanes(loaded) and all(atom.kind in GIVEN for atom in moved)


def _base(address: Affine) -> frozenset[object]:
    """What is the same for all lanes; the variables of loops over the same range count as one."""
    return frozenset(
        (tuple(sorted(map(str, map(_same_loop, product)))), factor)
        for product, factor in address.terms.items()
        if product and not any(a.axes for a in product)
    )


def _same_loop(atom: Atom) -> object:
    return (atom.start, atom.step, atom.stop) if atom.kind is Kind.LOOP and atom.stop is not None else atom.id


def _decides(flow: KernelFlow, load: Access) -> bool:
    """Whether the program branches on what is loaded: then its threads may go different ways."""
    names = {
        target.id
        for node in flow.function.nodes.of(ast.Assign)
        if node.value.lineno == flow.tree.span(load.node).line
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    branches: list[ast.If | ast.While] = [*flow.function.nodes.of(ast.If), *flow.function.nodes.of(ast.While)]
    tests = [node.test for node in branches]
    return any(isinstance(inner, ast.Name) and inner.id in names for test in tests for inner in ast.walk(test))


def _waits(flow: KernelFlow, first: Access, last: Access) -> bool:
    return _waits_between(flow, flow.tree.span(first.node).end_line, flow.tree.span(last.node).line)


def _waits_between(flow: KernelFlow, start: int, end: int) -> bool:
    """Whether a line between the two has an operation that all threads of the program wait in."""
    return _WAITS.search("\n".join(line.partition("#")[0] for line in flow.module.lines[start : end - 1])) is not None


# -- locks ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class EarlyRelease:
    """`release` may be done by one thread before the others have done `store`."""

    store: ast.Call
    release: ast.Call


def early_releases(flow: KernelFlow) -> Iterator[EarlyRelease]:
    """The releases of a lock right after a store of many lanes, with no barrier in between."""
    if "atomic_xchg" not in flow.module.text_of(flow.function):
        return
    calls = sorted(flow.function.nodes.of(ast.Call), key=lambda call: (call.lineno, call.col_offset))
    taken = [call for call in calls if _called(call) == "atomic_cas"]
    scalars = _scalar_stores(flow)
    for release in calls:
        if _called(release) != "atomic_xchg" or not taken or "mask" in ast.unparse(release):
            continue
        stores = [c for c in calls if _called(c) == "store" and c.lineno < release.lineno]
        if not stores or stores[-1].lineno in scalars or stores[-1].lineno < taken[0].lineno:
            continue
        if not _waits_between(flow, stores[-1].end_lineno or stores[-1].lineno, release.lineno):
            yield EarlyRelease(stores[-1], release)


def _scalar_stores(flow: KernelFlow) -> set[int]:
    """The lines of stores that one thread does; the parameters of a function that is not launched may be blocks."""
    stores = (access for access in flow.accesses if access.kind == "store" and access.pointer.shape == ())
    return {flow.tree.span(access.node).line for access in stores} if flow.launches.launches else set()


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""
