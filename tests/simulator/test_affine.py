"""Integers kept as strides, and masks kept as intervals, are what computing every element gives."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="torch holds the numbers of programs")

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tritonaudit.simulator.affine import Affine, Progression, base_of
from tritonaudit.simulator.boxes import Box, box_where_negative

PROGRAMS = 6
SHAPE = (4, 8)

small = st.integers(-50, 50)
progressions = st.one_of(
    st.builds(Progression, small, st.tuples(small).filter(any), st.just((PROGRAMS,))),
    st.builds(Progression, small, st.tuples(small, small).filter(any), st.just((2, 3))),
)
bases = st.one_of(small, progressions, st.lists(small, min_size=PROGRAMS, max_size=PROGRAMS).map(torch.tensor))
strides = st.tuples(st.sampled_from([0, 1, -1, 3, 64]), st.sampled_from([0, 1, 2, -5]))


@st.composite
def affines(draw: st.DrawFn) -> Affine:
    base, along = draw(bases), draw(strides)
    numbers = torch.as_tensor(base_of(base))
    return Affine(base, along, SHAPE, int(numbers.min()), int(numbers.max()))


def dense(value: Affine) -> torch.Tensor:
    """Every element, of shape (programs, *sizes), by the definition."""
    found = torch.empty((PROGRAMS, *value.shape), dtype=torch.int64)
    for program in range(PROGRAMS):
        base = value.base if isinstance(value.base, int) else int(value.base[program])
        for row in range(value.shape[0]):
            for column in range(value.shape[1]):
                found[program, row, column] = base + row * value.strides[0] + column * value.strides[1]
    return found


def whole(tensor: torch.Tensor, shape: tuple[int, ...] = SHAPE) -> torch.Tensor:
    return tensor.expand(PROGRAMS, *shape)


@given(affines(), affines())
@settings(max_examples=60, deadline=None)
def test_sums_differences_and_products(left: Affine, right: Affine) -> None:
    assert torch.equal(whole(left.tensor(torch.int64)), dense(left))
    assert torch.equal(whole(left.plus(right).tensor(torch.int64)), dense(left) + dense(right))
    assert torch.equal(whole(left.minus(right).tensor(torch.int64)), dense(left) - dense(right))
    product = left.product(right)
    if product is not None:
        assert torch.equal(whole(product.tensor(torch.int64)), dense(left) * dense(right))


@given(affines())
@settings(max_examples=60, deadline=None)
def test_bounds_hold_all_elements(value: Affine) -> None:
    low, high = value.bounds
    elements = dense(value)
    assert low <= int(elements.min())
    assert int(elements.max()) <= high
    assert value.exact().bounds == (int(elements.min()), int(elements.max()))


@given(affines())
@settings(max_examples=60, deadline=None)
def test_shapes(value: Affine) -> None:
    turned = value.permute((1, 0))
    assert torch.equal(whole(turned.tensor(torch.int64), (8, 4)), dense(value).permute(0, 2, 1))
    some = [[4, 0, 2], [1, 2, 3], [4, 2, 0], [3], [2, 2], [0, 1, 3, 4]]
    slices = [slice(0, 6), slice(0, 3), slice(1, 2), slice(2, 5)]
    for places in (*map(torch.tensor, some), *slices):
        taken, wanted = value.take(places), dense(value)[places]
        assert torch.equal(taken.tensor(torch.int64).expand(wanted.shape), wanted)
        assert taken.exact().bounds == (int(wanted.min()), int(wanted.max()))


@given(affines())
@settings(max_examples=60, deadline=None)
def test_numbers_that_grow_evenly(value: Affine) -> None:
    numbers = torch.as_tensor(value.base).expand(PROGRAMS)
    assert value.first == int(numbers[0])
    found, steps = value.progression, set(numbers.diff().tolist())
    if isinstance(found, Progression):
        assert torch.equal(found.tensor(), numbers)
        assert found.step == (steps.pop() if len(steps) == 1 else None)
    else:
        assert steps == {0} if isinstance(found, int) else len(steps) > 1


def test_progressions_beyond_64_bits_wrap() -> None:
    far = Affine.evenly(Progression(1 << 62, (1 << 62,), (3,)))
    assert far.tensor(torch.int64).tolist() == [1 << 62, -(1 << 63), -(1 << 62)]
    assert far.bounds == (1 << 62, 3 << 62)


@given(affines())
@settings(max_examples=150, deadline=None)
def test_where_a_value_is_negative(value: Affine) -> None:
    found = box_where_negative(value)
    wanted = dense(value) < 0
    if isinstance(found, Box):
        assert torch.equal(whole(found.tensor()), wanted)
        assert torch.equal(found.fills(PROGRAMS), wanted.all(2).all(1))
        assert torch.equal(whole(found.simplified().tensor()), wanted)
    elif found is not None:
        assert bool((wanted == found).all())
    else:
        assert sum(stride != 0 for stride in value.strides) != 1


edges = st.one_of(
    st.integers(0, 8), st.lists(st.integers(0, 8), min_size=PROGRAMS, max_size=PROGRAMS).map(torch.tensor)
)
boxes = st.tuples(st.one_of(st.none(), st.tuples(edges, edges)), st.one_of(st.none(), st.tuples(edges, edges))).map(
    lambda intervals: Box(intervals, SHAPE)
)


@given(boxes, boxes)
@settings(max_examples=100, deadline=None)
def test_both_boxes(one: Box, two: Box) -> None:
    inner = one.both(two)
    assert torch.equal(whole(inner.tensor()), whole(one.tensor()) & whole(two.tensor()))
    assert inner.is_within(one)
    if one.is_within(two):
        assert not bool((whole(one.tensor()) & ~whole(two.tensor())).any())
    if one.is_empty:
        assert not bool(one.tensor().any())
