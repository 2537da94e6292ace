"""Which hard inputs a subject is tried on, and in which sizes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tritonaudit.subject.model import Case, Layout, Subject, Tensor
from tritonaudit.suites.large import ELEMENTS, large_cases
from tritonaudit.suites.stability import HARDSHIPS, long_case, seldom_cases, stability_cases


def nothing(*_: object) -> None:
    """Only its inputs matter."""


SOFTMAX = Subject(nothing, inputs=[Tensor("rows", "cols")])


def test_every_hardship_is_tried_in_each_dtype_that_holds_it() -> None:
    tried = [(name, case.dtype) for name, case in stability_cases(SOFTMAX)]
    assert {name for name, _ in tried} == {hardship.name for hardship in HARDSHIPS}
    assert ("cancellation", "float16") not in tried
    assert ("cancellation in 16 bits", "float16") in tried


def test_rows_are_longer_than_a_thousand_and_than_the_blocks() -> None:
    assert {case["cols"] for _, case in stability_cases(SOFTMAX) if case["rows"] == 16} == {1000}
    assert {case["cols"] for _, case in stability_cases(SOFTMAX, [1024]) if case["rows"] == 16} == {2051}


def test_sizes_that_the_subject_names_stay() -> None:
    named = Subject(nothing, inputs=[Tensor("rows", "cols")], sizes={"cols": [17]})
    assert {case["cols"] for _, case in stability_cases(named)} == {17}


def test_where_a_function_makes_the_inputs_there_are_none() -> None:
    made = Subject(nothing, inputs=lambda case: None)
    assert list(stability_cases(made)) == []
    assert list(large_cases(made)) == []


def test_large_cases_have_more_elements_than_an_int32_counts_and_lie_both_ways() -> None:
    found = list(large_cases(SOFTMAX))
    assert all(case["rows * cols"] > ELEMENTS for case in found)
    assert [case.layout for case in found] == [Layout.CONTIGUOUS, Layout.TRANSPOSED] * 2


def test_every_hardship_has_its_turn_before_another_dtype_and_another_long_dimension() -> None:
    tried = [(name, case.dtype, case["rows"], case["cols"]) for name, case in stability_cases(SOFTMAX)]
    assert [name for name, *_ in tried[: len(HARDSHIPS)]] == [hardship.name for hardship in HARDSHIPS]
    long = [(rows, cols) for _, _, rows, cols in tried]
    assert list(dict.fromkeys(long)) == [(16, 1000), (1000, 64)]
    assert {dtype for _, dtype, rows, _ in tried if rows == 16} == set(SOFTMAX.dtypes)


def test_one_case_has_rows_so_long_that_blocks_hardly_grow() -> None:
    case = long_case(SOFTMAX, [64])
    assert case is not None
    assert (case["rows"], case["cols"], case.fill) == (16, 4096, "normal")
    assert long_case(Subject(nothing, inputs=lambda case: None)) is None


ATTENTION = Subject(
    nothing,
    inputs=[Tensor("heads", "dim"), Tensor("keys", "dim"), Tensor("keys"), Tensor("heads", dtype="int32")],
    sizes={"heads": [4, 1], "dim": [16], "keys": [16, 100]},
)


def test_one_tensor_alone_has_a_block_of_infinity_as_a_mask_has() -> None:
    masked = [case.label for _, case in seldom_cases(ATTENTION) if "inf" in case.fill]
    assert masked == [
        "heads=4 dim=16 keys=100 float32 -inf|normal of tensor 0",
        "heads=4 dim=16 keys=100 float32 -inf/normal of tensor 0",
        "heads=4 dim=16 keys=100 float32 -inf|normal of tensor 1",
        "heads=4 dim=16 keys=100 float32 -inf/normal of tensor 1",
        "heads=4 dim=16 keys=100 float32 -inf|normal of tensor 2",
    ]
    assert not list(seldom_cases(Subject(nothing, inputs=lambda case: None)))


def test_sums_of_float16_come_near_its_largest_number_in_the_longest_rows_that_are_named() -> None:
    large = [case.label for name, case in seldom_cases(ATTENTION) if "large" in name]
    assert large == [
        "heads=4 dim=16 keys=100 float16 256*normal",
        "heads=4 dim=16 keys=100 float16 20000*normal of tensor 0",
        "heads=4 dim=16 keys=100 float16 3000|-3000 of tensor 0",
        "heads=4 dim=16 keys=100 float16 20000*normal of tensor 1",
        "heads=4 dim=16 keys=100 float16 3000|-3000 of tensor 1",
        "heads=4 dim=16 keys=100 float16 20000*normal of tensor 2",
        "heads=4 dim=16 keys=100 float16 3000|-3000 of tensor 2",
    ]
    (alone,) = [
        case.fill
        for name, case in seldom_cases(Subject(nothing, inputs=[Tensor("rows")]))
        if name == "one large tensor"
    ]
    assert alone == "20000*normal of tensor 0", "the sum of two of its numbers is no number of float16 either"
    wide = Subject(nothing, inputs=[Tensor("rows", "cols")] * 2, dtypes=["float32"])
    assert not [case for name, case in seldom_cases(wide) if "large" in name]


@pytest.mark.parametrize(("what", "fill"), [("small", "1e-6*normal"), ("far", "100*normal")])
def test_each_of_several_tensors_is_as_small_as_a_scale_may_be_or_far_from_the_others(what: str, fill: str) -> None:
    scaled = Subject(nothing, inputs=[Tensor("rows", dtype="int8"), Tensor("rows"), Tensor("rows", dtype="float32")])
    assert [case.fill for name, case in seldom_cases(scaled) if what in name] == [
        f"{fill} of tensor 1",
        f"{fill} of tensor 2",
    ]
    assert not [case for name, case in seldom_cases(Subject(nothing, inputs=[Tensor("rows")])) if what in name]


def test_the_numbers_beside_a_block_of_infinity_are_positive() -> None:
    pytest.importorskip("torch")
    from tritonaudit.subject.inputs import make_inputs

    subject = Subject(nothing, inputs=[Tensor("rows", "cols"), Tensor("rows", "cols")])
    case = Case({"rows": 3, "cols": 2}, "float32", device="cpu")
    (plain, rows), _ = make_inputs(subject, replace(case, fill="-inf/normal of tensor 1"))
    assert rows.isinf().tolist() == [[True, True], [True, True], [False, False]]
    assert bool((rows[:2] < 0).all() and (rows[2] > 0).all() and (plain > 0).all() and plain.isfinite().all())
    (large, plain), _ = make_inputs(subject, replace(case, fill="20000*normal of tensor 0"))
    assert float(large.min()) > 100 > float(plain.max())
    (columns, plain), _ = make_inputs(subject, replace(case, fill="-inf|normal of tensor 0"))
    assert columns.isinf().tolist() == [[True, False]] * 3
    assert bool(plain.isfinite().all())
