"""Views of tensors so large that no int32 counts where their last elements are, of ordinary sizes."""

from __future__ import annotations

import pytest

from tests.checkout import ROOT
from tritonaudit.subject.model import Case, Subject, Tensor
from tritonaudit.suites.far import far_cases

FILE = str(ROOT / "tests" / "suites" / "subjects" / "far" / "audit_views.py")
ROWS = {"rows": 8, "cols": 64}


def test_each_dimension_that_may_grow_has_its_case() -> None:
    named = {"rows": [16, 1, 33], "heads": [2, 1], "dim": [64, 128]}
    subject = Subject(abs, inputs=[Tensor("rows", "heads", "dim")], sizes=named)
    assert [case.label for case in far_cases(subject)] == [
        "rows=16 heads=2 dim=64 float32 far apart along rows",
        "rows=16 heads=3 dim=64 float32 far apart along heads",
    ]


def test_no_stride_needs_64_bits_and_integers_keep_what_they_hold() -> None:
    torch = pytest.importorskip("torch")
    from tritonaudit.suites.far_inputs import far_inputs
    from tritonaudit.suites.integers import identity

    def inputs(case: Case) -> tuple[object, ...]:
        return torch.randn(case["rows"], 4, case["cols"]), torch.arange(case["rows"]), torch.randn(case["cols"])

    subject = Subject(abs, inputs=inputs, sizes={"rows": [9], "cols": [33]})
    ((x, places, other), _), contents = far_inputs(subject, Case({"rows": 9, "cols": 33}, far="rows"))
    ((along, _, vector), _), _ = far_inputs(subject, Case({"rows": 9, "cols": 33}, far="cols"))
    assert (x.is_meta, x.shape, x.stride()) == (True, (9, 4, 33), (1 << 30, 33, 1))
    assert (along.stride(), vector.stride()) == ((4, 1, 1 << 30), (1 << 30,))
    assert (places.is_meta, places.stride(), other.stride()) == (True, (1,), (1,))
    assert contents[identity(places)].tolist() == list(range(9))


@pytest.mark.parametrize(
    ("name", "case", "line"),
    [
        ("narrow", Case(ROWS, far="rows"), 20),
        ("placed_narrow", Case(ROWS, far="rows"), 68),
        ("groups_narrow", Case({"tokens": 64, "groups": 4}, far="groups"), 110),
    ],
)
def test_an_offset_in_32_bits_is_seen(name: str, case: Case, line: int, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("triton")
    from tritonaudit.suites.reproduce import reproduce

    assert reproduce(FILE, name, case)
    assert f":{line}: address from an integer that overflowed by program" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "case"),
    [
        ("wide", Case(ROWS, far="rows")),
        ("contiguous", Case(ROWS, far="rows")),
        ("placed_wide", Case(ROWS, far="rows")),
        ("groups_wide", Case({"tokens": 64, "groups": 4}, far="groups")),
    ],
)
def test_one_in_64_is_not_nor_one_of_a_copy(name: str, case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("triton")
    from tritonaudit.suites.reproduce import reproduce

    assert not reproduce(FILE, name, case)
    assert capsys.readouterr().out == f"{case.label}: nothing is seen\n"
