"""How far a reference's result moves where its inputs are a bit off."""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch holds the tensors")
triton = pytest.importorskip("triton", reason="Triton has the kernels")

from triton import language as tl  # noqa: E402
from triton.runtime.jit import JITFunction  # noqa: E402

from tritonaudit.capture.launch import KernelRef  # noqa: E402
from tritonaudit.capture.record import installed, kernel_ref  # noqa: E402
from tritonaudit.execute.blame import is_called_from  # noqa: E402
from tritonaudit.finding import Status  # noqa: E402
from tritonaudit.subject.model import Case, Subject, Tensor  # noqa: E402
from tritonaudit.suites.late import Late  # noqa: E402
from tritonaudit.suites.references import narrow_type, references  # noqa: E402


def scaled_by_the_variance(x: Any, weight: Any) -> Any:
    return (weight - weight.mean()) / (x.var() + 1e-12).sqrt()


@triton.jit
def double_kernel(x_ptr, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, 2 * tl.load(x_ptr + at, mask=at < n), mask=at < n)


def doubled(x: Any) -> Any:
    out = x.clone()
    double_kernel[(triton.cdiv(x.numel(), 64),)](out, x.numel(), BLOCK=64)
    return out


def launched_by_the_reference(monkeypatch: pytest.MonkeyPatch, *judged: KernelRef, on_gpu: bool) -> str:
    """Why there is no reference that launches a kernel, where these kernels are judged."""
    subject = Subject(lambda *_: None, reference=doubled, inputs=[Tensor("n")])
    if on_gpu:  # a GPU that does nothing will do
        monkeypatch.setattr(JITFunction, "run", lambda *_, **__: None)
    with nullcontext() if on_gpu else installed():
        return references(subject, ((torch.ones(64),), {}), Case({"n": 64}), judged).reason


@pytest.mark.parametrize("on_gpu", [True, False])
def test_a_reference_that_launches_the_judged_kernel_is_none(monkeypatch: pytest.MonkeyPatch, on_gpu: bool) -> None:
    reason = launched_by_the_reference(monkeypatch, kernel_ref(double_kernel), on_gpu=on_gpu)
    assert reason == "the reference launches `double_kernel`, which is judged: it agrees with itself always"


def test_one_that_launches_a_kernel_of_its_own_needs_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    other = replace(kernel_ref(double_kernel), path="kernels.py")
    assert launched_by_the_reference(monkeypatch, other, on_gpu=True) == ""
    reason = launched_by_the_reference(monkeypatch, other, on_gpu=False)
    assert reason == "the reference launches `double_kernel`, which only a GPU executes for it"


def kept_sum(x: Any, workspace: Any) -> Any:
    workspace.copy_(x.double().sum(-1))
    return workspace.to(x.dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_what_a_reference_changes_and_happens_to_return_is_both(dtype: Any) -> None:
    subject = Subject(lambda *_: None, reference=kept_sum, inputs=[Tensor("m", "n"), Tensor("m")], mutates=[1])
    given = ((torch.ones(4, 8, dtype=dtype), torch.zeros(4)), {})
    found = references(subject, given, Case({"m": 4, "n": 8}), number=2)
    assert [one.dtype for one in found.same] == [dtype, torch.float32]
    assert [one.tolist() for one in found.precise] == [[8.0] * 4] * 2
    assert len(references(subject, given, Case({"m": 4, "n": 8}), number=1).same) == (
        1 if dtype is torch.float32 else 2
    )


SUBJECT = Subject(lambda *_: None, reference=scaled_by_the_variance, inputs=[Tensor("n"), Tensor("n")])


def moved(fill: str) -> float:
    given = ((torch.full((64,), 1e6), torch.full((64,), 1e6)), {})
    found = references(SUBJECT, given, Case({"n": 64}, fill=fill))
    assert not found.reason
    return max(float((one - found.precise[0]).abs().max()) for (one,) in found.perturbed)


def test_where_numbers_are_equal_each_tensor_is_off_alone_too() -> None:
    assert moved("1e6") > 1e3 * moved("normal"), "a variance that is zero stays so while the weights are off"


@pytest.mark.skipif(not hasattr(torch, "float8_e4m3fn"), reason="this PyTorch has no floats of 8 bits")
def test_a_sum_of_products_of_8_bits_moves_by_what_tensor_cores_drop() -> None:
    """DeepSeek-V3 (arXiv 2412.19437, 3.5.2): about 14 bits of it are kept."""

    def product(a: Any, b: Any) -> Any:
        return (a.to(torch.float32) @ b.to(torch.float32)) if a.dtype != torch.float64 else a @ b

    subject = Subject(lambda *_: None, reference=product, inputs=[Tensor("n", "n"), Tensor("n", "n")])
    torch.manual_seed(0)
    a, b = (torch.randn(64, 64).to(torch.float8_e4m3fn) for _ in range(2))
    found = references(subject, ((a, b), {}), Case({"n": 64}, "float8_e4m3fn"))
    assert not found.reason
    largest = float(found.precise[0].abs().max())
    moved = max(float((one - found.precise[0]).abs().max()) for (one,) in found.perturbed)
    assert 2.0**-15 < moved / largest < 2.0**-11


@pytest.mark.skipif(not hasattr(torch, "float8_e4m3fn"), reason="this PyTorch has no floats of 8 bits")
def test_a_reference_that_takes_nothing_else_has_its_floats_of_8_bits() -> None:
    def decoded(codes: Any, scale: Any) -> Any:
        return codes.view(torch.uint8).to(scale.dtype) * scale

    subject = Subject(lambda *_: None, reference=decoded, inputs=[Tensor("n"), Tensor("n")])
    given = ((torch.ones(64).to(torch.float8_e4m3fn), torch.ones(64)), {})
    found = references(subject, given, Case({"n": 64}, "float8_e4m3fn"))
    assert not found.reason
    assert float((found.perturbed[0][0] - found.precise[0]).abs().max()) < 2.0**-15 * 64


@pytest.mark.parametrize(("fill", "is_apart"), [("1000", True), ("normal", False)])
def test_where_all_numbers_are_equal_the_roundings_on_the_way_count(fill: str, is_apart: bool) -> None:
    """A mean of equal numbers may be off by a rounding from each of them."""

    def centred(x: Any) -> Any:
        return x - x.mean()

    subject = Subject(lambda *_: None, reference=centred, inputs=[Tensor("n")])
    found = references(subject, ((torch.full((64,), 1000.0),), {}), Case({"n": 64}, fill=fill))
    means = [float(draw[0].mean().abs()) for draw in found.perturbed]
    assert (max(means) > 1e-6) is is_apart


def test_a_sum_is_off_by_the_root_of_how_many_numbers_it_adds_up() -> None:
    def total(x: Any) -> Any:
        return x.sum()

    subject = Subject(lambda *_: None, reference=total, inputs=[Tensor("n")])
    few, many = (references(subject, ((torch.full((n,), 1.1),), {}), Case({"n": n}, fill="1.1")) for n in (16, 1 << 16))
    off = [
        max(float((draw[0] - one.precise[0]).abs() / one.precise[0]) for draw in one.perturbed) for one in (few, many)
    ]
    assert off[1] > 8 * off[0]


def test_what_is_seen_of_empty_tensors_that_the_reference_does_not_take_is_not_certain() -> None:
    """A largest element, which an empty row does not have."""
    from tests.suites.test_fills import Host
    from tritonaudit.suites.correctness import examine

    def changing(x: Any) -> Any:
        return x.new_zeros(x.shape[0])

    subject = Subject(changing, reference=lambda x: x.amax(1), inputs=[Tensor("rows", "cols")])
    outcome = examine(Host(), subject, Case({"rows": 4, "cols": 0}, device="cpu"))
    assert not any(one.is_certain for one in outcome.sightings)
    assert outcome.unchecked


def test_numbers_of_float64_are_off_by_a_rounding_of_theirs() -> None:
    subject = Subject(lambda *_: None, reference=lambda x: x * 2, inputs=[Tensor("n")])
    found = references(subject, ((torch.ones(64, dtype=torch.float64),), {}), Case({"n": 64}, "float64"))
    moved = max(float((one - found.precise[0]).abs().max()) for (one,) in found.perturbed)
    assert 0 < moved < 2.0**-48


# -- numbers of 16 bits on the way ---------------------------------------------------------------------------------


def scores(q: Any, key: Any, scale: float = 0.0) -> Any:
    return q.float() @ key.float().transpose(-1, -2) * (scale or q.shape[-1] ** -0.5)


def attention(q: Any, key: Any, value: Any) -> Any:
    """In float32, as a careful reference has it, and the logarithms of its sums."""
    found = scores(q, key)
    return (found.softmax(-1) @ value.float()).to(q.dtype), found.logsumexp(-1)


def attended(
    q: Any, key: Any, value: Any, *, scale: float = 0.0, step: int = 0, keys: int = 0, early: bool = False
) -> Any:
    """As FlashAttention has it: shares in the type of the values, sums in float32 but for each `step` of keys."""
    found = scores(q, key, scale)
    found = found.to(q.dtype).float() if early else found
    found, value = (found[..., :keys], value[..., :keys, :]) if keys else (found, value)
    shares = (found - found.amax(-1, keepdim=True)).exp()
    total = torch.zeros(q.shape)
    for start in range(0, value.shape[-2], step or value.shape[-2]):
        part = slice(start, start + (step or value.shape[-2]))
        total = total + shares[..., part].to(value.dtype).float() @ value[..., part, :].float()
        total = total.to(q.dtype).float() if step else total
    return (total / shares.sum(-1, keepdim=True)).to(q.dtype)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize(
    ("how", "statuses"),
    [
        ({}, {Status.PASS}),
        ({"early": True}, {Status.PASS, Status.WARN}),
        ({"step": 16}, {Status.WARN, Status.FAIL}),
        ({"scale": 1.015 / 64**0.5}, {Status.FAIL}),
        ({"scale": 1.0}, {Status.FAIL}),
        ({"keys": 255}, {Status.FAIL}),
    ],
)
def test_shares_in_the_type_of_the_values_are_right(dtype: str, how: dict[str, Any], statuses: set[Status]) -> None:
    torch.manual_seed(0)
    given = tuple(torch.randn(2, 256, 64).to(getattr(torch, dtype)) for _ in range(3))
    subject = Subject(lambda *_: None, reference=attention, inputs=[Tensor("n")] * 3)
    found = references(subject, (given, {}), Case({"n": 64}, dtype))
    assert found.yardstick(0).judge(attended(*given, **how)).status in statuses


def test_results_in_float32_are_off_only_by_what_enters_products() -> None:
    torch.manual_seed(0)
    given = tuple(torch.randn(2, 256, 64).bfloat16() for _ in range(3))
    subject = Subject(lambda *_: None, reference=attention, inputs=[Tensor("n")] * 3)
    found = references(subject, (given, {}), Case({"n": 64}, "bfloat16"))
    logarithms = found.same[1]
    assert found.yardstick(1).judge(logarithms).status is Status.PASS
    assert found.yardstick(1).judge(logarithms.bfloat16().float()).status is Status.FAIL
    assert found.yardstick(1).judge(scores(*given[:2]).bfloat16().float().logsumexp(-1)).status is Status.FAIL


def test_float32_is_rounded_nowhere() -> None:
    given = tuple(torch.randn(2, 32, 16) for _ in range(3))
    subject = Subject(lambda *_: None, reference=attention, inputs=[Tensor("n")] * 3)
    assert references(subject, (given, {}), Case({"n": 64})).rounded == ()


@pytest.mark.skipif(not hasattr(torch, "float8_e4m3fn"), reason="this PyTorch has no floats of 8 bits")
def test_the_narrow_type_is_that_of_the_inputs() -> None:
    half, brain, eight, single = torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float32
    assert narrow_type([single], [half]) is None
    assert narrow_type([half, single], [single]) is half
    assert narrow_type([half, brain], [half]) is brain
    assert narrow_type([eight, single], [brain]) is brain
    assert narrow_type([eight], [single]) is None
    assert narrow_type([brain], [eight]) is brain


def test_a_reference_in_float64_is_right_beside_one_in_float32() -> None:
    """The square of 1e38 is infinite in the type that kernels compute in; the result has the reference's own type."""

    def rms_norm(x: Any) -> Any:
        wide = x.double()
        return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True))).to(x.dtype)

    subject = Subject(lambda *_: None, reference=rms_norm, inputs=[Tensor("rows", "n")])
    found = references(subject, ((torch.full((2, 8), 1e38),), {}), Case({"rows": 2, "n": 8}, fill="1e38"))
    assert found.same[0].dtype == torch.float32
    assert found.same[0].eq(0).all()
    assert torch.allclose(found.precise[0], torch.ones(2, 8, dtype=torch.float64))


def test_inputs_in_float64_are_computed_with_in_float64() -> None:
    subject = Subject(lambda *_: None, reference=torch.square, inputs=[Tensor("n")], dtypes=["float64"])
    found = references(subject, ((torch.full((8,), 1e100, dtype=torch.float64),), {}), Case({"n": 8}, "float64"))
    assert found.same[0].isfinite().all()


@pytest.mark.parametrize(("x", "status"), [(1e10, Status.PASS), (3.0, Status.FAIL)])
def test_the_sum_of_a_row_may_be_kept_in_float32(x: float, status: Status) -> None:
    """Where the logarithm of the sum is lost beside the numbers, a kernel that keeps it has e^0 for each of them."""

    def share(x: Any) -> Any:
        return torch.softmax(x, -1)

    subject = Subject(lambda *_: None, reference=share, inputs=[Tensor("rows", "n")])
    given = ((torch.full((4, 8), x),), {})
    yardstick = references(subject, given, Case({"rows": 4, "n": 8}, fill=str(x))).yardstick(0)
    assert yardstick.judge(torch.ones(4, 8)).status is status


def test_what_a_reference_changes_counts_on_other_numbers_as_well() -> None:
    """A state that is NaN stays as it is; numbers in the place of NaN are changed, or are too small to be."""

    def update(state: Any, x: Any) -> Any:
        state.copy_(state * torch.exp(-torch.exp(x)) + x.exp())
        return state * x

    subject = Subject(lambda *_: None, reference=update, inputs=[Tensor("n"), Tensor("n")], mutates=[0])
    given = ((torch.full((8,), float("nan")), torch.full((8,), float("nan"))), {})
    found = references(subject, given, Case({"n": 8}, fill="nan"))
    assert not found.reason
    assert len(found.same) == len(found.precise) == 1
    assert found.from_nan is not None
    assert [bool(one.all()) for one in found.from_nan] == [True]
    ordinary = references(subject, ((torch.ones(8), torch.ones(8)), {}), Case({"n": 8}))
    assert len(ordinary.same) == len(ordinary.precise) == 2
    assert {len(one) for one in ordinary.perturbed} == {2}


def test_a_reference_that_takes_too_long_is_not_what_is_judged() -> None:
    def endless(x: Any) -> Any:
        raise Late(5.0, waits=False, computes=True)

    subject = Subject(lambda x: x, reference=endless, inputs=[Tensor("n")])
    with pytest.raises(Late) as caught:
        references(subject, ((torch.ones(4),), {}), Case({"n": 4}))
    assert is_called_from(caught.value, "suites/references.py")
    with pytest.raises(Late) as caught:
        endless(None)
    assert not is_called_from(caught.value, "suites/references.py")


def test_what_a_reference_keeps_from_call_to_call_is_as_wide_as_it_made_it() -> None:
    kept: dict[int, Any] = {}

    def weighed(x: Any) -> Any:
        if len(x) not in kept:
            kept[len(x)] = torch.arange(1, len(x) + 1, dtype=torch.float64) / 7
        return (x.double() * kept[len(x)]).float()

    subject = Subject(weighed, reference=weighed, inputs=[Tensor("n")])
    x = torch.ones(9)
    found = references(subject, ((x,), {}), Case({"n": 9}, "float32", device="cpu"))
    assert kept[9].dtype == torch.float64
    assert torch.equal(found.precise[0], torch.arange(1, 10, dtype=torch.float64) / 7)


def test_perturbed_results_are_made_when_they_are_asked_for() -> None:
    calls: list[Any] = []

    def doubled_and_counted(x: Any) -> Any:
        calls.append(x.dtype)
        return 2 * x

    subject = Subject(doubled_and_counted, reference=doubled_and_counted, inputs=[Tensor("n")])
    x = torch.linspace(1, 2, 9)
    found = references(subject, ((x,), {}), Case({"n": 9}, "float32", device="cpu"))
    assert found.judgement(2 * x, 0).status is Status.PASS
    before = len(calls)
    assert found.judgement(3 * x, 0).status is Status.FAIL
    assert len(calls) > before


def concordance(x: Any, y: Any) -> Any:
    """How often two numbers of each row are in the same order as those of the other, equal ones left out."""
    of_x, of_y = ((one[:, :, None] - one[:, None, :]).sign() for one in (x, y))
    return (of_x * of_y).sum((1, 2)) / (of_x.abs().sum((1, 2)) * of_y.abs().sum((1, 2))).sqrt()


def test_a_result_that_hangs_on_equal_numbers_is_not_as_wide_as_these_are_often() -> None:
    subject = Subject(concordance, reference=concordance, inputs=[Tensor("rows", "n"), Tensor("rows", "n")])
    generator = torch.Generator().manual_seed(0)
    x, noise = (torch.randn(6, 150, generator=generator) for _ in range(2))
    x, y = x.round(decimals=1), (x + noise).round(decimals=1)
    found = references(subject, ((x, y), {}), Case({"rows": 6, "n": 150}, "float32", device="cpu"))
    right = concordance(x, y)
    assert found.judgement(right, 0).status is Status.PASS
    assert found.judgement(torch.zeros(6), 0).status is Status.FAIL
    assert found.judgement(right + 1e-3, 0).status is Status.FAIL


def test_in_rows_of_one_number_a_mean_may_be_off_by_a_rounding() -> None:
    subject = Subject(scaled_by_the_variance, reference=scaled_by_the_variance, inputs=[Tensor("n"), Tensor("n")])
    x, weight = torch.full((500,), 3.0), torch.randn(500, generator=torch.Generator().manual_seed(0))
    found = references(subject, ((x, weight), {}), Case({"n": 500}, "float32", device="cpu"))
    off = scaled_by_the_variance(x + 1e-7 * torch.arange(500).remainder(2), weight)
    assert found.judgement(off, 0).status is Status.PASS


@pytest.mark.parametrize(
    ("computed", "status"),
    [
        ([math.nan, 1.0, 2.0, math.nan], Status.PASS),
        ([1.0, 2.0, math.nan, math.nan], Status.PASS),
        ([math.nan, 1.0, math.nan, 2.0], Status.FAIL),
        ([1.0, 1.0, 2.0, math.nan], Status.FAIL),
    ],
)
def test_nan_has_no_sign(computed: list[float], status: Status) -> None:
    def sorted_by_bits(x: Any) -> Any:  # as torch does on a GPU
        return x[torch.where(x.isnan() & x.signbit(), -torch.inf, x).argsort()]

    subject = Subject(sorted_by_bits, reference=sorted_by_bits, inputs=[Tensor("n")])
    x = torch.tensor([2.0, math.nan, 1.0, -math.nan])
    found = references(subject, ((x,), {}), Case({"n": 4}, "float32", device="cpu"))
    assert found.judgement(torch.tensor(computed), 0).status is status


def sign_bits(x: Any) -> Any:
    return x.contiguous().view(torch.int32) >> 31


def reciprocal_by_bits(x: Any) -> Any:
    about = (0x7EF311C7 - x.view(torch.int32)).view(torch.float32)
    return about * (2 - x * about)


def bytes_of(x: Any) -> Any:
    return x.contiguous().view(torch.uint8)


@pytest.mark.parametrize("reference", [sign_bits, reciprocal_by_bits, bytes_of])
def test_a_reference_may_look_at_bits(reference: Any) -> None:
    subject = Subject(reference, reference=reference, inputs=[Tensor("n")])
    x = torch.linspace(-2, 3, 9)
    found = references(subject, ((x,), {}), Case({"n": 9}, "float32", device="cpu"))
    right = reference(x)
    assert found.judgement(right, 0).status is Status.PASS
    assert found.judgement(right + 1, 0).status is Status.FAIL
    assert found.precise[0].dtype in (torch.int32, torch.float64, torch.uint8)
