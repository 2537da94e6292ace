"""A function of a number gives the same bits wherever the number lies: among many, at the end, with others between."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from tritonaudit.simulator.numerics.floats import exponential  # noqa: E402
from tritonaudit.simulator.numerics.mathematics import MATHEMATICS  # noqa: E402

OF_TWO = ("copysign", "powf", "atan2")
OF_ONE = {name: function for name, function in MATHEMATICS.items() if name not in OF_TWO}


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    """As the engine's workers have."""
    torch.set_num_threads(1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", OF_ONE)
def test_its_place_does_not_matter(name: str, dtype: torch.dtype) -> None:
    function = OF_ONE[name]
    numbers = torch.randn(1 << 12, dtype=dtype, generator=torch.Generator().manual_seed(0)) * 3
    if name == "acosh":
        numbers = numbers.abs() + 1
    elif function(numbers).isnan().any():
        numbers = numbers.abs().fmod(1)
    known = function(numbers)
    for start in (0, 1, 3, 8, 13):
        for count in (1, 2, 5, 7, 8, 9, 16, 31, 33, 100, 257):
            assert torch.equal(function(numbers[start : start + count]), known[start : start + count])
    assert torch.equal(function(numbers[::3]), known[::3])
    assert torch.equal(function(numbers.reshape(64, 64).t()), known.reshape(64, 64).t())
    assert torch.equal(function(numbers[7]), known[7])


@pytest.mark.parametrize("threads", [1, 2])
def test_nor_does_how_many_there_are(threads: int) -> None:
    numbers = torch.randn(100_003, generator=torch.Generator().manual_seed(0))
    torch.set_num_threads(threads)
    known = exponential(numbers)
    torch.set_num_threads(1)
    for start in (0, 4_000, 49_900, 50_001, 99_900):
        assert torch.equal(exponential(numbers[start : start + 103]), known[start : start + 103])
