"""What is refused whatever a launch passes, where none is to be seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ir.test_front_end import kinds


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("tl.store(out_ptr, tl.load(-x_ptr))", ["OPERANDS"]),
        ("tl.store(out_ptr, tl.load(x_ptr + 4.0))", ["OPERANDS"]),
        ("v = tl.load(x_ptr + tl.arange(0, 16))\ntl.store(v, out_ptr)", ["NOT_A_POINTER"]),
        ("v = n\nfor i in range(n):\n    v = v / 2\ntl.store(out_ptr, v)", ["LOOP_TYPE"]),
        ("tl.store(out_ptr, n**2)", ["POWER"]),
    ],
)
def test_a_parameter_of_which_no_type_goes_is_a_mistake(body: str, expected: list[str], tmp_path: Path) -> None:
    assert kinds(body, tmp_path, "==3.9") == expected


@pytest.mark.parametrize(
    "body",
    [
        "tl.store(out_ptr, tl.load(x_ptr) // 2)",  # integers
        "tl.store(out_ptr, tl.exp(tl.load(x_ptr)))",  # floats
        "tl.store(out_ptr, ~tl.load(x_ptr + tl.load(n)))",  # two pointers to integers
        "tl.store(out_ptr, n.stride + 1)",  # a tuple with names
        "tl.store(out_ptr, x_ptr[0])",  # a tuple
    ],
)
def test_a_parameter_of_which_one_type_goes_is_none(body: str, tmp_path: Path) -> None:
    assert kinds(body, tmp_path, "==3.9") == []
