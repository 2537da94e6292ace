"""TAC126: a call whose arguments do not fit what is called."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.ir.hits import Words, hits_of
from tritonaudit.ir.mistakes import MistakeKind
from tritonaudit.rule import Hit, Rule

_WORDS = {
    (MistakeKind.ARGUMENTS, "too many"): Words(
        "`{name}` takes {limit} arguments, and {given} are given", "leave out what it does not take"
    ),
    (MistakeKind.ARGUMENTS, "unknown"): Words(
        "`{name}` has no parameter `{parameter}`", "correct the name, or leave it out"
    ),
    (MistakeKind.ARGUMENTS, "twice"): Words("`{parameter}` of `{name}` is given twice", "leave out one of them"),
    (MistakeKind.ARGUMENTS, "missing"): Words(
        "`{name}` is called without `{parameter}`", "pass it, or give it a default"
    ),
    (MistakeKind.ARGUMENT_VALUE, "*"): Words("`{name}` takes {takes}, and `{text}` is {given}", "give what it takes"),
    (MistakeKind.CALL, "dtype"): Words("`{text}` is a dtype, which cannot be called", "cast with `.to({text})`"),
    (MistakeKind.CALL, "fill"): Words(
        "`{text}` is a block, and a block is filled with one number", "use `{text}` itself"
    ),
    (MistakeKind.CALL, "noinline"): Words(
        "`{name}` is marked `noinline`, and its argument `{parameter}` is a block; only scalars can be passed",
        "leave out `noinline=True`",
    ),
    (MistakeKind.CALL, "cat"): Words(
        "`tl.cat` without `can_reorder=True` does not compile",
        "give `can_reorder=True` where the order does not matter, else use `tl.join` and `tl.reshape`",
    ),
    (MistakeKind.CALL, "flip"): Words("`tl.flip` without `dim` does not compile", "name the axis: `tl.flip(x, 0)`"),
    (MistakeKind.CALL, "starred"): Words("a starred argument does not compile", "write the arguments one by one"),
    (MistakeKind.DOT_OPTIONS, "both"): Words(
        "`tl.dot` is given both `allow_tf32` and `input_precision`", "leave out `allow_tf32`"
    ),
    (MistakeKind.DOT_OPTIONS, "precision"): Words(
        "`input_precision` is {value!r}, which is not one of {allowed}", "use one of {allowed}"
    ),
}


class WrongCall(Rule):
    code, name = "TAC126", "wrong-call"
    summary = "A call in a kernel does not fit what it calls, so the kernel does not compile."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        yield from hits_of(kernel, _WORDS)
