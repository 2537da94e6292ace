"""Masks that are there, and yet do not keep an access inside its tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.domains.affine import GIVEN, ONE, ZERO, Affine, Atom, AtomKind, Product
from tritonaudit.domains.facts import Access, KernelFlow, exclusive
from tritonaudit.domains.value import Less
from tritonaudit.finding import Confidence
from tritonaudit.host.arithmetic import REMAINDER, ROUNDED_UP
from tritonaudit.host.facts import EQUAL
from tritonaudit.host.host import LaunchSite
from tritonaudit.host.values import Condition
from tritonaudit.queries.launched import argument_node, set_before
from tritonaudit.queries.sizes import chosen_configs
from tritonaudit.queries.unbounded import (
    bounded_index,
    flattened,
    index_of,
    is_asserted_full,
    is_guarded,
    is_multiple,
    passed_for,
    spelled,
    tiles_of,
    unbounded,
)
from tritonaudit.source.outline import JitFunction

_MOVING = (AtomKind.PID, AtomKind.LOOP)


@dataclass(frozen=True, eq=False)
class BadMask:
    """What is wrong with the mask of an access, in words, and what to write; the place that shows it.

    `host` is the host code's own mistake, where it is one; `loses` says that the mask leaves out what is there.
    """

    access: Access
    index: str
    why: str
    remedy: str
    sibling: Access | None = None
    host: ast.expr | None = None
    loses: bool = False


@dataclass(frozen=True, eq=False)
class _Lane:
    """A lane of an access: the index that it belongs to, and the comparisons of the mask along its axis."""

    flow: KernelFlow
    access: Access
    address: Affine
    atom: Atom
    index: Affine
    conditions: tuple[Less, ...]

    @property
    def name(self) -> str:
        return spelled(self.flow, self.index)

    @property
    def uppers(self) -> tuple[Less, ...]:
        """The comparisons that bound this lane, and not only its neighbour, from above."""
        return tuple(c for c in self.conditions if self.atom in bounded_index(c).lanes())


def wrong_mask(flow: KernelFlow, access: Access) -> BadMask | None:
    """What is wrong with the mask of the access; None where it is right, is missing, or is unknown."""
    if access.mask is None or not access.mask.mask or access.pointer.affine is None or not access.pointer.shape:
        return None
    lanes = list(_lanes(flow, access))
    if (found := _transposed(lanes)) is not None:
        return found
    for lane in lanes:
        for find in (_stale, _elsewhere, _inclusive, _below, _rounded_down):
            if (found := find(lane)) is not None:
                return found
    return None


def _lanes(flow: KernelFlow, access: Access) -> Iterator[_Lane]:
    """The lanes along whose axes the whole mask is understood."""
    address, mask = access.pointer.affine, access.mask
    assert address is not None
    assert mask is not None
    for atom in sorted(address.lanes(), key=lambda atom: atom.axis):
        index = index_of(address, atom)
        along = [condition for condition in mask.mask or () if atom.axis in condition.axes()]
        known = tuple(condition for condition in along if isinstance(condition, Less))
        if index is not None and known and len(known) == len(along):
            yield _Lane(flow, access, address, atom, index, known)


# -- a mask that lies along other axes -----------------------------------------------------------------------------


def _transposed(lanes: list[_Lane]) -> BadMask | None:
    """Rows are compared along the axis of the columns, and columns along the axis of the rows."""
    for lane in lanes:
        for other in lanes:
            if lane.atom.axis >= other.atom.axis or flattened(lane.index) == flattened(other.index):
                continue
            if _compares_only(lane, other.index) and _compares_only(other, lane.index):
                why = f"the mask compares `{lane.name}` along the axis of `{other.name}`, and the other way round"
                remedy = f"lay the mask out as the address: `{lane.name}[:, None]` and `{other.name}[None, :]`"
                return BadMask(lane.access, lane.name, why, remedy)
    return None


def _compares_only(lane: _Lane, index: Affine) -> bool:
    """Whether all that the mask compares along the lane's axis is the index of another one."""
    wanted = flattened(index)
    return all(flattened(bounded_index(condition)) == wanted for condition in lane.conditions)


# -- a mask that stays behind the tile -----------------------------------------------------------------------------


def _stale(lane: _Lane) -> BadMask | None:
    """The address moves on from tile to tile, and the index that the mask compares does not, or not as fast."""
    stride = lane.address.factor_of(lane.atom)
    left = {c: tiles_of(lane.address - bounded_index(c) * stride, lane.atom, stride) for c in lane.uppers}
    if not all(missing.terms for missing in left.values()) or is_asserted_full(lane.flow, lane.atom):
        return None
    for condition, missing in left.items():
        if is_multiple(lane.flow, _bound(condition), lane.atom.size):
            return None
        if bounded_index(condition).factor_of(lane.atom) != ONE:
            continue
        tiles = [atom for product in missing.terms for atom in product if atom.kind in _MOVING]
        inside = {atom for part in condition.gap.atoms() for inner in part.inner for atom in inner.atoms_inside()}
        if any(factor < 0 for factor in missing.terms.values()) or inside & set(tiles):
            continue
        for tile in tiles:
            if _runs_over(lane, tile, condition):
                what = "loop" if tile.kind is AtomKind.LOOP else "program"
                compared = spelled(lane.flow, bounded_index(condition))
                why = f"the mask compares `{compared}`, which does not move with the {what} as the address does"
                remedy = f"compare what is accessed: `{lane.name} < {_bound(condition)}`"
                return BadMask(lane.access, lane.name, why, remedy)
    return None


def _runs_over(lane: _Lane, tile: Atom, condition: Less) -> bool:
    """Whether the tiles cover what the comparison takes for the end, so that the last one is cut off there."""
    names = {atom for atom in _bound(condition).atoms() if atom.kind in GIVEN}
    if tile.kind is AtomKind.LOOP:
        return tile.stop is not None and bool(names & tile.stop.atoms_inside())
    return bool({atom.name for atom in names if atom.kind is AtomKind.PARAM} & _sizes_of_grid(lane, tile))


def _sizes_of_grid(lane: _Lane, pid: Atom) -> set[str]:
    """The parameters whose value the grid's axis splits into blocks of the lane's extent."""
    found: set[str] = set()
    for site in lane.flow.launches.sites if pid.grid_axis is not None and lane.atom.size is not None else ():
        block, programs = passed_for(site, lane.atom.size or ONE), site.axis(pid.grid_axis or 0)
        for atom in set() if programs is None or block is None else programs.atoms_inside():
            if atom.name == ROUNDED_UP and atom.inner[1] == block:
                found |= {name for name in site.arguments if site.argument(name) == atom.inner[0]}
    return found


def _bound(condition: Less) -> Affine:
    return Affine({product: factor for product, factor in condition.gap.terms.items() if factor > 0})


# -- a mask that bounds something else -----------------------------------------------------------------------------


def _elsewhere(lane: _Lane) -> BadMask | None:
    """Nothing in the mask bounds the lane from above, though it speaks of its axis."""
    if any(_may_bound(condition, lane.atom) for condition in lane.conditions) or is_guarded(lane.flow, lane.access):
        return None
    found = unbounded(lane.flow, lane.access, lane.address, lane.atom)
    if found is None or found.confidence is Confidence.LOW:
        return None
    why = f"the mask does not bound `{found.index}` from above, and {found.why}"
    remedy = "compare this index with the size of the tensor, too"
    return BadMask(lane.access, found.index, why, remedy, sibling=found.sibling)


def _may_bound(condition: Less, lane: Atom) -> bool:
    """Whether it bounds the axis from above, or by data, or counts the lane from somewhere below 0."""
    gap = condition.gap
    if lane.axis in condition.bounds() or any(a.kind is AtomKind.OPAQUE and lane.axis in a.axes for a in gap.atoms()):
        return True
    shifts = [product for product, factor in gap.terms.items() if factor < 0]
    return lane in gap.lanes() and any(all(a.kind is AtomKind.CONSTEXPR for a in shift) for shift in shifts)


# -- a mask that is off by one -------------------------------------------------------------------------------------


def _inclusive(lane: _Lane) -> BadMask | None:
    """`index <= n` where `n` is the number of elements."""
    for condition in lane.uppers:
        bound = _bound(condition)
        whole = condition.gap + bounded_index(condition) == bound
        if condition.strict or not whole or flattened(bounded_index(condition)) != flattened(lane.index):
            continue
        if len(bound.terms) != 1 or not all(atom.kind in GIVEN for atom in bound.atoms()):
            continue
        if (reason := _is_count(lane, condition, bound)) is not None:
            why = f"the mask lets `{lane.name}` reach `{bound}`, which is one past the last: {reason}"
            return BadMask(lane.access, lane.name, why, f"write `{lane.name} < {bound}`")
    return None


def _is_count(lane: _Lane, condition: Less, bound: Affine) -> str | None:
    """Why the bound of the comparison is a number of elements, not the last of them."""
    if any(_divides(product, bound) for product in lane.address.terms if lane.atom not in product):
        return f"`{bound}` is the stride from one row to the next"
    for tile in (atom for product in lane.index.terms for atom in product if atom.kind in _MOVING):
        if tile.kind is AtomKind.PID and _runs_over(lane, tile, condition):
            return f"the grid splits `{bound}` elements into blocks"
        if tile.kind is AtomKind.LOOP and tile.stop == bound:
            return f"the loop ends before `{bound}`"
    return None


def _divides(product: Product, bound: Affine) -> bool:
    """Whether it is the bound times the number of a row, which is no size or stride."""
    (atoms, factor), *_ = bound.terms.items()
    rows = [atom for atom in product if atom not in atoms]
    return factor == 1 and len(product) == len(atoms) + 1 and [atom.kind in GIVEN for atom in rows] == [False]


# -- a mask without a lower bound ----------------------------------------------------------------------------------


def _below(lane: _Lane) -> BadMask | None:
    """The index starts below 0, and the mask bounds it from above alone."""
    stride = lane.address.factor_of(lane.atom)
    if any(not guard.constexpr for guard in lane.access.path) or len(lane.uppers) != len(lane.conditions):
        return None
    if lane.atom.start is None or lane.atom.start.terms or not all(map(_from_zero, lane.index.terms.items())):
        return None
    for condition in lane.uppers:
        bound = condition.gap + lane.index
        if len(bound.terms) < 2 or any(factor < 0 for factor in bound.terms.values()):
            continue
        for product, factor in bound.terms.items():
            shift = Affine({product: factor})
            if not _is_shift(product) or _is_outweighed(lane.address, shift * stride):
                continue
            if all(lane.address.terms.get(p) == -f for p, f in (shift * stride).terms.items()):
                index = f"{lane.name} - {shift}"
                why = f"the mask bounds `{index}` from above, and it is negative for the first elements"
                return BadMask(lane.access, index, why, f"add `({index} >= 0)` to the mask")
    return None


def _is_outweighed(address: Affine, shift: Affine) -> bool:
    """Whether the address also adds a multiple of what it is shifted back by, in a loop by one more in each turn."""
    (shifted,) = shift.terms
    step = [atom for atom in shifted if atom.kind is not AtomKind.LOOP]
    return bool(step) and any(
        factor > 0 and product != shifted and all(product.count(atom) >= step.count(atom) for atom in step)
        for product, factor in address.terms.items()
    )


def _from_zero(term: tuple[Product, int]) -> bool:
    """Whether the term can be 0: a lane, or tiles counted from 0."""
    product, factor = term
    moving = [atom for atom in product if atom.kind is not AtomKind.CONSTEXPR]
    if factor < 0 or len(moving) != 1:
        return False
    (atom,) = moving
    return atom.kind in (AtomKind.LANE, AtomKind.PID) or (
        atom.kind is AtomKind.LOOP and atom.start is not None and atom.start == ZERO
    )


def _is_shift(product: Product) -> bool:
    return all(atom.kind in GIVEN or (atom.kind is AtomKind.LOOP and atom.start == ZERO) for atom in product)


# -- a mask that leaves out the remainder ---------------------------------------------------------------------------


def _rounded_down(lane: _Lane) -> BadMask | None:
    """A store up to `n // 2` of a kernel that loads twice as many elements, up to `n`, which nobody says is even."""
    if lane.access.kind != "store" or not lane.flow.launches.sites or lane.atom.size is None:
        return None
    for condition in lane.uppers:
        quotient = next(_bound(condition).atoms(), None)
        if quotient is None or quotient.name != "FloorDivide" or _bound(condition) != Affine.of(quotient):
            continue
        size, divisor = quotient.inner
        if (divisor.value or 0) < 2 or is_multiple(lane.flow, size, divisor):
            continue
        source = _read_whole(lane.flow, size, lane.atom.size * divisor)
        if source is not None:
            why = f"the mask ends at `{size} // {divisor}`, and the kernel reads all of `{size}`"
            remedy = f"round up: `{lane.name} < tl.cdiv({size}, {divisor})`, in a buffer of that size"
            return BadMask(lane.access, lane.name, why, remedy, sibling=source, loses=True)
    return None


def _read_whole(flow: KernelFlow, size: Affine, extent: Affine) -> Access | None:
    """A load of tiles of this extent whose mask ends at the size."""
    for access in flow.accesses:
        masks = access.mask.mask or () if access.kind == "load" and access.mask is not None else ()
        ends = [c for c in masks if isinstance(c, Less) and c.strict and _bound(c) == size]
        if any(lane.size == extent for condition in ends for lane in bounded_index(condition).lanes()):
            return access
    return None


# -- a guard that promises too little ------------------------------------------------------------------------------


def false_promise(flow: KernelFlow, access: Access) -> BadMask | None:
    """No mask where a constexpr such as `EVEN_K` holds, though it says less than that the tiles are full."""
    address = access.pointer.affine
    if (access.mask is not None and access.mask.mask) or address is None or not access.pointer.shape:
        return None
    for guard in access.path:
        for promise in _promises(flow, guard.condition) if guard.constexpr and guard.arm else ():
            for lane in sorted(address.lanes(), key=lambda atom: atom.id):
                index = index_of(address, lane)
                if index is not None and _is_too_little(flow, access, promise, lane, index):
                    why = (
                        f"`{guard.condition}` leaves out the mask of `{spelled(flow, index)}` where `{promise.size}` is"
                        f" a multiple of `{promise.written}`, and the tile has `{lane.size}` elements"
                    )
                    remedy = f"let `{guard.condition}` test `{promise.size} % {lane.size} == 0`"
                    return BadMask(access, spelled(flow, index), why, remedy, host=promise.node)
    return None


@dataclass(frozen=True, eq=False)
class _Promise:
    """What a flag tells: the parameter `size` is a multiple of `written`, as the test at `node` has it.

    `of` is that in the launch's own terms; without a launch the flag is a heuristic's.
    """

    size: str
    written: str
    node: ast.expr
    site: LaunchSite | None = None
    of: Affine = ZERO


def _promises(flow: KernelFlow, flag: str) -> Iterator[_Promise]:
    """What the launches, or without one the heuristics, say of a flag."""
    for site in flow.launches.sites:
        if (promise := _promise(site, flag)) is not None:
            yield promise
    test = None if flow.launches.sites else _heuristic(flow.function, flag)
    is_equal = isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq)
    rest = test.left if is_equal and isinstance(test, ast.Compare) else None
    if isinstance(test, ast.Compare) and isinstance(rest, ast.BinOp) and isinstance(rest.op, ast.Mod):
        size, of = _argument(rest.left), _argument(rest.right) or ast.unparse(rest.right)
        if size is not None and ast.unparse(test.comparators[0]) == "0":
            yield _Promise(size, of, test)


def _argument(node: ast.expr) -> str | None:
    """`N` of `args["N"]`."""
    key = node.slice.value if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) else None
    return key if isinstance(key, str) else None


def _promise(site: LaunchSite, flag: str) -> _Promise | None:
    value = site.arguments.get(flag)
    if not isinstance(value, Condition) or not value.holds or value.test.relation != EQUAL:
        return None
    polynomial, node = value.test.polynomial or ZERO, _test_of(site, flag)
    rest = polynomial.atom or (-polynomial).atom
    if rest is None or rest.name != REMAINDER or node is None or not all(map(_is_read, rest.inner[1].atoms())):
        return None
    size = next((name for name in site.arguments if site.argument(name) == rest.inner[0]), None)
    names = [name for name in site.arguments if rest.inner[1].value is None and site.argument(name) == rest.inner[1]]
    return None if size is None else _Promise(size, [*names, str(rest.inner[1])][0], node, site, rest.inner[1])


def _is_read(atom: Atom) -> bool:
    """Whether it is what callers give, or computed from it."""
    return atom.kind is AtomKind.PARAM or bool(atom.inner)


def _test_of(site: LaunchSite, flag: str) -> ast.expr | None:
    """Where the host code tests it: a heuristic's lambda, what is passed, or what that was set to."""
    passed = argument_node(site, flag)
    return _heuristic(site.kernel, flag) or (None if passed is None else set_before(site, passed) or passed)


def _heuristic(function: JitFunction, flag: str) -> ast.expr | None:
    """What a heuristic sets the flag to."""
    for decorator in function.decorators:
        for node in ast.walk(decorator):
            for key, value in zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ():
                if isinstance(key, ast.Constant) and key.value == flag and isinstance(value, ast.Lambda):
                    return value.body
    return None


def _is_too_little(flow: KernelFlow, access: Access, promise: _Promise, lane: Atom, index: Affine) -> bool:
    if lane.size is None or not any(_moves(product) for product in index.terms):
        return False
    if _is_whole(promise, lane.size):
        return False
    wanted = flattened(index)
    return any(
        exclusive(other.path, access.path)
        and isinstance(condition, Less)
        and flattened(bounded_index(condition)) == wanted
        and promise.size in {atom.name for atom in _bound(condition).atoms()}
        for other in flow.accesses
        if other.mask is not None
        for condition in other.mask.mask or ()
    )


def _is_whole(promise: _Promise, size: Affine) -> bool:
    """Whether what is promised is made of whole tiles, whichever config is taken, or that is unknown."""
    site = promise.site
    if site is None:
        is_named = any(atom.name == promise.written for atom in size.atoms())
        return is_named or (promise.written.isdigit() and int(promise.written) % (size.value or 1 << 62) == 0)
    tile = passed_for(site, size)
    for put in chosen_configs(site, [tile or ZERO, promise.of]) if tile is not None else ():
        of, each = (site.arithmetic.put_in(value, put.get) for value in (promise.of, tile or ZERO))
        if not site.facts().divides(each, of):
            return False
    return True


def _moves(product: Product) -> bool:
    return any(atom.kind in _MOVING for atom in product)
