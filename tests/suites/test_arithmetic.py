"""How much arithmetic operators of torch are taken to do."""

from __future__ import annotations

from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch", reason="torch does the arithmetic")

from tritonaudit.suites.arithmetic import Arithmetic  # noqa: E402

MATRIX, VECTOR, COMPLEX = torch.randn(64, 64), torch.randn(64), torch.randn(64, 64, dtype=torch.complex64)
BYTES = torch.ones(32, 32, dtype=torch.int8)


def spent(function: Callable[[], object]) -> float:
    with Arithmetic() as arithmetic:
        function()
    return arithmetic.spent.forward


@pytest.mark.parametrize(
    ("function", "operations"),
    [
        (lambda: MATRIX @ MATRIX, 2 * 64**3),
        (lambda: torch._int_mm(BYTES, BYTES), 2 * 32**3),
        (lambda: MATRIX @ VECTOR, 2 * 64**2),
        (lambda: torch.cdist(MATRIX, MATRIX), 2 * 64**3),
        (lambda: torch.linalg.inv(MATRIX), 2 * 64**3),
        (lambda: torch.fft.rfft(MATRIX), 2.5 * 64**2 * 6),
        (lambda: torch.fft.fft2(COMPLEX), 5 * 64**2 * 12),
    ],
    ids=["product", "of integers", "by a vector", "distances", "inverse", "real transform", "complex transform"],
)
def test_products_and_transforms_count_by_their_shapes(function: Callable[[], object], operations: float) -> None:
    assert spent(function) == operations


def test_an_operation_costs_the_same_however_it_is_called() -> None:
    out = torch.empty_like(MATRIX)
    assert spent(lambda: torch.softmax(MATRIX, dim=-1, out=out)) == spent(lambda: torch.softmax(MATRIX, dim=-1))
