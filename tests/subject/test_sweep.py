"""Which cases a subject is tried on."""

from __future__ import annotations

from typing import Any

import pytest

from tritonaudit.subject.model import Case, Layout, Subject, Tensor
from tritonaudit.subject.sweep import compile_cases, is_least, storm_cases


def nothing(*_: Any) -> None:
    """A wrapper."""


def subject(*dims: str | int, **more: Any) -> Subject:
    return Subject(nothing, inputs=[Tensor(*dims)], **more)


def labels(of: Subject) -> list[str]:
    return [case.label for case in compile_cases(of)]


# -- what the compiler is given ------------------------------------------------------------------------------------


def test_a_matrix() -> None:
    assert labels(subject("rows", "cols")) == [
        "rows=1024 cols=1024 float32",
        "rows=1024 cols=1024 float16",
        "rows=1024 cols=1024 bfloat16",
        "rows=1000 cols=1000 float32",
        "rows=1 cols=1 float32",
        "rows=1000 cols=1024 float32",
        "rows=1024 cols=1000 float32",
        "rows=1024 cols=1024 float32 transposed",
        "rows=1024 cols=1024 float32 offset",
    ]


def test_what_changes_nothing_is_no_case() -> None:
    assert not [label for label in labels(subject("n")) if "transposed" in label]
    fixed = Subject(nothing, inputs=[Tensor(64, dtype="int32")])
    assert labels(fixed) == ["float32", "float32 offset"]
    assert labels(Subject(nothing, inputs=[3])) == ["float32"]


def test_the_least_sizes_are_those_that_nobody_asked_for() -> None:
    least = [case.label for case in compile_cases(subject("rows", "cols")) if is_least(subject("rows", "cols"), case)]
    assert least == ["rows=1 cols=1 float32"]
    asked = subject("n", sizes={"n": [1, 64]})
    assert not any(is_least(asked, case) for case in compile_cases(asked))


def test_no_case_comes_twice() -> None:
    found = labels(subject("n"))
    assert len(found) == len(set(found))
    assert found.count("n=1000 float32") == 1


def test_many_dimensions_are_not_taken_one_at_a_time() -> None:
    found = labels(subject("a", "b", "c", "d", "e"))
    assert len([label for label in found if "1000" in label]) == 1


@pytest.mark.parametrize("name", ["b", "batch", "batch_size", "h", "heads", "n_heads", "num_kv_heads", "experts"])
def test_dimensions_that_count_few_things_are_small(name: str) -> None:
    assert all(case[name] <= 8 for case in compile_cases(subject(name, "n")))


def test_one_letter_at_the_end_of_a_row_counts_no_heads() -> None:
    case = compile_cases(subject("B", "T", "H"))[0]
    assert case.sizes == {"B": 4, "T": 1024, "H": 1024}


def test_a_head_is_as_large_as_heads_are() -> None:
    sizes = {case["head_dim"] for case in compile_cases(subject("batch", "heads", "seq", "head_dim"))}
    assert sizes == {16, 64, 80}


def test_no_tensor_is_too_large_to_be_made() -> None:
    for case in compile_cases(subject("n", "c", "x", "y", dtypes=["float32"])):
        assert case["n"] * case["c"] * case["x"] * case["y"] <= 1 << 27


def test_the_subjects_own_sizes_are_tried_and_no_others() -> None:
    cases = compile_cases(subject("n", "d", sizes={"d": [64, 128]}))
    assert {case["d"] for case in cases} == {64, 128}
    assert cases[0].sizes == {"n": 1024, "d": 64}
    assert Case({"n": 1024, "d": 128}).label in [case.label for case in cases]


def test_the_first_dtype_is_the_one_that_is_varied() -> None:
    found = compile_cases(subject("n", dtypes=["bfloat16", "float16"]))
    assert {case.dtype for case in found if case["n"] != 1024} == {"bfloat16"}


def test_dimensions_of_formulas_vary_with_their_names() -> None:
    assert [case["2 * n"] for case in compile_cases(subject("2 * n", dtypes=["float16"]))] == [
        2048,
        2000,
        2,
        2048,
    ]


# -- inputs that a function makes ----------------------------------------------------------------------------------


def made(case: Case) -> None:
    """Inputs."""


def by_size(size: int, batch: int) -> None:
    """Inputs by keywords."""


def by_dtype(size: int, dtype: Any) -> None:
    """Inputs by keywords."""


def test_a_function_gets_every_dtype_and_no_layout() -> None:
    found = compile_cases(Subject(nothing, inputs=made))
    assert [case.label for case in found] == ["float32", "float16", "bfloat16"]


def test_a_functions_sizes_are_those_that_it_has_names_for() -> None:
    found = compile_cases(Subject(nothing, inputs=made, sizes={"tokens": [512, 17]}, dtypes=["float16"]))
    assert [case.label for case in found] == ["tokens=512 float16", "tokens=17 float16"]


def test_keywords_say_what_a_function_takes() -> None:
    found = compile_cases(Subject(nothing, inputs=by_size))
    assert found[0].label == "size=1024 batch=4 float32"
    assert {case.dtype for case in found} == {"float32"}
    assert {case["size"] for case in found} == {1024, 1000, 1}
    assert {case.dtype for case in compile_cases(Subject(nothing, inputs=by_dtype))} == {
        "float32",
        "float16",
        "bfloat16",
    }


def test_a_wrapper_without_sizes_has_a_case() -> None:
    assert labels(Subject(nothing, inputs=[3], dtypes=["float32"]))[0] == "float32"


# -- storms --------------------------------------------------------------------------------------------------------


def test_each_dimension_grows_alone_within_one_power_of_2() -> None:
    storms = dict(storm_cases(subject("batch", "rows", "cols")))
    assert list(storms) == ["batch", "rows", "cols"]
    for name, cases in storms.items():
        sizes = [case[name] for case in cases]
        assert sizes == sorted(set(sizes))
        assert len(sizes) == 4
        assert all(size % 16 == 0 for size in sizes)
        assert len({size.bit_length() for size in sizes}) == 1
        assert not any(size & (size - 1) == 0 for size in sizes)
        others = [{other: case[other] for other in storms if other != name} for case in cases]
        assert all(other == others[0] for other in others)


def test_dimensions_with_sizes_of_their_own_do_not_grow() -> None:
    assert [name for name, _ in storm_cases(subject("n", "d", sizes={"d": [64, 128]}))] == ["n"]


def test_layouts_are_those_of_the_model() -> None:
    assert {case.layout for case in compile_cases(subject("m", "n"))} == {
        Layout.CONTIGUOUS,
        Layout.TRANSPOSED,
        Layout.OFFSET,
    }
