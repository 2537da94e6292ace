"""How variants are named in a sentence."""

from __future__ import annotations

import pytest

from tests.compiled import PATH, kernel, variant
from tritonaudit.compile import phrases
from tritonaudit.finding import Confidence, Span

CASES = [f"size={size} float16" for size in (1, 64, 1000, 4096)]
CONFIGS = [f"BLOCK={size}" for size in (64, 128, 256, 512)]


@pytest.mark.parametrize(
    ("words", "said"), [(["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "a", "c"], "a, b and c")]
)
def test_a_list(words: list[str], said: str) -> None:
    assert phrases.listed(words) == said


@pytest.mark.parametrize(
    ("size", "said"),
    [(1, "1 byte"), (212, "212 bytes"), (1_024, "1 KiB"), (98_304, "96 KiB"), (98_400, "96.1 KiB")],
)
def test_memory(size: int, said: str) -> None:
    assert phrases.memory(size) == said


def test_a_range_of_numbers() -> None:
    assert phrases.spread([3964]) == phrases.spread([3964, 3964]) == "3,964"
    assert phrases.spread([568, 3964, 544]) == "544 to 3,964"


def test_only_the_targets_where_there_is_nothing_else_to_say() -> None:
    both = [variant("sm_80"), variant("sm_90")]
    assert phrases.where(both, kernel(*both)) == "on sm_80 and sm_90"


def test_few_are_named_and_many_counted() -> None:
    variants = [variant("sm_90", config, case) for config in CONFIGS for case in CASES]
    whole = kernel(*variants)
    assert phrases.where(variants[:1], whole) == "on sm_90, with the config BLOCK=64, in the case size=1 float16"
    assert phrases.where([variants[0], variants[4]], whole) == (
        "on sm_90, with the configs BLOCK=64 and BLOCK=128, in the case size=1 float16"
    )
    assert phrases.where(variants[:3], whole) == (
        "on sm_90, with the config BLOCK=64, in 3 of 4 cases such as size=1 float16"
    )
    assert phrases.where(variants, whole) == "on sm_90, with all 4 configs, in all 4 cases"


def test_all_is_counted_among_the_targets_that_are_meant() -> None:
    fast, old = variant("sm_90", "", "a", "b"), variant("sm_80", "", "a", "b", "c")
    assert phrases.where([fast], kernel(fast, old)) == "on sm_90, in both cases"


def test_one_config_and_one_case_are_named_though_they_are_all() -> None:
    only = variant("sm_90", "BLOCK=64", "size=1 float16")
    assert phrases.where([only], kernel(only)) == "on sm_90, with the config BLOCK=64, in the case size=1 float16"


def test_what_was_assumed_is_said_where_nothing_was_captured() -> None:
    guess = variant(assumed=("x_ptr is fp16",))
    assert phrases.assumed([guess]) == " (inferred: x_ptr is fp16)"
    assert phrases.assumed([guess, variant()]) == ""
    assert phrases.assumed([]) == ""


def test_an_inferred_launch_has_no_case_to_name() -> None:
    guess = variant("sm_90", "BLOCK=64", "as inferred", assumed=("x_ptr is fp16",))
    assert phrases.where([guess], kernel(guess)) == "on sm_90, with the config BLOCK=64"


def test_many_assumptions_are_counted() -> None:
    guess = variant(assumed=("a is b", "c is d", "e is f", "g is h"))
    assert phrases.assumed([guess]) == " (inferred: a is b; c is d; and 2 other assumptions)"


def test_an_assumption_makes_a_finding_less_sure() -> None:
    guess = variant(assumed=("x_ptr is fp16",))
    assert phrases.sure(Confidence.HIGH, [guess]) is Confidence.MEDIUM
    assert phrases.sure(Confidence.MEDIUM, [guess]) is Confidence.LOW
    assert phrases.sure(Confidence.HIGH, [guess, variant()]) is Confidence.HIGH


def test_what_stands_in_another_file_is_reported_at_the_kernel() -> None:
    one, span = kernel(variant()), Span(41, 5, 41, 9)
    assert phrases.place(one, PATH, span) == (span, "")
    assert phrases.place(one, "kernels/helpers.py", span) == (one.span, " (at helpers.py:41)")
    assert phrases.place(one, "", None) == (one.span, "")
    assert phrases.place(one, PATH, Span(one.span.line, 1, one.span.line, 2)) == (one.span, "")
