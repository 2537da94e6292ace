"""Masks that do not bound what is accessed."""

from __future__ import annotations

import pytest

from tests.flow.kernels import flow
from tritonaudit.flow.wrong_masks import wrong_mask

LANES = "lanes = tl.arange(0, BLOCK)\n"
TILE = LANES + "pid = tl.program_id(0)\nidx = pid * BLOCK + lanes\n"
LAUNCH = """
def wrapper(x, y, n):
    kernel[(triton.cdiv(n, 64),)](x, y, n, 1, 1, BLOCK=64, FLAG=True)
"""


def faults(body: str, after: str = "") -> list[str]:
    """What is wrong with the masks of the kernel, in the order of the accesses."""
    found = flow(body, after=after)
    return [fault.why for access in found.accesses if (fault := wrong_mask(found, access)) is not None]


@pytest.mark.parametrize(
    ("load", "fault"),
    [
        ("tl.load(x_ptr + idx, mask=lanes < n)", "the mask compares `lanes`"),
        ("tl.load(x_ptr + idx * stride, mask=lanes < n)", "the mask compares `lanes`"),
        ("tl.load(x_ptr + idx, mask=idx <= n)", "the mask lets `idx` reach `n`"),
        ("tl.load(x_ptr + idx, mask=idx >= n)", "the mask does not bound `idx` from above"),
        ("tl.load(x_ptr + idx - 1, mask=idx - 1 < n)", "the mask bounds `idx - 1` from above"),
    ],
)
def test_the_tile_of_a_grid(load: str, fault: str) -> None:
    (found,) = faults(TILE + load, LAUNCH)
    assert found.startswith(fault)


@pytest.mark.parametrize(
    "load",
    [
        "tl.load(x_ptr + idx, mask=idx < n)",
        "tl.load(x_ptr + idx, mask=lanes < n - pid * BLOCK)",
        "tl.load(x_ptr + idx, mask=(idx < n) & (idx > 0))",
        "tl.load(x_ptr + idx, mask=lanes < m)",
        "tl.load(x_ptr + idx, mask=idx != n)",
        "tl.load(x_ptr + idx - 1, mask=(idx - 1 < n) & (idx > 0))",
        "tl.load(x_ptr + idx - 1, mask=idx < n)",
    ],
)
def test_a_mask_that_bounds_the_tile_or_cannot_be_told(load: str) -> None:
    assert faults(TILE + load, LAUNCH) == []


def test_what_the_grid_covers_is_asked_of_the_launch() -> None:
    assert faults(TILE + "tl.load(x_ptr + idx, mask=lanes < n)") == []


def test_a_mask_must_move_as_fast_as_the_address() -> None:
    loop = LANES + "for k in range(tl.cdiv(n, BLOCK)):\n    tl.load(x_ptr + {} * k * BLOCK + lanes, mask={} < n)"
    assert faults(loop.format(1, "k * BLOCK + lanes")) == []
    assert len(faults(loop.format(2, "k * BLOCK + lanes"))) == 1
    assert len(faults(loop.format(1, "lanes"))) == 1


def test_rows_and_columns_may_be_compared_along_each_others_axis() -> None:
    body = "r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\nc = tl.arange(0, BLOCK)\n"
    load = "tl.load(x_ptr + r[:, None] * stride + c[None, :], mask={})"
    assert faults(body + load.format("(r[:, None] < n) & (c[None, :] < m)")) == []
    (found,) = faults(body + load.format("(c[:, None] < m) & (r[None, :] < n)"))
    assert found == "the mask compares `r` along the axis of `c`, and the other way round"
