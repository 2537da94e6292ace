"""TAC123: shapes, axes and indices that do not fit together."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.ir.hits import Words, hits_of
from tritonaudit.ir.mistakes import MistakeKind
from tritonaudit.rule import Hit, Rule

_EXPAND = "give the smaller one its missing axes with `[:, None]` or `[None, :]`"
_ONE_AXIS = "reduce along one axis after the other: `tl.sum(tl.sum(x, 1), 0)`"
_INDEX = "pick elements with `tl.gather`, or `tl.sum(tl.where(index == i, x, 0), 0)`; load rows where they are needed"

_WORDS = {
    (MistakeKind.SHAPES, ""): Words("shapes {left} and {right} do not broadcast to one another", _EXPAND),
    (MistakeKind.SHAPES, "access"): Words("`{text}` has shape {left}, the pointer {right}", _EXPAND),
    (MistakeKind.SHAPES, "reshape"): Words(
        "a block of shape {left} cannot be reshaped to {right}, which has another number of elements",
        "name a shape with as many elements",
    ),
    (MistakeKind.SHAPES, "broadcast"): Words("a block of shape {left} cannot be broadcast to {right}", _EXPAND),
    (MistakeKind.RANKS, "*"): Words(
        "shapes {left} and {right} differ in their number of axes, which are not added by themselves", _EXPAND
    ),
    (MistakeKind.AXIS, "tuple"): Words("`{name}` takes one axis, not `{text}`", _ONE_AXIS),
    (MistakeKind.AXIS, "tensor"): Words(
        "`{name}` reduces one block; its second argument is an axis, not a value",
        "use `tl.maximum`, `tl.minimum` or `+` for two values",
    ),
    (MistakeKind.AXIS, "number"): Words(
        "`{name}` reduces one block; its second argument is an axis, not `{text}`",
        "use `tl.maximum` or `tl.minimum` for two values",
    ),
    (MistakeKind.AXIS, "rank"): Words(
        "axis {axis} does not exist in a block with {rank} axes", "name an axis below {rank}"
    ),
    (MistakeKind.AXIS, "scalar"): Words(
        "`{name}` reduces a block, and this is one number", "use `tl.maximum` or `tl.minimum` for two numbers"
    ),
    (MistakeKind.AXIS, "order"): Words(
        "the order {axis} does not name each of {rank} axes once", "name every axis from 0 on, once"
    ),
    (MistakeKind.AXIS, "swapped"): Words("`{name}` without axes swaps two, and this block has {rank}", "name the axes"),
    (MistakeKind.AXIS, "program"): Words(
        "the axis of `{name}` is {axis}; a grid has the axes 0, 1 and 2", "use 0, 1 or 2"
    ),
    (MistakeKind.REDUCES_SCALAR, "scalar"): Words(
        "`{name}` reduces a block, and `{text}` is one number", "use the number itself, or `tl.maximum` for two of them"
    ),
    (MistakeKind.REDUCES_SCALAR, "tuple"): Words(
        "`{name}` reduces one block, and this is a tuple", "combine two blocks with `tl.maximum`, `tl.minimum` or `+`"
    ),
    (MistakeKind.SPLIT, "*"): Words(
        "`tl.split` needs a last dimension of 2, and the shape is {shape}", "reshape to `(…, 2)` first"
    ),
    (MistakeKind.INDEX, "number"): Words(
        "`{text}` picks an element of a block, which only `:` and `None` may index", _INDEX
    ),
    (MistakeKind.INDEX, "runtime"): Words("`{text}` indexes a block with a value, and only `:` and `None` may", _INDEX),
    (MistakeKind.INDEX, "slice"): Words("`{text}` slices a block, and only `:` and `None` may index one", _INDEX),
    (MistakeKind.INDEX, "pointer"): Words(
        "`{text}` indexes a pointer", "load with `tl.load(pointer + index)`, store with `tl.store`"
    ),
    (MistakeKind.INDEX, "rank"): Words("`{text}` has more indices than the block has axes ({rank})", "leave out a `:`"),
    (MistakeKind.INDEX, "past the end"): Words(
        "`{text}` is past the end of a tuple of {length}", "use a smaller index"
    ),
    (MistakeKind.INDEX, "tuple"): Words(
        "`{text}` indexes a tuple, which does not compile", "name the values one by one"
    ),
    (MistakeKind.INDEX, "constant slice"): Words("`{text}` slices a constant tuple", "write its values out"),
    (MistakeKind.INDEX, "constant tuple"): Words(
        "`{text}` indexes a constant tuple, which does not compile", "pass its values as parameters of their own"
    ),
    (MistakeKind.DOT_SHAPES, "rank"): Words(
        "`tl.dot` multiplies two matrices, or two stacks of them; the shapes are {left} and {right}",
        "add an axis with `[:, None]`, or write `tl.sum(a * b, 1)`",
    ),
    (MistakeKind.DOT_SHAPES, "batch"): Words("the stacks of `tl.dot` differ in size: {left} and {right}", _EXPAND),
    (MistakeKind.DOT_SHAPES, "packed"): Words(
        "the inner dimensions of `tl.dot_scaled` differ: {left} and {right}, where two e2m1 share a byte",
        "give both as many elements",
    ),
    (MistakeKind.DOT_SHAPES, "inner"): Words(
        "the inner dimensions of `tl.dot` differ: {left} and {right}", "transpose one of them with `tl.trans`"
    ),
    (MistakeKind.DOT_SHAPES, "acc"): Words(
        "the accumulator of `tl.dot` has shape {left}, the product {right}", "give the accumulator the product's shape"
    ),
    (MistakeKind.DOT_SHAPES, "small"): Words(
        "`tl.dot` with {sizes} is too small: NVIDIA GPUs need {least}",
        "use larger blocks, padded and masked, or write `tl.sum(a[:, :, None] * b[None, :, :], 1)`",
    ),
}  # fmt: skip


class ShapeMismatch(Rule):
    code, name = "TAC123", "shape-mismatch"
    summary = "Shapes, axes or indices do not fit together, so the kernel does not compile."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        yield from hits_of(kernel, _WORDS)
