"""TAC124: a load, a store or an atomic that Triton rejects."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.fixes.assignments import assigned_back
from tritonaudit.ir.hits import Words, hits_of
from tritonaudit.ir.mistakes import MistakeKind
from tritonaudit.rule import Fixable, Hit, Rule

_OPTION = Words("`{name}` is {value!r}, which is not one of {allowed}", "use one of {allowed}")

_WORDS = {
    (MistakeKind.NOT_A_POINTER, "*"): Words(
        "`{name}` needs a pointer, and `{text}` is {type}", "add the offsets to a pointer: `pointer + {text}`"
    ),
    (MistakeKind.OTHER_WITHOUT_MASK, "*"): Words(
        "`other={other}` is given without a `mask`", "add the `mask` that it belongs to, or leave `other` out"
    ),
    (MistakeKind.BLOCK_FOR_SCALAR, "mask"): Words(
        "the pointer of this {access} is one address, and `{text}` is a block of shape {left}",
        "add the offsets to the pointer, `pointer + offsets`, and give the mask as `mask=`",
    ),
    (MistakeKind.BLOCK_FOR_SCALAR, "*"): Words(
        "the pointer of this {access} is one address, and `{text}` is a block of shape {left}",
        "add the offsets of the block to the pointer",
    ),
    (MistakeKind.MASK_DTYPE, "*"): Words(
        "`{text}` is {type}, and a mask must be boolean", "compare it: `{text} != 0`"
    ),
    (MistakeKind.ATOMIC_DTYPE, "*"): Words(
        "`{name}` does not take {dtype}", "use an fp32 or int32 buffer and convert afterwards"
    ),
    (MistakeKind.OPTION_VALUE, "propagate_nan"): Words(
        "the third argument, `{value}`, is `propagate_nan`, not a third value", "nest the calls for three values"
    ),
    (MistakeKind.OPTION_VALUE, "*"): _OPTION,
    (MistakeKind.RESULT_DROPPED, "advance"): Words(
        "`tl.advance` returns the new pointer, and the result is dropped",
        "write `{pointer} = tl.advance({pointer}, …)`",
        fix=assigned_back,
    ),
    (MistakeKind.BLOCK_POINTER, "mask"): Words(
        "a block pointer takes no `mask` and no `other`", "use `boundary_check=` and `padding_option=`"
    ),
    (MistakeKind.BLOCK_POINTER, "plain"): Words(
        "`boundary_check` and `padding_option` are for block pointers, and this is not one", "use `mask=` and `other=`"
    ),
    (MistakeKind.BLOCK_POINTER, "padding"): Words(
        "`padding_option` is given without `boundary_check`", "name the axes to check: `boundary_check=(0, 1)`"
    ),
    (MistakeKind.BLOCK_POINTER, "dtype"): Words(
        "`{text}` is {value}, and the block pointer's elements are {element}; such stores do not cast",
        "cast it: `.to(pointer.dtype.element_ty)`",
    ),
    (MistakeKind.BLOCK_POINTER, "order"): Words(
        "`{name}` must have a number for each of the {rank} axes", "write one number for each axis, `(1, 0)`"
    ),
    (MistakeKind.BLOCK_POINTER, "offsets"): Words(
        "the offsets of a block pointer must be 32 bits wide", "cast with `.to(tl.int32)`, and move the base instead"
    ),
    (MistakeKind.BLOCK_POINTER, "arithmetic"): Words(
        "`{text}` adds to a block pointer, which crashes the compiler", "move it with `tl.advance`"
    ),
    (MistakeKind.DESCRIPTOR, "plain access"): Words(
        "`{name}` does not take a tensor descriptor", "use `descriptor.load([…])` and `descriptor.store([…], value)`"
    ),
    (MistakeKind.DESCRIPTOR, "keyword"): Words(
        "`descriptor.{name}` takes no `{keyword}`: it pads and drops what is outside by itself", "leave it out"
    ),
    (MistakeKind.DESCRIPTOR, "stride"): Words(
        "the last stride of a tensor descriptor must be the number 1, and is `{text}`",
        "order the axes so that the last one is contiguous, and write `1`",
    ),
    (MistakeKind.DESCRIPTOR, "narrow"): Words(
        "the last dimension of the block is {last} × {dtype} = {size} bytes, and a descriptor needs at least 16",
        "use a wider block",
    ),
    (MistakeKind.DESCRIPTOR, "offsets"): Words(
        "an offset in `{text}` is 64 bits wide, and a descriptor takes 32", "cast it with `.to(tl.int32)`"
    ),
    (MistakeKind.DESCRIPTOR, "no offsets"): Words(
        "the offsets of a descriptor are `{text}`, which is {type}", "give a list"
    ),
    (MistakeKind.DESCRIPTOR, "shape"): Words(
        "`{text}` has shape {left}, and the descriptor stores blocks of shape {right}", "store a block of its shape"
    ),
    (MistakeKind.DESCRIPTOR, "dtype"): Words(
        "`{text}` is {value}, and the descriptor's elements are {element}; such stores do not cast", "cast it"
    ),
    (MistakeKind.DESCRIPTOR, "axes"): Words(
        "a tensor descriptor has one to five axes, not {given}", "join some of them"
    ),
    (MistakeKind.DESCRIPTOR, "axes differ"): Words("a tensor descriptor needs as many axes of each kind: {text}",
                                            "give one number for each axis"),
    (MistakeKind.DESCRIPTOR, "constant shape"): Words(
        "the block's shape is a constant tuple, which a descriptor does not take", "write the tuple into the call"
    ),
    (MistakeKind.DESCRIPTOR, "number"): Words(
        "{given} offsets are given for a descriptor with {rank} axes", "give one offset for each axis"
    ),
}  # fmt: skip


class BadAccess(Rule):
    code, name = "TAC124", "bad-access"
    summary = "A load, store or atomic is given what it does not take, so the kernel does not compile."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    fixable = Fixable.SAFE

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        yield from hits_of(kernel, _WORDS)
