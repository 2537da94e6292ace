"""What is rounded on the way to a result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from tritonaudit.suites.formats import nearest  # noqa: E402
from tritonaudit.suites.roundings import Roundings, rounding_once  # noqa: E402


def numbers(*shape: int, seed: int = 0) -> Any:
    """Numbers of bfloat16, in float64."""
    made = torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return nearest(made, torch.bfloat16)


def rounded(compute: Callable[[], Any], draw: int = 0, *, products: bool = False) -> Any:
    with rounding_once(torch.bfloat16, draw, products=products):
        return compute()


def test_what_is_given_and_what_comes_last_are_not_rounded() -> None:
    x, y = numbers(20, 30), numbers(30, 40, seed=1)
    for products in (False, True):
        with rounding_once(torch.bfloat16, 0, products=products) as rounding:
            found = (x.t().contiguous().t() @ y).view(-1)
        assert torch.equal(found, (x @ y).view(-1))
        assert not rounding.has_rounded


def test_what_enters_a_product_is_rounded_to_the_nearest_number() -> None:
    x, y = numbers(20, 30), numbers(30, 40, seed=1)
    for products in (False, True):
        wanted = nearest(x.exp(), torch.bfloat16) @ y
        assert torch.equal(rounded(lambda: x.exp() @ y, products=products), wanted)
    assert torch.equal(rounded(lambda: x.exp() + 1, products=True), x.exp() + 1)
    assert torch.equal(rounded(lambda: x.exp() + 1), nearest(x.exp(), torch.bfloat16) + 1)


def test_other_draws_are_off_by_as_much() -> None:
    x = numbers(20, 30)
    off = [(rounded(lambda: x.exp() + 0.0, draw) - x.exp()).abs() for draw in range(3)]
    assert torch.allclose(off[0], off[1], rtol=1e-6, atol=1e-15)
    signs = [(rounded(lambda: x.exp() + 0.0, draw) - x.exp()).sign() for draw in range(3)]
    assert not torch.equal(signs[1], signs[2])


def test_all_who_use_a_number_have_it_rounded_the_same_way() -> None:
    x = numbers(20, 30)

    def difference() -> Any:
        shares = x.exp()
        return (shares + 0.0)[:, 3:] - shares[:, 3:]

    assert not rounded(difference, draw=1, products=True).any()
    half = nearest(x.exp(), torch.bfloat16)
    assert torch.equal(rounded(lambda: (e := x.exp()) * e.flip(0)), half * half.flip(0))


def test_a_mean_is_as_wide_as_the_sum_it_comes_from() -> None:
    """Around 300 a mean in bfloat16 is off by as much as the numbers differ."""
    x = nearest(numbers(4, 500) + 300, torch.bfloat16)
    assert torch.equal(rounded(lambda: x - x.mean(-1, keepdim=True)), x - x.mean(-1, keepdim=True))


def test_a_factor_of_all_numbers_is_no_rounding() -> None:
    x, y = numbers(20, 30), numbers(30, 40, seed=1)
    assert torch.equal(rounded(lambda: (x * 0.3) @ y), (x * 0.3) @ y)


def test_what_adds_up_step_by_step_stays_wide() -> None:
    x = numbers(400, 50)

    def state(steps: int) -> Any:
        total = torch.zeros(50, dtype=torch.float64)
        for row in x[:steps]:
            total = total + row
        return total

    def off(steps: int) -> float:
        return float((rounded(lambda: state(steps)) - state(steps)).abs().max())

    narrow = torch.zeros(50, dtype=torch.bfloat16)
    for row in x:
        narrow = narrow + row.bfloat16()
    assert off(400) <= off(10)
    assert 20 * off(400) < float((narrow.double() - state(400)).abs().max())


def test_attention_in_one_operation_is_rounded_inside() -> None:
    q, key, value = (numbers(2, 16, 8, seed=seed) for seed in range(3))
    shares = nearest((q @ key.transpose(1, 2) * 8**-0.5).softmax(-1), torch.bfloat16)
    attended = rounded(lambda: torch.nn.functional.scaled_dot_product_attention(q, key, value), products=True)
    assert torch.allclose(attended, shares @ value, rtol=1e-12, atol=1e-12)


def test_gradients_are_rounded_too() -> None:
    x, y = numbers(20, 30).requires_grad_(), numbers(30, 40, seed=1)

    def gradient() -> Any:
        ((x.exp() @ y).tanh() ** 2).sum().backward()
        found, x.grad = x.grad, None
        return found

    wide, narrow = gradient(), rounded(gradient)
    relative = float((narrow - wide).abs().max() / wide.abs().max())
    assert 2.0**-14 < relative < 2.0**-3


@pytest.mark.parametrize(
    ("what", "is_exact"),
    [
        (lambda x: (x @ x.T) % 2 == 1, True),
        (lambda x: (x + 3 * x).sum(), True),
        (lambda x: (x / 3).sum(), False),
        (lambda x: (4096 * x) @ (4096 * x).T, False),
        (lambda x: (x + 0.3).sum(), False),
    ],
    ids=["parity", "sums", "a quotient", "beyond 2^24", "fractions"],
)
def test_sums_and_products_of_small_integers_are_exact(what: Callable[[Any], Any], is_exact: bool) -> None:
    x = torch.randint(0, 8, (20, 30), generator=torch.Generator().manual_seed(1)).double()
    with Roundings(0):
        found = what(x)
    assert torch.equal(found, what(x)) is is_exact
