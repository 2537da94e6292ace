"""What numbers that fill tensors show of a subject, which ordinary ones do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from tritonaudit.subject.model import Case, Subject, Tensor  # noqa: E402
from tritonaudit.suites.axes import HALF_WAY, OPPOSITE_HALVES, axes_of  # noqa: E402
from tritonaudit.suites.calling import How, Lost, Observed  # noqa: E402
from tritonaudit.suites.cases import audit_cases  # noqa: E402
from tritonaudit.suites.correctness import examine  # noqa: E402
from tritonaudit.suites.facts import Symptom  # noqa: E402


class Host:
    """Where subjects that launch nothing are called."""

    name = "host"
    lost: Lost | None = None
    is_engine = False

    @contextmanager
    def observing(self, how: How) -> Iterator[Observed]:
        yield Observed()


def seen(function: Callable[..., Any], reference: Callable[..., Any], fill: str, dtype: str, tensors: int = 1) -> Any:
    """The symptoms that a case of this fill shows."""
    inputs = [Tensor("rows", "columns") for _ in range(tensors)]
    case = Case({"rows": 4, "columns": 120}, dtype, fill=fill, device="cpu")
    return {
        one.symptom for one in examine(Host(), Subject(function, reference=reference, inputs=inputs), case).sightings
    }


# -- half way between numbers --------------------------------------------------------------------------------------


def to_even(x: Any) -> Any:
    return torch.round(x).to(torch.int8)


def upward(x: Any) -> Any:
    return torch.floor(x.float() + 0.5).to(torch.int8)


def to_even_of_thirds(x: Any) -> Any:
    return torch.round(x / 3 * 3).to(torch.int8)


def whole_upward(x: Any) -> Any:
    return torch.floor(x.float() + 0.5).to(x.dtype)


def truncated_quarters(x: Any) -> Any:
    """As floats of 4 bits may be packed: 1.75 is half way from 1.5 to 2."""
    return torch.where(x.abs() > 1.75, 4, 3).to(torch.uint8)


def rounded_quarters(x: Any) -> Any:
    return torch.where(x.abs() >= 1.75, 4, 3).to(torch.uint8)


@pytest.mark.parametrize(
    ("function", "reference"),
    [(upward, to_even), (whole_upward, torch.round), (truncated_quarters, rounded_quarters)],
    ids=["integers", "whole floats", "4 bits"],
)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_what_is_half_way_is_rounded_as_the_reference_does(
    function: Callable[..., Any], reference: Callable[..., Any], dtype: str
) -> None:
    assert seen(function, reference, HALF_WAY, dtype) == {Symptom.WRONG_RESULT}
    assert seen(function, reference, "normal", dtype) == set()
    assert seen(reference, reference, HALF_WAY, dtype) == set()


def test_what_is_half_way_only_by_a_rounding_may_go_either_way() -> None:
    assert seen(upward, to_even_of_thirds, HALF_WAY, "float32") == set()


# -- halves of opposite signs --------------------------------------------------------------------------------------


def sums(x: Any) -> Any:
    return x.float().sum(-1).to(x.dtype)


def sums_of_narrow_parts(x: Any) -> Any:
    return x.float().unflatten(-1, (8, -1)).sum(-1).to(x.dtype).float().sum(-1).to(x.dtype)


def products(x: Any, y: Any) -> Any:
    """As a slope's gradient is summed: only what is below 0 counts."""
    return (x.float().clamp(max=0) * y.float()).sum(-1).to(x.dtype)


def products_of_narrow_parts(x: Any, y: Any) -> Any:
    parts = (x.float().clamp(max=0) * y.float()).unflatten(-1, (2, -1)).sum(-1)
    return parts.to(x.dtype).float().sum(-1).to(x.dtype)


@pytest.mark.parametrize(
    ("narrow", "wide", "fill", "tensors"),
    [
        (sums_of_narrow_parts, sums, OPPOSITE_HALVES, 1),
        (products_of_narrow_parts, products, "3000|-3000 of tensor 1", 2),
    ],
    ids=["sums", "sums of products"],
)
def test_sums_that_overflow_on_the_way_show_where_the_whole_is_small(
    narrow: Callable[..., Any], wide: Callable[..., Any], fill: str, tensors: int
) -> None:
    assert seen(narrow, wide, fill, "float16", tensors) == {Symptom.NEW_NON_FINITE}
    assert seen(narrow, wide, "normal", "float16", tensors) == set()
    assert seen(wide, wide, fill, "float16", tensors) == set()


def test_opposite_halves_are_tried_in_the_dtype_that_overflows_soonest() -> None:
    subject = Subject(sums, inputs=[Tensor("rows", "columns")])
    first = next(case for case in audit_cases(subject).cases if case.fill == OPPOSITE_HALVES)
    assert first.dtype == "float16"
    alone = Subject(sums, inputs=[Tensor("rows", "columns")], dtypes=["bfloat16", "float32"])
    assert axes_of(alone).holder(OPPOSITE_HALVES) == "bfloat16"


# -- NaN beside where a part begins --------------------------------------------------------------------------------


def means_of_thirds(x: Any) -> Any:
    return torch.stack([part.mean(-1) for part in x.tensor_split(3, -1)], -1)


def means_that_read_one_more(x: Any) -> Any:
    """Each part with the column behind it, which is multiplied by 0."""
    size = x.shape[-1] // 3
    wider = [x[..., size * part : size * (part + 1) + 1] for part in range(3)]
    kept = [torch.arange(one.shape[-1]) < size for one in wider]
    return torch.stack([(one * keep).sum(-1) / size for one, keep in zip(wider, kept, strict=True)], -1)


def test_nan_just_behind_a_part_shows_who_multiplies_it_by_zero() -> None:
    assert seen(means_that_read_one_more, means_of_thirds, "nan among normal", "float32") == {Symptom.NEW_NON_FINITE}
    assert seen(means_that_read_one_more, means_of_thirds, "normal", "float32") == set()


@pytest.mark.parametrize(("error", "is_certain"), [(0.1, True), (1e-3, False)])
def test_more_than_a_rounding_for_each_of_equal_numbers_is_wrong(error: float, is_certain: bool) -> None:
    def off_where_all_are_equal(x: Any) -> Any:
        return x.softmax(-1) * (1 + error * (x.amax(-1, keepdim=True) == x.amin(-1, keepdim=True)))

    subject = Subject(off_where_all_are_equal, reference=lambda x: x.softmax(-1), inputs=[Tensor("rows", "columns")])
    case = Case({"rows": 4, "columns": 120}, "float32", fill="ones", device="cpu")
    assert [one.is_certain for one in examine(Host(), subject, case).sightings] == [is_certain]


def looked_up(x: Any, table: Any, nan: float) -> Any:
    """The table's elements at places from 0 to 1 of it, NaN taken for one of these."""
    places = x.nan_to_num(nan).clamp(0, 1) * (table.numel() - 1)
    return table.flatten()[places.long()]


def test_what_nan_in_one_tensor_stands_for_shows_where_the_others_have_none() -> None:
    def of_the_last(x: Any, table: Any) -> Any:
        return looked_up(x, table, 1.0)

    def of_the_first(x: Any, table: Any) -> Any:
        return looked_up(x, table, 0.0)

    assert seen(of_the_last, of_the_first, "nan among normal of tensor 0", "float32", tensors=2)
    assert not seen(of_the_first, of_the_first, "nan among normal of tensor 0", "float32", tensors=2)
    subject = Subject(of_the_last, reference=of_the_first, inputs=[Tensor("rows"), Tensor("rows")])
    fills = axes_of(subject, ()).fill.values
    assert {f"nan among normal of tensor {place}" for place in range(2)} <= set(fills)
    alone = axes_of(Subject(abs, reference=abs, inputs=[Tensor("rows")]), ()).fill.values
    assert not any("of tensor" in str(fill) for fill in alone)
