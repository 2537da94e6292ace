"""What the safe fixes of padding and of sums do to a kernel, line by line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tritonaudit.config import Config
from tritonaudit.engine import text_checker
from tritonaudit.finding import Confidence, Finding
from tritonaudit.fixes.applying import apply_fixes

HEAD = "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
INFINITY = '-float("inf")'

SOFTMAX = """def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    cols = {start}tl.arange(0, BLOCK)
    mask = cols < n
    x = tl.load(x_ptr + cols, mask=mask{other}){cast}
    {more}
    weights = tl.exp(x - {top})
    tl.store(out_ptr + cols, weights / {total}, mask=mask)
"""
TOP, TOTAL = "tl.max(x, axis=0)", "tl.sum(weights, axis=0)"
CHOSEN = {
    "top": f"tl.max(tl.where(mask, x, {INFINITY}), axis=0)",
    "total": "tl.sum(tl.where(mask, weights, 0), axis=0)",
}


def fixed(code: str, body: str) -> str:
    """The text with the safe fixes of one rule."""
    path = Path("/nowhere/kernel.py")
    check = text_checker(Config(path.parent, select=(code,)))

    def look(text: str) -> list[Finding]:
        return [one for one in check(text.encode(), path).findings if one.confidence is not Confidence.LOW]

    return apply_fixes(HEAD + body, look).text.removeprefix(HEAD)


def softmax(**words: str) -> str:
    given = {"start": "", "other": ", other=0.0", "cast": "", "more": "n += 0", "top": TOP, "total": TOTAL}
    return SOFTMAX.format(**{**given, **words})


def test_a_load_is_filled_with_what_is_neutral_wherever_it_gets_to() -> None:
    assert fixed("TAN105", softmax()) == softmax(other=f", other={INFINITY}")


@pytest.mark.parametrize(
    "words",
    [
        {"more": "tl.store(out_ptr + n + cols, x)"},
        {"more": "tl.store(out_ptr - 1, tl.sum(x, axis=0))"},
        {"more": "tl.store(out_ptr - 1, tl.sum((x > 1.0).to(tl.int32), axis=0))"},
        {"start": "tl.program_id(0) * BLOCK + "},
        {"other": "", "cast": ".to(tl.float32)"},
        {"other": ", other=0", "cast": ".to(tl.float32)"},
    ],
    ids=["stored whole", "summed", "compared", "maybe empty", "maybe integers", "an integer's 0"],
)
def test_else_the_maximum_is_chosen_with_the_sum(words: dict[str, str]) -> None:
    assert fixed("TAN105", softmax(**words)) == softmax(**words, **CHOSEN)


def test_a_sum_is_not_chosen_safely_where_the_maximum_cannot_be() -> None:
    kernel = softmax(start="tl.program_id(0) * BLOCK + ", top="tl.max(input=x, axis=0)")
    assert fixed("TAN105", kernel) == kernel


SUM = """def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + cols, mask=cols < n, other=0.0).to(tl.float16)
    total = {total}
{rest}
"""
WIDE = "tl.sum(x.to(tl.float32), axis=0)"


@pytest.mark.parametrize(
    "rest",
    [
        "    tl.store(out_ptr, total)",
        "    tl.store(out_ptr + cols, (x - total / n).to(tl.float16), mask=cols < n)",
        "    mean = total\n    if n > 1:\n        mean = total / n\n    tl.store(out_ptr, mean)",
        "    tl.atomic_add(out_ptr, tl.sqrt(total.to(tl.float32)))",
        "    y = tl.zeros([], dtype=tl.float32)\n    for i in range(n):\n        y += total\n    tl.store(out_ptr, y)",
        "    y = tl.full([], 1.0, dtype=tl.float32)\n    for i in range(n):\n        y = tl.maximum(y, total * n)\n"
        "    tl.store(out_ptr, tl.where(total == 0, 0.0, y))",
        "    tl.store(out_ptr + cols, x.to(tl.log(total).dtype), mask=cols < n)",
    ],
    ids=["stored", "a mean", "both arms", "cast", "added in fp32", "carried in fp32", "a logarithm, never in 16 bits"],
)
def test_a_sum_stays_wide_where_nothing_minds(rest: str) -> None:
    assert fixed("TAN101", SUM.format(total="tl.sum(x, axis=0)", rest=rest)) == SUM.format(total=WIDE, rest=rest)


@pytest.mark.parametrize(
    "rest",
    [
        "    mean = x\n    if n > 1:\n        mean = x + total\n    tl.store(out_ptr + cols, mean, mask=cols < n)",
        "    for i in range(n):\n        total = total * 2\n    tl.store(out_ptr, total)",
        "    rows = total + x\n    y = tl.dot(rows[:, None], x[None, :])\n    tl.store(out_ptr + cols, tl.sum(y, 1))",
        "    tl.store(out_ptr + cols, x.to(total.dtype), mask=cols < n)",
        "    tl.store(out_ptr, total.to(tl.int16, bitcast=True))",
    ],
    ids=["one arm", "carried", "a matrix product", "its type", "its bits"],
)
def test_a_sum_is_cast_back_where_its_type_counts(rest: str) -> None:
    wanted = SUM.format(total=f"{WIDE}.to(tl.float16)", rest=rest)
    assert fixed("TAN101", SUM.format(total="tl.sum(x, axis=0)", rest=rest)) == wanted


ROUNDED = """def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + cols, mask=cols < n, other=0.0).to(tl.float32)
    {terms}
    total = tl.sum({summed}, axis=0)
    tl.store(out_ptr, total)
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [("tl.exp(x).to(tl.float16)", "tl.exp(x)"), ("(x * x).to(tl.bfloat16)", "(x * x).to(tl.float32)")],
)
def test_no_cast_is_left_in_a_sum(before: str, after: str) -> None:
    given, wanted = (ROUNDED.format(terms="n += 0", summed=one) for one in (before, after))
    assert fixed("TAN101", given) == wanted


def test_terms_that_were_rounded_before_the_sum_have_no_fix() -> None:
    given = ROUNDED.format(terms="half = (x * x).to(tl.float16)", summed="half")
    assert fixed("TAN101", given) == given


UNKNOWN_SHAPES = """def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, COLUMNS: tl.constexpr, BEGINS: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    start = {start}
    y = tl.zeros([BLOCK], dtype=tl.float32)
    if BEGINS:
        y += tl.load(out_ptr + start * BLOCK + cols).to(tl.float32)
    for i in range(n):
        x = tl.load(x_ptr + start * i + cols).to(tl.float32)
        x = x / tl.sqrt(tl.sum((x * x){cast}) + 1e-6)
        y += x
    tl.store(out_ptr + start * BLOCK + cols, y.to(out_ptr.dtype.element_ty))
"""


def test_a_sum_stays_wide_where_casts_and_zeros_say_what_types_do_not() -> None:
    start = "tl.program_id(0) % tl.cdiv(COLUMNS, BLOCK)"
    before, after = (UNKNOWN_SHAPES.format(start=start, cast=f".to(tl.float{bits})") for bits in (16, 32))
    assert fixed("TAN101", before) == after


LOOP = """def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), dtype={dtype})
    for i in range(n):
        x = tl.load(x_ptr + i * BLOCK + cols).to({loaded})
        acc += {added}{cast}
{rest}
"""


@pytest.mark.parametrize(
    ("loaded", "added", "cast"),
    [("tl.float32", "(x * 2)", ".to(tl.float32)"), ("tl.float32", "tl.exp(x)", ""), ("tl.float16", "x", "")],
)
def test_no_cast_is_left_in_the_loop(loaded: str, added: str, cast: str) -> None:
    rest = "    tl.store(out_ptr + cols, acc)"
    narrow = "" if added == "x" else ".to(tl.float16)"
    before = LOOP.format(dtype="tl.float16", loaded=loaded, added=added, cast=narrow, rest=rest)
    after = LOOP.format(dtype="tl.float32", loaded=loaded, added=added, cast=cast, rest=rest)
    assert fixed("TAN101", before) == after


def test_an_accumulator_is_cast_after_its_loop_where_its_type_counts() -> None:
    rest = "    {}tl.store(out_ptr + cols, x_ptr + acc.dtype.primitive_bitwidth)"
    words = {"loaded": "tl.float16", "added": "x", "cast": ""}
    before = LOOP.format(dtype="tl.float16", rest=rest.format(""), **words)
    after = LOOP.format(dtype="tl.float32", rest=rest.format("acc = acc.to(tl.float16)\n    "), **words)
    assert fixed("TAN101", before) == after


IN_BLOCKS = """def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr, ADDS: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    if ADDS:
        acc = tl.zeros((BLOCK,), dtype={dtype})
    for i in range(n):
        if ADDS:
            acc += tl.exp(tl.load(x_ptr + i * BLOCK + cols).to(tl.float32)){cast}
    if ADDS:
        {stored}
"""


def test_an_accumulator_may_be_made_in_a_block_of_its_own() -> None:
    stored = "tl.store(out_ptr + cols, acc)"
    before = IN_BLOCKS.format(dtype="tl.float16", cast=".to(tl.float16)", stored=stored)
    assert fixed("TAN101", before) == IN_BLOCKS.format(dtype="tl.float32", cast="", stored=stored)


def test_an_accumulator_of_a_block_of_its_own_has_no_fix_where_it_would_be_cast() -> None:
    stored = "tl.store(out_ptr + cols, x_ptr + acc.dtype.primitive_bitwidth)"
    before = IN_BLOCKS.format(dtype="tl.float16", cast=".to(tl.float16)", stored=stored)
    assert fixed("TAN101", before) == before


def test_what_may_be_integers_is_not_safely_added_in_fp32() -> None:
    words = {"loaded": "x_ptr.dtype.element_ty", "added": "x", "cast": "", "rest": "    tl.store(out_ptr + cols, acc)"}
    path = Path("/nowhere/kernel.py")
    text = HEAD + LOOP.format(dtype="x_ptr.dtype.element_ty", **words)
    (found,) = text_checker(Config(path.parent, select=("TAN101",)))(text.encode(), path).findings
    assert found.confidence is Confidence.LOW
    assert found.fix is not None
    assert not found.fix.safe
