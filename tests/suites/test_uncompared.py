"""An argument that a reference computes with has to show in some result, or a comparison does not see its use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch holds the tensors")

from tritonaudit.subject.inputs import make_inputs  # noqa: E402
from tritonaudit.subject.model import Case, Subject, Tensor  # noqa: E402
from tritonaudit.suites.calling import copied  # noqa: E402
from tritonaudit.suites.references import results_of_reference  # noqa: E402
from tritonaudit.suites.uncompared import changed_by_reference, unheeded  # noqa: E402

CASE = Case({"rows": 4, "cols": 1}, device="cpu")


def of(reference: Callable[..., Any], case: Case = CASE, **settings: Any) -> list[str]:
    """The arguments of a reference of two that show in nothing."""
    inputs = [Tensor("rows", "cols"), Tensor("rows", "cols")]
    subject = Subject(reference, reference=reference, inputs=inputs, **settings)
    given, others = make_inputs(subject, case), make_inputs(subject, replace(case, seed=case.seed + 1))
    return list(unheeded(subject, given, others, case, results_of_reference(subject, copied(given), case)))


def weighted(scores: Any, values: Any) -> Any:
    return torch.softmax(scores, -1) * values


def test_the_scores_of_one_column_show_in_nothing() -> None:
    assert of(weighted) == ["argument 0"]


def test_those_of_two_columns_do() -> None:
    assert of(weighted, replace(CASE, sizes={"rows": 4, "cols": 2})) == []


def test_what_is_never_read_need_not_show() -> None:
    assert of(lambda like, values: values * like.shape[0]) == []


def test_what_only_special_values_decide_shows_in_them() -> None:
    assert of(lambda x, values: (x.isnan().sum(-1), values + 1)) == []


def test_what_the_wrapper_changes_may_hold_anything_before() -> None:
    def overwritten(out: Any, values: Any) -> Any:
        out.copy_(values + out * 0)
        return out

    assert of(overwritten, mutates=["out"]) == []


def test_a_reference_that_refuses_other_values_looks_at_them() -> None:
    seen: list[Any] = []

    def once(x: Any, values: Any) -> Any:
        if seen and not torch.equal(seen[0], x):
            raise ValueError("other numbers")
        seen.append(x.clone())
        return values * 2

    assert of(once) == []


def added_up(total: Any, values: Any) -> Any:
    total.add_(values)
    return total * 2


@pytest.mark.parametrize(("mutates", "names"), [((), ["argument 0"]), (("total",), [])])
def test_what_the_reference_leaves_in_an_argument_is_not_compared_unless_it_is_named(
    mutates: tuple[str, ...], names: list[str]
) -> None:
    inputs = [Tensor("rows", "cols"), Tensor("rows", "cols")]
    subject = Subject(added_up, reference=added_up, inputs=inputs, mutates=mutates)
    given = make_inputs(subject, CASE)
    before = copied(given)
    assert list(changed_by_reference(subject, given, CASE)) == names
    assert all(torch.equal(one, other) for one, other in zip(given[0], before[0], strict=True))
