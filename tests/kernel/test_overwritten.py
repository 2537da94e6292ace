"""Settings of a launch that are computed and overwritten unread."""

from __future__ import annotations

import textwrap

import pytest

from tests.queries.kernels import flow
from tritonaudit.kernel.overwritten import overwritten_settings

LAUNCH = "kernel[(1,)](x, x, n, 1, 1, size, True, num_warps=warps)"


def overwritten(*lines: str) -> list[tuple[str, int]]:
    """The settings, and by how many lines the number follows."""
    body = textwrap.indent("\n".join([*lines, LAUNCH]), "    ")
    launches = flow("pass", after=f"def run(x, n):\n{body}\n").launches.launches
    return [(s.name, s.node.lineno - s.computed.lineno) for s in overwritten_settings(launches)]


@pytest.mark.parametrize(
    "lines",
    [
        ("size = 64", "warps = min(n // 64, 8)", "warps = 8"),
        ("warps = max(n, 1)", "warps = 2 * 4"),
    ],
)
def test_a_number_in_the_place_of_what_was_computed_is_found(lines: tuple[str, ...]) -> None:
    assert overwritten(*lines) == [("warps", 1)]


@pytest.mark.parametrize(
    "lines",
    [
        ("warps = min(n // 64, 8)", "size = warps * 32", "warps = 8"),
        ("warps = min(n // 64, 8)", "if n > 4:", "    warps = 8"),
        ("warps = 4", "warps = 8"),
        ("warps = 8", "warps = min(n // 64, 8)"),
        ("warps = n", "warps = 8"),
        ("warps = min(n // 64, 8)", "warps = warps * 2"),
    ],
)
def test_what_is_read_or_overwritten_under_a_condition_is_not(lines: tuple[str, ...]) -> None:
    assert overwritten(*lines) == []
