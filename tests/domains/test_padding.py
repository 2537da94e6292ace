"""What masked-off lanes hold after each operation, and which of it reaches a reduction."""

from __future__ import annotations

import math

import pytest

from tests.queries.kernels import flow
from tritonaudit.domains.value import Fill

LOAD = """\
cols = tl.arange(0, BLOCK)
mask = cols < n
z = tl.load(x_ptr + cols, mask=mask, other=0.0)
o = tl.load(x_ptr + cols, mask=mask, other=1.0)
ninf = tl.load(x_ptr + cols, mask=mask, other=-float('inf'))
bare = tl.load(x_ptr + cols, mask=mask)
data = tl.load(y_ptr + cols)
mean = tl.sum(z, axis=0) / n
"""
Fills = set[float | Fill]


def fills(expression: str) -> Fills | None:
    """What the padded lanes of the value hold; None when that is unknown."""
    reduction = flow(f"{LOAD}value = {expression}\ntl.sum(value)\n").reductions[-1]
    found = {padding.fill for padding in reduction.operand.paddings}
    return found if found or not reduction.operand.murky else None


@pytest.mark.parametrize(
    ("expression", "fill"),
    [
        ("z", 0.0),
        ("bare", 0.0),
        ("ninf", -math.inf),
        ("z + 1", 1.0),
        ("1 + z", 1.0),
        ("z - 3", -3.0),
        ("3 - z", 3.0),
        ("z * 5", 0.0),
        ("z / 5", 0.0),
        ("o / 4", 0.25),
        ("-o", -1.0),
        ("-ninf", math.inf),
        ("z + o", 1.0),
        ("z - o", -1.0),
        ("z * o", 0.0),
        ("o * data", Fill.COMPUTED),
        ("z * data", 0.0),
        ("z * mean", 0.0),
        ("z / mean", 0.0),
        ("z + mean", Fill.COMPUTED),
        ("z - mean", Fill.COMPUTED),
        ("mean - z", Fill.COMPUTED),
        ("(z - mean) * (z - mean)", Fill.COMPUTED),
        ("(z - mean) * mask", 0.0),
        ("mask * (z - mean)", 0.0),
        ("(z - mean) * z", 0.0),
        ("ninf + 1", -math.inf),
        ("ninf - mean", -math.inf),
        ("mean - ninf", math.inf),
        ("ninf * 2", -math.inf),
        ("ninf * -2", math.inf),
        ("tl.exp(z)", 1.0),
        ("tl.exp2(z)", 1.0),
        ("tl.exp(ninf)", 0.0),
        ("tl.exp(ninf - mean)", 0.0),
        ("tl.exp(z - mean)", Fill.COMPUTED),
        ("tl.exp(ninf) * data", 0.0),
        ("tl.log(o)", 0.0),
        ("tl.log(z)", -math.inf),
        ("tl.sqrt(o)", 1.0),
        ("tl.abs(-o)", 1.0),
        ("tl.sigmoid(z)", 0.5),
        ("tl.cos(z)", 1.0),
        ("tl.maximum(z, -1.0)", 0.0),
        ("tl.maximum(z, 1.0)", 1.0),
        ("tl.minimum(z, -1.0)", -1.0),
        ("z.to(tl.float32)", 0.0),
        ("tl.where(mask, z - mean, 0.0)", 0.0),
        ("tl.where(mask, data, 0.0)", 0.0),
        ("tl.where(cols < n, z, -float('inf'))", -math.inf),
        ("tl.where(n > cols, z + mean, 7)", 7.0),
        ("tl.where(data > 0, z, 0.0)", 0.0),
        ("(z + 1) * 2 - 2", 0.0),
    ],
)
def test_a_fill_goes_through_arithmetic(expression: str, fill: float | Fill) -> None:
    assert fills(expression) == {fill}


@pytest.mark.parametrize(
    "expression",
    [
        "z + data",  # sums of full tiles before a partial one
        "unknown(z)",
        "tl.rsqrt(z)",
        "tl.maximum(z, data)",
        pytest.param(
            "tl.where(data > 0, z, 1.0)",
        ),
        "tl.load(x_ptr + cols, mask=mask, other=data)",
    ],
)
def test_what_is_unknown_is_not_reported(expression: str) -> None:
    assert not fills(expression)


def test_values_without_padding_have_none() -> None:
    assert fills("data") == set()
    assert fills("data * mean + 1") == set()


def test_each_mask_has_its_own_fill() -> None:
    other = "cols2 = cols + 0\nw = tl.load(x_ptr + cols, mask=(cols < n) & (cols < m), other=2.0)\n"
    found = flow(f"{LOAD}{other}tl.sum(w, axis=0)\n").reductions[-1].operand.paddings
    assert sorted(str(padding.condition.gap) for padding in found) == [
        "m - tl.arange(0, BLOCK)",
        "n - tl.arange(0, BLOCK)",
    ]


# -- reductions ----------------------------------------------------------------------------------------------------


def poisoned(reduction: str) -> set[float | Fill]:
    found = flow(f"{LOAD}{reduction}\n").reductions[-1]
    return {padding.fill for padding in found.poisoned}


@pytest.mark.parametrize(
    ("reduction", "bad"),
    [
        ("tl.sum(z, axis=0)", set()),
        ("tl.sum(z)", set()),
        ("tl.sum(o, axis=0)", {1.0}),
        ("tl.sum(z - mean, axis=0)", {Fill.COMPUTED}),
        ("tl.sum(tl.exp(z), axis=0)", {1.0}),
        ("tl.sum(tl.exp(ninf), axis=0)", set()),
        ("tl.max(ninf, axis=0)", set()),
        ("tl.max(z, axis=0)", {0.0}),
        ("tl.max(-ninf, axis=0)", {math.inf}),
        ("tl.min(-ninf, axis=0)", set()),
        ("tl.min(z, 0)", {0.0}),
        ("tl.argmax(z, axis=0)", {0.0}),
        ("tl.argmax(ninf, axis=0)", set()),
        ("tl.argmin(z, axis=0)", {0.0}),
        ("tl.softmax(z)", {0.0}),
        ("z.sum(axis=0)", set()),
        ("z.max(axis=0)", {0.0}),
        ("tl.max(data, axis=0)", set()),
        ("tl.max(tl.where(mask, z, -float('inf')), axis=0)", set()),
        ("tl.sum(tl.where(mask, z - mean, 0.0), axis=0)", set()),
        pytest.param(
            "tl.sum(tl.where(z > 0, o, 0.0), axis=0)",
            set(),
        ),
    ],
)
def test_a_fill_that_is_not_neutral_poisons_a_reduction(reduction: str, bad: set[float | Fill]) -> None:
    assert poisoned(reduction) == bad


ROWS = """\
rows, cols = tl.arange(0, BLOCK), tl.arange(0, 64)
x = tl.load(x_ptr + rows[:, None] * 64 + cols[None, :], mask=rows[:, None] < n, other=1.0)
"""


@pytest.mark.parametrize(
    ("reduction", "bad"),
    [
        ("tl.sum(x, axis=0)", True),
        ("tl.sum(x, axis=-2)", True),
        ("tl.sum(x, axis=1)", False),
        ("tl.sum(x, axis=-1)", False),
        ("tl.sum(x)", True),
        ("tl.sum(tl.sum(x, axis=1), axis=0)", True),
        ("tl.sum(tl.trans(x), axis=1)", True),
        ("tl.sum(tl.trans(x), axis=0)", False),
        ("tl.sum(x.T, axis=0)", False),
        ("tl.sum(tl.sum(x, axis=1, keep_dims=True), axis=1)", False),
        ("tl.sum(tl.sum(x, axis=1, keep_dims=True), axis=0)", True),
    ],
)
def test_padding_poisons_along_its_own_axis(reduction: str, bad: bool) -> None:
    found = flow(f"{ROWS}{reduction}\n").reductions[-1]
    assert bool(found.poisoned) is bad


@pytest.mark.parametrize(
    ("left", "right", "bad"), [("0.0", "0.0", 0), ("0.0", "1.0", 0), ("1.0", "0.0", 0), ("1.0", "1.0", 2)]
)
def test_a_product_needs_zeros_on_one_side_of_the_contracted_axis(left: str, right: str, bad: int) -> None:
    body = f"""
    rows, k = tl.arange(0, 64), tl.arange(0, BLOCK)
    a = tl.load(x_ptr + rows[:, None] * n + k[None, :], mask=k[None, :] < n, other={left})
    b = tl.load(y_ptr + k[:, None] * 64 + rows[None, :], mask=k[:, None] < n, other={right})
    tl.dot(a, b)
    """
    (dot,) = flow(body).reductions
    # The same bound lies along different axes of the two.
    assert len(dot.poisoned) == bad


def test_padding_that_a_loop_may_not_reach_poisons_nothing() -> None:
    body = LOAD + "for k in range(0, {}, BLOCK):\n    t = tl.load(x_ptr + k + cols, mask=k + cols < n, other=1.0)\n"
    for stop, bad in (("n", True), ("n - n % BLOCK", True), ("m", False)):
        found = flow(body.format(stop) + "    tl.sum(t, axis=0)\n").reductions[-1]
        assert bool(found.poisoned) is bad


# -- joins ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "fill"),
    [("z", "z * 2", {0.0}), ("o", "z", {Fill.COMPUTED}), ("ninf", "z", set()), ("ninf", "ninf + 1", {-math.inf})],
)
def test_what_both_arms_hold_is_kept(first: str, second: str, fill: Fills) -> None:
    body = f"{LOAD}if n > 5:\n    v = {first}\nelse:\n    v = {second}\ntl.sum(v, axis=0)\n"
    assert {padding.fill for padding in flow(body).reductions[-1].operand.paddings} == fill


@pytest.mark.parametrize(("step", "fill"), [("acc += z", {0.0}), ("acc += o", set()), ("acc = acc * 2", {0.0})])
def test_a_loop_keeps_what_every_iteration_keeps(step: str, fill: Fills) -> None:
    body = f"{LOAD}acc = z\nfor k in range(m):\n    {step}\ntl.sum(acc, axis=0)\n"
    found = {padding.fill for padding in flow(body).reductions[-1].operand.paddings}
    assert found == fill or (not fill and found <= {Fill.COMPUTED})


WELFORD = """\
mean = tl.zeros([BLOCK], dtype=tl.float32)
count = tl.zeros([BLOCK], dtype=tl.float32)
for start in range(0, n, BLOCK):
    mask = start + cols < n
    x = tl.load(x_ptr + start + cols, mask=mask, other=0.0)
    more = {}
    mean = (mean * count + x) / more
    count = more
tl.sum({}, axis=0)
"""


@pytest.mark.parametrize(
    ("more", "summed", "poisoned"),
    [("count + mask", "mean * count", False), ("count + 1", "mean - 1", True)],
)
def test_a_mean_that_counts_the_lanes_of_its_mask_leaves_the_others_out(more: str, summed: str, poisoned: bool) -> None:
    found = flow("cols = tl.arange(0, BLOCK)\n" + WELFORD.format(more, summed)).reductions[-1]
    assert bool(found.poisoned) is poisoned
