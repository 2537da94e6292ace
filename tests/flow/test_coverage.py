"""Grids that do not reach the end of what the kernel's masks speak of."""

from __future__ import annotations

import pytest

from tests.flow.kernels import flow
from tritonaudit.flow.coverage import uncovered

BODY = """\
offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
x = tl.load(x_ptr + offsets, mask=offsets < n)
tl.store(y_ptr + offsets, x, mask=offsets < n)
"""


def left_out(grid: str, *lines: str, body: str = BODY, block: str = "128", decorators: str = "") -> list[str]:
    """Why the grid is too short."""
    host = "\n".join(f"    {line}" for line in lines or ("pass",))
    given = f", BLOCK={block}" if block else ""
    launch = f"def run(x, y, n, m):\n{host}\n    kernel[{grid}](x, y, n, m, 1{given}, FLAG=x.flag)\n"
    before = decorators and f"{decorators}\n"
    kernel = flow(body, after=launch) if not before else flow(body, before, launch)
    return [found.why for found in uncovered(kernel)]


@pytest.mark.parametrize(
    "grid",
    ["(n // 128,)", 'lambda meta: (n // meta["BLOCK"],)', "lambda meta: [n // meta['BLOCK']]"],
)
def test_rounded_down(grid: str) -> None:
    (why,) = left_out(grid)
    assert "down" in why


@pytest.mark.parametrize("block", ["256", "size"])
def test_by_a_larger_block_than_the_number_that_the_kernel_has(block: str) -> None:
    body = BODY.replace("BLOCK", "128")
    (why,) = left_out(f"(triton.cdiv(n, {block}),)", "size = 256", body=body)
    assert "each program does `128`" in why


@pytest.mark.parametrize("block", ["128", "64", "size", "m"])
def test_by_no_larger_block_than_the_number_that_the_kernel_has(block: str) -> None:
    assert not left_out(f"(triton.cdiv(n, {block}),)", "size = 128", body=BODY.replace("BLOCK", "128"))


def test_rounded_down_by_the_number_that_the_kernel_has() -> None:
    (why,) = left_out("(n // 128,)", body=BODY.replace("BLOCK", "128"))
    assert "down" in why


def test_by_a_larger_block() -> None:
    (why,) = left_out("(triton.cdiv(n, 256),)")
    assert "`256`" in why


def test_of_the_size_of_another_axis() -> None:
    body = """\
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (rows[:, None] < n) & (cols[None, :] < m)
    tl.store(y_ptr + rows[:, None] * m + cols[None, :], 1, mask=mask)
    """
    (why,) = left_out("(triton.cdiv(n, 128), triton.cdiv(n, 128))", body=body)
    assert "`m`" in why
    assert not left_out("(triton.cdiv(n, 128), triton.cdiv(m, 128))", body=body)
    assert not left_out("(triton.cdiv(n, 128), triton.cdiv(n, 128))", "assert n == m", body=body)


@pytest.mark.parametrize(
    ("grid", "lines"),
    [
        ("(triton.cdiv(n, 128),)", ()),
        ("((n + 127) // 128,)", ()),
        ("(n // 128 + 1,)", ()),
        ("(triton.cdiv(n, 64),)", ()),
        ("(n // 128,)", ("assert n % 128 == 0",)),
        ("(n // 128,)", ("n = pad(n)",)),
        ("(n // 128,)", ("n = 4096",)),
        ("(n // 128,)", ("n = triton.cdiv(m, 128) * 128",)),
        ("(m // 128,)", ()),
        ("(count(n),)", ()),
        ("(x.numel() // 128,)", ()),
    ],
)
def test_grids_that_reach_the_end_or_are_not_understood(grid: str, lines: tuple[str, ...]) -> None:
    assert not left_out(grid, *lines)


def test_a_kernel_that_loops_over_the_rest() -> None:
    body = """\
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        tl.store(y_ptr + offsets, 1, mask=offsets < n)
    """
    assert not left_out("(n // 128,)", body=body)


def test_a_kernel_without_a_mask_may_be_for_whole_tiles() -> None:
    body = "offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\ntl.store(y_ptr + offsets, 1)"
    assert not left_out("(n // 128,)", body=body)


@pytest.mark.parametrize(
    ("test", "found"),
    [("full * 128 == n", 0), ("n == 128 * full", 0), ("full == n", 1), ("m", 1), ("m == full * 128", 1)],
)
def test_a_test_that_the_tiles_are_whole_around_the_launch(test: str, found: int) -> None:
    launch = f"def run(x, y, n, m, full):\n    if {test}:\n        kernel[(n // 128,)](x, y, n, m, 1, BLOCK=128)\n"
    assert len(list(uncovered(flow(BODY, after=launch)))) == found
