"""Which measured rate bounds a piece of work."""

from __future__ import annotations

import pytest

from tritonaudit.hardware.roofline import Figure, Work
from tritonaudit.measure.rates import COPY, READ, bandwidth_of, matrix_rate, rate_of

CEILINGS = (
    Figure(COPY, 2900.0, "GB/s"),
    Figure(READ, 3000.0, "GB/s"),
    Figure(matrix_rate("float16"), 760.0, "TFLOP/s"),
    Figure(matrix_rate("float32"), 51.0, "TFLOP/s"),
    Figure(matrix_rate("tf32"), 400.0, "TFLOP/s"),
)


def work(dtype: str = "float16", *, is_matrix: bool = True, written: float | None = 50.0) -> Work:
    return Work(1000.0, "counted", 100.0, "counted", dtype, is_matrix, written)


@pytest.mark.parametrize(
    ("written", "name"),
    [(0.0, READ), (24.0, READ), (25.0, COPY), (50.0, COPY), (100.0, COPY), (None, COPY)],
)
def test_reading_alone_is_bound_by_reading_and_all_else_by_copying(written: float | None, name: str) -> None:
    assert bandwidth_of(work(written=written), CEILINGS).name == name


@pytest.mark.parametrize(
    ("dtype", "is_matrix", "rate"),
    [
        ("float16", True, 760.0),
        ("float32", True, 400.0),  # Triton may use TF32
        ("float32", False, 51.0),
        ("bfloat16", True, None),
        ("float16", False, None),  # no product of matrices tells how fast other arithmetic is
    ],
)
def test_arithmetic_is_bound_by_the_rate_of_its_kind_if_that_was_measured(
    dtype: str, is_matrix: bool, rate: float | None
) -> None:
    found = rate_of(work(dtype, is_matrix=is_matrix), CEILINGS)
    assert (found.value, found.unit) == (rate, "TFLOP/s")
    assert "float" in found.name or "tf32" in found.name


def test_without_ceilings_nothing_is_known() -> None:
    assert bandwidth_of(work(), ()).value is None
    assert rate_of(work(), ()).value is None
