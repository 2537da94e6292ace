"""Which of the rates that a GPU was measured to reach bounds a piece of work. Imports neither torch nor triton."""

from __future__ import annotations

from collections.abc import Sequence

from tritonaudit.hardware.roofline import Figure, Work

COPY, READ = "measured copy bandwidth", "measured read bandwidth"
TENSOR_FLOAT = "tf32"
"""How a product of float32 matrices may be computed, in place of "float32"."""
_PRODUCT = "measured rate of matrix products, {}"
_MOSTLY_READ = 0.25
"""The share of the bytes that is written, below which reading alone bounds the work."""


def matrix_rate(dtype: str) -> str:
    """The name of the ceiling for products of matrices of that dtype."""
    return _PRODUCT.format(dtype)


def bandwidth_of(work: Work, ceilings: Sequence[Figure]) -> Figure:
    """The bandwidth that bounds the work: of a copy, or of reading where little is written."""
    is_read = work.bytes and work.written is not None and work.written < _MOSTLY_READ * work.bytes
    return _named(READ if is_read else COPY, "GB/s", ceilings)


def rate_of(work: Work, ceilings: Sequence[Figure]) -> Figure:
    """The rate that bounds its arithmetic: of float32 matrices the one that TF32 reaches, which Triton may use."""
    dtype = TENSOR_FLOAT if work.is_matrix and work.dtype == "float32" else work.dtype
    if not work.is_matrix and dtype != "float32":
        return Figure(f"measured rate of arithmetic in {dtype}", None, "TFLOP/s")
    return _named(matrix_rate(dtype), "TFLOP/s", ceilings)


def _named(name: str, unit: str, ceilings: Sequence[Figure]) -> Figure:
    return next((figure for figure in ceilings if figure.name == name), Figure(name, None, unit))
