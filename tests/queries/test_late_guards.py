"""Loads that a `tl.where` compares too late."""

from __future__ import annotations

import pytest

from tests.queries.kernels import flow
from tritonaudit.queries.late_guards import late_guards

LANES = "lanes = tl.arange(0, BLOCK)\n"


def late(body: str) -> list[tuple[str, str]]:
    """The index and the bound of what is compared too late."""
    return [(guard.index, str(guard.bound)) for guard in late_guards(flow(LANES + body))]


@pytest.mark.parametrize(
    "body",
    [
        "y = tl.where(lanes < n, tl.load(x_ptr + lanes), 0.0)",
        "y = tl.load(x_ptr + lanes)\ny = tl.where(lanes < n, y.to(tl.float32), 0.0)",
        "y = tl.where((lanes < n) & (lanes > m), tl.load(x_ptr + lanes * stride), 0.0)",
        "y = tl.where(n > lanes, tl.load(x_ptr + m + lanes), 0.0)",
    ],
)
def test_a_condition_on_the_index_of_an_unmasked_load(body: str) -> None:
    assert late(body) == [("lanes", "n")]


@pytest.mark.parametrize(
    "body",
    [
        "y = tl.where(lanes < n, tl.load(x_ptr + lanes, mask=lanes < n), 0.0)",
        "y = tl.where(lanes < n, 0.0, tl.load(x_ptr + lanes))",
        "y = tl.where(lanes < n, tl.load(x_ptr + lanes % m), 0.0)",
        "y = tl.where(lanes < tl.load(y_ptr), tl.load(x_ptr + lanes), 0.0)",
        "y = tl.where(lanes < BLOCK, tl.load(x_ptr + lanes), 0.0)",
        "y = tl.where(lanes < n, tl.load(x_ptr + lanes) + 1, 0.0)",
        "y = tl.where(lanes < n, tl.load(x_ptr), 0.0)",
    ],
)
def test_a_load_that_is_masked_or_compared_with_something_else(body: str) -> None:
    assert late(body) == []
