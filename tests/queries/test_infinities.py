"""Where -inf may meet -inf, and which exponential is multiplied by its mask."""

from __future__ import annotations

import textwrap

import pytest

from tests.queries.kernels import flow
from tritonaudit.queries.infinities import Emptied, collisions, products_with_mask

ROW = """\
cols = tl.arange(0, BLOCK)
inside = cols < n
x = tl.load(x_ptr + cols, mask=inside, other=-float("inf")).to(tl.float32)
keep = tl.load(y_ptr + cols, mask=inside, other=0) != 0
"""
TILES = """\
rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
top = tl.full([BLOCK], START, dtype=tl.float32)
for start in range(0, n, BLOCK):
    cols = start + tl.arange(0, BLOCK)
    s = tl.load(x_ptr + rows[:, None] * stride + cols[None, :]).to(tl.float32)
    keep = tl.load(y_ptr + rows[:, None] * stride + cols[None, :]) != 0
    s = tl.where(MASK, s, FILL)
    new = tl.maximum(top, tl.max(s, 1))
    p = tl.exp(s - new[:, None])
    top = new
"""
INF = '-float("inf")'


def found(body: str) -> list[Emptied]:
    return [collision.why for collision in collisions(flow(body))]


def tiles(mask: str, start: str = INF, fill: str = INF) -> list[Emptied]:
    return found(TILES.replace("MASK", mask).replace("START", start).replace("FILL", fill))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("z = tl.where(keep, x, -float('inf'))\ntl.exp(z - tl.max(z, axis=0))", [Emptied.BY_DATA]),
        ("z = tl.where(keep & inside, x, -float('inf'))\ntl.exp2((z - tl.max(z, 0)) * 1.4)", [Emptied.BY_DATA]),
        ("z = tl.where(~keep, -float('inf'), x)\ntl.exp(z - tl.max(z, axis=0))", [Emptied.BY_DATA]),
        ("z = x + tl.where(keep, 0.0, -float('inf'))\ntl.exp(z - tl.max(z, axis=0))", [Emptied.BY_DATA]),
        ("z = tl.where(keep, x, -1e9)\ntl.exp(z - tl.max(z, axis=0))", []),
        ("z = tl.where(inside, x, -float('inf'))\ntl.exp(z - tl.max(z, axis=0))", []),
        ("tl.exp(x - tl.max(x, axis=0))", []),
        ("z = tl.where(keep, x, -float('inf'))\nm = tl.max(z, axis=0)\nif m > -1e30:\n    tl.exp(z - m)", []),
        ("z = tl.where(keep, x, -float('inf'))\ntl.exp(z - tl.load(x_ptr))", []),
    ],
)
def test_a_row_that_a_loaded_mask_may_empty(body: str, expected: list[Emptied]) -> None:
    assert found(ROW + body) == expected


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        ("keep", [Emptied.BY_DATA]),
        ("cols[None, :] < n", []),
        ("cols[None, :] <= rows[:, None]", []),
        ("cols[None, :] >= rows[:, None] - m", [Emptied.BY_WINDOW]),
        ("(cols[None, :] <= rows[:, None]) & (rows[:, None] - cols[None, :] < m)", [Emptied.BY_WINDOW]),
        ("cols[None, :] >= m", []),
    ],
)
def test_a_block_that_a_mask_may_empty(mask: str, expected: list[Emptied]) -> None:
    assert tiles(mask) == expected
    assert tiles(mask, fill="-1e9") == []
    assert tiles(mask, start="-1e30") == []


def test_of_a_tile_of_unknown_rank_a_row_may_be_taken_for_a_key() -> None:
    filled = TILES.replace("MASK", "cols[None, :] <= rows[:, None]").replace("START", INF).replace("FILL", INF)
    assert found(filled.replace("    new =", "    s = s + unknown(s)\n    new =")) == []


@pytest.mark.parametrize(("start", "expected"), [(INF, [Emptied.ELEMENT]), ("-1e30", []), ("0.0", [])])
def test_a_maximum_of_each_lane(start: str, expected: list[Emptied]) -> None:
    body = f"""
        top = tl.full([BLOCK], {start}, dtype=tl.float32)
        for start in range(0, n, BLOCK):
            x = tl.load(x_ptr + start + tl.arange(0, BLOCK))
            new = tl.maximum(top, x)
            scale = tl.exp(top - new)
            top = new
    """
    assert found(textwrap.dedent(body)) == expected


MASKED = "m = tl.max(tl.where(keep, x, -1e9), axis=0)\n"


@pytest.mark.parametrize(
    ("body", "count"),
    [
        (MASKED + "tl.exp(x - m) * keep", 1),
        (MASKED + "keep.to(tl.float32) * tl.exp(x - m)", 1),
        (MASKED + "tl.exp(x - m) * tl.where(keep, 1.0, 0.0)", 1),
        (MASKED + "tl.exp(x - tl.maximum(m, tl.load(y_ptr))) * keep", 1),
        (MASKED + "tl.where(keep, tl.exp(x - m), 0.0)", 0),
        (MASKED + "tl.exp(tl.where(keep, x - m, -1e9)) * keep", 0),
        (MASKED + "tl.exp(x - m) * x", 0),
        ("tl.exp(x - tl.max(x, axis=0)) * keep", 0),
        ("tl.exp(x) * keep", 0),
    ],
)
def test_an_exponential_of_what_its_maximum_leaves_out(body: str, count: int) -> None:
    assert len(list(products_with_mask(flow(ROW + body)))) == count
