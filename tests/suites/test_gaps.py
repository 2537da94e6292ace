"""What lies beside the elements of arguments, in the same memory, is the caller's."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from tritonaudit.suites.gaps import gaps_in  # noqa: E402


def test_a_slice_of_wider_rows_has_gaps_and_whole_tensors_have_none() -> None:
    base = torch.zeros(4, 10)
    (gaps,) = gaps_in([("argument 0", base[:, :7]), ("argument 1", torch.zeros(3, 5).T)])
    base[:, :7] = 1
    assert not gaps.have_changed
    base[2, 8] = 1
    assert gaps.have_changed
    assert gaps.name == "argument 0"


def test_what_another_argument_has_of_the_same_memory_is_no_gap() -> None:
    base = torch.zeros(4, 10, dtype=torch.bfloat16)
    assert list(gaps_in([("left", base[:, :6]), ("right", base[:, 6:])])) == []
    (gaps,) = gaps_in([("left", base[:, :6]), ("right", base[:, 7:])])
    base[:, 7:] = 1
    assert not gaps.have_changed
    base[3, 6] = 1
    assert gaps.have_changed


def test_elements_that_share_a_place_and_none_at_all() -> None:
    assert list(gaps_in([("one", torch.zeros(1, 5).expand(4, 5)), ("empty", torch.zeros(0, 5))])) == []
