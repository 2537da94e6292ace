"""Matrix products against exact sums."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tritonaudit.simulator.ir import Type
from tritonaudit.simulator.numerics.bounds import dot_error
from tritonaudit.simulator.numerics.dot import ScaledOperand, dot, dot_scaled, rounded_to_tf32, truncated_to_tf32
from tritonaudit.simulator.numerics.elements import dtype_of
from tritonaudit.simulator.numerics.fma import fma_in_steps
from tritonaudit.simulator.numerics.unsupported import Unsupported


def random(*shape: int, element: str = "f32") -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(shape, generator=generator).to(dtype_of(Type(element)))


def types(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, element: str, total: str) -> list[Type]:
    return [
        Type(element, tuple(a.shape[1:])),
        Type(element, tuple(b.shape[1:])),
        Type(total, (*a.shape[1:-1], b.shape[-1])),
    ]


@pytest.mark.parametrize(
    ("element", "total"),
    [
        ("f16", "f32"),
        ("f16", "f16"),
        ("bf16", "f32"),
        ("f8E4M3FN", "f32"),
        ("f8E5M2", "f32"),
        ("f32", "f32"),
        ("f64", "f64"),
    ],
)
@pytest.mark.parametrize("batches", [(), (3,)])
def test_floats(element: str, total: str, batches: tuple[int, ...]) -> None:
    """The exact sum of exact products, but for roundings of the sum."""
    a = random(2, *batches, 16, 32, element=element)
    b = random(2, *batches, 32, 8, element=element)
    c = random(2, *batches, 16, 8, element=total)
    found = dot(a, b, c, types(a, b, c, element, total))
    assert found.dtype == c.dtype
    exact = a.double() @ b.double() + c.double()
    reach = a.double().abs() @ b.double().abs() + c.double().abs()
    unit = {"f16": 2.0**-11, "f32": dot_error(32), "f64": 2.0**-45}[total]
    assert bool(((found.double() - exact).abs() <= unit * reach).all())


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_small_numbers_are_summed_exactly(data: st.DataObject) -> None:
    """Whole numbers, whose sums float32 holds."""
    numbers = st.lists(st.integers(-16, 16), min_size=16, max_size=16)
    a, b = (torch.tensor([data.draw(numbers)]).reshape(1, 4, 4) for _ in range(2))
    c = torch.full((1, 1, 1), 5)
    exact = a @ b + c
    for element, total in (("f16", "f32"), ("bf16", "f32"), ("f32", "f32"), ("i8", "i32"), ("f64", "f64")):
        operands = [x.to(dtype_of(Type(element))) for x in (a, b)]
        start = c.to(dtype_of(Type(total)))
        kinds = [Type(element, (4, 4)), Type(element, (4, 4)), Type(total, (4, 4))]
        for precision in ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6"):
            assert bool((dot(*operands, start, kinds, precision) == exact).all())


def test_bytes_do_not_lose_bits() -> None:
    """The largest products, and a sum that wraps in 32 bits."""
    a = torch.full((1, 1, 4096), -128, dtype=torch.int8)
    c = torch.full((1, 1, 1), 2**31 - 1, dtype=torch.int32)
    found = dot(a, a.transpose(1, 2), c, types(a, a.transpose(1, 2), c, "i8", "i32"))
    assert found.item() == 4096 * 2**14 + 2**31 - 1 - 2**32


@pytest.mark.parametrize(("of_a", "of_b"), [(1, 3), (3, 1), (1, 1)])
def test_uniform_operands(of_a: int, of_b: int) -> None:
    a, b, c = random(of_a, 4, 8), random(of_b, 8, 4), torch.zeros((1, 1, 1))
    found = dot(a, b, c, types(a, b, c, "f32", "f32"))
    assert found.shape == (max(of_a, of_b), 4, 4)
    assert torch.allclose(found, a @ b, atol=1e-5)


def test_operands_of_equal_elements() -> None:
    """A block that is a splat has sizes of 1."""
    a, b, c = torch.full((1, 1, 1), 2.0), random(3, 8, 4), torch.zeros((1, 1, 1))
    kinds = [Type("f32", (4, 8)), Type("f32", (8, 4)), Type("f32", (4, 4))]
    assert torch.allclose(dot(a, b, c, kinds), 2 * b.sum(1, keepdim=True).expand(3, 4, 4), atol=1e-5)


def test_precisions_of_float32() -> None:
    """Each is closer than the one before, by about the bits that it keeps."""
    a, b, c = random(1, 32, 64), random(1, 64, 32), torch.zeros((1, 1, 1))
    exact = a.double() @ b.double()

    def error(precision: str) -> float:
        return float((dot(a, b, c, types(a, b, c, "f32", "f32"), precision) - exact).abs().max())

    tf32, bf16x3, tf32x3 = error("tf32"), error("bf16x3"), error("tf32x3")
    assert 1e-3 < tf32 < 1e-1
    assert 1e-6 < bf16x3 < 1e-3
    assert tf32x3 < 2e-5
    assert error("bf16x6") < 2e-5
    assert error("ieee") < 2e-5
    with pytest.raises(Unsupported, match="tf64"):
        error("tf64")


def test_tf32_operands() -> None:
    """Plain tf32 cuts bits off; the split one rounds to nearest, ties away from zero."""
    unit = 2.0**-10
    x = torch.tensor([1 + unit / 2, 1 + unit * 0.75, 1 + unit * 0.49, -1 - unit / 2, float("inf"), 3e38])
    assert truncated_to_tf32(x)[:5].tolist() == [1, 1, 1, -1, float("inf")]
    assert rounded_to_tf32(x)[:5].tolist() == [1 + unit, 1 + unit, 1, -1 - unit, float("inf")]
    assert rounded_to_tf32(torch.tensor([float("nan")])).isnan().all()


def test_infinite_operands_of_split_products() -> None:
    """The lesser products, NaN here, do not spoil the sum."""
    a, b, c = torch.full((1, 1, 4), float("inf")), torch.ones((1, 4, 1)), torch.zeros((1, 1, 1))
    for precision in ("tf32x3", "bf16x3", "bf16x6"):
        assert dot(a, b, c, types(a, b, c, "f32", "f32"), precision).item() == float("inf")


MAGNITUDES = (0, 0.5, 1, 1.5, 2, 3, 4, 6)


def test_scaled_product_of_four_bits() -> None:
    """Two elements in a byte, the first in the lower bits; a scale for each 32 of K."""
    codes = torch.arange(64 * 2).reshape(2, 64) % 16
    packed = (codes[:, ::2] | codes[:, 1::2] << 4).to(torch.uint8).view(torch.int8)[None]
    scale = torch.tensor([[[127, 128], [126, 130]]]).to(torch.uint8).view(torch.int8)
    right = random(1, 64, 4, element="bf16")
    values = torch.tensor([(-1) ** (code >> 3) * MAGNITUDES[code & 7] for code in range(16)])[codes].double()
    factors = torch.tensor([[1.0, 2.0], [0.5, 8.0]]).repeat_interleave(32, 1).double()
    exact = (values * factors)[None] @ right.double()
    found = dot_scaled(
        ScaledOperand(packed, "e2m1", scale),
        ScaledOperand(right, "bf16"),
        torch.zeros((1, 1, 1)),
        Type("f32", (2, 4)),
    )
    assert torch.allclose(found.double(), exact, rtol=1e-5, atol=1e-4)
    mirrored = dot_scaled(
        ScaledOperand(right.transpose(1, 2), "bf16"),
        ScaledOperand(packed.transpose(1, 2), "e2m1", scale),
        torch.zeros((1, 1, 1)),
        Type("f32", (4, 2)),
    )
    assert torch.allclose(mirrored.transpose(1, 2), found, rtol=1e-5, atol=1e-4)


def test_four_bits_packed_along_rows() -> None:
    """Neighbours of M in a byte."""
    codes = torch.arange(2 * 32).reshape(2, 32) % 8
    packed = (codes[:1] | codes[1:] << 4).to(torch.int8)[None]
    found = dot_scaled(
        ScaledOperand(packed, "e2m1", None, is_packed_along_k=False),
        ScaledOperand(torch.eye(32)[None].to(torch.bfloat16), "bf16"),
        torch.zeros((1, 1, 1)),
        Type("f32", (2, 32)),
    )
    assert found.tolist() == [torch.tensor(MAGNITUDES)[codes].tolist()]


def test_scales_that_say_nothing() -> None:
    """255 is NaN, for its row alone, and unchecked where the product is fast."""
    ones = torch.ones((1, 2, 32)).to(torch.float8_e4m3fn)
    scale = torch.tensor([[[-1], [127]]], dtype=torch.int8)
    left, right = ScaledOperand(ones, "e4m3", scale), ScaledOperand(ones.transpose(1, 2), "e5m2")
    found = dot_scaled(left, right, torch.zeros((1, 1, 1)), Type("f32", (2, 2)))
    assert found[0].isnan().tolist() == [[True, True], [False, False]]
    fast = dot_scaled(left, right, torch.zeros((1, 1, 1)), Type("f32", (2, 2)), is_fast=True)
    assert not fast.isnan().any()
    with pytest.raises(Unsupported, match="e3m2"):
        dot_scaled(ScaledOperand(ones, "e3m2"), right, torch.zeros((1, 1, 1)), Type("f32", (2, 2)))


def test_ieee_is_one_fused_step_after_the_other() -> None:
    """Batches and programs that share an operand included."""
    a, b, c = random(3, 2, 4, 33), random(1, 2, 33, 5), random(3, 2, 4, 5)
    found = dot(a, b, c, types(a, b, c, "f32", "f32"))
    wanted = c
    for k in range(33):
        wanted = fma_in_steps(a[..., k : k + 1], b[..., k : k + 1, :], wanted)
    assert torch.equal(found, wanted)
    assert not torch.equal(found, (a.double() @ b.double() + c).to(torch.float32))
