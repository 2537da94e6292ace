"""Sizes at which results are right, and whether a limit or a multiple tells others from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
import torch

from tests.suites.test_fills import Host
from tests.suites.test_given import KERNEL, nothing, subject
from tritonaudit.subject.model import Case, Subject
from tritonaudit.suites.correctness import examine
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.given_too import BETWEEN, ELSEWHERE, GivenToo
from tritonaudit.suites.outcome import CaseOutcome, Sighting
from tritonaudit.suites.right_sizes import RightSizes

Sizes = Mapping[str, int]


def right_at(*sizes: tuple[int, int]) -> RightSizes:
    known = RightSizes()
    for rows, cols in sizes:
        known.add({"rows": rows, "cols": cols})
    return known


def surrounds(known: RightSizes, rows: int, cols: int) -> bool:
    return known.surround({"rows": rows, "cols": cols})


ALL_ABOUT = [(64, 384), (63, 383), (515, 384), (257, 100), (64, 515), (1, 384), (64, 1)]


def test_what_lies_among_them_is_surrounded() -> None:
    assert surrounds(right_at(*ALL_ABOUT), 50, 300)


def test_a_limit_of_a_dimension_or_of_a_product_explains_the_rest() -> None:
    assert not surrounds(right_at(*ALL_ABOUT), 516, 300)
    assert not surrounds(right_at(*ALL_ABOUT), 515, 515)


def test_what_they_have_in_common_explains_the_rest() -> None:
    multiples = right_at(*((rows * 16, cols) for rows, cols in ALL_ABOUT))
    assert not surrounds(multiples, 50, 300)
    assert surrounds(multiples, 48, 300)
    of_products = right_at((1, 256), (2, 384), (3, 256), (256, 1), (128, 6), (64, 12), (5, 256))
    assert not surrounds(of_products, 5, 13)


def test_powers_of_two_are_no_evidence_of_others() -> None:
    powers = right_at(*((1 << rows, 1 << cols) for rows in range(4) for cols in range(5)))
    assert not surrounds(powers, 3, 7)
    assert surrounds(powers, 2, 8)


def test_a_few_are_no_evidence() -> None:
    assert not surrounds(right_at(*ALL_ABOUT[:5]), 64, 384)


# -- what that makes of a result ---------------------------------------------------------------------------------------


def call_of(case: Case, *, is_wrong: bool) -> CaseOutcome:
    seen = (Sighting(Symptom.WRONG_RESULT, KERNEL, None, "wrong"),) if is_wrong else ()
    return CaseOutcome(case, frozenset((Symptom.WRONG_RESULT,)), seen)


def reported(of: Subject, wrong: Case, right: list[Case]) -> Sighting:
    too = GivenToo(of)

    def work(case: Case) -> CaseOutcome:
        return call_of(case, is_wrong=case == wrong)

    for case in right:
        assert not too.settled(work(case), work, may_ask=True).sightings
    (found,) = too.settled(work(wrong), work, may_ask=True).sightings
    return found


def sizes(rows: int, cols: int) -> Case:
    return Case({"dim_37": rows, "dim_100": cols})


RIGHT = [Case(), sizes(36, 99), sizes(515, 100), sizes(37, 515), sizes(1, 100), sizes(37, 1)]


def test_a_wrong_result_in_the_midst_of_right_ones_is_certain() -> None:
    found = reported(subject(37, 100), sizes(20, 70), RIGHT)
    assert (found.is_certain, found.text) == (True, f"wrong, {BETWEEN}")


def test_one_beyond_them_is_not() -> None:
    found = reported(subject(37, 100), sizes(600, 70), RIGHT)
    assert (found.is_certain, found.text) == (False, f"wrong, {ELSEWHERE}")


def test_results_that_are_right_with_zeros_or_in_another_dtype_say_nothing() -> None:
    zeros = [Case(case.sizes, fill="zeros") for case in RIGHT]
    halves = [Case(case.sizes, "float16") for case in RIGHT]
    for right in (zeros, halves):
        assert not reported(subject(37, 100), sizes(20, 70), right).is_certain


def test_results_that_are_right_and_all_alike_say_nothing() -> None:
    too, wrong = GivenToo(subject(37, 100)), sizes(20, 70)

    def work(case: Case) -> CaseOutcome:
        return replace(call_of(case, is_wrong=case == wrong), are_alike=True)

    for case in RIGHT:
        too.settled(work(case), work, may_ask=True)
    (found,) = too.settled(work(wrong), work, may_ask=True).sightings
    assert (found.is_certain, found.text) == (False, f"wrong, {ELSEWHERE}")


@pytest.mark.parametrize(
    ("function", "are_alike"),
    [
        (lambda x: (x > 0).to(torch.uint8), False),
        (lambda x: (x > 10).to(torch.uint8), True),
        (lambda x: (x > 0).sum()[None], True),
        (lambda x: x.sum(), False),
        (torch.zeros_like, True),
        (lambda x: x[:0], True),
    ],
)
def test_which_results_are_alike(function: Callable[[torch.Tensor], torch.Tensor], are_alike: bool) -> None:
    of = Subject(function, reference=function, inputs=lambda _: (torch.linspace(-1, 1, 9),))
    found = examine(Host(), of, Case(device="cpu"))
    assert (found.sightings, found.are_alike) == ((), are_alike)


def test_where_distinct_integers_are_alike_it_is_not_certain() -> None:
    of = Subject(nothing, inputs=lambda _: (torch.randn(37, 100), torch.randperm(37)[:30]))
    assert reported(of, sizes(35, 70), RIGHT).is_certain
    assert not reported(of, sizes(20, 70), RIGHT).is_certain
