"""Masks that do not bound what is accessed."""

from __future__ import annotations

import ast

import pytest

from tests.queries.kernels import flow
from tritonaudit.queries.wrong_masks import false_promise, wrong_mask

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
        "tl.load(x_ptr + (m - idx) * stride, mask=idx <= m)",
        "at = (m - 1 - FLAG) * stride + lanes\ntl.load(x_ptr + at, mask=at < m * stride)",
        "for i in range(m):\n    at = (m - 1 - i) * stride + lanes\n    tl.load(x_ptr + at, mask=at < m * stride)",
    ],
)
def test_a_mask_that_bounds_the_tile_or_is_unknown(load: str) -> None:
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


STALE_LOOP = LANES + "{}\nfor k in range(tl.cdiv(n, BLOCK)):\n    tl.load(x_ptr + k * BLOCK + lanes, mask=lanes < n)"


@pytest.mark.parametrize(
    ("assertion", "count"),
    [
        ("tl.static_assert(n % BLOCK == 0)", 0),
        ("tl.static_assert(n % (4 * BLOCK) == 0, 'whole tiles')", 0),
        ("tl.assume(n % BLOCK == 0)", 0),
        ("tl.device_assert(n % BLOCK == 0)", 0),
        ("assert n % BLOCK == 0", 0),
        ("tl.static_assert(n % 4 == 0)", 1),
        ("tl.static_assert(n % BLOCK == 1)", 1),
        ("tl.static_assert(BLOCK % n == 0)", 1),
    ],
)
def test_tiles_that_the_kernel_asserts_to_be_whole_need_no_mask(assertion: str, count: int) -> None:
    assert len(faults(STALE_LOOP.format(assertion))) == count


@pytest.mark.parametrize(
    ("asked", "count"),
    [
        ("assert n % block == 0", 0),
        ("if n % block != 0:\n        raise ValueError", 0),
        ("assert n % 2 == 0", 1),
        ("if n % block != 0:\n        print(n % block)", 1),
    ],
)
def test_nor_those_that_the_wrapper_asks_for(asked: str, count: int) -> None:
    launch = f"\ndef run(x, y, n, block):\n    {asked}\n    kernel[(1,)](x, y, n, 1, 1, BLOCK=block, FLAG=True)\n"
    assert len(faults(STALE_LOOP.format("m"), launch)) == count


PROMISE = TILE + "if FLAG:\n    tl.load(x_ptr + idx)\nelse:\n    tl.load(x_ptr + idx, mask=idx < n)\n"


@pytest.mark.parametrize(
    ("even", "block", "count"),
    [
        ("n % 2 == 0", "64", 1),
        ("n % 64 == 0", "64", 0),
        ("n % 128 == 0", "64", 0),
        ("n % block == 0", "block", 0),
        ("n % half == 0", "block", 0),
        ("x.shape[0] % 2 == 0", "64", 0),
    ],
)
def test_what_a_launch_promises_is_compared_with_the_tile(even: str, block: str, count: int) -> None:
    launch = f"def run(x, y, n, block):\n    kernel[(1,)](x, y, n, 1, 1, BLOCK={block}, FLAG={even})\n"
    found = flow(PROMISE, after=launch)
    promises = [fault for access in found.accesses if (fault := false_promise(found, access)) is not None]
    assert [ast.unparse(fault.host) for fault in promises if fault.host is not None] == [even] * count


PACKED = """\
pid = tl.program_id(0)
idx = pid * {times} * BLOCK + tl.arange(0, {times} * BLOCK)
tl.load(x_ptr + idx, mask=idx < n)
out = pid * BLOCK + tl.arange(0, BLOCK)
tl.{access}, mask=out < {end})
"""


@pytest.mark.parametrize(
    ("times", "access", "end", "count"),
    [
        (2, "store(y_ptr + out, 1", "n // 2", 1),
        (4, "store(y_ptr + out, 1", "n // 4", 1),
        (2, "store(y_ptr + out, 1", "tl.cdiv(n, 2)", 0),
        (2, "store(y_ptr + out, 1", "(n + 1) // 2", 0),
        (2, "store(y_ptr + out, 1", "m // 2", 0),
        (1, "store(y_ptr + out, 1", "n // 2", 0),
        (2, "load(y_ptr + out", "n // 2", 0),
    ],
)
def test_what_is_packed_has_a_remainder(times: int, access: str, end: str, count: int) -> None:
    body = PACKED.format(times=times, access=access, end=end)
    assert len(faults(body, LAUNCH)) == count
    assert faults(body) == faults(body, LAUNCH.replace("kernel[", f"assert n % {times} == 0\n    kernel[")) == []
