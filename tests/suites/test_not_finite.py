"""What comes of results where the reference is not finite."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from tritonaudit.measure.verify import Unverified, wrong  # noqa: E402
from tritonaudit.subject.model import Case, Subject, Tensor  # noqa: E402
from tritonaudit.suites.calling import How, Lost, Observed, Result  # noqa: E402
from tritonaudit.suites.correctness import examine  # noqa: E402
from tritonaudit.suites.facts import Symptom  # noqa: E402
from tritonaudit.suites.outcome import CaseOutcome  # noqa: E402

RESULTS = {Symptom.WRONG_RESULT, Symptom.NEW_NON_FINITE, Symptom.WRONG_AT_BOUNDARY}
CASE = Case({"rows": 6, "columns": 40}, device="cpu")


class Host:
    """Where subjects that launch nothing are called."""

    name = "host"
    lost: Lost | None = None
    is_engine = False

    @contextmanager
    def observing(self, how: How) -> Iterator[Observed]:
        yield Observed()


def share(x: Any) -> Any:
    """NaN in each row of which nothing is seen: 0 / 0."""
    seen = x.exp() * (torch.arange(len(x), device=x.device) % 3 != 0)[:, None]
    return seen / seen.sum(-1, keepdim=True)


def nowhere(x: Any) -> Any:
    return x * 0 / 0


def subject(function: Callable[[Any], Any], reference: Callable[[Any], Any]) -> Subject:
    return Subject(function, reference=reference, inputs=[Tensor("rows", "columns")], dtypes=["float32"])


def examined(function: Callable[[Any], Any], reference: Callable[[Any], Any]) -> CaseOutcome:
    return examine(Host(), subject(function, reference), CASE)


def test_zeros_where_the_reference_has_nan_are_no_fault() -> None:
    outcome = examined(lambda x: share(x).nan_to_num(0.0), share)
    assert outcome.checked >= RESULTS
    assert not outcome.sightings
    assert outcome.closeness is not None
    assert outcome.closeness.strict


def test_the_other_rows_are_judged() -> None:
    (seen,) = examined(lambda x: share(x).nan_to_num(0.0) * 1.001, share).sightings
    assert (seen.symptom, seen.is_certain) == (Symptom.WRONG_RESULT, True)
    (seen,) = examined(lambda x: share(x) + torch.where(torch.arange(6) == 4, torch.nan, 0.0)[:, None], share).sightings
    assert (seen.symptom, seen.is_certain) == (Symptom.NEW_NON_FINITE, True)


def test_where_the_reference_is_finite_nowhere_nothing_is_tried() -> None:
    outcome = examined(lambda x: x + 17, nowhere)
    assert not outcome.sightings
    assert not RESULTS & outcome.checked
    assert outcome.closeness is None
    assert {symptom for symptom, _ in outcome.unchecked} == RESULTS
    assert "nothing is compared" in outcome.unchecked[0][1]


@pytest.mark.parametrize("rows", [6, 4096])
def test_what_is_timed_is_verified_where_the_reference_is_finite(rows: int) -> None:
    given = ((torch.randn(rows, 40, generator=torch.Generator().manual_seed(0)),), {})

    def said(result: Any, reference: Callable[[Any], Any]) -> str:
        return wrong(subject(share, reference), CASE, given, [Result("result", result, 0)])

    (x,) = given[0]
    assert said(share(x).nan_to_num(0.0), share) == ""
    assert said(share(x).nan_to_num(0.0) * 1.01, share)
    assert said(torch.full_like(x, torch.nan), share)
    with pytest.raises(Unverified):
        said(x, nowhere)


# -- NaN among what is given ---------------------------------------------------------------------------------------


def causal(scores: Any) -> Any:
    """Softmax over what comes before. Where that holds NaN, the reference has NaN after it, too: exp(-inf - NaN)."""
    later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
    return torch.softmax(scores.masked_fill(later, -torch.inf), -1)


def causal_with_zeros(scores: Any) -> Any:
    return causal(scores).tril()


def causal_without_nan(scores: Any) -> Any:
    return causal(scores.nan_to_num(0.0))


def judged_with_nan(function: Callable[[Any], Any]) -> CaseOutcome:
    def inputs(case: Case) -> tuple[Any, ...]:
        scores = torch.randn(6, 6)
        scores[4, 2] = torch.nan
        return (scores,)

    return examine(
        Host(), Subject(function, reference=causal, inputs=inputs, dtypes=["float32"]), Case({}, device="cpu")
    )


def test_what_hangs_on_no_nan_may_be_finite() -> None:
    outcome = judged_with_nan(causal_with_zeros)
    assert outcome.checked >= RESULTS
    assert not outcome.sightings


def test_what_hangs_on_nan_may_not() -> None:
    assert {one.symptom for one in judged_with_nan(causal_without_nan).sightings} & RESULTS


@pytest.mark.parametrize(
    ("larger", "symptoms"),
    [(torch.maximum, set()), (torch.fmax, {Symptom.WRONG_RESULT})],
    ids=["keeps NaN", "passes NaN over"],
)
def test_nan_among_numbers_shows_what_all_nan_hides(larger: Any, symptoms: set[Symptom]) -> None:
    def running(x: Any) -> Any:
        columns = list(x.unbind(1))
        for place in range(1, len(columns)):
            columns[place] = larger(columns[place - 1], columns[place])
        return torch.stack(columns, 1)

    of = subject(running, lambda x: torch.cummax(x, dim=1).values)
    seen = {fill: examine(Host(), of, replace(CASE, fill=fill)).sightings for fill in ("nan", "nan among normal")}
    assert not seen["nan"]
    assert {one.symptom for one in seen["nan among normal"]} == symptoms
