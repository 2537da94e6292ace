"""What every stage yields: orders of severity, categories of codes, and the identity of a finding."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest

from tritonaudit.finding import Category, Confidence, Finding, Severity, Span, Stage

FINDING = Finding(
    code="TAM101",
    name="unmasked-access",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    message="nothing bounds `offs`",
    path="a.py",
    span=Span(3, 5, 3, 20),
    kernel="kernel",
    expression="tl.load(x_ptr + offs)",
)


def test_the_worst_comes_first() -> None:
    assert sorted(Severity, key=lambda s: s.rank) == [Severity.ERROR, Severity.WARNING, Severity.INFO]
    assert sorted(Confidence, key=lambda c: c.rank) == [Confidence.HIGH, Confidence.MEDIUM, Confidence.LOW]
    assert Severity.ERROR.rank == Confidence.HIGH.rank == 0


@pytest.mark.parametrize(
    ("code", "category"),
    [
        ("TAC101", Category.CORRECTNESS),
        ("TAP101", Category.PERFORMANCE),
        ("TAM101", Category.MEMORY),
        ("TAN101", Category.STABILITY),
        ("TAB101", Category.PRACTICE),
        ("TAX001", Category.TOOL),
    ],
)
def test_the_letter_of_a_code_is_its_category(code: str, category: Category) -> None:
    assert replace(FINDING, code=code).category is category


def test_every_category_has_a_title_of_its_own() -> None:
    assert len({category.title for category in Category}) == len(Category)


def test_no_digit_belongs_to_two_stages() -> None:
    digits = "".join(stage.value for stage in Stage)
    assert len(digits) == len(set(digits))


@pytest.mark.parametrize(
    "changes",
    [
        {"span": Span(40, 1, 41, 2)},
        {"path": "b.py"},
        {"message": "said otherwise"},
        {"severity": Severity.INFO, "confidence": Confidence.LOW},
        {"remedy": "mask it"},
    ],
)
def test_where_it_stands_and_how_it_is_put_are_not_its_identity(changes: dict[str, object]) -> None:
    assert replace(FINDING, **changes).fingerprint == FINDING.fingerprint  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "changes",
    [
        {"code": "TAM103"},
        {"kernel": "other"},
        {"kernel": None},
        {"expression": "tl.load(y_ptr + offs)"},
        {"ordinal": 1},
        {"cause": "an unmasked tail"},
    ],
)
def test_what_it_is_about_is(changes: dict[str, object]) -> None:
    assert replace(FINDING, **changes).fingerprint != FINDING.fingerprint  # type: ignore[arg-type]


def test_a_shared_cause_makes_findings_of_several_stages_one() -> None:
    source = replace(FINDING, cause="tail")
    assert source.fingerprint == replace(source, code="TAM401", span=Span(9, 1, 9, 2)).fingerprint


def test_a_fingerprint_is_sixty_four_bits_that_stay() -> None:
    assert len(FINDING.fingerprint) == 16
    assert FINDING.fingerprint == "3473997ee44e1a28"


def test_findings_are_sorted_by_file_and_place() -> None:
    places = [("b.py", 1, 1), ("a.py", 10, 2), ("a.py", 9, 1), ("a.py", 10, 1)]
    found = [replace(FINDING, path=path, span=Span(line, column, line, 99)) for path, line, column in places]
    ordered = [(f.path, f.span.line, f.span.column) for f in sorted(found, key=lambda f: f.sort_key)]
    assert ordered == sorted(places)


def test_what_was_found_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        FINDING.code = "TAM102"  # type: ignore[misc]
