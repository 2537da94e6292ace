"""Tensors of one case that lie differently."""

from __future__ import annotations

import pytest

from tests.checkout import ROOT
from tritonaudit.config import Config
from tritonaudit.subject.model import Case, Layout, Subject, Tensor
from tritonaudit.suites.axes import axes_of
from tritonaudit.suites.cases import audit_cases, simpler
from tritonaudit.suites.core import called_cases
from tritonaudit.suites.witness import written

OF_EACH = (Layout.PADDED, Layout.SPREAD)
SUBJECTS = ROOT / "tests" / "suites" / "subjects" / "layouts"
PRODUCT = Subject(abs, inputs=[Tensor("m", "k"), Tensor("k", "n")])


def of_the_core(subject: Subject) -> list[Layout]:
    cases = called_cases(subject, axes_of(subject, (64,)), audit_cases(subject, (64,)))
    return [one.case.layout for one in cases if one.case.layout in OF_EACH]


def test_the_core_has_two_such_cases_of_several_matrices_one_of_vectors_beside_and_none_of_a_tensor_alone() -> None:
    assert of_the_core(PRODUCT) == [Layout.PADDED, Layout.SPREAD]
    assert of_the_core(Subject(abs, inputs=[Tensor("n", "m"), Tensor("m")])) == [Layout.SPREAD]
    assert of_the_core(Subject(abs, inputs=[Tensor("n", "m")])) == []


def test_a_witness_says_how_they_lie_and_the_simplest_case_does_not() -> None:
    case = Case({"m": 64}, layout=Layout.SPREAD)
    assert (case.label, written(case)) == ("m=64 float32 spread", "t.Case({'m': 64}, layout=t.Layout.SPREAD)")
    assert next(simpler(PRODUCT, Case({"m": 1, "k": 1, "n": 1}, layout=Layout.PADDED))).layout is Layout.CONTIGUOUS


@pytest.fixture(scope="module")
def found() -> dict[str, set[str]]:
    """The layouts of the cases in which something is wrong with each wrapper."""
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    from tritonaudit.suites.stage import RunRequest, Where, run_paths

    request = RunRequest(8, 2, device=Where.CPU, most_cases=1)
    runs = run_paths([SUBJECTS], Config(SUBJECTS), request).runs
    assert all(run.coverage.is_complete for run in runs)
    return {
        run.name: {trial.case.layout.value for trial in run.trials if any(one.is_certain for one in trial.sightings)}
        for run in runs
    }


@pytest.mark.parametrize(
    ("name", "layouts"),
    [
        ("right", set()),
        ("rows_of_x", {"padded", "spread"}),
        ("columns_of_x", {"spread"}),
        ("as_y_lies", {"spread"}),
        ("gap_for_scratch", {"offset", "padded"}),
    ],
)
def test_the_strides_of_another_tensor_are_found_by_those_alone(
    name: str, layouts: set[str], found: dict[str, set[str]]
) -> None:
    assert found[name] == layouts
