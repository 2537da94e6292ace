"""The Triton versions that a specifier admits."""

from __future__ import annotations

import pytest

from tritonaudit.target import KNOWN, Target, TargetError


@pytest.mark.parametrize(
    ("text", "first", "last", "count"),
    [
        (">=3.2", (3, 2), (3, 9), 8),
        (">=3.2,<3.8", (3, 2), (3, 7), 6),
        (" >= 3.2 , != 3.4 , <= 3.5 ", (3, 2), (3, 5), 3),
        ("==3.6", (3, 6), (3, 6), 1),
        ("3.6", (3, 6), (3, 6), 1),
        ("<3.0", (2, 0), (2, 3), 4),
        (">2.3,<3.2", (3, 0), (3, 1), 2),
        (">=2.0", (2, 0), (3, 9), len(KNOWN)),
    ],
)
def test_a_specifier_admits_the_known_releases_it_describes(text, first, last, count):
    versions = Target.parse(text).versions
    assert (versions[0], versions[-1], len(versions)) == (first, last, count)


def test_the_default_is_3_2_and_later():
    assert Target.parse().versions == Target.parse(">=3.2").versions


@pytest.mark.parametrize("text", ["", "newest", ">=3", ">=3.2,", "~=3.2", ">=3.2.1", "3.x", "=>3.2", "3.2 3.3"])
def test_anything_else_is_refused_with_its_text(text):
    with pytest.raises(TargetError, match="is not a version specifier") as caught:
        Target.parse(text)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize("text", [">=4.0", ">3.4,<3.5", "==2.9", "==3.2,==3.3"])
def test_a_specifier_that_admits_no_known_release_is_refused(text):
    with pytest.raises(TargetError, match=r"none of the known Triton releases, 2\.0 to 3\.9"):
        Target.parse(text)


@pytest.mark.parametrize(
    ("since", "until", "answer"),
    [
        (None, None, "all"),
        ((3, 2), None, "all"),
        ((3, 3), None, "some"),
        ((3, 8), None, "none"),
        (None, (3, 8), "all"),
        (None, (3, 7), "some"),
        (None, (3, 2), "none"),
        ((3, 4), (3, 5), "some"),
    ],
)
def test_what_came_and_went_is_there_in_all_some_or_none_of_the_versions(since, until, answer):
    assert Target.parse(">=3.2,<3.8").supports(since, until) == answer
