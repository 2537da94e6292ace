"""Which arms of constexpr conditions a size comes to."""

from __future__ import annotations

import pytest

from tests.queries.kernels import flow
from tritonaudit.queries.arms import comes_to


@pytest.mark.parametrize(
    ("condition", "sizes"),
    [
        ("BLOCK > 0", {64, 96}),
        ("BLOCK", {64, 96}),
        ("not BLOCK", {0}),
        ("BLOCK == 0", {0}),
        ("BLOCK % 96 == 0", {0, 96}),
        ("96 // BLOCK == 1", {64, 96}),
        ("BLOCK > 0 and BLOCK < 96", {64}),
        ("BLOCK > 0 and FLAG", set()),
        ("BLOCK == 0 or FLAG", {0}),
        ("FLAG", {64, 96}),
        ("n > 0", {0, 64, 96}),
    ],
)
def test_a_size_comes_to_the_arms_that_its_conditions_let_it(condition: str, sizes: set[int]) -> None:
    found = flow(f"if {condition}:\n    tl.store(x_ptr + tl.arange(0, BLOCK), 0.0)\n")
    (arange,) = found.aranges
    assert {size for size in (0, 64, 96) if comes_to(arange.path, "BLOCK", size)} == sizes


def test_the_other_arm() -> None:
    found = flow("if BLOCK > 64:\n    pass\nelse:\n    tl.store(x_ptr + tl.arange(0, BLOCK), 0.0)\n")
    (arange,) = found.aranges
    assert [size for size in (32, 64, 96) if comes_to(arange.path, "BLOCK", size)] == [32, 64]
