"""Addresses of the last row of a tile that may be partial."""

from __future__ import annotations

import pytest

from tests.queries.kernels import flow
from tritonaudit.queries.tails import Reach, unclamped_tails

BOUNDED = """\
pid = tl.program_id(0)
rows = pid * BLOCK + tl.arange(0, BLOCK)
tl.load(x_ptr + rows, mask=rows < n)
"""


def tails(body: str) -> list[tuple[str, str, str]]:
    """The accesses, each with the start and the bound of its tile."""
    found = flow(body)
    return [(found.tree.code(t.access.node), str(t.tile.start), str(t.tile.bound)) for t in unclamped_tails(found)]


@pytest.mark.parametrize(
    "load",
    [
        "tl.load(y_ptr + pid * BLOCK + BLOCK - 1)",
        "tl.load(y_ptr + (pid + 1) * BLOCK - 1)",
        "tl.load(y_ptr + ((pid + 1) * BLOCK - 1) * stride)",
        "tl.load(y_ptr + m + (pid * BLOCK + (BLOCK - 1)) * stride)",
    ],
)
def test_the_last_row_of_a_bounded_tile_is_found(load: str) -> None:
    assert tails(BOUNDED + load) == [(load, "BLOCK * tl.program_id(0)", "n")]


@pytest.mark.parametrize(
    "body",
    [
        BOUNDED + "tl.load(y_ptr + tl.minimum(pid * BLOCK + BLOCK, n) - 1)",
        BOUNDED + "tl.load(y_ptr + pid * BLOCK)",
        BOUNDED + "tl.load(y_ptr + pid * BLOCK + BLOCK)",
        BOUNDED + "tl.load(y_ptr + pid * BLOCK + BLOCK - 1, mask=pid * BLOCK + BLOCK - 1 < n)",
        BOUNDED + "if pid * BLOCK + BLOCK <= n:\n    tl.load(y_ptr + pid * BLOCK + BLOCK - 1)",
        BOUNDED.replace(", mask=rows < n", "") + "tl.load(y_ptr + pid * BLOCK + BLOCK - 1)",
        "cols = tl.arange(0, BLOCK)\ntl.load(x_ptr + cols, mask=cols < n)\ntl.load(y_ptr + BLOCK - 1)",
    ],
)
def test_a_row_that_is_clamped_or_masked_or_of_a_full_tile_is_not(body: str) -> None:
    assert tails(body) == []


def test_the_tile_of_a_loop_has_a_tail_too() -> None:
    body = (
        "cols = tl.arange(0, BLOCK)\nfor k in range(0, n, BLOCK):\n    tl.load(x_ptr + k + cols, mask=k + cols < n)\n"
    )
    assert [tail[2] for tail in tails(body + "    tl.load(y_ptr + k + BLOCK - 1)\n")] == ["n"]


def test_a_checked_block_pointer_shows_that_its_tile_is_bounded() -> None:
    block = """\
pid = tl.program_id(0)
p = tl.make_block_ptr(x_ptr, (n,), (1,), (pid * BLOCK,), (BLOCK,), (0,))
tl.load(p, boundary_check=(0,))
"""
    load = "tl.load(y_ptr + pid * BLOCK + BLOCK - 1)"
    assert tails(block + load) == [(load, "BLOCK * tl.program_id(0)", "n")]


LOOP = "for i in range({}):\n    tl.load(y_ptr + (pid * BLOCK + i) * stride{})\n"


@pytest.mark.parametrize(
    "body",
    [
        LOOP.format("BLOCK", ""),
        LOOP.format("1, BLOCK", ""),
        "p = y_ptr + pid * BLOCK * stride\nfor i in range(BLOCK):\n    tl.load(p)\n    p += stride\n",
        "if pid * BLOCK >= n:\n    return\n" + LOOP.format("BLOCK", ""),
    ],
)
def test_a_loop_over_the_rows_of_a_tile_comes_to_its_last_one(body: str) -> None:
    (found,) = unclamped_tails(flow(BOUNDED + body))
    assert found.reach is Reach.IN_LOOP
    assert str(found.tile.bound) == "n"


@pytest.mark.parametrize(
    "body",
    [
        LOOP.format("min(BLOCK, n - pid * BLOCK)", ""),
        LOOP.format("BLOCK - 1", ""),
        LOOP.format("m", ""),
        LOOP.format("BLOCK", ", mask=pid * BLOCK + i < n"),
        "last = min(BLOCK, n - pid * BLOCK)\n" + LOOP.format("BLOCK", ", mask=i < last"),
        "some = tl.load(x_ptr) != 0\n" + LOOP.format("BLOCK", ", mask=some"),
        "for i in range(BLOCK):\n    if chosen(i):\n        tl.load(y_ptr + pid * BLOCK + i)\n",
        "if pid * BLOCK + BLOCK <= n:\n    for i in range(BLOCK):\n        tl.load(y_ptr + pid * BLOCK + i)\n",
    ],
)
def test_a_loop_that_ends_before_or_masks_its_rows_does_not(body: str) -> None:
    assert tails(BOUNDED + body) == []


def test_a_block_of_one_element_is_no_tile() -> None:
    body = """\
end = tl.load(y_ptr).to(tl.int32)
p = tl.make_block_ptr(x_ptr, (end,), (1,), (end - 1,), (1,), (0,))
tl.load(p, boundary_check=(0,))
"""
    assert tails(body) == []


PART = """\
chunk = tl.program_id(0)
part = tl.program_id(1)
rows = chunk * 64 + part * BLOCK + tl.arange(0, BLOCK)
tl.load(x_ptr + rows, mask=rows < n)
"""


@pytest.mark.parametrize(
    "load",
    [
        "tl.load(y_ptr + chunk * 64 + part * BLOCK)",
        "tl.load(y_ptr + (chunk * 64 + part * BLOCK) * stride + tl.arange(0, 64))",
        "tl.load(y_ptr + (chunk * 64 + part * BLOCK) * stride + tl.arange(0, 64), mask=tl.arange(0, 64) < m)",
        "if part > 0:\n    tl.load(y_ptr + chunk * 64 + part * BLOCK)",
    ],
)
def test_the_first_row_of_a_part_of_a_tile_is_found(load: str) -> None:
    (found,) = unclamped_tails(flow(PART + load))
    assert found.reach is Reach.FIRST
    assert str(found.tile.bound) == "n"


@pytest.mark.parametrize(
    "body",
    [
        PART + "if chunk * 64 + part * BLOCK < n:\n    tl.load(y_ptr + chunk * 64 + part * BLOCK)",
        PART + "tl.load(y_ptr + chunk * 64 + part * BLOCK, mask=chunk * 64 + part * BLOCK < n)",
        PART + "tl.load(y_ptr + chunk * 64)",
        PART + "tl.load(y_ptr + chunk * 64 + part * BLOCK + tl.arange(0, BLOCK))",
        PART.replace("tl.program_id(1)", "tl.program_id(1) % tl.cdiv(n, BLOCK)")
        + "tl.load(y_ptr + chunk * 64 + part * BLOCK)",
        BOUNDED.replace("pid * BLOCK", "pid * BLOCK + m") + "tl.load(y_ptr + pid * BLOCK + m)",
    ],
)
def test_a_first_row_that_exists_or_is_asked_for_is_not(body: str) -> None:
    assert tails(body) == []


@pytest.mark.parametrize(("asserted", "count"), [("n % 64 == 0", 1), ("n % size == 0", 0), ("128 % size == 0", 1)])
def test_host_code_that_takes_whole_tiles_alone(asserted: str, count: int) -> None:
    host = f"def check(n, size):\n    assert {asserted}\n\n\n"
    host += "def run(x, y, n, size):\n    check(n, size)\n"
    host += "    kernel[(triton.cdiv(n, size),)](x, y, n, 1, 1, BLOCK=size, FLAG=1)\n"
    found = flow(BOUNDED + "tl.load(y_ptr + pid * BLOCK + BLOCK - 1)", after=host)
    assert len(list(unclamped_tails(found))) == count
