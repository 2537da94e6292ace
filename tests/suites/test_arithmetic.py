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
        (lambda: torch.zeros(64, 64).addmm_(MATRIX, MATRIX), 2 * 64**3),
        (lambda: torch._int_mm(BYTES, BYTES), 2 * 32**3),
        (lambda: MATRIX @ VECTOR, 2 * 64**2),
        (lambda: torch.cdist(MATRIX, MATRIX), 2 * 64**3),
        (lambda: torch.linalg.inv(MATRIX), 2 * 64**3),
        (lambda: torch.fft.rfft(MATRIX), 2.5 * 64**2 * 6),
        (lambda: torch.fft.fft2(COMPLEX), 5 * 64**2 * 12),
    ],
    ids=[
        "product",
        "in place",
        "of integers",
        "by a vector",
        "distances",
        "inverse",
        "real transform",
        "complex transform",
    ],
)
def test_products_and_transforms_count_by_their_shapes(function: Callable[[], object], operations: float) -> None:
    assert spent(function) == operations


def test_operations_on_integers_are_counted_apart() -> None:
    places = torch.arange(64)
    with Arithmetic() as arithmetic:
        places[:, None] * places + 1
    assert (arithmetic.spent.forward, arithmetic.spent.integers) == (0, 2 * 64**2)
    assert arithmetic.spent.of_integers().forward == 2 * 64**2
    assert arithmetic.spent.of_floats().integers == 0


def test_whoever_copies_a_lazy_conjugate_computes() -> None:
    assert spent(lambda: COMPLEX.mH.contiguous()) == 64**2
    assert spent(lambda: COMPLEX.mT.contiguous()) == 0


def test_an_operation_costs_the_same_however_it_is_called() -> None:
    out = torch.empty_like(MATRIX)
    assert spent(lambda: torch.softmax(MATRIX, dim=-1, out=out)) == spent(lambda: torch.softmax(MATRIX, dim=-1))


PLACES = torch.arange(64).expand(64, 64)


@pytest.mark.parametrize(("weights", "operations"), [(MATRIX, 2 * 64**3), (None, 64**3)])
def test_a_bag_of_rows_costs_what_the_product_with_its_weights_does(
    weights: torch.Tensor | None, operations: float
) -> None:
    bag = torch.nn.functional.embedding_bag
    assert spent(lambda: bag(PLACES, MATRIX, per_sample_weights=weights, mode="sum")) == operations


def test_tensors_of_a_list_are_worked_on_one_after_the_other() -> None:
    assert spent(lambda: torch._foreach_mul([MATRIX, MATRIX, MATRIX], 2.0)) == 3 * 64**2


def unknown(function: Callable[[], object]) -> tuple[frozenset[str], float]:
    with Arithmetic() as arithmetic:
        function()
    return arithmetic.spent.unknown, arithmetic.spent.at_most


@pytest.mark.parametrize(
    "function",
    [
        lambda: MATRIX.exp() * MATRIX,
        lambda: MATRIX.sum(0).sort(),
        lambda: torch.cumsum(MATRIX, 0).topk(3),
        lambda: torch.searchsorted(MATRIX.sort().values, MATRIX),
        lambda: torch.bincount(BYTES.flatten().long(), weights=torch.ones(32 * 32)),
        lambda: MATRIX.index_add(0, PLACES[0], MATRIX).scatter_add(0, PLACES, MATRIX),
        lambda: torch.nn.functional.avg_pool2d(MATRIX[None], 2),
        lambda: torch.nn.functional.nll_loss(MATRIX, PLACES[0], VECTOR),
        lambda: torch.nn.functional.layer_norm(MATRIX, (64,), VECTOR, VECTOR),
        lambda: MATRIX[MATRIX > 0].unique(),
    ],
)
def test_what_is_done_for_each_element_is_known(function: Callable[[], object]) -> None:
    assert unknown(function) == (frozenset(), 0)


@pytest.mark.parametrize(
    ("function", "name", "most"),
    [
        (lambda: torch.ops.aten._cdist_backward(MATRIX, MATRIX, MATRIX, 2.0, MATRIX), "_cdist_backward", 2 * 64**3),
        (lambda: torch.ops.checks.blend(MATRIX, VECTOR), "checks::blend", float("inf")),
    ],
    ids=["torch's own", "somebody's"],
)
def test_what_several_tensors_are_combined_to_may_be_a_product(
    function: Callable[[], object], name: str, most: float
) -> None:
    assert unknown(function) == (frozenset((name,)), most)


def test_integers_are_combined_to_places() -> None:
    assert unknown(lambda: torch.ops.checks.ranks(PLACES[0])) == (frozenset(), 0)


@torch.library.custom_op("checks::blend", mutates_args=())
def blend(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x * y


@torch.library.custom_op("checks::ranks", mutates_args=())
def ranks(x: torch.Tensor) -> torch.Tensor:
    return x.argsort().argsort()
