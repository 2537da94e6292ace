"""Which cases an audit tries, and in which order."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tritonaudit.subject.model import FLOATING, Case, Layout, Subject, Tensor
from tritonaudit.suites.axes import (
    BESIDE_MIDDLES,
    FILLS,
    HALF_WAY,
    NAN_AMONG,
    OPPOSITE_HALVES,
    SIZES,
    ZEROS_AMONG,
    AxisValue,
    axes_of,
)
from tritonaudit.suites.cases import FRESH, SEEDS, audit_cases, simpler, values_of
from tritonaudit.suites.core import called_cases

LARGEST = 1 << 20


def nothing(*_: Any) -> None:
    """A wrapper."""


def subject(*dims: str | int, **more: Any) -> Subject:
    return Subject(nothing, inputs=[Tensor(*dims)], **more)


SOFTMAX = subject("rows", "cols")
PRODUCT = Subject(nothing, inputs=[Tensor("m", "k"), Tensor("k", "n")])
ATTENTION = Subject(nothing, inputs=[Tensor("batch", "heads", "seq", "head_dim")] * 3)
LOOKUP = Subject(nothing, inputs=[Tensor("vocab", "dim"), Tensor("tokens", dtype="int64", high="vocab")])


def foreseen(of: Subject, *blocks: int) -> list[Case]:
    """The cases of every audit."""
    return [case for case in audit_cases(of, blocks).cases if not case.seed]


def labels(of: Subject, *blocks: int) -> list[str]:
    return [case.label for case in audit_cases(of, blocks).cases]


def reasons(of: Subject, *blocks: int) -> dict[str, str]:
    return {str(left.value): left.reason for left in audit_cases(of, blocks).left_out}


def sizes_of(of: Subject, name: str, *blocks: int) -> set[int]:
    return {case[name] for case in foreseen(of, *blocks)}


# -- a softmax, literally ------------------------------------------------------------------------------------------


def test_a_softmax_is_tried_with_one_unusual_thing_at_a_time_first() -> None:
    assert labels(SOFTMAX, 128)[:40] == [
        "rows=128 cols=128 float32",
        "rows=128 cols=128 float16",
        "rows=128 cols=128 bfloat16",
        "rows=127 cols=127 float32",
        "rows=259 cols=128 float32",
        "rows=128 cols=259 float32",
        "rows=128 cols=128 float32 transposed",
        "rows=128 cols=128 float32 zeros",
        "rows=129 cols=128 float32",
        "rows=128 cols=129 float32",
        "rows=128 cols=128 float32 offset",
        "rows=128 cols=128 float32 inf",
        "rows=127 cols=128 float32",
        "rows=128 cols=127 float32",
        "rows=128 cols=128 float32 expanded",
        "rows=128 cols=128 float32 nan",
        "rows=1000 cols=128 float32",
        "rows=128 cols=1000 float32",
        f"rows=128 cols=128 float32 {HALF_WAY}",
        "rows=1 cols=128 float32",
        "rows=128 cols=1 float32",
        f"rows=128 cols=128 float16 {OPPOSITE_HALVES}",
        "rows=0 cols=128 float32",
        "rows=128 cols=0 float32",
        f"rows=128 cols=128 float32 {BESIDE_MIDDLES}",
        "rows=4096 cols=128 float32",
        "rows=128 cols=4096 float32",
        "rows=128 cols=128 float32 1e6",
        "rows=64 cols=128 float32",
        "rows=128 cols=64 float32",
        *(f"rows=128 cols=128 float32 {fill}" for fill in (*FILLS[7:], NAN_AMONG, ZEROS_AMONG)),
        "rows=1048576 cols=1 float32",
        "rows=1 cols=1048576 float32",
    ]


def test_then_unusual_things_meet_among_ordinary_numbers() -> None:
    assert labels(SOFTMAX, 128)[40:43] == [
        "rows=259 cols=259 float16 transposed",
        "rows=259 cols=129 bfloat16 offset",
        "rows=129 cols=129 float16 expanded",
    ]


def test_special_numbers_come_after_every_two_sizes_have_met() -> None:
    """An accumulator that is not cleared shows in long rows of many columns, unless these hold zeros or NaN."""
    alone, together = foreseen(SOFTMAX, 128)[:40], foreseen(SOFTMAX, 128)[40:]
    first = next(number for number, case in enumerate(together) if case.fill != "normal")
    met = {tuple(case.sizes.values()) for case in (*alone, *together[:first]) if case.fill == "normal"}
    sizes = (259, 129, 128, 127, 1000, 64, 1)
    assert {(rows, cols) for rows in sizes for cols in sizes} <= met
    assert all(case.fill != "normal" for case in together[first:])


def test_what_a_softmax_leaves_out() -> None:
    without = ["1e6", "1e38", "1e-38"]
    assert reasons(SOFTMAX, 128) == {f"fill {fill}": "float16 cannot hold it" for fill in without}


@pytest.mark.parametrize(
    ("of", "blocks", "most"),
    [
        (subject("n"), (1024,), 122),
        (SOFTMAX, (), 92),
        (SOFTMAX, (128,), 168),
        (SOFTMAX, (1024, 4), 180),
        (subject("batch", "rows", "cols"), (128,), 187),
        (PRODUCT, (128, 64, 32), 216),
        (ATTENTION, (128, 64), 169),
        (subject("n", "c", "x", "y"), (64,), 358),
    ],
)
def test_the_sets_are_small(of: Subject, blocks: Sequence[int], most: int) -> None:
    assert most - 15 < len(foreseen(of, *blocks)) <= most
    assert len(audit_cases(of, blocks).cases) == len(foreseen(of, *blocks)) + FRESH


def test_blocks_of_longer_rows_add_sizes_and_change_nothing_else() -> None:
    before, after = audit_cases(SOFTMAX, (64,)).cases, audit_cases(SOFTMAX, (64,), (1024,)).cases
    assert [case for case in after if not {2051, 1025, 1023, 1024} & set(case.sizes.values())] == list(before)
    added = [case.sizes for case in after if case not in before]
    assert {tuple(sizes.values()) for sizes in added} == {
        sizes for size in (2051, 1025, 1023, 1024) for sizes in ((64, size), (size, 64))
    }


def test_both_sides_of_what_code_compares_with_are_tried_alone() -> None:
    plan, axes = audit_cases(SOFTMAX, (64,), (), (2100,)), axes_of(SOFTMAX, (64,), (), (2100,))
    beside = [case for case in plan.cases if {2099, 2100, 2101} & set(case.sizes.values()) and not case.seed]
    assert {size for case in beside for size in case.sizes.values()} >= {2099, 2100, 2101}
    assert len({case.label for case in beside}) == len(beside) == 3 * len(axes.sizes)
    core = [one.case for one in called_cases(SOFTMAX, axes, plan)]
    assert all(case in core for case in beside)


# -- what holds of every plan --------------------------------------------------------------------------------------

NAMES = ("rows", "cols", "x", "batch", "heads", "head_dim")
_dims = st.lists(st.sampled_from((*NAMES, 16)), min_size=1, max_size=4, unique=True)
_tensors = st.lists(st.builds(lambda dims: Tensor(*dims), _dims), min_size=1, max_size=3)
_dtypes = st.lists(st.sampled_from((*FLOATING, "int32")), min_size=1, max_size=3, unique=True)
_blocks = st.lists(st.sampled_from((1, 4, 32, 48, 64, 128, 1024, 8192, 1 << 21)), max_size=3)


@st.composite
def subjects(draw: st.DrawFn, tensors: Any = _tensors) -> Subject:
    inputs = draw(tensors)
    names = sorted({dim for tensor in inputs for dim in tensor.dims if isinstance(dim, str)})
    named = draw(st.lists(st.sampled_from(names), unique=True, max_size=2)) if names else []
    sizes = {name: draw(st.lists(st.sampled_from((0, 3, 64, 100, 1 << 22)), min_size=1, max_size=3)) for name in named}
    return Subject(nothing, inputs=inputs, sizes=sizes, dtypes=draw(_dtypes))


def elements(of: Subject, case: Case) -> int:
    return sum(math.prod(case[dim] for dim in tensor.dims) for tensor in of.tensors)


def least(of: Subject) -> dict[str, int]:
    """The least sizes that its dimensions can have beside a large one, empty tensors apart."""
    usual = {"head_dim": 16}
    return {name: min(filter(None, of.sizes.get(name, [usual.get(name, 1)])), default=0) for name in of.dimensions}


@settings(max_examples=30, deadline=None)
@given(subjects(), _blocks)
def test_every_plan(of: Subject, blocks: list[int]) -> None:
    plan = audit_cases(of, blocks)
    assert plan == audit_cases(of, list(reversed(blocks)))
    assert len({case.label for case in plan.cases}) == len(plan.cases) > 0

    # Ordinary cases of each dtype are first, all of the same sizes.
    first = plan.cases[: len(of.dtypes)]
    assert [case.dtype for case in first] == list(of.dtypes)
    assert {(tuple(case.sizes.items()), case.layout, case.fill) for case in first} == {
        (tuple(first[0].sizes.items()), Layout.CONTIGUOUS, "normal")
    }

    # A value comes before there have been as many cases as values, its special fill in ordinary company.
    assert plan.uncovered(()) == plan.values
    assert plan.uncovered(plan.cases[: len(plan.values)]) == ()
    one_at_a_time = next((n for n in range(len(plan.cases)) if not plan.uncovered(plan.cases[:n])), len(plan.cases))
    for case in plan.cases[:one_at_a_time]:
        if case.fill != "normal":
            assert (case.sizes, case.layout) == (first[0].sizes, Layout.CONTIGUOUS)

    # No case is larger than the limit, unless the subject asks for nothing else.
    limit = max(LARGEST * max(2, len(of.tensors)), elements(of, Case(least(of))))
    assert all(elements(of, case) <= limit for case in plan.cases)

    # The subject's own sizes are kept to, and what none of the cases has is said.
    for name, sizes in of.sizes.items():
        tried = {case[name] for case in plan.cases}
        unfit = {left.value.value for left in plan.left_out if left.value.axis == name}
        assert tried <= set(sizes) <= tried | unfit
    said = {left.value for left in plan.left_out}
    everything = {AxisValue(axis.name, value) for axis in axes_of(of, blocks).all for value in axis.values}
    assert everything == {*plan.values} | (everything & said)
    assert {AxisValue("fill", fill) for fill in FILLS} <= {*plan.values} | said


@settings(max_examples=25, deadline=None)
@given(subjects(st.builds(lambda dims: [Tensor(*dims)], _dims)), st.sampled_from(((), (64,), (128,), (1024,))))
def test_every_two_values_meet_where_there_is_room(of: Subject, blocks: tuple[int, ...]) -> None:
    plan = audit_cases(of, blocks)
    met = {pair for case in plan.cases for pair in combinations(values_of(case), 2)}
    for one, other in combinations(plan.values, 2):
        if one.axis != other.axis and may_meet(of, one, other):
            assert (one, other) in met or (other, one) in met, (one, other)


def may_meet(of: Subject, one: AxisValue, other: AxisValue) -> bool:
    """Whether a case of one tensor has these two, by the rules that the docstring of `audit_cases` gives."""
    if 0 in (one.value, other.value):
        return False
    sizes = {place.axis: place.value for place in (one, other) if isinstance(place.value, int)}
    limit = max(2 * LARGEST, elements(of, Case(least(of))))
    if elements(of, Case({**least(of), **sizes})) > limit:
        return False
    texts = {place.axis: str(place.value) for place in (one, other)}
    if texts.get("fill") in axes_of(of).fill.alone:
        return False
    if texts.get("fill", "normal") == "normal":
        return True
    if any(size > 1 << 16 for size in sizes.values()):
        return False
    return "dtype" not in texts or axes_of(of).holds(texts["dtype"], texts["fill"])


# -- sizes ---------------------------------------------------------------------------------------------------------


def test_sizes_are_those_of_the_mission_and_around_each_block() -> None:
    around = {63, 64, 65, 131, 255, 256, 257, 515}
    assert sizes_of(subject("n"), "n", 64, 256) == {*SIZES, *around}
    assert {1, 64, 4096, 1048576, 1000, 0} == set(SIZES)


def test_dimensions_that_count_few_things_have_sizes_of_their_own() -> None:
    assert sizes_of(ATTENTION, "batch", 128) == {4, 7, 1, 0, 256}
    assert sizes_of(ATTENTION, "heads", 128) == {8, 1, 3}
    assert sizes_of(ATTENTION, "head_dim", 128) == {64, 80, 40, 16, 128}


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_million_is_tried_of_vectors_however_many(number: int) -> None:
    assert LARGEST in sizes_of(Subject(nothing, inputs=[Tensor("n")] * number), "n")


def test_a_large_size_has_small_ones_beside_it() -> None:
    cases = [case for case in audit_cases(SOFTMAX, (128,)).cases if LARGEST in case.sizes.values()]
    assert {tuple(case.sizes.values()) for case in cases} == {(LARGEST, 1), (1, LARGEST)}
    assert {case.fill for case in cases} == {"normal"}
    assert {case.dtype for case in cases} == {"float32", "float16", "bfloat16"}


def test_where_a_call_makes_many_launches_a_size_has_smaller_ones_beside_it() -> None:
    few, many = (audit_cases(SOFTMAX, (1024,), launches=launches).cases for launches in (2, 8))
    ordinary = few[0].sizes
    assert [case for case in many if case.sizes == ordinary] == [case for case in few if case.sizes == ordinary]

    first_of = [next(case["rows"] for case in cases if case["cols"] == 2051) for cases in (few, many)]
    assert first_of == [64, 16]


def test_a_loop_over_a_million_is_tried_once() -> None:
    cases = [case.label for case in audit_cases(PRODUCT, (128,)).cases if LARGEST in case.sizes.values()]
    assert cases == ["m=1048576 k=1 n=1 float32", "m=1 k=1048576 n=1 float32", "m=1 k=1 n=1048576 float32"]


def test_what_is_made_of_the_tensors_is_not_too_large_either() -> None:
    for case in audit_cases(PRODUCT, (128, 64, 32)).cases:
        assert case["m"] * case["n"] <= 2 * LARGEST
        assert case["m"] * case["n"] * case["k"] <= 64 * LARGEST
    for case in audit_cases(ATTENTION, (128,)).cases:
        assert case["batch"] * case["heads"] * case["seq"] ** 2 <= 16 * LARGEST
    outer = Subject(nothing, inputs=[Tensor("a"), Tensor("c")])
    assert all(case["a"] * case["c"] <= 2 * LARGEST for case in audit_cases(outer).cases)


def test_a_size_that_never_fits_is_left_out_with_the_reason() -> None:
    assert reasons(subject("n", 64))["n=1048576"] == "its tensors would have more than 2097152 elements"
    assert "positions" in reasons(Subject(nothing, inputs=[Tensor("b", "t", 1)] * 3))["t=1048576"]
    assert reasons(subject("n", sizes={"n": [64, 1 << 24]}))["n=16777216"].startswith("its tensors")


def test_what_the_subject_asks_for_is_tried_however_large() -> None:
    assert sizes_of(subject("n", sizes={"n": [1 << 24]}), "n") == {1 << 24}
    assert len(labels(subject(4096, 4096))) > 20


def test_nothing_else_is_unusual_beside_an_empty_tensor() -> None:
    empty = [case for case in audit_cases(SOFTMAX, (128,)).cases if 0 in case.sizes.values()]
    assert [case.label for case in empty] == ["rows=0 cols=128 float32", "rows=128 cols=0 float32"]


def test_an_index_has_something_to_point_to() -> None:
    assert not any(case["vocab"] == 0 for case in audit_cases(LOOKUP).cases)
    assert reasons(LOOKUP)["vocab=0"] == "the tensors cannot be made with it"


def test_dimensions_of_formulas_are_never_negative() -> None:
    cases = audit_cases(subject("n - 1000"), (64,)).cases
    assert {case["n"] for case in cases if not case.seed} == {1000, 1023, 1024, 4096, LARGEST}
    assert all(case["n"] >= 1000 for case in cases)
    assert {case.dtype for case in cases} == {"float32", "float16", "bfloat16"}
    assert all(case["n"] for case in audit_cases(subject("8 // n")).cases)


# -- dtypes, layouts and fills -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATING)
def test_a_fill_is_tried_where_the_dtype_holds_it(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    numbers = {"zeros": 0.0, "ones": 1.0, "alternating": -1.0}
    tried = {case.fill for case in audit_cases(subject("n", dtypes=[dtype])).cases}
    for fill in FILLS:
        wanted = [numbers[fill]] if fill in numbers else [float(number) for number in re.split("[,|]", fill)]
        given = torch.tensor(wanted, dtype=torch.float32).to(getattr(torch, dtype)).float().tolist()
        is_held = all(
            math.isnan(held) if math.isnan(number) else held == number or 0.5 < held / (number or 1) < 2
            for number, held in zip(wanted, given, strict=True)
        )
        assert (fill in tried) == is_held, (fill, given)


def test_tensors_with_a_dtype_of_their_own_do_not_vary() -> None:
    fixed = Subject(nothing, inputs=[Tensor("n", dtype="int32")])
    assert {case.dtype for case in audit_cases(fixed).cases} == {"float32"}
    assert {case.fill for case in audit_cases(fixed).cases} == {"normal", "integers in runs"}
    assert reasons(fixed)["dtype float16"] == "no tensor has the case's"
    assert reasons(fixed)["fill nan"] == "no tensor holds floating-point numbers"
    mixed = Subject(nothing, inputs=[Tensor("n"), Tensor("n", dtype="float16")], dtypes=["float32"])
    assert reasons(mixed)["fill 1e38"] == "float16 cannot hold it"


def test_layouts_are_those_in_which_a_tensor_can_lie() -> None:
    vector = {case.layout for case in audit_cases(subject("n")).cases}
    assert vector == {Layout.CONTIGUOUS, Layout.OFFSET, Layout.EXPANDED}
    assert {case.layout for case in audit_cases(SOFTMAX).cases} == set(Layout) - {Layout.PADDED, Layout.SPREAD}
    assert {case.layout for case in audit_cases(PRODUCT).cases} == set(Layout)
    written = subject("n", mutates=[0])
    assert Layout.EXPANDED not in {case.layout for case in audit_cases(written).cases}
    assert reasons(written)["layout expanded"] == "every tensor is changed intentionally"


# -- inputs that a function makes ----------------------------------------------------------------------------------


def of_the_case(case: Case) -> None:
    """Inputs."""


def by_size(size: int, batch: int, fill: float = 1.0) -> None:
    """Inputs by keywords."""


def by_pattern(dtype: Any, pattern: str, special: str) -> None:
    """Inputs by keywords."""


def of_one_kind(device: str) -> None:
    """Inputs that never differ."""


def axes_tried(make: Callable[..., Any], **more: Any) -> dict[str, set[Any]]:
    found: dict[str, set[Any]] = {}
    for case in foreseen(Subject(nothing, inputs=make, **more)):
        for value in values_of(case):
            found.setdefault(value.axis, set()).add(value.value)
    return found


def test_a_function_of_the_case_gets_every_dtype_and_fill_and_the_sizes_that_the_subject_names() -> None:
    assert axes_tried(of_the_case, sizes={"tokens": [1 << 30, 17]}) == {
        "tokens": {1 << 30, 17},
        "dtype": {"float32", "float16", "bfloat16"},
        "layout": {"contiguous"},
        "fill": {"normal", *FILLS},
    }


def test_a_function_gets_what_its_keywords_name() -> None:
    assert axes_tried(by_size) == {
        "size": {*SIZES, 63},
        "batch": {4, 7, 1, 0, 256},
        "dtype": {"float32"},
        "layout": {"contiguous"},
        "fill": {"normal", *FILLS} - {"alternating", "inf", "nan", BESIDE_MIDDLES, HALF_WAY, OPPOSITE_HALVES},
    }
    of_one_number = Subject(nothing, inputs=by_size)
    assert reasons(of_one_number)[f"fill {HALF_WAY}"] == "the function for the inputs takes a single number"
    assert axes_tried(by_pattern) == {
        "dtype": {"float32", "float16", "bfloat16"},
        "layout": {"contiguous"},
        "fill": {"normal", "alternating", "inf", "nan"},
    }


def test_inputs_that_never_differ_are_made_of_several_seeds() -> None:
    cases = audit_cases(Subject(nothing, inputs=of_one_kind)).cases
    assert len({case.seed for case in cases}) == SEEDS
    assert cases[0].seed == 0
    assert all(case.seed >= 1 << 32 for case in cases[1:])
    assert labels(Subject(nothing, inputs=[3])) == ["float32"]


# -- simpler cases -------------------------------------------------------------------------------------------------


def simplest(of: Subject, case: Case, fails: Callable[[Case], bool]) -> tuple[Case, int]:
    """Where walking along simpler cases ends, and how many were tried on the way."""
    tried = 0

    def next_failing(cases: Iterator[Case]) -> Case | None:
        nonlocal tried
        for one in cases:
            tried += 1
            if fails(one):
                return one
        return None

    while (found := next_failing(simpler(of, case))) is not None:
        case = found
    return case, tried


@pytest.mark.parametrize(
    ("fails", "label"),
    [
        (lambda case: True, "rows=1 cols=1 float16"),
        (lambda case: case["cols"] > 64, "rows=1 cols=65 float16"),
        (lambda case: case["rows"] * case["cols"] > 1000, "rows=31 cols=33 float16"),
        (lambda case: case.fill == "inf", "rows=1 cols=1 float16 inf"),
        (lambda case: case.layout is Layout.OFFSET and case["rows"] > 6, "rows=7 cols=1 float16 offset"),
    ],
)
def test_a_failing_case_is_made_simple_in_few_steps(fails: Callable[[Case], bool], label: str) -> None:
    found, tried = simplest(SOFTMAX, Case({"rows": 1000, "cols": 4096}, "float16", Layout.OFFSET, "inf"), fails)
    assert found.label == label
    assert tried < 80


@settings(max_examples=30, deadline=None)
@given(subjects(), _blocks, st.data())
def test_simpler_cases_are_simpler_and_allowed(of: Subject, blocks: list[int], data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(audit_cases(of, blocks).cases))
    for one in simpler(of, case):
        assert one.dtype == case.dtype
        assert all(one[name] <= size for name, size in case.sizes.items())
        assert sum(a != b for a, b in zip(values_of(one), values_of(case), strict=True)) + (one.seed != case.seed) == 1
        assert all(one[name] in allowed for name, allowed in of.sizes.items())


def test_a_head_is_made_no_smaller_than_a_matrix_product_can_take() -> None:
    case = Case({"batch": 4, "heads": 8, "seq": 128, "head_dim": 64})
    assert simplest(ATTENTION, case, lambda case: True)[0].label == "batch=1 heads=1 seq=1 head_dim=16 float32"
