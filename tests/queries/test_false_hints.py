"""Which hints the kernel's text contradicts, which data or the launch decide, and which hold."""

from __future__ import annotations

import pytest

from tests.queries.kernels import flow
from tritonaudit.queries.false_hints import Flaw, false_hints

DATA = (
    "pid = tl.program_id(0)\ncols = tl.arange(0, BLOCK)\noffsets = pid * BLOCK + cols\nbegin = tl.load(x_ptr + pid)\n"
)


def flaws(hint: str, before: str = "", after: str = "") -> list[Flaw]:
    return [found.flaw for found in false_hints(flow(f"{DATA}{before}\nhinted = {hint}", after=after))]


@pytest.mark.parametrize(
    ("value", "flaw"),
    [
        ("offsets", None),
        ("offsets + n", None),
        ("begin + cols", None),
        ("offsets * 2", Flaw.STEPPED),
        ("n - cols", Flaw.STEPPED),
        ("offsets * stride", Flaw.STRIDED),
        ("x_ptr + offsets * stride", Flaw.STRIDED),
        ("offsets // 4", Flaw.REPEATED),
        ("offsets // 64", None),
        ("offsets // BLOCK", None),
        ("tl.load(x_ptr + offsets)", Flaw.GATHERED),
        ("offsets % n", Flaw.WRAPPED),
        ("offsets % BLOCK", None),
        ("offsets[None, :]", None),
    ],
)
def test_max_contiguous_is_of_consecutive_numbers(value: str, flaw: Flaw | None) -> None:
    assert flaws(f"tl.max_contiguous({value}, BLOCK)") == ([] if flaw is None else [flaw])


@pytest.mark.parametrize(
    ("value", "claim", "flaw"),
    [
        ("offsets // 4", "8", Flaw.REPEATED),
        ("offsets // 4", "4", None),
        ("(offsets // 32) * n + offsets % 32", "32", None),
        ("offsets // 64 * 64 + offsets % 64", "64", None),
        ("offsets + (offsets // 64) * 64", "64", None),
        ("offsets % 12", "0", None),
        ("offsets % 12", "8", Flaw.WRAPPED),
    ],
)
def test_numbers_are_consecutive_up_to_the_claim(value: str, claim: str, flaw: Flaw | None) -> None:
    assert flaws(f"tl.max_contiguous({value}, {claim})") == ([] if flaw is None else [flaw])


@pytest.mark.parametrize(
    ("value", "claim", "flaw"),
    [
        ("offsets", "BLOCK", None),
        ("offsets", "8", None),
        ("offsets + 16", "8", None),
        ("offsets + 1", "0", None),
        ("begin * 64 + cols", "BLOCK", None),
        ("pid * 1024 + cols", "BLOCK", None),
        ("pid * 3 + cols", "BLOCK", Flaw.OFF),
        ("offsets + 4", "8", Flaw.OFF),
        ("offsets + 1", "BLOCK", Flaw.OFF),
        ("pid * 64 + cols", "16", None),
        ("pid * 100 + cols", "16", Flaw.OFF),
        ("pid * 100 + cols", "4", None),
        ("tl.arange(4, 8)", "8", Flaw.OFF),
        ("begin + cols", "8", Flaw.LOADED),
        ("begin * 8 + cols", "8", None),
        ("begin * BLOCK + cols", "BLOCK", None),
        ("pid * n + cols", "8", Flaw.SIZE),
        ("x_ptr + offsets + 1", "8", None),
        ("x_ptr + begin + cols", "8", Flaw.LOADED),
        ("begin", "8", None),
        ("n", "8", None),
        ("n * pid", "8", Flaw.SIZE),
        ("offsets + tl.minimum(begin, n)", "8", None),
    ],
)
def test_multiple_of_is_of_blocks_that_begin_at_one(value: str, claim: str, flaw: Flaw | None) -> None:
    assert flaws(f"tl.multiple_of({value}, {claim})") == ([] if flaw is None else [flaw])


@pytest.mark.parametrize(("claims", "count"), [("(1, BLOCK)", 1), ("(BLOCK, 1)", 0), ("(8, BLOCK)", 0), ("BLOCK", 0)])
def test_of_two_dimensions_the_last_is_judged(claims: str, count: int) -> None:
    assert len(flaws(f"tl.max_contiguous(cols[:, None] * n + cols[None, :] * 2, {claims})")) == count


@pytest.mark.parametrize(("inner", "flaw"), [("16", None), ("32", None), ("BLOCK", None), ("4", Flaw.LOADED)])
def test_a_loaded_number_is_what_a_hint_says_of_it(inner: str, flaw: Flaw | None) -> None:
    before = f"start = tl.multiple_of(begin, {inner})"
    assert flaws("tl.multiple_of(start + cols, 16)", before=before) == ([] if flaw is None else [flaw])


def test_what_the_kernel_asserts_it_may_claim() -> None:
    assert flaws("tl.multiple_of(pid * n + cols, 8)", before="tl.device_assert(n % 8 == 0)") == []


@pytest.mark.parametrize(("check", "count"), [("assert x.stride(0) % 8 == 0", 0), ("y = x + 1", 1)])
def test_what_the_wrapper_asks_for_the_kernel_may_claim(check: str, count: int) -> None:
    launch = f"def run(x):\n    {check}\n    kernel[(4,)](x, x, 1, 2, x.stride(0), 64, True)"
    assert len(flaws("tl.multiple_of(pid * stride + cols, 8)", after=launch)) == count


@pytest.mark.parametrize(
    ("loop", "count"), [("range(0, n, BLOCK)", 0), ("tl.range(0, n, step=BLOCK)", 0), ("range(n)", 1)]
)
def test_what_a_loop_goes_by_is_known(loop: str, count: int) -> None:
    body = f"{DATA}for i in {loop}:\n    at = tl.multiple_of(i + cols, BLOCK)"
    assert len(list(false_hints(flow(body)))) == count
