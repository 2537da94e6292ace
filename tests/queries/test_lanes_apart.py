"""Accesses none of whose lanes lies beside another."""

from __future__ import annotations

import pytest

from tests.queries.kernels import flow
from tritonaudit.queries.lanes_apart import lanes_apart

START = "lanes = tl.arange(0, BLOCK)\nrows = tl.arange(0, 64)\n"


def strides(address: str, passed: str = "x.stride(0)", host: str = "a, b = x.shape") -> list[str]:
    """What the lanes of a load from the address are apart."""
    launch = f"def run(x, n, m):\n    {host}\n    kernel[(1,)](x, x, n, m, {passed}, 8, FLAG=n)\n"
    return [str(found.stride) for found in lanes_apart(flow(f"{START}x = tl.load({address})", after=launch))]


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("x_ptr + lanes * 2", "2"),
        ("x_ptr + 3 * lanes + 1", "3"),
        ("x_ptr + lanes * stride", "stride"),
        ("x_ptr + rows[:, None] * stride + lanes[None, :] * 2", "2"),
        ("x_ptr + lanes * (2 * m)", "2 * m"),
    ],
)
def test_apart_along_every_axis(address: str, expected: str) -> None:
    assert strides(address) == [expected]


@pytest.mark.parametrize(
    "address",
    [
        "x_ptr + lanes",
        "x_ptr - lanes",
        "x_ptr + lanes[None, :] * stride + rows[:, None]",
        "x_ptr + lanes // 2",
        "x_ptr + (lanes % 8) * 2",
        "x_ptr + tl.load(y_ptr + lanes) * 2",
        "x_ptr + lanes * m",
        "x_ptr + lanes * lanes * 2",
        "x_ptr + tl.arange(0, 4) * 2",
        "x_ptr + n * 2",
    ],
)
def test_side_by_side_or_not_known(address: str) -> None:
    assert strides(address) == []


@pytest.mark.parametrize(
    ("passed", "host"),
    [
        ("x.stride(-1)", "a, b = x.shape"),
        ("x.stride(1)", "a, b = x.shape"),
        ("x.stride(0)", "pass"),
        ("x.stride(m)", "a, b = x.shape"),
        ("n", "a, b = x.shape"),
    ],
)
def test_a_stride_that_may_be_1(passed: str, host: str) -> None:
    assert strides("x_ptr + lanes * stride", passed, host) == []


def test_what_lies_between_the_lanes() -> None:
    body = "x = tl.load(x_ptr + lanes * 2)\ny = tl.load(x_ptr + lanes * 2 + 1)\ntl.store(y_ptr + lanes * 2, x + y)"
    even, odd, stored = lanes_apart(flow(START + body))
    assert even.beside is odd.access
    assert odd.beside is even.access
    assert stored.beside is None
