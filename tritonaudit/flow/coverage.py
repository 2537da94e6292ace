"""Grids that do not reach the end of what the masks of the kernel speak of."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.flow.affine import GIVEN, Affine, Kind
from tritonaudit.flow.bounds import bounded_index
from tritonaudit.flow.facts import Access, KernelFlow
from tritonaudit.flow.value import Less
from tritonaudit.kernel.launch import Cover, GridAxis, Launch, meta_key
from tritonaudit.source.nodes import names_in, spans


@dataclass(frozen=True, eq=False)
class Tiling:
    """The kernel bounds `program * block + lane` by its parameter `size`, in the mask of `access`.

    `block` is a constexpr parameter, or a number that the kernel has.
    """

    access: Access
    axis: int
    size: str
    block: str


@dataclass(frozen=True, eq=False)
class Uncovered:
    """The grid's axis `node` leaves a part of what the tiling bounds to no program; `why` in words."""

    tiling: Tiling
    node: ast.expr
    why: str
    remedy: str


def uncovered(flow: KernelFlow) -> Iterator[Uncovered]:
    """The axes of grids that are too short, where all launches' sizes and blocks are understood."""
    tilings = list(_tilings(flow)) if flow.launches.launches else []
    for launch in flow.launches.launches:
        for axis in range(len(launch.axes)):
            cover = launch.grid_axis(axis)
            mine = [tiling for tiling in tilings if tiling.axis == axis]
            if any(_is_size(launch, tiling, cover.size) and _is_block(launch, tiling, cover.block) for tiling in mine):
                found = _rounded_down(launch, mine, cover)
            else:
                found = _of_another_block(flow, launch, mine, cover) or _of_another_size(launch, tilings, mine, cover)
            if found is not None:
                yield found


def _tilings(flow: KernelFlow) -> Iterator[Tiling]:
    seen: set[tuple[int, str, str]] = set()
    for access in flow.accesses:
        for condition in (access.mask.mask or ()) if access.mask is not None else ():
            found = _tiling(access, condition) if isinstance(condition, Less) else None
            if found is not None and (found.axis, found.size, found.block) not in seen:
                seen.add((found.axis, found.size, found.block))
                yield found


def _tiling(access: Access, condition: Less) -> Tiling | None:
    index = bounded_index(condition)
    size = (condition.gap + index).atom
    lanes, programs = list(index.lanes()), [atom for atom in index.atoms() if atom.kind is Kind.PID]
    if size is None or size.kind not in GIVEN or len(lanes) != 1 or len(programs) != 1 or lanes[0].size is None:
        return None
    block = _block_of(lanes[0].size)
    if block is None:
        return None
    if index != Affine.of(programs[0]) * lanes[0].size + Affine.of(lanes[0]):
        return None
    axis = programs[0].grid_axis
    return None if axis is None else Tiling(access, axis, size.name, block)


def _block_of(size: Affine) -> str | None:
    if size.value is not None:
        return str(size.value)
    return size.atom.name if size.atom is not None and size.atom.kind is Kind.CONSTEXPR else None


def _is_size(launch: Launch, tiling: Tiling, size: str) -> bool:
    argument = launch.arguments.get(tiling.size)
    return argument is not None and launch.spells(argument, size)


def _is_block(launch: Launch, tiling: Tiling, block: str) -> bool:
    """Whether the grid divides by what the kernel multiplies its program's number with."""
    argument = launch.arguments.get(tiling.block)
    if _key(block) == tiling.block or (argument is not None and launch.spells(argument, block)):
        return True
    return tiling.block.isdigit() and block != "" and _number(launch, _parsed(launch, block)) == int(tiling.block)


def _key(block: str) -> str | None:
    """`BLOCK` of `META["BLOCK"]`."""
    return meta_key(ast.parse(block, mode="eval").body) if block else None


def _parsed(launch: Launch, text: str) -> ast.expr:
    """The expression as if it stood in the launch, where its names mean what they do there."""
    expression = ast.parse(text, mode="eval").body
    for node in ast.walk(expression):
        ast.copy_location(node, launch.call)
    return expression


def _rounded_down(launch: Launch, tilings: list[Tiling], cover: GridAxis) -> Uncovered | None:
    if cover.cover is not Cover.EXACT or launch.checks_divisibility:
        return None
    if _is_multiple(launch, cover):
        return None
    tiling = next(t for t in tilings if _is_size(launch, t, cover.size) and _is_block(launch, t, cover.block))
    why = f"rounds `{cover.size} / {cover.block}` down, so that no program does the last `{cover.size} % {cover.block}`"
    return Uncovered(tiling, launch.axes[tiling.axis], why, f"write `triton.cdiv({cover.size}, {cover.block})`")


def _is_multiple(launch: Launch, cover: GridAxis) -> bool:
    """Whether the size is a number that the block divides, a product with the block, or compared with one around it."""
    size, block = launch.definition(_parsed(launch, cover.size)), _number(launch, _parsed(launch, cover.block))
    if isinstance(size, ast.Constant) and type(size.value) is int and block:
        return size.value % block == 0
    sides = [(test.left, test.comparators[0]) for test in _tests_around(launch)]
    same = [other for pair in sides for one, other in (pair, pair[::-1]) if ast.unparse(one) == cover.size]
    return any(_is_product_with(node, cover.block) for node in (size, *same))


def _tests_around(launch: Launch) -> Iterator[ast.Compare]:
    """The `==` of the conditions under which it is made."""
    for branch in launch.nodes.of(ast.If):
        test = branch.test
        is_equality = isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq)
        if isinstance(test, ast.Compare) and is_equality and _holds(branch.body, launch.call):
            yield test


def _holds(block: list[ast.stmt], call: ast.Call) -> bool:
    return any(spans(node, call.lineno) for node in block)


def _is_product_with(node: ast.expr, factor: str) -> bool:
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)):
        return False
    return any(ast.unparse(side) == factor or _is_product_with(side, factor) for side in (node.left, node.right))


def _of_another_block(flow: KernelFlow, launch: Launch, tilings: list[Tiling], cover: GridAxis) -> Uncovered | None:
    """The grid divides by more than a program does."""
    for tiling in tilings:
        if cover.cover is Cover.UNKNOWN or not _is_size(launch, tiling, cover.size):
            continue
        if len(tilings) == 1 and _is_larger(flow, launch, cover.block, tiling.block):
            why = f"divides by `{cover.block}`, and each program does `{tiling.block}` elements, which may be fewer"
            return Uncovered(tiling, launch.axes[tiling.axis], why, f"divide by `{tiling.block}`")
    return None


def _is_larger(flow: KernelFlow, launch: Launch, block: str, own: str) -> bool:
    """Whether the block of the grid is more than the kernel's own, in a config or as numbers of the launch."""
    key = _key(block)
    for config, _ in flow.launches.configs:
        theirs, mine = config.get(key or ""), config.get(own)
        if theirs is not None and mine is not None and (theirs.value or 0) > (mine.value or theirs.value or 0):
            return True
    given = _parsed(launch, own) if own.isdigit() else launch.arguments.get(own)
    mine_now = None if given is None else _number(launch, given)
    written = _parsed(launch, block) if key is None else launch.arguments.get(key)
    theirs_now = None if written is None else _number(launch, written)
    return mine_now is not None and theirs_now is not None and theirs_now > mine_now


def _number(launch: Launch, node: ast.expr) -> int | None:
    value = launch.definition(node)
    return value.value if isinstance(value, ast.Constant) and type(value.value) is int else None


def _of_another_size(launch: Launch, tilings: list[Tiling], mine: list[Tiling], cover: GridAxis) -> Uncovered | None:
    """The grid divides the size that bounds another axis."""
    if cover.cover is Cover.UNKNOWN or len({tiling.size for tiling in mine}) != 1:
        return None
    elsewhere = [t for t in tilings if t.axis != mine[0].axis and _is_size(launch, t, cover.size)]
    own = launch.arguments.get(mine[0].size)
    if not elsewhere or own is None or not isinstance(own, ast.Name) or _are_compared(launch, own.id, cover.size):
        return None
    why = f"divides `{cover.size}`, and the kernel splits `{ast.unparse(own)}` among the programs of this axis"
    return Uncovered(mine[0], launch.axes[mine[0].axis], why, f"divide `{ast.unparse(own)}`")


def _are_compared(launch: Launch, one: str, other: str) -> bool:
    """Whether the wrapper relates the two, such as by asserting that they are the same."""
    wanted = {one, other}
    set_as_a_whole = [node for node in launch.nodes.of(ast.Assign) if not isinstance(node.targets[0], ast.Tuple)]
    relating = [*launch.nodes.of(ast.Compare), *set_as_a_whole]
    return launch.wrapper is None or any(wanted <= names_in(node) for node in relating)
