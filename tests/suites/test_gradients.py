"""What a backward pass begins with, however it lies."""

from __future__ import annotations

import pytest

from tests.checkout import ROOT
from tritonaudit.config import Config
from tritonaudit.subject.model import OF_GRADIENTS, Case, Layout, Subject, Tensor
from tritonaudit.suites.axes import axes_of
from tritonaudit.suites.cases import audit_cases, simpler
from tritonaudit.suites.core import called_cases
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.outcome import Sighting
from tritonaudit.suites.witness import written

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

SUBJECTS = ROOT / "tests" / "suites" / "subjects" / "gradients"
EXPANDED = Case({"n": 64}, gradient=Layout.EXPANDED)


def of_the_core(**said: bool) -> list[str]:
    subject = Subject(abs, inputs=[Tensor("n", "m")], **said)
    found = called_cases(subject, axes_of(subject, (64,)), audit_cases(subject, (64,)))
    return [one.what for one in found if one.what.endswith("gradients")]


def test_the_core_of_a_backward_pass_has_gradients_that_lie_otherwise() -> None:
    assert of_the_core(gradients=True) == ["expanded gradients", "spread gradients", "transposed gradients"]
    assert of_the_core() == []


def test_such_a_case_says_so_and_a_contiguous_gradient_is_simpler() -> None:
    assert EXPANDED.label == "n=64 float32 expanded gradient"
    assert written(EXPANDED) == "t.Case({'n': 64}, gradient=t.Layout.EXPANDED)"
    assert Case({"n": 64}) in simpler(Subject(abs, inputs=[Tensor("n")]), EXPANDED)
    assert not EXPANDED.is_plain


@pytest.mark.parametrize(
    ("layout", "strides"),
    [(Layout.CONTIGUOUS, (3, 1)), (Layout.EXPANDED, (0, 0)), (Layout.SPREAD, (6, 2)), (Layout.TRANSPOSED, (1, 2))],
)
def test_the_same_numbers_are_passed_backward_or_ones(layout: Layout, strides: tuple[int, ...]) -> None:
    from tritonaudit.subject.inputs import Passed, call, eighths

    seen = []

    class Seeing(torch.autograd.Function):
        @staticmethod
        def forward(context, x):  # type: ignore[no-untyped-def]
            return x.clone()

        @staticmethod
        def backward(context, gradient):  # type: ignore[no-untyped-def]
            seen.append(gradient)
            return gradient

    x = torch.zeros(2, 3, requires_grad=True)
    call(Seeing.apply, (x,), {}, gradients=True, passed=Passed(layout))
    assert seen[0].stride() == strides
    assert torch.equal(seen[0], torch.ones(2, 3) if layout is Layout.EXPANDED else eighths(x))


def test_what_is_passed_backward_is_as_many_times_larger_as_all_that_is_given() -> None:
    from tritonaudit.subject.inputs import call, eighths, passed_in

    x = torch.zeros(2, 3, requires_grad=True)
    call(torch.clone, (x,), {}, gradients=True, passed=passed_in(Case(fill="256*normal")))
    assert torch.equal(x.grad, 256 * eighths(x))
    x.grad = None
    call(torch.clone, (x,), {}, gradients=True, passed=passed_in(Case(fill="256*normal of tensor 1")))
    assert torch.equal(x.grad, eighths(x))


@pytest.fixture(scope="module")
def sightings() -> dict[str, list[tuple[str, Sighting]]]:
    """What is wrong with each wrapper, each time with how the gradients lie."""
    from tritonaudit.suites.stage import RunRequest, Where, run_paths

    runs = run_paths([SUBJECTS], Config(SUBJECTS), RunRequest(8, 2, device=Where.CPU, most_cases=1)).runs
    assert all(run.coverage.is_complete for run in runs)
    return {
        run.name: [(trial.case.gradient.value, seen) for trial in run.trials for seen in trial.sightings]
        for run in runs
    }


@pytest.fixture(scope="module")
def found(sightings: dict[str, list[tuple[str, Sighting]]]) -> dict[str, set[str]]:
    """How the gradients lie with which something is wrong with each wrapper."""
    return {name: {gradient for gradient, _ in seen} for name, seen in sightings.items()}


@pytest.mark.parametrize("name", ["right", "cancelling"])
def test_a_backward_pass_that_heeds_strides_passes(name: str, found: dict[str, set[str]]) -> None:
    assert found[name] == set()


@pytest.mark.parametrize("name", ["with_rows", "with_none"])
def test_one_that_does_not_is_found(name: str, found: dict[str, set[str]]) -> None:
    assert found[name] == {layout.value for layout in OF_GRADIENTS}


def test_one_that_writes_over_what_is_passed_backward_is_found(
    sightings: dict[str, list[tuple[str, Sighting]]],
) -> None:
    """Autograd passes the same tensor to the other side of a sum."""
    ((gradient, seen), *others) = sightings["over_gradient"]
    assert {seen.symptom, *(other.symptom for _, other in others)} == {Symptom.INPUT_CHANGED}
    assert (gradient, seen.kernel.name) == ("contiguous", "square_backward_kernel")
    assert seen.text.startswith("the gradient that is passed backward has changed after the call")
