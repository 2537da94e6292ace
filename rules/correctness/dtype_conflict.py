"""TAC112: dtypes that do not go together, or that a function does not take."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.domains.value import dtype_parameter
from tritonaudit.finding import Confidence, Severity
from tritonaudit.fixes.integers import divided_down
from tritonaudit.ir.hits import Words, hits_of
from tritonaudit.ir.mistakes import MistakeKind
from tritonaudit.queries.dot_operands import hard_coded_operands, one_way_operands
from tritonaudit.rule import Fixable, Hit, Rule

_WORDS = {
    (MistakeKind.OPERANDS, "float"): Words(
        "`{symbol}` of a pointer and {right} or {left}: an offset must be an integer",
        "divide with `//`, or cast the offset with `.to(tl.int32)`",
        fix=divided_down,
    ),
    (MistakeKind.OPERANDS, "two pointers"): Words(
        "`{symbol}` of two pointers ({left} and {right})", "add offsets to one pointer; compare the offsets"
    ),
    (MistakeKind.OPERANDS, "reversed"): Words(
        "a pointer is subtracted from {left}", "subtract the number from the pointer"
    ),
    (MistakeKind.OPERANDS, "operator"): Words(
        "`{symbol}` of {left} and {right}: only `+` and `-` move a pointer", "compute the offset first, then add it"
    ),
    (MistakeKind.OPERANDS, "bits"): Words(
        "`{symbol}` of {left} and {right}: only bits of integers and conditions can be combined",
        "compare first, `(x > 0) & …`, or cast with `.to(tl.int32)`",
    ),
    (MistakeKind.OPERANDS, "invert"): Words("`~` of {left}", "use `-x`, or `~` on a condition"),
    (MistakeKind.OPERANDS, "string"): Words(
        "`{symbol}` of {left} and the string {right}", "pass the choice as a `tl.constexpr` parameter"
    ),
    (MistakeKind.OPERANDS, "plus"): Words("`+` before {left} does not compile", "leave it out"),
    (MistakeKind.OPERANDS, "minus"): Words("`-` of {left}", "negate the offset"),
    (MistakeKind.FLOAT_FLOOR, "*"): Words("`//` of floats ({left}) does not compile", "use `tl.floor(x / y)`"),
    (MistakeKind.SIGNEDNESS, "negative"): Words(
        "a negative number is combined with {left}, which is unsigned", "cast the value to a signed dtype"
    ),
    (MistakeKind.SIGNEDNESS, "*"): Words(
        "`//` or `%` of {left} and {right}, one of which is unsigned", "cast both to one signedness"
    ),
    (MistakeKind.MATH_DTYPE, "tl"): Words(
        "`{name}` takes fp32 and fp64, and `{text}` is {dtype}", "cast it: `{name}({text}.to(tl.float32))`"
    ),
    (MistakeKind.MATH_DTYPE, "fp32"): Words("`{name}` takes only fp32, and `{text}` is {dtype}", "cast it to fp32"),
    (MistakeKind.MATH_DTYPE, "libdevice"): Words(
        "`{name}` takes fp32 and fp64, and `{text}` is {dtype}", "cast it: `{name}({text}.to(tl.float32))`"
    ),
    (MistakeKind.CAST, "bitcast"): Words(
        "a bitcast of {type} changes its width from {before} to {after} bits", "cast to a dtype of the same width"
    ),
    (MistakeKind.CAST, "fp8"): Words("`{text}` casts {before} to {after}", "cast to fp32 in between"),
    (MistakeKind.CAST, "pointer as value"): Words(
        "`{text}` is a pointer, and a value of {dtype} is needed", "load what it points to"
    ),
    (MistakeKind.CAST, "void"): Words("`{name}` is not a dtype of values", "name a dtype such as `tl.float32`"),
    (MistakeKind.CAST, "to pointer"): Words(
        "`{text}` casts {type} to a pointer", "cast to what it points to: `.to(pointer.dtype.element_ty)`"
    ),
    (MistakeKind.CAST, "pointer"): Words("`{text}` casts a pointer to a number", "load the value first"),
    (MistakeKind.CAST, "stored pointer"): Words("`{text}` is a pointer, and a value is to be stored", "load it first"),
    (MistakeKind.NO_VALUE, "operand"): Words("`{symbol}` of {type} in `{text}`", "give each operand a value"),
    (MistakeKind.NO_VALUE, "tuples"): Words(
        "`{text}` joins a constant tuple with another tuple", "write its values out"
    ),
    (MistakeKind.NO_VALUE, "*"): Words("{where} is `{text}`, {type}, and must be a value", "give a number or a block"),
    (MistakeKind.DTYPE_KIND, "string"): Words("{text} is a string, not a dtype", "write `tl.{name}`"),
    (MistakeKind.DTYPE_KIND, "library"): Words("`{text}` is not a dtype of Triton's", "write `tl.{name}`"),
    (MistakeKind.OUT_OF_RANGE, ""): Words(
        "{value} does not fit into {dtype}, the dtype of the other operand", "cast the operand: `.to(tl.int64)`"
    ),
    (MistakeKind.DOT_OPERANDS, "differ"): Words(
        "the operands of `tl.dot` are {left} (`{a}`) and {right} (`{b}`)", "cast one of them: `.to({a}.dtype)`"
    ),
    (MistakeKind.DOT_OPERANDS, "dtype"): Words(
        "`tl.dot` does not take {dtype}", "cast the operands to fp16, bf16 or fp32"
    ),
    (MistakeKind.DOT_OPERANDS, "fp64"): Words("`tl.dot` does not take fp64", "cast the operands to fp32"),
    (MistakeKind.DOT_ACCUMULATOR, "bf16"): Words(
        "`tl.dot` does not take `out_dtype=tl.bfloat16`", "accumulate in fp32 and cast the result"
    ),
    (MistakeKind.DOT_ACCUMULATOR, "*"): Words(
        "the accumulator `{acc}` is {dtype}, and `tl.dot` of {operands} does not take it",
        "accumulate in fp32 (int32 for integers), and cast at the end",
    ),
}  # fmt: skip


class DtypeConflict(Rule):
    code, name = "TAC112", "dtype-conflict"
    summary = "Dtypes do not go together, or a function does not take them, so the kernel does not compile."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    fixable = Fixable.SAFE

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        yield from hits_of(kernel, _WORDS)
        if not kernel.for_vendor:
            yield from _operands(kernel)


def _operands(kernel: KernelFlow) -> Iterator[Hit]:
    """Matrix products that compile for some flags or inputs alone."""
    for one in one_way_operands(kernel):
        yield Hit(
            one.dot.node,
            f"the {one.operand} operand of `tl.dot` is {one.differs} on one way that leads here, and"
            f" {_spelled(one.agrees)}, as the other operand, on another: both must have one dtype",
            remedy="cast it right before the product, on every way",
            confidence=Confidence.MEDIUM,
        )
    for fixed in hard_coded_operands(kernel):
        yield Hit(
            fixed.dot.node,
            f"one operand of `tl.dot` is {fixed.dtype}, and the other has the dtype of what `{fixed.parameter}` points"
            " to: it does not compile for any other",
            remedy=f"cast to the other operand's dtype, or to `{fixed.parameter}.dtype.element_ty`",
            severity=Severity.WARNING,
            confidence=Confidence.MEDIUM,
        )


def _spelled(dtype: str) -> str:
    parameter = dtype_parameter(dtype)
    if parameter is not None:
        return f"`{parameter}`"
    return f"the element type of `{dtype[1:]}`" if dtype[0] == "*" else dtype
