"""Which parameters are given a size that changes from call to call, though Triton compiles for it."""

from __future__ import annotations

import pytest

from tests.queries.kernels import flows
from tritonaudit.kernel.changing_sizes import Changing, recompiling

KERNEL = """\
{decorator}
def kernel(x_ptr, {parameter}, BLOCK: tl.constexpr):
    {body}
    tl.store(x_ptr + tl.arange(0, BLOCK), 1)


def run(x, weight, num_tokens, size, seed):
    {lines}
    kernel[(1,)](x, {given}, BLOCK=64)
"""
SHAPE = "B, T, H, D = x.shape"
READ = "y = S + 1"


def found(
    given: str,
    *lines: str,
    body: str = READ,
    parameter: str = "S: tl.constexpr",
    decorator: str = "@triton.jit",
) -> list[Changing]:
    shown = "\n    ".join(lines or ("pass",))
    text = KERNEL.format(given=given, lines=shown, body=body, parameter=parameter, decorator=decorator)
    (kernel,) = flows(text)
    return [each.changes for each in recompiling(kernel.module, kernel.function, kernel.launches)]


@pytest.mark.parametrize(
    ("given", "lines"),
    [
        ("T", (SHAPE,)),
        ("B * T", (SHAPE,)),
        ("T * H", (SHAPE,)),
        ("triton.cdiv(T, 64)", (SHAPE,)),
        ("math.ceil(T / programs)", (SHAPE, "programs = 8")),
        ("max(T, 16)", (SHAPE,)),
        ("T + 1", (SHAPE,)),
        ("int(T)", (SHAPE,)),
        ("n_rows", ("n_rows, n_cols = x.shape",)),
        ("M", ("x = x.reshape(-1, size)", "M = x.shape[0]")),
        ("num_tokens", ()),
        ("x.numel()", ()),
        ("x.numel() // x.shape[-1]", ()),
        ("x.numel() // group_size", ("group_size = size",)),
        ("n", (SHAPE, "n = T if size else B * T")),
    ],
)
def test_a_size_of_the_data_changes(given: str, lines: tuple[str, ...]) -> None:
    assert found(given, *lines) == [Changing.DATA]


@pytest.mark.parametrize(
    ("given", "lines"),
    [
        ("H", (SHAPE,)),
        ("D", (SHAPE,)),
        ("T", ("B, H, D, T = x.shape",)),
        ("size", ()),
        ("16", ()),
        ("triton.next_power_of_2(T)", (SHAPE,)),
        ("triton.cdiv(T, 2048)", (SHAPE,)),
        ("triton.cdiv(triton.cdiv(T, 64), 32)", (SHAPE,)),
        ("min(T, 64)", (SHAPE,)),
        ("T % 16", (SHAPE,)),
        ("T == 1", (SHAPE,)),
        ("M", ("M, K = weight.shape",)),
        ("weight.numel()", ()),
        ("x.numel() // size", ()),
        ("x.numel() // n_rows", ("n_rows, n_cols = x.shape",)),
        ("num_heads", ("num_heads = x.shape[1]",)),
        ("n", (SHAPE, "n = T if size else 4")),
        ("T", (SHAPE, "T = triton.next_power_of_2(T)")),
    ],
)
def test_a_fixed_or_a_rounded_size_does_not(given: str, lines: tuple[str, ...]) -> None:
    assert found(given, *lines) == []


def test_a_batch_is_told_apart() -> None:
    assert found("B", SHAPE) == [Changing.BATCH]
    assert found("len(offsets) - 1", "offsets = x") == [Changing.BATCH]


def test_so_is_a_number_of_a_step() -> None:
    assert found("seed", parameter="seed: tl.constexpr") == [Changing.STEP]
    assert found("1234", parameter="seed: tl.constexpr") == []


@pytest.mark.parametrize(
    "body",
    [
        "y = tl.arange(0, S)",
        "y = tl.zeros((S, 2), tl.float32)",
        "twice = S * 2\n    y = tl.arange(0, twice)",
        "y = tl.make_block_ptr(x_ptr, (4, 4), (4, 1), (0, 0), (S, 4), (1, 0))",
        "half: tl.constexpr = S // 2",
    ],
)
def test_a_constant_that_a_shape_needs_is_not_found(body: str) -> None:
    assert found("T", SHAPE, body=body) == []


def test_the_shape_of_a_whole_tensor_needs_none() -> None:
    body = "y = tl.make_block_ptr(x_ptr, (S, 4), (4, 1), (0, 0), (4, 4), (1, 0))"
    assert found("T", SHAPE, body=body) == [Changing.DATA]


def test_a_plain_argument_is_found_only_where_it_is_a_quotient_that_nothing_reads() -> None:
    assert found("T // 128", SHAPE, parameter="S") == []
    assert found("T", SHAPE, parameter="S", body="pass") == []
    assert found("T // 128", SHAPE, parameter="S", body="pass") == [Changing.DATA]
    assert found("T // 128", SHAPE, parameter="S", body="pass", decorator='@triton.jit(do_not_specialize=["S"])') == []


def test_a_constant_of_the_key_is_tuned_for_each_value_on_purpose() -> None:
    decorator = '@triton.autotune(configs=[triton.Config({"A": 1})], key=["S"])\n@triton.jit'
    assert found("T", SHAPE, decorator=decorator) == []
