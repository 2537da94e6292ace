"""How figures, amounts and times are written."""

from __future__ import annotations

import pytest

from tritonaudit.hardware.formatting import amount, columns, duration, ratio, with_unit


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (3350, "GB/s", "3,350 GB/s"),
        (989.4, "TFLOP/s", "989.4 TFLOP/s"),
        (65536, "", "65,536"),
        (50 * 2**20, "B", "50 MiB"),
        (192 * 2**30, "B", "192 GiB"),
        (227 * 2**10, "B", "227 KiB"),
        (80e9, "B", "80 GB"),
        (None, "B", "UNKNOWN"),
    ],
)
def test_a_value_with_its_unit(value: float | None, unit: str, text: str) -> None:
    assert with_unit(value, unit) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 FLOP"), (999, "999 FLOP"), (137.4e9, "137 GFLOP"), (2.2e12, "2.2 TFLOP"), (None, "UNKNOWN")],
)
def test_an_amount(value: float | None, text: str) -> None:
    assert amount(value, "FLOP") == text


@pytest.mark.parametrize(
    ("milliseconds", "text"), [(641.2, "641 ms"), (0.0401, "40.1 µs"), (0.000626, "626 ns"), (None, "UNKNOWN")]
)
def test_a_time(milliseconds: float | None, text: str) -> None:
    assert duration(milliseconds) == text


def test_a_ratio() -> None:
    assert (ratio(295.34), ratio(None)) == ("295", "UNKNOWN")


def test_columns() -> None:
    assert columns([("a", "long", ""), ("bb", "c", "d")]) == "a   long\nbb  c     d\n"
