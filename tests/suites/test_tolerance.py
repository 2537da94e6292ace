"""Whether a result is right."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tritonaudit.finding import Status

torch = pytest.importorskip("torch")

from tritonaudit.suites import tolerance  # noqa: E402
from tritonaudit.suites.expected import Rounded  # noqa: E402
from tritonaudit.suites.judgement import Element  # noqa: E402
from tritonaudit.suites.noise import DRAWS, Noise, perturb  # noqa: E402
from tritonaudit.suites.ties import jumping  # noqa: E402
from tritonaudit.suites.tolerance import Yardstick, judge  # noqa: E402

FLOATING = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2]
HALVES = [torch.float16, torch.bfloat16]


def numbers(*shape: int, seed: int = 0) -> Any:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def softmax(x: Any) -> Any:
    return x.softmax(-1)


def beside(reference: Any, *inputs: Any) -> tuple[Any, Any, list[Any]]:
    """What `judge` takes after the output."""
    wide = [one.double() for one in inputs]
    perturbed = [reference(*perturb(inputs, Noise(draw))) for draw in range(DRAWS)]
    return reference(*wide), reference(*inputs), perturbed


def alone(precise: Any) -> tuple[Any, None, list[Any]]:
    return precise, None, []


# -- what is right -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATING)
def test_the_nearest_numbers_pass_in_every_dtype(dtype: Any) -> None:
    precise = numbers(50, 40)
    judgement = judge(precise.to(dtype), *alone(precise))
    assert judgement.status is Status.PASS
    assert judgement.rounded_again == 0
    assert judgement.exceeding == 0


@pytest.mark.parametrize("dtype", [torch.float32, *HALVES])
def test_a_softmax_in_float32_passes_and_one_in_half_precision_does_not(dtype: Any) -> None:
    x = numbers(32, 1000).to(dtype)
    known = beside(softmax, x)
    assert judge(x.float().softmax(-1).to(dtype), *known).status is Status.PASS
    shares = (x.float() - x.float().amax(-1, keepdim=True)).exp()
    narrow = torch.float16 if dtype == torch.float32 else dtype
    rounded = shares.to(narrow).float() / shares.to(narrow).sum(-1, keepdim=True).float()
    assert judge(rounded.to(dtype), *known).status is not Status.PASS


def test_cancellation_is_no_fault() -> None:
    x = (numbers(100, 64) + 1000).float()
    known = beside(lambda x: x.var(-1, unbiased=False), x)
    centred = x - x.mean(-1, keepdim=True)
    assert judge((centred * centred).mean(-1), *known).status is Status.PASS
    in_one_pass = (x * x).mean(-1) - x.mean(-1) ** 2
    assert judge(in_one_pass, *known).status is Status.FAIL


def test_an_error_that_pytorch_makes_too_passes() -> None:
    precise = numbers(1000)
    same = (precise * (1 + 0.01 * numbers(1000, seed=1))).float()
    output = (precise * (1 + 0.01 * numbers(1000, seed=2))).float()
    assert judge(output, precise, same, []).status is Status.PASS
    assert judge(output, *alone(precise)).status is Status.FAIL


def test_where_the_result_jumps_either_side_will_do() -> None:
    x = torch.tensor([*[0.25, 1.25, 2.25, -3.25] * 20, 0.5, 2.5])
    known = beside(torch.round, x)
    assert judge((x + 0.5).floor(), *known).status is Status.PASS
    assert judge((x + 0.8).floor(), *known).status is Status.FAIL


# -- what is wrong -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, *HALVES])
def test_a_dropped_tail_fails(dtype: Any) -> None:
    x = numbers(4, 1000).to(dtype)
    known = beside(softmax, x)
    output = known[1].clone()
    output[:, -1] = 0
    judgement = judge(output, *known)
    assert judgement.status is Status.FAIL
    assert judgement.exceeding == 4
    assert judgement.worst is not None
    assert judgement.worst.index[1] == 999
    assert judgement.worst.got == 0


def test_a_wrong_small_element_does_not_hide_under_large_ones() -> None:
    precise = torch.cat([1e4 * numbers(500), torch.linspace(1, 2, 500, dtype=torch.float64)])
    output = precise.to(torch.bfloat16)
    output[700] *= 1.2
    judgement = judge(output, *alone(precise))
    assert judgement.status is Status.FAIL
    assert judgement.worst == Element((700,), output[700].item(), precise[700].item())


@pytest.mark.parametrize("dtype", HALVES)
def test_numbers_that_are_rounded_twice_are_warned_of(dtype: Any) -> None:
    x, y = numbers(2, 20_000).to(dtype)
    known = beside(
        lambda x, y: (x.float() * y.float() * y.float()).to(x.dtype) if x.dtype == dtype else x * y * y, x, y
    )
    once, twice = judge(known[1], *known), judge(x * y * y, *known)
    assert (once.status, once.rounded_again) == (Status.PASS, 0)
    assert twice.status is Status.WARN
    assert 0.2 < twice.rounded_again < 0.35
    assert abs(twice.bias) < 0.02
    assert twice.reason.startswith(f"{twice.rounded_again:.1%} of the elements are rounded more than once (0.0% of ")


@pytest.mark.parametrize("narrow", [torch.float16, torch.bfloat16])
def test_a_state_of_float32_that_holds_numbers_of_16_bits_fails(narrow: Any) -> None:
    """It is no farther off than products of such numbers make it, whose sums are of float32 all the same."""
    precise = numbers(16, 32)
    in_products = [precise * (1 + torch.finfo(narrow).eps * numbers(16, 32, seed=seed)) for seed in (1, 2)]
    rounded = Rounded(in_products=in_products)
    near = judge(
        in_products[0].float() * 0.5 + precise.float() * 0.5, precise, precise.float(), [precise], rounded=rounded
    )
    assert near.status is Status.PASS
    kept_narrow = judge(precise.to(narrow).float(), precise, precise.float(), [precise], rounded=rounded)
    assert kept_narrow.status is Status.FAIL
    assert kept_narrow.narrowed == str(narrow).removeprefix("torch.")
    assert f"all 512 elements of float32 are numbers of {kept_narrow.narrowed}" in kept_narrow.reason
    given = precise.to(narrow).double()
    assert judge(given.float(), given, given.float(), [given], rounded=rounded).status is Status.PASS


def test_that_pytorch_rounds_as_often_makes_it_right() -> None:
    x, y = numbers(2, 20_000).half()
    assert judge(y * y * x, *beside(lambda x, y: x * y * y, x, y)).status is Status.PASS


@pytest.mark.parametrize("dtype", HALVES)
def test_errors_of_less_than_a_rounding_fail_if_all_go_one_way(dtype: Any) -> None:
    precise = numbers(20_000)
    scale = 1 + 0.7 * torch.finfo(dtype).eps
    judgement = judge((precise * scale).to(dtype), precise, precise.to(dtype), [])
    assert judgement.status is Status.FAIL
    assert judgement.bias > 0.3
    assert judgement.reason.endswith("mostly away from zero")


def test_bits_that_are_cut_off_fail() -> None:
    precise = numbers(20_000)
    cut = (precise.float().view(torch.int32) & -65536).view(torch.float32).bfloat16()
    judgement = judge(cut, precise, precise.bfloat16(), [])
    assert judgement.status is Status.FAIL
    assert judgement.bias < -0.3


def test_what_float64_computes_in_float32_fails() -> None:
    x = numbers(50, 100)
    known = beside(softmax, x)
    assert judge(x.softmax(-1), *known).status is Status.PASS
    assert judge(x.float().softmax(-1).double(), *known).status is Status.FAIL


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        (torch.zeros(2, 3), "the shape is (2, 3), that of the reference (3, 2)"),
        (torch.zeros(3, 2, dtype=torch.float16), "the dtype is float16, that of PyTorch's result float32"),
        (torch.zeros(3, 2, dtype=torch.int32), "the dtype is int32, that of PyTorch's result float32"),
    ],
)
def test_another_shape_or_dtype_fails(output: Any, reason: str) -> None:
    precise = torch.zeros(3, 2, dtype=torch.float64)
    judgement = judge(output, precise, precise.float(), [])
    assert (judgement.status, judgement.reason) == (Status.FAIL, reason)


def test_without_pytorchs_result_any_floating_dtype_will_do() -> None:
    precise = numbers(3)
    assert judge(precise.half(), *alone(precise)).status is Status.PASS
    judgement = judge(torch.zeros(3, dtype=torch.int64), *alone(precise))
    assert judgement.reason == "the dtype is int64, that of the reference float64"


# -- what is not finite --------------------------------------------------------------------------------------------

INF, NAN = math.inf, math.nan


@pytest.mark.parametrize(
    ("got", "wanted", "status"),
    [
        (INF, INF, Status.PASS),
        (NAN, NAN, Status.PASS),
        (INF, -INF, Status.FAIL),
        (NAN, INF, Status.WARN),
        (INF, NAN, Status.WARN),
        (1.0, NAN, Status.PASS),
        (1.0, INF, Status.PASS),
        (1.0, -INF, Status.PASS),
        (INF, 1.0, Status.FAIL),
        (NAN, 1.0, Status.FAIL),
        (INF, 1e5, Status.PASS),
        (-INF, 1e5, Status.FAIL),
        (INF, 65504.0, Status.PASS),
        (65504.0, 65530.0, Status.PASS),
        (INF, 60000.0, Status.FAIL),
        (65504.0, 1e5, Status.PASS),
        (50000.0, 1e5, Status.FAIL),
    ],
)
def test_infinities_and_nan_are_where_the_reference_rounded_has_them(got: float, wanted: float, status: Status) -> None:
    output = torch.tensor([[1.0, 2.0], [3.0, got]], dtype=torch.float16)
    precise = torch.tensor([[1.0, 2.0], [3.0, wanted]], dtype=torch.float64)
    judgement = judge(output, *alone(precise))
    assert judgement.status is status
    if status is Status.PASS:
        assert judgement.nonfinite is None
    else:
        assert judgement.nonfinite is not None or math.isfinite(got)
        assert judgement.nonfinite is None or judgement.nonfinite.index == (1, 1)


def test_what_overflows_in_pytorch_may_overflow() -> None:
    precise, same = torch.tensor([1.0, 2.0], dtype=torch.float64), torch.tensor([1.0, INF])
    assert judge(torch.tensor([1.0, INF]), precise, same, []).status is Status.PASS
    assert judge(torch.tensor([1.0, 2.0]), precise, same, []).status is Status.PASS
    assert judge(torch.tensor([INF, 2.0]), precise, same, []).status is Status.FAIL


def test_a_dtype_without_infinity_saturates_or_gives_nan() -> None:
    precise = torch.tensor([1.0, 1e4, -1e4], dtype=torch.float64)
    for got in ([1.0, 448.0, -448.0], [1.0, NAN, NAN]):
        output = torch.tensor(got).to(torch.float8_e4m3fn)
        assert judge(output, *alone(precise)).status is Status.PASS
    assert judge(torch.tensor([1.0, 448.0, 448.0]).to(torch.float8_e4m3fn), *alone(precise)).status is Status.FAIL


def test_results_without_any_finite_element() -> None:
    precise = torch.full((3,), NAN, dtype=torch.float64)
    judgement = judge(precise.float(), *alone(precise))
    assert (judgement.status, judgement.worst) == (Status.PASS, None)


@pytest.mark.parametrize("wanted", [NAN, INF, -INF])
def test_where_the_reference_is_finite_nowhere_finite_numbers_are_inconclusive(wanted: float) -> None:
    precise = torch.full((3,), wanted, dtype=torch.float64)
    for same in (None, precise.float()):
        judgement = judge(torch.tensor([1.0, 2.0, wanted]), precise, same, [])
        assert (judgement.status, judgement.unasked, judgement.worst) == (Status.INCONCLUSIVE, 2, None)
        assert judgement.reason == "nothing is compared: 2 elements are finite where the reference is not"


def test_what_pytorch_cannot_compute_in_the_dtype_is_not_held_against_a_kernel() -> None:
    """As the gradient of a norm whose sum of squares is beyond float32: in float64 it is finite, for PyTorch NaN."""
    precise = numbers(8, 16)
    beside = precise.float()
    beside[2] = NAN
    off, right = precise.float(), precise.float()
    off[2] = 0.0
    judgement = judge(off, precise, beside, [])
    assert (judgement.status, judgement.unasked, judgement.beyond) == (Status.PASS, 16, 16)
    assert judgement.reason.endswith("; 16 elements more are off where PyTorch's own is not finite, and not judged")
    judgement = judge(right, precise, beside, [])
    assert (judgement.status, judgement.unasked) == (Status.PASS, 0)
    off[5, 7] += 0.1
    judgement = judge(off, precise, beside, [])
    assert judgement.status is Status.FAIL
    assert judgement.wrong is not None
    assert judgement.wrong.nonzero().tolist() == [[5, 7]]
    nowhere = judge(torch.zeros(8, 16), precise, torch.full((8, 16), NAN), [])
    assert (nowhere.status, nowhere.worst) == (Status.INCONCLUSIVE, None)


@pytest.mark.parametrize("factor", [1 + 3e-6, 1 + 1e-5, 1.1])
def test_by_how_much_it_is_off_there_makes_no_difference_and_most_must_be_judged(factor: float) -> None:
    precise = numbers(64, 64)
    beside = precise.float()
    beside[40:] = NAN
    off = precise.float()
    off[40:] *= factor
    judgement = judge(off, precise, beside, [])
    assert (judgement.status, judgement.beyond) == (Status.PASS, 24 * 64)
    beside[20:] = NAN
    judgement = judge(off, precise, beside, [])
    assert (judgement.status, judgement.beyond) == (Status.INCONCLUSIVE, 44 * 64)


def test_elements_of_which_the_reference_says_nothing_are_not_judged_and_the_others_are() -> None:
    precise = numbers(8, 16)
    precise[2] = NAN
    right, beside = precise.float().nan_to_num(0.0), precise.float()
    judgement = judge(right, precise, beside, [])
    assert (judgement.status, judgement.unasked, judgement.strict) == (Status.PASS, 16, True)
    assert judgement.reason.endswith("; 16 elements more are finite where the reference is not, and not judged")
    assert judgement.wrong is not None
    assert not judgement.wrong.any()
    for wrong in (0.1, NAN, INF):
        broken = right.clone()
        broken[5, 7] += wrong
        judgement = judge(broken, precise, beside, [])
        assert judgement.status is Status.FAIL
        assert judgement.wrong is not None
        assert judgement.wrong.nonzero().tolist() == [[5, 7]]


def test_what_pytorch_has_is_asked_for_where_float64_is_not_finite() -> None:
    precise = torch.tensor([1.0, NAN], dtype=torch.float64)
    same = torch.tensor([1.0, 2.0])
    assert judge(torch.tensor([1.0, 2.0]), precise, same, []).status is Status.PASS
    assert judge(torch.tensor([1.0, 3.0]), precise, same, []).status is Status.FAIL


def test_numbers_that_a_gpu_flushes_to_zero_pass() -> None:
    precise = torch.full((100,), 1e-38, dtype=torch.float64)
    assert judge(torch.zeros(100), *alone(precise)).status is Status.PASS
    assert judge(torch.zeros(100).half(), *alone(1e-5 + precise)).status is Status.FAIL


# -- other kinds ---------------------------------------------------------------------------------------------------


def test_integers_and_booleans_are_exact() -> None:
    precise = torch.tensor([1, 2, 3])
    assert judge(precise.clone(), *alone(precise)).status is Status.PASS
    judgement = judge(torch.tensor([1, 5, 3]), *alone(precise))
    assert judgement.status is Status.FAIL
    assert judgement.worst == Element((1,), 5, 2)
    assert judgement.reason == "1 of 3 elements differs, the worst at [1]: 5, wanted 2"
    booleans = torch.tensor([True, False])
    assert judge(booleans.clone(), *alone(booleans)).status is Status.PASS
    assert judge(~booleans, *alone(booleans)).status is Status.FAIL


def test_an_integer_on_the_edge_of_two_may_be_either() -> None:
    precise, moved = torch.tensor([1, 2, 3]), torch.tensor([1, 3, 3])
    assert judge(moved.clone(), precise, precise, [moved]).status is Status.PASS
    assert judge(torch.tensor([2, 2, 3]), precise, precise, [moved]).status is Status.WARN
    assert judge(torch.tensor([2, 2, 2]), precise, precise, [moved]).status is Status.FAIL


def test_an_index_that_jumps_where_its_reference_is_rounded_may_be_any() -> None:
    """As that of the least of numbers which are alike but for roundings."""
    precise = torch.arange(100)
    same = torch.where(precise < 30, 50 + precise.flip(0), precise)
    elsewhere = torch.where(precise < 20, 77, precise)
    judgement = judge(elsewhere, precise, same, [])
    assert (judgement.status, judgement.unasked) == (Status.PASS, 20)
    assert judgement.reason == "20 elements are not judged, in which the reference differs from itself in float32"
    assert judge(torch.full_like(precise, 77), precise, same, []).status is Status.FAIL


def test_one_that_jumps_with_the_last_bit_of_its_inputs_alone_is_judged() -> None:
    """As a hash of their bits does, which every kernel computes of the inputs as they are."""
    precise = torch.arange(100)
    assert judge(torch.zeros_like(precise), precise, precise, [1000 - precise]).status is Status.FAIL


def test_where_most_indices_jump_nothing_is_known() -> None:
    precise = torch.arange(100)
    same = torch.where(precise < 80, 99 - precise, precise)
    elsewhere = torch.where(precise < 70, 101, precise)
    assert judge(elsewhere, precise, same, []).status is Status.INCONCLUSIVE


@pytest.mark.parametrize(("wrong", "status"), [(5, Status.PASS), (6, Status.FAIL)])
def test_beside_indices_that_jump_a_few_others_may_by_chance(wrong: int, status: Status) -> None:
    precise = torch.arange(100)
    same = torch.where(precise < 20, 99 - precise, precise)
    elsewhere = torch.where(precise >= 100 - wrong, 0, precise)
    assert judge(elsewhere, precise, same, []).status is status


def test_counts_of_indices_that_jump_may_be_others_too() -> None:
    counts = torch.ones(40, dtype=torch.long)
    same, found = counts.clone(), counts.clone()
    same[:16], found[30:34] = 0, 2
    assert Yardstick(counts, same, []).judge(found).status is Status.WARN
    assert Yardstick(counts, same, [], is_beside_jumps=True).judge(found).status is Status.PASS
    assert Yardstick(counts, same, [], is_beside_jumps=True).judge(counts + 1).status is Status.FAIL
    alone = Yardstick(counts, same, [], is_beside_jumps=True, leaves_jumps=False)
    assert alone.judge(found).status is Status.WARN, "before other references are asked nothing is left open"


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.uint16, torch.int32, torch.uint32, torch.uint64])
def test_integers_of_each_width_may_jump(dtype: torch.dtype) -> None:
    most = torch.iinfo(dtype).max
    precise, same = torch.tensor([0, 7, most], dtype=dtype), torch.tensor([most, 7, most - 1], dtype=dtype)
    assert jumping(precise, same).tolist() == [True, False, False]


def test_complex_numbers_are_measured_by_their_magnitude() -> None:
    precise = torch.complex(numbers(500), 1e-9 * numbers(500, seed=1))
    assert judge((precise + 1e-8j).to(torch.complex64), *alone(precise)).status is Status.PASS
    output = precise.to(torch.complex64)
    output[7] = output[7].conj() + 1e-3j
    judgement = judge(output, *alone(precise))
    assert judgement.status is Status.FAIL
    assert judgement.worst is not None
    assert judgement.worst.index == (7,)
    assert judgement.worst.wanted == precise[7].item()


def test_scalars_and_empty_results() -> None:
    assert judge(torch.tensor(1.0), *alone(torch.tensor(1.0, dtype=torch.float64))).worst == Element((), 1.0, 1.0)
    assert judge(torch.tensor(1.01), *alone(torch.tensor(1.0, dtype=torch.float64))).status is Status.FAIL
    empty = torch.empty(0, 3)
    assert judge(empty, empty.double(), empty, []).status is Status.PASS


def test_strict_and_loose_are_reported_and_decide_nothing() -> None:
    precise = 1 + numbers(100).abs()
    half = judge(precise.half(), *alone(precise))
    assert (half.strict, half.loose, half.status) == (False, True, Status.PASS)
    near = judge((precise * (1 + 2e-4)).float(), *alone(precise))
    assert (near.strict, near.loose, near.status) == (False, True, Status.FAIL)


def test_beside_usual_numbers_small_errors_are_none() -> None:
    x = torch.full((100,), 1e-6)
    known = beside(torch.tanh, x)
    output = 2 * torch.sigmoid(2 * x) - 1
    assert judge(output, *known).status is Status.FAIL
    assert judge(output, *known, usual=0.6).status is Status.PASS


@pytest.mark.parametrize(("others", "status"), [(1.0, Status.WARN), (1.5, Status.FAIL)])
def test_numbers_that_differ_are_found_wherever_they_are(others: float, status: Status) -> None:
    """Where all are alike all errors may go one way, and prove less."""
    precise = torch.ones(100, 1000, dtype=torch.float64)
    precise[:, 1::20] = torch.linspace(1, others, 50, dtype=torch.float64)
    assert judge((precise * (1 + 200 * 2.0**-24)).float(), *alone(precise)).status is status


def test_a_yardstick_is_the_same_for_every_result() -> None:
    x = numbers(30, 1000).half()
    known = beside(softmax, x)
    right, wrong = known[1].clone(), known[1] * 1.1
    broken = right.clone()
    broken[3, 4] = math.inf
    yardstick = Yardstick(*known)
    for output in (right, wrong, broken, right, wrong[:3], wrong.float(), broken, right):
        assert yardstick.judge(output) == judge(output, *known)


def test_what_a_gpu_has_no_room_for_is_judged_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[Any] = []

    def on(output: Any, budgets: Any) -> Any:
        judged.append(output)
        if len(judged) == 1:
            raise torch.cuda.OutOfMemoryError
        return before(output, budgets)

    before = tolerance._judge_inexact
    monkeypatch.setattr(tolerance, "_judge_inexact", on)
    precise = numbers(30)
    assert judge(precise.float(), *alone(precise)).status is Status.PASS
    assert len(judged) == 2


# -- properties ----------------------------------------------------------------------------------------------------

DTYPES = st.sampled_from([torch.float32, torch.float16, torch.bfloat16])
ROUNDINGS = st.lists(st.floats(0, 60), min_size=24, max_size=24)


def with_errors(precise: Any, roundings: list[float], dtype: Any) -> Any:
    """The nearest numbers, each so many roundings farther from zero."""
    near = precise.to(dtype)
    return near + near * torch.tensor(roundings).to(dtype) * torch.finfo(dtype).eps


@settings(max_examples=30, deadline=None)
@given(dtype=DTYPES, errors=ROUNDINGS, more=ROUNDINGS, is_known=st.booleans())
def test_more_error_never_turns_a_fail_into_a_pass(
    dtype: Any, errors: list[float], more: list[float], is_known: bool
) -> None:
    precise = 1 + numbers(24).abs()
    same = precise.to(dtype) if is_known else None
    output = with_errors(precise, errors, dtype)
    worse = output + torch.where(output.double() < precise, -1, 1).to(dtype) * torch.tensor(more).to(dtype) * 0.01
    before, after = judge(output, precise, same, []), judge(worse, precise, same, [])
    order = [Status.PASS, Status.WARN, Status.FAIL]
    assert order.index(after.status) >= order.index(before.status)
    assert after.ratio.rms >= before.ratio.rms


@settings(max_examples=20, deadline=None)
@given(dtype=DTYPES, errors=ROUNDINGS, seed=st.integers(0, 100))
def test_the_order_of_the_elements_does_not_matter(dtype: Any, errors: list[float], seed: int) -> None:
    precise = numbers(24)
    output, same = with_errors(precise, errors, dtype), precise.to(dtype)
    moved = precise * (1 + 1e-6 * numbers(24, seed=1))
    order = torch.randperm(24, generator=torch.Generator().manual_seed(seed))
    one = judge(output, precise, same, [moved])
    other = judge(
        output[order].reshape(4, 6),
        precise[order].reshape(4, 6),
        same[order].reshape(4, 6),
        [moved[order].reshape(4, 6)],
    )
    assert (one.status, one.exceeding, one.ratio.max) == (other.status, other.exceeding, other.ratio.max)
    assert one.ratio.rms == pytest.approx(other.ratio.rms)


@settings(max_examples=20, deadline=None)
@given(dtype=st.sampled_from([torch.float32, torch.bfloat16]), errors=ROUNDINGS, power=st.integers(-40, 40))
def test_powers_of_two_change_nothing(dtype: Any, errors: list[float], power: int) -> None:
    precise = numbers(24)
    output, same = with_errors(precise, errors, dtype), precise.to(dtype)
    moved = precise * (1 + 1e-6 * numbers(24, seed=1))
    one = judge(output, precise, same, [moved])
    scaled = [tensor * 2.0**power for tensor in (output, precise, same, moved)]
    other = judge(*scaled[:3], scaled[3:])
    assert (one.status, one.exceeding, one.rounded_again) == (other.status, other.exceeding, other.rounded_again)
    assert one.ratio.rms == pytest.approx(other.ratio.rms)
    assert one.error.rms * 2.0**power == pytest.approx(other.error.rms)


# -- where it is wrong ---------------------------------------------------------------------------------------------


def test_elements_that_are_wrong_are_marked() -> None:
    precise = numbers(8, 16)
    output = precise.float()
    output[2, 3] += 0.1
    output[5, 7] = math.nan
    marked = judge(output, *alone(precise)).wrong
    assert marked is not None
    assert marked.nonzero().tolist() == [[2, 3], [5, 7]]
    integers = torch.arange(6).reshape(2, 3)
    marked = judge(integers + torch.tensor([0, 0, 1]), *alone(integers)).wrong
    assert marked is not None
    assert marked.nonzero().tolist() == [[0, 2], [1, 2]]
    pair = torch.complex(numbers(3), numbers(3, seed=1))
    marked = judge(pair.to(torch.complex64) + torch.tensor([0, 1j, 0]), *alone(pair)).wrong
    assert marked is not None
    assert marked.tolist() == [False, True, False]


def test_zeros_of_float64_are_right_and_anything_else_is_not() -> None:
    zeros = torch.zeros(50, dtype=torch.float64)
    assert judge(zeros, zeros, zeros, [zeros] * 4).status is Status.PASS
    off = zeros.clone()
    off[7] = 1e-3
    assert judge(off, zeros, zeros, [zeros] * 4).status is Status.FAIL


def test_a_complex_number_of_which_one_part_is_nan_says_nothing_of_the_others() -> None:
    right = torch.randn(50, dtype=torch.complex128, generator=torch.Generator().manual_seed(0))
    right[3] = complex(math.nan, 1.0)
    assert judge(right.to(torch.complex64), right, right.to(torch.complex64), [right]).status is Status.PASS
    wrong = right.to(torch.complex64)
    wrong[5] += 1
    assert judge(wrong, right, right.to(torch.complex64), [right]).status is Status.FAIL


# -- with fewer references -----------------------------------------------------------------------------------------


def cancelling(x: Any) -> Any:
    return (x + 100.0) - 100.0 + x.cumsum(-1)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from([softmax, cancelling, torch.exp, lambda x: x.sum(-1), lambda x: x @ x.mT]),
    st.sampled_from([torch.float32, torch.float64]),
    st.floats(-3, 7),
    st.sampled_from([1.0, 1e-3, 30.0]),
    st.integers(0, 1000),
)
def test_wide_numbers_that_pass_without_perturbed_references_pass_with_them(
    reference: Any, dtype: Any, off: float, scale: float, seed: int
) -> None:
    x = (numbers(9, 40, seed=seed) * scale).to(dtype)
    precise, same, perturbed = beside(reference, x)
    error = numbers(*same.shape, seed=seed + 1) * torch.finfo(dtype).eps * 2.0**off
    output = (same.double() * (1 + error)).to(dtype)
    if judge(output, precise, same, []).status is Status.PASS:
        assert judge(output, precise, same, perturbed).status is Status.PASS
