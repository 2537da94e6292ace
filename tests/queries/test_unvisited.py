"""Indices that masks let through and that no program, lane or round of a launch has, counted out."""

from __future__ import annotations

import pytest

from tests.queries.kernels import flow
from tritonaudit.queries.answer import Refuted
from tritonaudit.queries.unvisited import Unvisited, unvisited

ONE_AXIS = """\
offsets = {index} + tl.arange(0, BLOCK)
x = tl.load(x_ptr + offsets, mask=offsets < n)
tl.store(y_ptr + offsets, x, mask=offsets < n)
"""


def asked(index: str, grid: str, *lines: str, body: str = ONE_AXIS, given: str = "128") -> list[Refuted[Unvisited]]:
    host = "\n".join(f"    {line}" for line in (*lines, "pass"))
    launch = f"    kernel[{grid}](x, y, n, m, 1, BLOCK={given}, FLAG=flag)\n"
    return list(unvisited(flow(body.format(index=index), after=f"def run(x, y, n, m, flag=False):\n{host}\n{launch}")))


@pytest.mark.parametrize(
    ("index", "grid"),
    [
        ("tl.program_id(0) * BLOCK", "(n // 128,)"),
        ("(tl.program_id(0) // 2) * BLOCK", "(triton.cdiv(n, 128),)"),
        ("(tl.program_id(0) % m) * BLOCK", "(triton.cdiv(n, 128), m)"),
        ("tl.program_id(1) * BLOCK", "(triton.cdiv(n, 128),)"),
        ("tl.program_id(0) * BLOCK", "(triton.cdiv(n, 256),)"),
    ],
)
def test_the_end_is_left_out(index: str, grid: str) -> None:
    found = asked(index, grid)
    assert {one.shown.group[0].access.kind for one in found} == {"load", "store"}
    assert all(one.shown.first < one.shown.bound == one.sizes["n"] and not one.shown.is_supposed for one in found)


@pytest.mark.parametrize(
    ("index", "grid", "lines"),
    [
        ("tl.program_id(0) * BLOCK", "(triton.cdiv(n, 128),)", ()),
        ("(tl.program_id(0) // m) * BLOCK", "(triton.cdiv(n, 128) * m,)", ()),
        ("tl.program_id(0) * BLOCK", "(n // 128,)", ("assert n % 128 == 0",)),
        ("tl.program_id(0) * BLOCK", "(triton.cdiv(m, 128),)", ()),  # nobody knows how m and n belong together
        ("tl.program_id(0) * BLOCK", "(x.blocks,)", ()),
    ],
)
def test_nothing_is_left_out_or_nobody_knows(index: str, grid: str, lines: tuple[str, ...]) -> None:
    assert asked(index, grid, *lines) == []


def test_a_kernel_is_asked_as_it_is_compiled_for_the_launch() -> None:
    body = """\
if FLAG:
    tile = tl.load(y_ptr + tl.program_id(0))
    end = tl.load(y_ptr + 1)
else:
    tile = tl.program_id(0) {index}
    end = n
offsets = tile * BLOCK + tl.arange(0, BLOCK)
tl.store(x_ptr + offsets, 0.0, mask=offsets < end)
"""
    launches = """\
def run(x, y, n, m):
    kernel[(triton.cdiv(n, 128),)](x, y, n, m, 1, BLOCK=128, FLAG=False)
"""
    (found,) = unvisited(flow(body.format(index="// 2"), after=launches))
    assert found.shown.first % 128 == 0
    assert found.shown.bound == found.sizes["n"] == found.shown.first + 1
    assert list(unvisited(flow(body.format(index=""), after=launches))) == []


def test_a_loop_that_ends_where_the_program_is_may_leave_the_last_ones_out() -> None:
    body = """\
for start in range(0, {end}, BLOCK):
    offsets = start + tl.arange(0, BLOCK)
    tl.atomic_add(y_ptr + tl.program_id(0), tl.sum(tl.load(x_ptr + offsets, mask=offsets < n, other=0.0), axis=0))
"""
    assert asked("", "(n,)", body=body.replace("{end}", "tl.program_id(0) // 2")) == []
    (found,) = asked("", "(n,)", body=body.replace("{end}", "n // 2"))
    assert found.shown.group[0].access.kind == "load"


def test_what_a_part_of_a_group_reaches_is_reached() -> None:
    body = """\
offsets = tl.program_id(0) * 2 * BLOCK + tl.arange(0, BLOCK)
tl.store(y_ptr + offsets, 0.0, mask=offsets < n)
offsets += BLOCK
tl.store(y_ptr + offsets, 0.0, mask=offsets < n)
"""
    assert asked("", "(triton.cdiv(n, 256),)", body=body) == []
    half = body.partition("offsets += BLOCK")[0]
    assert len(asked("", "(triton.cdiv(n, 256),)", body=half)) == 1


def test_sizes_that_nobody_can_choose_are_supposed() -> None:
    found = asked("tl.program_id(0) * BLOCK", "(n // 128,)", "n = torch.unique(x).numel()")
    assert [one.shown.is_supposed for one in found] == [True, True]
