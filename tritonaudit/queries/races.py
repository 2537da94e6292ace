"""Stores of several programs to one place, and loads of what other threads of the program may not have stored yet."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.domains.affine import GIVEN, Affine, Atom, AtomKind
from tritonaudit.domains.facts import Access, KernelFlow, exclusive
from tritonaudit.domains.value import Less
from tritonaudit.host.arithmetic import TooLarge
from tritonaudit.host.host import LaunchSite
from tritonaudit.ir.model import Operation
from tritonaudit.ir.values import Const, Value
from tritonaudit.ir.writing import made_of
from tritonaudit.queries.dependence import NO_AXES, Axes, Dependence, Number, Part, Write, line_of, operations_of
from tritonaudit.queries.effects import may_write
from tritonaudit.queries.launched import may_exceed_one
from tritonaudit.queries.updates import parameter_of, updates

_LOCKS = ("atomic_cas", "atomic_xchg", "inline_asm_elementwise")
_Axis = tuple[LaunchSite, int]


@dataclass(frozen=True, eq=False)
class Overwrite:
    """A store by every program along `axis` of the launch's grid to one place; `updates`: of what it has read there.

    The place is made by `address`. `shared` is the part of the program's number that alone decides on it, where it is
    not the same for all programs of the axis.
    """

    store: Access
    address: ast.expr | None
    axis: int
    site: LaunchSite
    parameter: str
    updates: bool
    shared: Part | None = None

    @property
    def counted(self) -> ast.expr:
        """What the grid counts the programs by."""
        return _counted(self.site, self.axis)


def _counted(site: LaunchSite, axis: int) -> ast.expr:
    return site.written[axis] if axis < len(site.written) else site.call


def overwrites(flow: KernelFlow) -> Iterator[Overwrite]:
    """The stores whose place is the same for all programs of an axis, and what they store is not."""
    grids = [site.grid for site in flow.launches.sites if isinstance(site.grid, tuple)]
    longest = max(map(len, grids), default=0)
    if flow.kernel is None or all(_is_distinct(flow, axis) for axis in range(longest)):
        return
    dependence = Dependence(flow.kernel)
    if any(operation.name in _LOCKS for operation in dependence.operations):
        return
    writes = [
        write
        for write in dependence.writes
        if not all(_is_held(axis, _places(dependence, write)) for axis in range(longest))
    ]
    axes = list(_several_programs(flow)) if writes else []
    stores = {flow.tree.span(access.node).line: access for access in flow.accesses if access.kind == "store"}
    changed = {id(update.written): update.parameter for update in updates(flow)} if axes else {}
    for write in writes if axes else ():
        access = stores.get(line_of(write.operation))
        parameter = None if access is None else parameter_of(access)
        if access is None or parameter is None or _is_added_up_otherwise(flow, access, parameter):
            continue
        where = _places(dependence, write) | _chosen(dependence, access, write)
        what = dependence.surely(write.operation.value("value"))
        updates_it = id(access) in changed
        for site, axis in axes:
            shared = None if _is_free_of(axis, where) else _shared(flow, site, axis, where, what)
            if shared is None and (not _is_free_of(axis, where) or (_is_free_of(axis, what) and not updates_it)):
                continue
            if not _asks(dependence, site, axis, write):
                yield Overwrite(access, _made(flow, write), axis, site, parameter, updates_it, shared)
                break


@dataclass(frozen=True, eq=False)
class Repeated:
    """All programs along `axis` of the launch's grid do the same: nothing that they store depends on their number."""

    store: Access
    axis: int
    site: LaunchSite

    @property
    def counted(self) -> ast.expr:
        """What the grid counts the programs by."""
        return _counted(self.site, self.axis)


def repeated_work(flow: KernelFlow) -> Iterator[Repeated]:
    """The axes that a launch counts something by, and along which all programs do the same, each once."""
    changes = [access for access in flow.accesses if access.kind != "load"]
    numbers = {atom.grid_axis for access in changes for atom in _atoms(access)}
    counting = {axis: site for axis in range(3) if axis not in numbers and (site := _counting(flow, axis)) is not None}
    if flow.kernel is None or not changes or not counting or flow.is_helper:
        return
    dependence = Dependence(flow.kernel)
    added = [one for one in dependence.operations if one.name in _ADDING]
    if any(may_write(one) for one in dependence.operations if one.name != "store" and one not in added):
        return
    conditions = [value for write in dependence.writes for value in write.conditions]
    changing = [*(write.operation for write in dependence.writes), *added]
    asked = dependence.may(*conditions, *(value for one in changing for value, _ in one.arguments.values()))
    for axis, site in counting.items():
        if _is_free_of(axis, asked):
            yield Repeated(changes[0], axis, site)


_ADDING = frozenset(("atomic_add", "atomic_max", "atomic_min", "atomic_and", "atomic_or", "atomic_xor"))


def _counting(flow: KernelFlow, axis: int) -> LaunchSite | None:
    """A launch whose grid has something along the axis that may be more than 1."""
    for site in flow.launches.sites:
        programs = site.axis(axis) if isinstance(site.grid, tuple) and axis < len(site.grid) else None
        if programs is not None and site.facts().bounds(site.facts().normal(programs))[1] != 1:
            return site
    return None


def _several_programs(flow: KernelFlow) -> Iterator[_Axis]:
    """The axes along which a launch has several programs for some sizes, each with the first such launch."""
    for axis in range(3):
        for site in flow.launches.sites:
            if not isinstance(site.grid, tuple) or axis >= len(site.grid) or site.doubt:
                continue
            if may_exceed_one(flow.launches.host, site, site.axis(axis)):
                yield site, axis
                break


def _places(dependence: Dependence, write: Write) -> Axes:
    """What the place depends on; a descriptor has its offsets beside it."""
    where = (value for name, (value, _) in write.operation.arguments.items() if name not in ("value", "mask"))
    return dependence.may(*where, *write.conditions)


def _made(flow: KernelFlow, write: Write) -> ast.expr | None:
    """Where an address is made: what its name is set to first, else where it stands."""
    address: object = write.operation.arguments["pointer"][1]
    while isinstance(address, ast.Name):
        names = (node for node in flow.function.nodes.of(ast.Assign) if ast.unparse(node.targets[0]) == address.id)
        made = next((node.value for node in names), None)
        if made is None or made is address:
            break
        address = made
    return address if isinstance(address, ast.expr) and not write.operation.calls else None


def _is_added_up_otherwise(flow: KernelFlow, store: Access, parameter: str) -> bool:
    """Whether a constexpr chooses between the store and an atomic operation: it tells if there are several programs."""
    chosen = tuple(guard for guard in store.path if guard.constexpr)
    return any(
        access.kind == "atomic" and parameter_of(access) == parameter and exclusive(access.path, chosen)
        for access in flow.accesses
    )


def _is_distinct(flow: KernelFlow, axis: int) -> bool:
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


def _is_free_of(axis: int, numbers: Axes) -> bool:
    return all(_axis(number) != axis for number in numbers)


def _axis(number: Number) -> int:
    return number if isinstance(number, int) else _axis(number.of)


def _shared(flow: KernelFlow, site: LaunchSite, axis: int, where: Axes, what: Axes) -> Part | None:
    """The quotient of the program's number that the place depends on, where the value depends on its remainder too."""
    for number in where:
        if not isinstance(number, Part) or number.remainder or _axis(number) != axis or _is_held(number.of, where):
            continue
        rest = Part(number.of, number.by, True, number.divisor, number.text)
        if what & {rest, number.of} and may_exceed_one(flow.launches.host, site, _given(site, number.divisor)):
            return number
    return None


def _is_held(number: Number, numbers: Axes) -> bool:
    """Whether the numbers give this one: it is there, or what it is a part of, or something of both of its parts."""
    if number in numbers or (isinstance(number, Part) and _is_held(number.of, numbers)):
        return True
    parts = {(part.by, part.remainder) for other in numbers for part in _lineage(other) if part.of == number}
    return any((by, not remainder) in parts for by, remainder in parts)


def _lineage(number: Number) -> Iterator[Part]:
    """The part, what it is a part of, and so on."""
    while isinstance(number, Part):
        yield number
        number = number.of


def _given(site: LaunchSite, value: Value) -> Affine | None:
    """A number of the kernel's, as the launch makes it: a parameter, a constant, or a quotient of them rounded up."""
    if isinstance(value, Const) and type(value.value) is int:
        return Affine.constant(value.value)
    made = made_of(value)
    if not isinstance(made, Operation):
        return None
    if made.name == "parameter":
        return site.argument(str(made.detail))
    parts = [_given(site, one) for one, _ in made.arguments.values()] if made.name == "cdiv" else []
    if len(parts) != 2 or parts[0] is None or parts[1] is None:
        return None
    try:
        return site.arithmetic.rounded_up(parts[0], parts[1])
    except TooLarge:
        return None


def _chosen(dependence: Dependence, access: Access, write: Write) -> Axes:
    """The axes of the programs that the mask may choose; one that bounds lanes by a size chooses none."""
    if "mask" not in write.operation.arguments:
        return NO_AXES
    conditions = None if access.mask is None else access.mask.mask
    if conditions and all(isinstance(c, Less) and c.gap.lanes() and not _begins(c.gap) for c in conditions):
        return NO_AXES
    return dependence.may(write.operation.value("mask"))


def _begins(gap: Affine) -> bool:
    """Whether lanes count from where a program's part begins: each program has other lanes of one tile."""
    is_from = any(gap.factor_of(lane).terms.get((), 0) > 0 for lane in gap.lanes())
    return is_from and any(atom.kind is AtomKind.PID for atom in gap.atoms_inside())


def _asks(dependence: Dependence, site: LaunchSite, axis: int, write: Write) -> bool:
    """Whether the store stands under a condition on what the launch counts the programs of the axis by."""
    programs = site.axis(axis)
    counted = set() if programs is None else programs.atoms_inside()
    asked = (site.argument(name) for name in dependence.parameters(*write.conditions))
    return any(value is not None and value.atoms_inside() & counted for value in asked)


# -- within a program ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class EarlyLoad:
    """`load` reads what other threads of the program may not have stored yet, by `store`."""

    store: Access
    load: Access


_WAITING = frozenset((
    "debug_barrier", "dot", "dot_scaled", "sum", "max", "min", "argmax", "argmin", "reduce", "sort", "topk", "cumsum",
    "cumprod", "associative_scan", "histogram", "gather", "trans", "permute", "reshape", "join", "cat", "flip",
    "softmax", "xor_sum", "inline_asm_elementwise",
))  # fmt: skip
"""What all threads of the program wait in; atomic operations are such, too."""


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
    return (atom.start, atom.step, atom.stop) if atom.kind is AtomKind.LOOP and atom.stop is not None else atom.id


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
    operations = () if flow.kernel is None else operations_of(flow.kernel.body)
    return any(_is_waited_in(one.name) and start < line_of(one) < end for one in operations)


def _is_waited_in(name: str) -> bool:
    return name in _WAITING or name.startswith("atomic_")


# -- locks ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class EarlyRelease:
    """`release` may be done by one thread before the others have done `store`."""

    store: ast.Call
    release: ast.Call


def early_releases(flow: KernelFlow) -> Iterator[EarlyRelease]:
    """The releases of a lock right after a store of many lanes, with no barrier in between."""
    calls = sorted(flow.function.nodes.of(ast.Call), key=lambda call: (call.lineno, call.col_offset))
    taken = [call for call in calls if _called(call) == "atomic_cas"]
    scalars = _scalar_stores(flow)
    for release in calls:
        is_masked = any(keyword.arg == "mask" for keyword in release.keywords)
        if _called(release) != "atomic_xchg" or not taken or is_masked:
            continue
        stores = [c for c in calls if _called(c) == "store" and c.lineno < release.lineno]
        if not stores or stores[-1].lineno in scalars or stores[-1].lineno < taken[0].lineno:
            continue
        if not _waits_between(flow, stores[-1].end_lineno or stores[-1].lineno, release.lineno):
            yield EarlyRelease(stores[-1], release)


def _scalar_stores(flow: KernelFlow) -> set[int]:
    """The lines of stores that one thread does; the parameters of a function that is not launched may be blocks."""
    stores = (access for access in flow.accesses if access.kind == "store" and access.pointer.shape == ())
    return set() if flow.is_helper else {flow.tree.span(access.node).line for access in stores}


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""
