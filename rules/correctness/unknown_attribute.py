"""TAC125: an attribute or method that blocks and dtypes do not have."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Extent, Severity
from tritonaudit.ir.hits import Words, hit
from tritonaudit.ir.mistakes import MistakeKind
from tritonaudit.rule import Hit, Rule

_TENSOR = Words("a block has no attribute `{name}`", "use a function of `tl` in its place")
_LATER = Words("a block has no method `{name}`", "call the function: `tl.{name}(…)`")
_DTYPE = Words("a dtype has no attribute `{name}`", "write the number itself")
_CONSTANT = Words(
    "`{text}` is a constant, and has no `{name}` as a block has",
    "use it as it is, or fill a block with it: `tl.full`",
)
_TUPLE = Words("a tuple in a kernel has no `{name}`", "write a new tuple")

_NO_POINTER = Words("`{text}` is not a pointer dtype, and has no `{name}`", "leave it out: it is the dtype itself")

_WORDS = {"no pointer": _NO_POINTER, "dtype": _DTYPE, "tuple": _TUPLE, "later": _LATER, "constant": _CONSTANT}

_CASTS = {"float": "float32", "half": "float16", "double": "float64", "int": "int32", "long": "int64",
          "bool": "int1", "bfloat16": "bfloat16"}  # fmt: skip
_REMEDIES = {
    "stride": "pass the strides as parameters",
    "size": "use `.shape[…]`, and pass the sizes of tensors as parameters",
    "device": "leave it out: a kernel runs on one device",
    "contiguous": "leave it out: blocks have no memory order",
    "mean": "divide `tl.sum(…)` by the number of elements",
    "pow": "multiply, or use `libdevice.pow`",
    "transpose": "use `tl.trans`",
}


class UnknownAttribute(Rule):
    code, name = "TAC125", "unknown-attribute"
    summary = "A block, dtype or tuple has no such attribute or method, so the kernel does not compile."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    once_in = Extent.KERNEL

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for mistake in kernel.mistakes:
            if mistake.kind is not MistakeKind.ATTRIBUTE:
                continue
            name = str(mistake.words["name"])
            words = _WORDS.get(mistake.what, _TENSOR)
            if words is _TENSOR and (remedy := _remedy(name)):
                words = Words(words.message, remedy)
            yield hit(kernel, mistake, words)


def _remedy(name: str) -> str | None:
    if name in _CASTS:
        return f"cast with `.to(tl.{_CASTS[name]})`"
    return _REMEDIES.get(name)
