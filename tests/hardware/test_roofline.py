"""The roofline: what bounds work, how fast it can be, and what is not said when a figure is unknown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tritonaudit.hardware.roofline import Figure, Roofline, Work
from tritonaudit.hardware.targets import Source

SOURCE = Source("data sheet", "table 1", "2 TB/s, 100 TFLOPS")
BANDWIDTH = Figure("DRAM bandwidth", 2000.0, "GB/s", SOURCE)
RATE = Figure("matrix rate, float16 into float32", 100.0, "TFLOP/s", SOURCE)
CACHE = Figure("L2 cache", 50e6, "B", SOURCE)
PRODUCT = Work(4e12, "counted", 2e10, "counted", "float16", is_matrix=True, written=1e10)
COPY = Work(0.0, "counted", 2e9, "counted", "float32", is_matrix=False, written=1e9)


def test_a_product_above_the_ridge_is_bound_by_arithmetic() -> None:
    roofline = Roofline(PRODUCT, BANDWIDTH, RATE, milliseconds=50.0)
    assert (roofline.intensity, roofline.ridge, roofline.bound) == (200.0, 50.0, "compute")
    assert (roofline.memory_milliseconds, roofline.compute_milliseconds) == (10.0, 40.0)
    assert roofline.roof_milliseconds == 40.0
    assert roofline.target_milliseconds == pytest.approx(44.444, abs=1e-3)
    assert roofline.reached == 0.8
    assert roofline.missing == ()


def test_a_product_below_the_ridge_is_bound_by_memory() -> None:
    roofline = Roofline(replace(PRODUCT, flops=4e11), BANDWIDTH, RATE)
    assert (roofline.intensity, roofline.bound, roofline.roof_milliseconds) == (20.0, "memory", 10.0)
    assert roofline.reached is None


def test_work_without_operations_needs_no_rate() -> None:
    unknown = replace(RATE, value=None, source=None)
    roofline = Roofline(COPY, BANDWIDTH, unknown, milliseconds=1.25)
    assert (roofline.bound, roofline.roof_milliseconds, roofline.reached) == ("memory", 1.0, 0.8)
    assert (roofline.ridge, roofline.missing) == (None, ())


@pytest.mark.parametrize(
    ("roofline", "missing"),
    [
        (Roofline(PRODUCT, replace(BANDWIDTH, value=None), RATE, 50.0), ("DRAM bandwidth",)),
        (Roofline(PRODUCT, BANDWIDTH, replace(RATE, value=None), 50.0), ("matrix rate, float16 into float32",)),
        (Roofline(replace(PRODUCT, flops=None), BANDWIDTH, RATE, 50.0), ("FLOPs",)),
        (Roofline(replace(PRODUCT, bytes=None), BANDWIDTH, RATE, 50.0), ("bytes",)),
    ],
)
def test_nothing_is_computed_from_an_unknown(roofline: Roofline, missing: tuple[str, ...]) -> None:
    assert (roofline.bound, roofline.roof_milliseconds, roofline.target_milliseconds, roofline.reached) == (None,) * 4
    assert roofline.missing == missing
    assert not roofline.is_impossible


@pytest.mark.parametrize(("milliseconds", "is_impossible"), [(40.0, False), (39.0, False), (38.0, True)])
def test_faster_than_the_arithmetic_by_more_than_the_slack(milliseconds: float, is_impossible: bool) -> None:
    assert Roofline(PRODUCT, BANDWIDTH, RATE, milliseconds).is_impossible is is_impossible


def test_one_known_limit_shows_that_a_time_is_impossible() -> None:
    assert Roofline(PRODUCT, replace(BANDWIDTH, value=None), RATE, 1.0).is_impossible
    assert Roofline(PRODUCT, BANDWIDTH, replace(RATE, value=None), 1.0, CACHE).is_impossible


def test_what_was_written_may_still_be_in_the_cache() -> None:
    """Of 2 GB, half is read: 0.5 ms; the rest but 50 MB must have been written too: 0.975 ms."""
    assert Roofline(COPY, BANDWIDTH, RATE, 0.9, CACHE).is_impossible
    assert not Roofline(COPY, BANDWIDTH, RATE, 0.96, CACHE).is_impossible
    assert not Roofline(COPY, BANDWIDTH, RATE, 0.5, cache=None).is_impossible
    assert Roofline(COPY, BANDWIDTH, RATE, 0.4, cache=None).is_impossible


def test_a_figure_in_its_base_unit() -> None:
    assert (BANDWIDTH.in_base_unit, RATE.in_base_unit, CACHE.in_base_unit) == (2e12, 1e14, 5e7)
    assert replace(RATE, value=None).in_base_unit is None
