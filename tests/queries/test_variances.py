"""The mean of the squares minus the square of the mean, however it is spelled."""

from __future__ import annotations

import pytest

from tests.queries.kernels import flow
from tritonaudit.queries.variances import is_one_pass_variance

SUMS = """\
cols = tl.arange(0, BLOCK)
x = tl.load(x_ptr + cols, mask=cols < n, other=0.0).to(tl.float32)
y = tl.load(y_ptr + cols, mask=cols < n, other=0.0).to(tl.float32)
mean = tl.sum(x, axis=0) / n
squares = tl.sum(x * x, axis=0)
"""


def is_found(body: str) -> bool:
    steps = [step for step in flow(SUMS + body).steps if step.operation == "Subtract"]
    return any(is_one_pass_variance(*step.operands) for step in steps)


@pytest.mark.parametrize(
    "body",
    [
        "squares / n - mean * mean",
        "squares * (1.0 / n) - mean * mean",
        "tl.sum(tl.where(cols < n, x * x, 0.0), axis=0) / n - mean * mean",
        "tl.maximum(squares / n - mean * mean, 0.0)",
        "a = squares / n\nb = mean * mean\na - b",
    ],
)
def test_it_is_found(body: str) -> None:
    assert is_found(body)


@pytest.mark.parametrize(
    "body",
    [
        "d = x - mean\ntl.sum(d * d, axis=0) / n",
        "squares / n - mean",
        "tl.sum(y * y, axis=0) / n - mean * mean",
        "tl.sum(x * y, axis=0) / n - mean * mean",
        "mean * mean - squares / n",
        "x * x - y * y",
    ],
)
def test_nothing_else_is(body: str) -> None:
    assert not is_found(body)
