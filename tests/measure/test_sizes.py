"""Which sizes a subject is timed at."""

from __future__ import annotations

from typing import Any

import pytest

from tritonaudit.measure.sizes import LARGE, MEDIUM, SMALL, fits, timed_cases
from tritonaudit.subject.model import Case, Offsets, Subject, Tensor


def wrapper(*_: Any) -> None:
    """Never called."""


def sizes(subject: Subject, memory: int | None = None) -> dict[str, dict[str, int]]:
    return {name: dict(case.sizes) for name, case in timed_cases(subject, memory)}


def test_a_vector_grows_until_its_tensors_take_the_memory() -> None:
    """Two tensors of 4 bytes an element: 1 MiB, 64 MiB, 1 GiB."""
    subject = Subject(wrapper, inputs=[Tensor("n"), Tensor("n")])
    assert sizes(subject) == {SMALL: {"n": 1 << 17}, MEDIUM: {"n": 1 << 23}, LARGE: {"n": 1 << 27}}


def test_a_narrower_dtype_has_more_elements() -> None:
    subject = Subject(wrapper, inputs=[Tensor("n"), Tensor("n")], dtypes=["float16", "float32"])
    assert sizes(subject)[SMALL] == {"n": 1 << 18}
    assert {case.dtype for _, case in timed_cases(subject)} == {"float16"}


def test_dimensions_grow_by_turns() -> None:
    subject = Subject(wrapper, inputs=[Tensor("m", "k"), Tensor("k", "n")], dtypes=["float16"])
    assert sizes(subject)[MEDIUM] == {"m": 4096, "k": 4096, "n": 2048}


def test_what_comes_of_two_tensors_has_room_too() -> None:
    outer = Subject(wrapper, inputs=[Tensor("m"), Tensor("n")])
    assert sizes(outer)[LARGE] == {"m": 16384, "n": 8192}
    looked_up = Subject(wrapper, inputs=[Tensor("tokens", dtype="int64", high="vocab"), Tensor("vocab", "hidden")])
    assert sizes(looked_up)[MEDIUM] == {"tokens": 4096, "vocab": 2048, "hidden": 2048}


def test_of_two_dimensions_the_first_grows_first() -> None:
    subject = Subject(wrapper, inputs=[Tensor("rows", "cols"), Tensor("rows", "cols")])
    assert sizes(subject)[SMALL] == {"rows": 512, "cols": 256}


def test_heads_are_usual_and_a_batch_grows_where_sequences_would_be_too_long() -> None:
    subject = Subject(wrapper, inputs=[Tensor("batch", "heads", "tokens", "head_dim")] * 3, dtypes=["float16"])
    assert sizes(subject) == {
        SMALL: {"batch": 4, "heads": 8, "tokens": 64, "head_dim": 64},
        MEDIUM: {"batch": 4, "heads": 8, "tokens": 4096, "head_dim": 64},
        LARGE: {"batch": 64, "heads": 8, "tokens": 4096, "head_dim": 64},
    }


def test_where_the_subject_names_sizes_only_these_are_used() -> None:
    subject = Subject(wrapper, inputs=[Tensor("rows", "hidden")], sizes={"hidden": [1000, 0, 128]})
    assert sizes(subject, memory=32 << 10) == {SMALL: {"rows": 64, "hidden": 128}}
    assert sizes(subject)[LARGE] == {"rows": 1 << 18, "hidden": 1000}


def test_the_subject_gives_its_own() -> None:
    subject = Subject(wrapper, inputs=[Tensor("rows", "cols")], timed={"large": {"cols": 50304}})
    assert [case["cols"] for _, case in timed_cases(subject)] == [512, 4096, 50304]


def test_a_dimension_that_no_tensor_weighs_does_not_grow() -> None:
    subject = Subject(
        wrapper, inputs=[Tensor("rows"), Tensor("rows", dtype="int64", high="vocab")], sizes={"vocab": [7]}
    )
    assert {case["vocab"] for _, case in timed_cases(subject)} == {7}


@pytest.mark.parametrize("inputs", [[Tensor(8, 8)], lambda case: (), lambda dtype, device: ()])
def test_without_dimensions_there_is_one_size(inputs: Any) -> None:
    assert sizes(Subject(wrapper, inputs=inputs)) == {SMALL: {}}


def test_a_function_of_size_is_taken_for_one_tensor() -> None:
    assert sizes(Subject(wrapper, inputs=lambda size, device: ()))[LARGE] == {"size": 1 << 28}
    assert sizes(Subject(wrapper, inputs=lambda size, batch: ()))[LARGE] == {"size": 4096, "batch": 1 << 14}


def test_memory_caps_all_of_them() -> None:
    subject = Subject(wrapper, inputs=[Tensor("n")])
    assert sizes(subject, memory=4 << 20) == {SMALL: {"n": 1 << 18}, MEDIUM: {"n": 1 << 20}}


def test_whether_a_case_fits() -> None:
    subject = Subject(wrapper, inputs=[Tensor("n"), Tensor("n", dtype="int64"), Offsets("n", "n")])
    case = Case({"n": 100}, "float16")
    assert fits(subject, case, 200 + 800 + 404)
    assert not fits(subject, case, 200 + 800 + 403)


def test_no_tensor_has_more_elements_than_can_be_addressed() -> None:
    subject = Subject(wrapper, inputs=[Tensor("n")], dtypes=["int8"])
    assert fits(subject, Case({"n": 1 << 31}, "int8"), 1 << 40)
    assert not fits(subject, Case({"n": (1 << 31) + 1}, "int8"), 1 << 40)
