"""Loaded indices that may be negative."""

from __future__ import annotations

import pytest

from tests.queries.kernels import flow
from tritonaudit.queries.sentinels import negative_indices

PADDED = "lanes = tl.arange(0, BLOCK)\nmask = lanes < n\ni = tl.load(x_ptr + lanes, mask=mask, other=-1)\n"
SCALAR = "i = tl.load(x_ptr)\n"


def found(body: str) -> int:
    return len(list(negative_indices(flow(body))))


@pytest.mark.parametrize(
    "body",
    [
        PADDED + "tl.load(y_ptr + i)",
        PADDED + "tl.store(y_ptr + i * stride, 1.0, mask=lanes < m)",
        SCALAR + "y = tl.load(y_ptr + i)\nif i >= 0:\n    tl.store(x_ptr, y)",
        SCALAR + "y = tl.where(i == -1, 0.0, tl.load(y_ptr + m + i * stride))",
    ],
)
def test_an_index_that_the_kernel_shows_to_be_negative(body: str) -> None:
    assert found(body) == 1


@pytest.mark.parametrize(
    "body",
    [
        PADDED + "tl.load(y_ptr + i, mask=mask)",
        PADDED + "tl.load(y_ptr + i, mask=i >= 0)",
        PADDED + "tl.load(y_ptr + i, mask=i != -1)",
        PADDED + "tl.load(y_ptr + tl.maximum(i, 0))",
        PADDED.replace("-1", "0") + "tl.load(y_ptr + i)",
        SCALAR + "if i >= 0:\n    tl.load(y_ptr + i)",
        SCALAR + "if i == -1:\n    return\ntl.load(y_ptr + i)",
        SCALAR + "y = tl.load(y_ptr + i)\nif i >= n:\n    tl.store(x_ptr, y)",
        SCALAR + "tl.load(y_ptr + i)",
    ],
)
def test_an_index_that_is_looked_at_or_may_well_be_right(body: str) -> None:
    assert found(body) == 0
