"""How far a reference's result moves where its inputs are a bit off."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch holds the tensors")

from tritonaudit.subject.model import Case, Subject, Tensor  # noqa: E402
from tritonaudit.suites.references import references  # noqa: E402


def scaled_by_the_variance(x: Any, weight: Any) -> Any:
    return (weight - weight.mean()) / (x.var() + 1e-12).sqrt()


SUBJECT = Subject(lambda *_: None, reference=scaled_by_the_variance, inputs=[Tensor("n"), Tensor("n")])


def moved(fill: str) -> float:
    given = ((torch.full((64,), 1e6), torch.full((64,), 1e6)), {})
    found = references(SUBJECT, given, Case({"n": 64}, fill=fill))
    assert not found.reason
    return max(float((one - found.precise[0]).abs().max()) for (one,) in found.perturbed)


def test_where_numbers_are_equal_each_tensor_is_off_alone_too() -> None:
    assert moved("1e6") > 1e3 * moved("normal"), "a variance that is zero stays so while the weights are off"
