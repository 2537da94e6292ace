"""What a call gives, where it also changes what it was given."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from tritonaudit.subject.model import Subject, Tensor  # noqa: E402
from tritonaudit.suites.calling import copied, results_of  # noqa: E402


def nothing(*_: Any) -> None:
    """A wrapper."""


SUBJECT = Subject(nothing, inputs=[Tensor("n"), Tensor("n")], mutates=[0, 1])


def names(returned: Any, arguments: tuple[Any, ...], given: Any) -> list[str]:
    return [name for name, _ in results_of(SUBJECT, (arguments, {}), returned, given)]


def test_all_that_may_be_changed_count_where_one_is() -> None:
    first, second = torch.ones(4), torch.ones(4)
    given = copied(((first, second), {}))
    first += 1
    assert names(torch.zeros(()), (first, second), given) == ["output", "argument 0", "argument 1"]


def test_none_do_where_none_is() -> None:
    first, second = torch.ones(4), torch.ones(4)
    assert names(torch.zeros(()), (first, second), copied(((first, second), {}))) == ["output"]


def test_another_nan_is_no_change() -> None:
    first = torch.full((1,), float("nan"))
    given = copied(((first, first), {}))
    other = torch.tensor([-1], dtype=torch.int32).view(torch.float32)
    assert other.isnan().all()
    assert names(torch.zeros(()), (other, first), given) == ["output"]


def test_they_are_the_result_where_there_is_no_other() -> None:
    first, second = torch.ones(4), torch.ones(4)
    given = copied(((first, second), {}))
    assert names(None, (first, second), given) == ["argument 0", "argument 1"]
