"""The tensors that a case gives a wrapper, and the call."""

from __future__ import annotations

import math
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from tritonaudit.subject.inputs import OnDevice, call, make_inputs, run_subject  # noqa: E402
from tritonaudit.subject.model import FLOATING, INTEGER, Case, Layout, Offsets, Size, Subject, Tensor  # noqa: E402


def nothing(*_: Any, **__: Any) -> None:
    """A wrapper."""


def case(sizes: dict[str, int] | None = None, **more: Any) -> Case:
    return Case({"n": 6, "m": 4} if sizes is None else sizes, device="cpu", **more)


def tensor(spec: Tensor, of: Case, **more: Any) -> Any:
    (made,), _ = make_inputs(Subject(nothing, inputs=[spec], **more), of)
    return made


# -- sizes and dtypes ----------------------------------------------------------------------------------------------


def test_dimensions_are_named_numbered_or_computed() -> None:
    assert tensor(Tensor("n", 3, "2 * m + 1"), case()).shape == (6, 3, 9)
    assert tensor(Tensor(), case()).shape == ()


def test_the_dtype_is_the_tensors_own_or_the_cases() -> None:
    assert tensor(Tensor("n"), case(dtype="bfloat16")).dtype == torch.bfloat16
    assert tensor(Tensor("n", dtype=torch.float64), case(dtype="bfloat16")).dtype == torch.float64


@pytest.mark.parametrize("dtype", [*FLOATING, *INTEGER])
def test_every_dtype_can_be_made(dtype: str) -> None:
    for layout in Layout:
        assert tensor(Tensor("n", "m", dtype=dtype), case(layout=layout)).dtype == getattr(torch, dtype)


@pytest.mark.parametrize("dtype", [dtype for dtype in INTEGER if dtype != "bool"])
def test_integers_may_be_any_where_nobody_says_how_large_they_are(dtype: str) -> None:
    any_ = case(fill="any integers")
    spec = Tensor("n", 100, dtype=dtype)
    assert tensor(spec, case()).unique().tolist() == [0, 1]
    assert len(tensor(spec, any_).unique()) > 100
    assert tensor(Tensor("n", 100, dtype=dtype, high=3), any_).unique().tolist() == [0, 1, 2]


def test_only_what_the_reference_takes_is_any_integer() -> None:
    def subject(reference: Any) -> Subject:
        return Subject(nothing, reference, inputs=[Tensor("n", dtype="int64")])

    assert subject(lambda places: places.sum()).takes_any_integers
    assert not subject(lambda places: torch.zeros(2)[places]).takes_any_integers
    assert not subject(None).takes_any_integers


def test_integers_stay_within_their_bounds() -> None:
    made = tensor(Tensor("n", 100, dtype="int32", low=2, high="n"), case())
    assert made.unique().tolist() == [2, 3, 4, 5]
    assert tensor(Tensor(1000, dtype="int8", low=-128, high=-126), case()).unique().tolist() == [-128, -127]
    assert tensor(Tensor(1000, dtype="bool"), case()).unique().tolist() == [False, True]
    assert tensor(Tensor(5, "n", dtype="int32", high="n"), case({"n": 0})).shape == (5, 0)


def test_where_there_are_several_integers_the_bounds_are_among_them() -> None:
    for seed in range(20):
        made = tensor(Tensor(2, "n", dtype="int64", low=-1, high=1 << 40), case(seed=seed)).flatten().tolist()
        assert (made[0], made[-1]) == (-1, (1 << 40) - 1)
    assert tensor(Tensor("n", dtype="int32", high=1 << 40), case())[-1] == (1 << 31) - 1
    alone = {tensor(Tensor(1, dtype="int64", high=1 << 40), case(seed=seed)).item() for seed in range(20)}
    assert (1 << 40) - 1 in alone
    assert len(alone) > 5


def test_integers_without_memory_are_known_by_their_bounds() -> None:
    from tritonaudit.capture.imagined import elements_of, is_imagined

    with torch.device("meta"):
        made = tensor(Tensor(1 << 34, dtype="int32", low=-1, high=1000), Case(device="meta"))
    assert is_imagined(made[5:])
    found = elements_of(made, torch.arange(3000))
    assert (found.min(), found.max()) == (-1, 999)
    assert len(found.unique()) > 500
    tensor(Tensor("n"), case())
    assert not is_imagined(made)


def test_sizes_and_other_arguments_are_passed_as_they_are() -> None:
    inputs = [[Tensor("n"), Size("n")], (Size("2 * n"), "mean"), 1e-5, None]
    subject = Subject(nothing, inputs=inputs, keywords={"bias": Tensor("m"), "options": {"rows": Size("m")}})
    positional, keywords = make_inputs(subject, case())
    assert positional[0][0].shape == (6,)
    assert positional[0][1] == 6
    assert positional[1:] == ((12, "mean"), 1e-5, None)
    assert keywords["bias"].shape == (4,)
    assert keywords["options"] == {"rows": 4}


@pytest.mark.parametrize("parts", [0, 1, 2, 5])
def test_offsets_go_up_from_0_to_the_total(parts: int) -> None:
    subject = Subject(nothing, inputs=[Tensor("n"), Offsets("p", "n")])
    (_, offsets), _ = make_inputs(subject, case({"n": 100, "p": parts}))
    assert offsets.dtype == torch.int32
    assert offsets.numel() == parts + 1
    assert offsets.tolist() == sorted(offsets.tolist())
    assert offsets[0] == 0
    assert parts == 0 or offsets[-1] == 100


# -- values --------------------------------------------------------------------------------------------------------


def test_the_same_case_gives_the_same_values() -> None:
    first, again, other = (tensor(Tensor("n"), case(seed=seed)) for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_a_dtype_rounds_the_same_values() -> None:
    exact, rounded = (tensor(Tensor("n"), case(dtype=dtype)) for dtype in ("float32", "bfloat16"))
    assert torch.equal(exact.bfloat16(), rounded)


@pytest.mark.parametrize(
    ("fill", "value"),
    [("zeros", 0.0), ("ones", 1.0), ("1e6", 1e6), ("1e-6", 1e-6), ("-1", -1.0), ("1e38", 1e38), ("inf", math.inf)],
)
def test_a_fill_is_everywhere(fill: str, value: float) -> None:
    made = tensor(Tensor("n", "m"), case(fill=fill))
    assert made.unique().tolist() == [torch.tensor(value).item()]


def test_fills_that_are_no_one_number() -> None:
    assert tensor(Tensor("n"), case(fill="alternating")).tolist() == [1, -1, 1, -1, 1, -1]
    assert tensor(Tensor("n"), case(fill="nan")).isnan().all()


def test_fills_that_differ_along_a_row() -> None:
    def rows(fill: str) -> list[list[float]]:
        return tensor(Tensor(2, 5), case(fill=fill)).tolist()

    assert rows("1e8,-1e8,1") == [[1e8, -1e8, 1, 1e8, -1e8]] * 2
    assert rows("100|-100") == [[100, 100, 100, -100, -100]] * 2
    assert rows("-inf rows")[1] == [-torch.inf] * 5
    assert all(map(math.isfinite, rows("-inf rows")[0]))
    assert all(990 < number < 1010 for number in rows("1000+normal")[0])


def test_what_a_dtype_cannot_hold_is_its_largest_number() -> None:
    assert tensor(Tensor("n"), case(fill="1e6", dtype="float16")).unique().tolist() == [65504.0]
    assert tensor(Tensor("n"), case(fill="-1e38", dtype="float16")).unique().tolist() == [-65504.0]
    assert tensor(Tensor("n"), case(fill="inf", dtype="float16")).isinf().all()


def test_a_fill_leaves_integers_alone() -> None:
    assert tensor(Tensor("n", dtype="int64", high=1), case(fill="nan")).tolist() == [0] * 6


# -- layouts -------------------------------------------------------------------------------------------------------


def test_layouts_change_where_elements_lie_and_not_what_they_are() -> None:
    plain = tensor(Tensor("n", "m"), case())
    transposed = tensor(Tensor("n", "m"), case(layout=Layout.TRANSPOSED))
    offset = tensor(Tensor("n", "m"), case(layout=Layout.OFFSET))
    assert (plain.stride(), plain.storage_offset()) == ((4, 1), 0)
    assert (transposed.stride(), transposed.storage_offset()) == ((1, 6), 0)
    assert (offset.stride(), offset.storage_offset()) == ((5, 1), 1)
    assert torch.equal(plain, transposed)
    assert torch.equal(plain, offset)


def test_an_expanded_tensor_has_no_stride_in_its_first_dimension() -> None:
    made = tensor(Tensor("n", "m"), case(layout=Layout.EXPANDED))
    assert made.shape == (6, 4)
    assert made.stride() == (0, 1)


def test_each_tensor_may_have_strides_of_its_own_those_given_by_name_after_the_others() -> None:
    matrix = Tensor("n", "m")
    subject = Subject(nothing, inputs=[matrix, Tensor("m"), [matrix]], keywords={"out": Tensor(2, "n", "m")})
    strides = {}
    for layout in (Layout.PADDED, Layout.SPREAD):
        (x, vector, (y,)), keywords = make_inputs(subject, case(layout=layout))
        strides[layout] = [one.stride() for one in (x, vector, y, keywords["out"])]
    assert strides == {
        Layout.PADDED: [(4, 1), (1,), (5, 1), (36, 6, 1)],
        Layout.SPREAD: [(16, 4), (3,), (8, 2), (24, 4, 1)],
    }


def test_layouts_of_vectors_and_scalars() -> None:
    assert tensor(Tensor("n"), case(layout=Layout.OFFSET)).storage_offset() == 1
    assert tensor(Tensor("n"), case(layout=Layout.TRANSPOSED)).stride() == (1,)
    assert tensor(Tensor("n"), case({"n": 0}, layout=Layout.EXPANDED)).shape == (0,)
    assert all(tensor(Tensor(), case(layout=layout)).shape == () for layout in Layout)


def test_what_is_written_to_is_not_expanded() -> None:
    subject = Subject(nothing, inputs=[Tensor("n")], keywords={"out": Tensor("n")}, mutates=[0, "out"])
    (x,), keywords = make_inputs(subject, case(layout=Layout.EXPANDED))
    assert x.stride() == keywords["out"].stride() == (1,)


# -- inputs that a function makes ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "arguments"),
    [
        ((1, 2), ((1, 2), {})),
        ([1, 2], ((1, 2), {})),
        ({"x": 1}, ((), {"x": 1})),
        (((1,), {"x": 2}), ((1,), {"x": 2})),
        (([1], {"x": 2}), ((1,), {"x": 2})),
    ],
)
def test_what_a_function_may_return(made: Any, arguments: Any) -> None:
    assert make_inputs(Subject(nothing, inputs=lambda _: made), case()) == arguments


def test_a_function_may_return_a_tensor() -> None:
    (made,), _ = make_inputs(Subject(nothing, inputs=lambda c: torch.ones(c["n"])), case())
    assert made.tolist() == [1.0] * 6


def test_what_cannot_be_arguments_is_refused() -> None:
    with pytest.raises(TypeError, match="returns a int: return a tensor, a tuple, a dict"):
        make_inputs(Subject(nothing, inputs=lambda _: 3), case())


def test_a_function_is_seeded_by_the_case() -> None:
    subject = Subject(nothing, inputs=lambda c: torch.randn(c["n"]))
    assert torch.equal(make_inputs(subject, case(seed=3))[0][0], make_inputs(subject, case(seed=3))[0][0])


def test_tensors_without_a_device_are_on_the_cases() -> None:
    generator = torch.Generator()
    with OnDevice("meta"):
        assert torch.ones(3).is_meta
        assert torch.randn(3, generator=generator).is_meta
        assert torch.nn.Linear(2, 3).weight.is_meta
        assert not torch.ones(3, device="cpu").is_meta
    assert not torch.ones(3).is_meta


def test_keywords_are_given_what_the_case_says() -> None:
    def make(
        size: int, batch: int, dtype: Any, device: str, fill: float | None, pattern: str = "none", special: Any = 0
    ):
        return ((size, batch, dtype, device, fill, pattern, special),)

    def given(**more: Any) -> Any:
        return make_inputs(Subject(nothing, inputs=make), case({"size": 8, "batch": 2}, **more))[0][0]

    assert given() == (8, 2, torch.float32, "cpu", None, "none", 0)
    assert given(fill="1e6")[4:] == (1e6, "none", 0)
    assert given(fill="alternating")[4:] == (None, "alternating", 0)
    assert given(fill="nan")[4:] == (None, "none", "nan")


# -- calling -------------------------------------------------------------------------------------------------------


def test_the_backward_pass_reaches_every_input_that_has_a_gradient() -> None:
    seen: dict[str, Any] = {}

    def wrapper(x: Any, index: Any, small: Any, scale: float) -> Any:
        seen.update(x=x, index=index, small=small)
        return {"sum": (x * scale).sum(), "rows": [x[index], index]}

    subject = Subject(
        wrapper,
        inputs=[Tensor("n"), Tensor(3, dtype="int64", high="n"), Tensor(2, dtype="float8_e5m2"), 2.0],
        gradients=True,
    )
    run_subject(subject, case(layout=Layout.OFFSET))
    twos = seen["x"].grad.clone()
    twos[seen["index"].unique()] = seen["x"].grad[next(i for i in range(6) if i not in seen["index"])]
    assert len(twos.unique()) == 1
    assert seen["x"].grad[seen["index"]].unique().numel() > 1
    assert not seen["small"].requires_grad


def test_the_gradients_that_are_passed_backward_are_eighths_that_every_dtype_holds() -> None:
    passed = []
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        x = torch.zeros(1000, dtype=dtype, requires_grad=True)
        call(lambda one: one * 1, [x], {}, gradients=True)
        passed.append(x.grad.float())
    assert passed[0].unique().tolist() == [n / 8 for n in range(-16, 17)]
    assert torch.equal(passed[0], passed[1])
    assert torch.equal(passed[0], passed[2])


def test_without_memory_there_is_nothing_random_to_hold() -> None:
    x = torch.zeros(1 << 40, device="meta", requires_grad=True)
    call(lambda one: one * 1, [x], {}, gradients=True)
    assert x.grad.is_meta


def test_without_gradients_there_is_no_backward_pass() -> None:
    out = run_subject(Subject(lambda x: x * 2, inputs=[Tensor("n")]), case())
    assert not out.requires_grad


def test_gradients_of_what_has_none_are_refused() -> None:
    with pytest.raises(ValueError, match="nothing that the function returns depends on an input"):
        call(lambda x: x.detach(), [torch.ones(3, requires_grad=True)], {}, gradients=True)


def test_zeros_of_both_signs_among_numbers_meet_others_of_the_next_tensor() -> None:
    subject = Subject(lambda *_: None, inputs=[Tensor("n"), Tensor("n")])
    (x, y), _ = make_inputs(subject, Case({"n": 40}, fill="0 among normal", device="cpu"))
    assert [float(one) for one in x[x == 0].sign().unique()] == [0.0]
    assert x[x == 0].signbit().any()
    assert not x[x == 0].signbit().all()
    assert int((x == 0).sum()) == int((y == 0).sum()) == 8
    assert not ((x == 0) & (y == 0)).any()


def test_special_values_among_numbers_are_where_halves_and_thirds_begin_and_at_both_ends() -> None:
    subject = Subject(lambda *_: None, inputs=[Tensor("rows", "cols")])
    (x,), _ = make_inputs(subject, Case({"rows": 6, "cols": 12}, fill="nan among normal", device="cpu"))
    assert x.isnan().nonzero().tolist() == [[0, 0], [2, 4], [3, 6], [5, 11]]
    (one,), _ = make_inputs(subject, Case({"rows": 1, "cols": 1}, fill="nan among normal", device="cpu"))
    assert one.isnan().tolist() == [[True]]


def test_a_fill_of_one_tensor_that_has_negative_numbers_leaves_the_signs_of_the_others() -> None:
    subject = Subject(lambda *_: None, inputs=[Tensor("n"), Tensor("n")])
    (x, y), _ = make_inputs(subject, Case({"n": 40}, fill="3000|-3000 of tensor 1", device="cpu"))
    assert y.tolist() == [3000.0] * 20 + [-3000.0] * 20
    assert bool((x < 0).any())
    assert float(x.abs().max()) < 10


def longest_run(row: Any) -> int:
    return int(torch.unique_consecutive(row, return_counts=True)[1].max())


def test_integers_come_in_runs_of_the_least_and_the_largest() -> None:
    inputs = [Tensor("rows", "cols", dtype="int32", low=-3, high=9), Tensor("rows", "cols", dtype="bool")]
    case = Case({"rows": 60, "cols": 1000}, fill="integers in runs", device="cpu")
    (integers, truths), _ = make_inputs(Subject(abs, inputs=inputs), case)
    assert set(integers.unique().tolist()) == {-3, -2, 7, 8}
    assert (integers.dtype, truths.dtype) == (torch.int32, torch.bool)
    lengths = [longest_run(row) for row in integers]
    assert min(lengths) < 10
    assert sum(length > 300 for length in lengths) > 10
    assert not torch.equal(integers > 0, truths)
