"""What a function for the inputs gives, and how it is varied."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

torch = pytest.importorskip("torch")
numpy = pytest.importorskip("numpy")

from tritonaudit.subject.asking import changing_as_its_model  # noqa: E402
from tritonaudit.subject.given import Given, GivenTensor  # noqa: E402
from tritonaudit.subject.inputs import make_inputs  # noqa: E402
from tritonaudit.subject.kernelbench import pair_subject  # noqa: E402
from tritonaudit.subject.model import Case, Layout, Subject, Tensor  # noqa: E402


def nothing(*_: Any, **__: Any) -> None:
    """A wrapper."""


class Same(torch.nn.Module):
    """A model that takes any shape."""

    def forward(self, *inputs: Any) -> Any:
        return inputs[0] * 2


def pair(model: Any, make: Any, arguments: Any = list) -> Subject:
    module = ModuleType("pair")
    module.Model = module.ModelNew = model
    module.get_inputs, module.get_init_inputs = make, arguments
    return pair_subject(module, module, "pair")


def given_of(subject: Subject) -> Given:
    assert subject.given is not None
    return subject.given


def made(subject: Subject, sizes: dict[str, int] | None = None, **more: Any) -> tuple[Any, ...]:
    return make_inputs(subject, Case(sizes or {}, device="cpu", **more))[0]


ROWS = pair(Same, lambda: [torch.randn(6, 10)])
UNIT = pair(Same, lambda: [torch.rand(6, 10)])
TARGETS = pair(Same, lambda: [torch.randn(64, 100), torch.randint(0, 100, (64,))])


# -- what is given -------------------------------------------------------------------------------------------------


def test_dimensions_of_equal_size_are_one_and_named_by_it() -> None:
    given = given_of(pair(Same, lambda: [torch.randn(6, 10), torch.randn(10, 6, 1)]))
    assert [tensor.dims for tensor in given.tensors] == [("dim_6", "dim_10"), ("dim_10", "dim_6", 1)]
    assert given.sizes == {"dim_6": 6, "dim_10": 10}


def test_the_range_of_what_is_given_is_known() -> None:
    (unit,) = given_of(UNIT).tensors
    assert 0 <= unit.low < unit.high <= 1
    _, targets = given_of(TARGETS).tensors
    assert (targets.dtype, targets.low >= 0, targets.high <= 99) == ("int64", True, True)


def test_gigabytes_are_not_made_to_know_that() -> None:
    given = given_of(pair(Same, lambda: [torch.rand(1 << 20, 1 << 20)]))
    assert given.elements() == 1 << 40
    assert given.is_remade
    assert 0 <= given.tensors[0].low < given.tensors[0].high <= 1
    huge = pair(Same, lambda: [torch.rand(1 << 20, 1 << 20)])
    assert made(huge, {"dim_1048576": 8})[0].shape == (8, 8)


def test_sizes_of_weights_and_of_what_the_models_are_built_with_stay() -> None:
    subject = pair(torch.nn.Linear, lambda: [torch.randn(8, 48)], lambda: [48, 5])
    assert given_of(subject).sizes == {"dim_8": 8}
    assert given_of(subject).kept == {"dim_48": "48 is a dimension of the reference's weights"}
    pool = pair(torch.nn.AvgPool1d, lambda: [torch.randn(4, 6, 30)], lambda: [6])
    assert given_of(pool).sizes == {"dim_4": 4, "dim_30": 30}
    assert given_of(pool).kept == {"dim_6": "6 is an argument of the models"}
    norm = pair(lambda: torch.nn.LayerNorm(48, elementwise_affine=False), lambda: [torch.randn(8, 48)])
    assert given_of(norm).kept == {"dim_48": "48 is a number that the reference holds"}


def test_sizes_that_the_reference_refuses_stay() -> None:
    class Flat(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x.flatten(1) @ torch.ones(60, 2, device=x.device)

    given = given_of(pair(Flat, lambda: [torch.randn(4, 6, 10)]))
    assert set(given.sizes) == {"dim_4"}
    assert given.kept["dim_10"].startswith("the reference refuses other sizes: ")


def test_what_ascending_integers_may_point_into_stays() -> None:
    subject = pair(Same, lambda: [torch.randn(12, 7), torch.tensor([0, 3, 8, 12])])
    given = given_of(subject)
    assert given.sizes == {"dim_7": 7}
    assert given.kept["dim_12"] == "integers that ascend are given, which may point into it"
    assert not any(fill.startswith("integers") and given.takes(fill) for fill in given.fills)


def test_a_number_among_the_inputs_is_no_size_to_choose() -> None:
    assert given_of(pair(Same, lambda: [torch.randn(6, 10), 10])).kept == {"dim_10": "10 is an input, too"}


def test_a_function_that_fails_or_gives_no_tensors_leaves_nothing_to_vary() -> None:
    for subject in (
        Subject(nothing, inputs=lambda case: None),
        Subject(nothing, inputs=lambda case: torch.ones(case["n"])),
        Subject(nothing, inputs=lambda case: [3]),
        Subject(nothing, inputs=[Tensor("n")]),
        Subject(nothing, inputs=lambda case: torch.ones(3), keywords={"bias": Tensor(3)}),
    ):
        assert subject.given is None


# -- values --------------------------------------------------------------------------------------------------------


def test_the_same_case_gives_the_same_tensors() -> None:
    for fill in (*given_of(TARGETS).fills, "zeros", "100,200,300", "-inf rows"):
        one, other = (made(TARGETS, {"dim_100": 9}, fill=fill) for _ in range(2))
        assert all(torch.equal(a.nan_to_num(9.5), b.nan_to_num(9.5)) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("special", ["nan", "inf", "-inf"])
def test_special_values_are_among_those_given_in_several_rows(special: str) -> None:
    (plain,) = made(ROWS)
    (varied,) = made(ROWS, fill=f"{special} among given")
    is_special = ~varied.isfinite()
    assert torch.equal(plain[~is_special], varied[~is_special])
    assert is_special[0, 0]
    assert is_special[-1, -1]
    assert is_special.any(1).sum() == is_special.sum() == 4
    assert varied[is_special].unique().numel() in (1, 4)  # NaN is not equal to itself


def test_special_values_may_be_in_one_tensor_only() -> None:
    subject = pair(Same, lambda: [torch.randn(6, 10), torch.randn(10)])
    assert "nan among given of tensor 1" in given_of(subject).fills
    x, bias = made(subject, fill="nan among given of tensor 1")
    assert not x.isnan().any()
    assert bias.isnan().any()
    assert all(tensor.isnan().any() for tensor in made(subject, fill="nan among given"))


def test_values_given_are_rearranged() -> None:
    (plain,), (constant,), (ties,), (ascending,), (scaled,) = (
        made(ROWS, fill=fill) for fill in ("normal", "constant", "ties", "sorted", "scaled 1e4")
    )
    assert torch.equal(constant, plain[0, 0].expand(6, 10))
    assert ties.unique().numel() <= 5
    assert plain.min() <= ties.min() < ties.max() <= plain.max()
    assert torch.equal(ascending, plain.sort(-1).values)
    assert torch.allclose(scaled, plain * 1e4)


def test_other_fills_are_of_the_tensors_given() -> None:
    assert made(ROWS, fill="1e6")[0].unique().tolist() == [1e6]
    (plain,), (shifted,), (rows,) = (made(ROWS, fill=fill) for fill in ("normal", "1000+normal", "-inf rows"))
    assert torch.allclose(shifted, plain + 1000)
    assert torch.equal(rows[::2], plain[::2])
    assert rows[1].tolist() == [-math.inf] * 10


def test_numbers_stay_within_what_was_given() -> None:
    given = given_of(UNIT)
    held = {"nan among given", "zeros", "ones", "nan", "constant", "ties", "sorted", "scaled 1e-4", "1e-6", "0.5"}
    beyond = {"inf among given", "-inf among given", "inf", "-1", "alternating", "1e6", "scaled 1e4", "100|-100"}
    assert {fill for fill in held | beyond if given.takes(fill)} == held
    (plain,), (kept,) = made(UNIT), made(UNIT, fill="-1")
    assert torch.equal(plain, kept)
    positive = GivenTensor((3,), "float32", low=0.5, high=7.0)
    assert positive.takes("1e6", 0)
    assert positive.takes("inf among given", 0)
    assert not positive.takes("-1", 0)


@pytest.mark.parametrize("fill", ["integers sorted", "integers permuted", "integers least", "integers largest"])
def test_integers_are_of_those_given(fill: str) -> None:
    (_, plain), (_, varied) = made(TARGETS), made(TARGETS, fill=fill)
    assert set(varied.tolist()) <= set(plain.tolist())
    assert not torch.equal(plain, varied)
    assert varied.dtype == plain.dtype


class Rows(torch.nn.Module):
    """A model that takes rows of a table."""

    def __init__(self, rows: int) -> None:
        super().__init__()
        self.table = torch.nn.Parameter(torch.randn(rows, 8))

    def forward(self, places: Any) -> Any:
        return self.table[places]


def test_integers_go_up_to_the_dimension_that_the_reference_lets_them_point_into() -> None:
    subject = pair(Rows, lambda: [torch.randint(0, 200, (30, 12))], lambda: [1000])
    assert given_of(subject).tensors[0].below == 1000
    (far,) = made(subject, fill="integers up to the dimension")
    assert int(far.max()) == 999
    assert int(far.min()) >= 0


@pytest.mark.parametrize(
    "model", [Same, lambda: lambda places: torch.randn(1000)[places % 1000]], ids=["numbers", "remainders"]
)
def test_integers_that_the_reference_takes_whatever_they_are_point_into_nothing(model: Any) -> None:
    given = given_of(pair(model, lambda: [torch.randint(0, 200, (30, 12))]))
    assert given.tensors[0].below is None
    assert "integers up to the dimension" not in given.fills


class InPlace(torch.nn.Module):
    """A model that changes its second argument."""

    def forward(self, one: Any, other: Any) -> Any:
        return other.add_(one)


def test_a_pair_changes_in_place_what_its_model_does() -> None:
    def subject(model: Any) -> Subject:
        return changing_as_its_model(pair(model, lambda: [torch.randn(6, 10), torch.randn(6, 10)]))

    assert subject(InPlace).mutates == (1,)
    assert subject(Same).mutates == ()


def test_what_has_a_scale_besides_is_not_scaled_itself() -> None:
    subject = pair(Same, lambda: [torch.randn(6, 10).to(torch.float8_e4m3fn), torch.rand(6)])
    given = given_of(subject)
    assert [tensor.takes("scaled 1e-4", number) for number, tensor in enumerate(given.tensors)] == [False, True]


# -- layouts and sizes ---------------------------------------------------------------------------------------------


def test_layouts_change_where_elements_lie() -> None:
    (plain,) = made(ROWS)
    strides = {}
    for layout in Layout:
        (varied,) = made(ROWS, layout=layout)
        strides[layout] = (varied.stride(), varied.storage_offset())
        assert torch.equal(varied, plain) or layout is Layout.EXPANDED
    assert strides == {
        Layout.CONTIGUOUS: ((10, 1), 0),
        Layout.TRANSPOSED: ((1, 6), 0),
        Layout.OFFSET: ((11, 1), 1),
        Layout.EXPANDED: ((0, 1), 0),
        Layout.PADDED: ((10, 1), 0),
        Layout.SPREAD: ((10, 1), 0),
    }


def test_each_tensor_may_have_strides_of_its_own() -> None:
    several = pair(Same, lambda: [torch.randn(6, 4), torch.randn(4), torch.randn(6, 4), torch.randn(2, 6, 4)])
    plain = made(several)
    padded, spread = (made(several, layout=layout) for layout in (Layout.PADDED, Layout.SPREAD))
    assert [one.stride() for one in padded] == [(4, 1), (1,), (5, 1), (36, 6, 1)]
    assert [one.stride() for one in spread] == [(16, 4), (3,), (8, 2), (24, 4, 1)]
    assert all(map(torch.equal, (*padded, *spread), (*plain, *plain)))


def test_what_is_given_otherwise_than_contiguously_stays_so() -> None:
    subject = pair(Same, lambda: [torch.randn(10, 6).t()])
    for layout in Layout:
        assert made(subject, layout=layout, fill="nan among given")[0].stride() == (1, 6)


def test_other_sizes_are_made_by_the_function_where_it_can() -> None:
    assert given_of(ROWS).is_remade
    (smaller,) = made(ROWS, {"dim_6": 3, "dim_10": 17})
    assert smaller.shape == (3, 17)
    assert smaller.unique().numel() == 51


def test_else_tensors_are_cut() -> None:
    values = torch.arange(60.0).reshape(6, 10)
    subject = pair(Same, lambda: [values.clone()])
    assert not given_of(subject).is_remade
    assert torch.equal(made(subject, {"dim_6": 3, "dim_10": 4})[0], values[:3, :4])
    assert torch.equal(made(subject, {"dim_6": 13})[0], torch.cat([values, values, values[:1]]))


def test_integers_that_point_into_a_dimension_stay_in_it() -> None:
    _, targets = made(TARGETS, {"dim_100": 7})
    assert targets.shape == (64,)
    assert 0 <= int(targets.min()) <= int(targets.max()) < 7


def test_a_dimension_that_may_not_be_chosen_is_refused_with_the_reason() -> None:
    subject = pair(torch.nn.Linear, lambda: [torch.randn(8, 48)], lambda: [48, 5])
    with pytest.raises(
        ValueError, match=r"'dim_48' is not a dimension .*: 48 is a dimension of the reference's weights"
    ):
        made(subject, {"dim_48": 3})
    with pytest.raises(ValueError, match="there are: dim_8"):
        made(subject, {"n": 3})


# -- functions of the case -----------------------------------------------------------------------------------------


def test_a_function_of_the_case_is_asked_for_fills_that_it_heeds() -> None:
    def heeding(case: Case) -> Any:
        special = {"zeros": 0.0, "nan": float("nan")}.get(case.fill)
        return torch.randn(case["n"], 4) if special is None else torch.full((case["n"], 4), special)

    subject = Subject(nothing, inputs=heeding, sizes={"n": [6]})
    assert given_of(subject).heeds_fills
    assert not made(subject, {"n": 6}, fill="1e6")[0].eq(1e6).any()
    assert made(subject, {"n": 6}, fill="nan among given")[0].isnan().any()
    assert made(subject, {"n": 6}, layout=Layout.TRANSPOSED)[0].stride() == (1, 6)


def zeros_alone(case: Case) -> Any:
    return torch.zeros(6, 4) if case.fill == "zeros" else torch.randn(6, 4)


def of_numpy(case: Case) -> Any:
    return torch.from_numpy(numpy.random.randn(6, 4))


def others_each_time(case: Case) -> Any:
    return torch.from_numpy(numpy.random.default_rng().standard_normal((6, 4)))


@pytest.mark.parametrize("inputs", [zeros_alone, of_numpy, others_each_time])
def test_where_a_fill_does_not_arrive_it_is_put_there(inputs: Callable[[Case], Any]) -> None:
    subject = Subject(nothing, inputs=inputs)
    assert not given_of(subject).heeds_fills
    for fill in ("nan", "nan among given"):
        assert made(subject, fill=fill)[0].isnan().any()
    assert made(subject, fill="zeros")[0].eq(0).all()


@pytest.mark.parametrize("fill", ["nan among given", "zeros", "scaled 1e4", "sorted"])
def test_integers_that_a_function_gives_for_another_dtype_stay_as_they_are(fill: str) -> None:
    def of_dtype(case: Case) -> Any:
        return torch.arange(24).reshape(6, 4).to(getattr(torch, case.dtype))

    subject = Subject(nothing, inputs=of_dtype, dtypes=["float32", "int32"])
    (integers,) = made(subject, dtype="int32", fill=fill)
    assert integers.tolist() == torch.arange(24).reshape(6, 4).tolist()


def test_what_a_global_generator_gives_is_the_same_whenever_it_is_made() -> None:
    for inputs in (of_numpy, lambda case: torch.tensor([random.random()])):
        subject = Subject(nothing, inputs=inputs)
        assert torch.equal(made(subject)[0], made(subject)[0])
        assert not torch.equal(made(subject)[0], made(subject, seed=1)[0])


def test_what_another_gives_is_filled() -> None:
    subject = Subject(nothing, inputs=lambda case: torch.randn(case["n"], 4), sizes={"n": [6]})
    assert not given_of(subject).heeds_fills
    assert given_of(subject).sizes == {}
    assert made(subject, {"n": 6}, fill="1e6")[0].eq(1e6).all()


def test_what_is_changed_by_intent_is_not_expanded() -> None:
    subject = Subject(nothing, inputs=lambda case: (torch.randn(6, 4), torch.randn(6, 4)), mutates=[0])
    out, x = made(subject, layout=Layout.EXPANDED)
    assert (out.stride(), x.stride()) == ((4, 1), (0, 1))


def test_without_memory_tensors_of_other_sizes_have_none_either() -> None:
    def seeded(case: Case) -> Any:
        return torch.randn(100, 384, generator=torch.Generator().manual_seed(0))

    of = Subject(nothing, inputs=seeded, dtypes=["float32"])
    assert of.given is not None
    (x,), _ = make_inputs(of, Case({"dim_100": 1 << 23}, device="meta"))
    assert (x.shape, x.is_meta) == ((1 << 23, 384), True)


def test_places_stay_distinct_in_a_smaller_dimension_that_has_room_for_them() -> None:
    def places() -> list[Any]:
        return [torch.randn(100, 4), torch.randperm(100)[:20]]

    of = pair(Same, places)
    assert not given_of(of).repeats({"dim_100": 20})
    assert given_of(of).repeats({"dim_100": 19})
    _, placed = made(of, sizes={"dim_100": 20})
    assert sorted(placed.tolist()) == list(range(20))


def test_places_to_write_to_stay_distinct() -> None:
    def slots() -> list[Any]:
        places = torch.randperm(100)[:20]
        places[3] = places[7] = -1  # marks, and no places
        return [torch.randn(20, 4), places]

    (_, places) = given_of(pair(Same, slots)).tensors
    assert places.is_distinct
    assert places.takes("integers permuted", 1)
    assert not places.takes("integers largest", 1)
    x, placed = made(pair(Same, slots), layout=Layout.EXPANDED)
    assert (x.stride(), placed.stride()) == ((0, 1), (1,))
    (_, targets) = given_of(TARGETS).tensors
    assert not targets.is_distinct
    assert targets.takes("integers largest", 1)


def test_integers_come_in_runs_of_the_least_and_the_largest_that_were_given() -> None:
    places = torch.arange(4000).remainder(50).reshape(4, 1000)
    subject = pair(Same, lambda: [places, torch.ones(3)])
    integers, floats = made(subject, fill="integers in runs")
    assert set(integers.unique().tolist()) == {0, 1, 48, 49}
    assert torch.equal(floats, torch.ones(3))
