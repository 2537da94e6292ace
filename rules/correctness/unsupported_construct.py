"""TAC104: Python that Triton's front end rejects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.ir.hits import Words, also
from tritonaudit.ir.mistakes import MistakeKind
from tritonaudit.queries.syntax import Construct, constructs
from tritonaudit.rule import Hit, Rule

if TYPE_CHECKING:
    from tritonaudit.target import Target, Version


@dataclass(frozen=True)
class _Support:
    """What a construct is called, what to write instead, and the release that began to accept it."""

    called: str
    remedy: str
    since: Version | None = None
    accepted: bool = False


_SUPPORT = {
    Construct.BREAK: _Support("`break`", "let the loop's condition or a mask stop it: `while` with a flag"),
    Construct.CONTINUE: _Support("`continue`", "invert the `if` and put the rest of the body under it"),
    Construct.RETURN_IN_LOOP: _Support("`return` inside a loop", "set a value in the loop and return it after"),
    Construct.LOOP_ELSE: _Support("`else` on a loop", "put its statements after the loop"),
    Construct.TRY: _Support("`try`", "kernels raise nothing; test beforehand"),
    Construct.RAISE: _Support("`raise`", "use `tl.static_assert` or `tl.device_assert`"),
    Construct.WITH: _Support("`with`", "write its body without it"),
    Construct.LAMBDA: _Support("`lambda`", "write a `@triton.jit` function at the module's level"),
    Construct.NESTED_FUNCTION: _Support("a nested function", "move it to the module's level under `@triton.jit`"),
    Construct.CLASS: _Support("a class", "move it out of the kernel"),
    Construct.GENERATOR: _Support("a generator expression", "unroll it with `tl.static_range`"),
    Construct.TUPLE_COMPREHENSION: _Support(
        "a list comprehension", "unroll it with `tl.static_range`", since=(3, 5), accepted=True
    ),
    Construct.COMPREHENSION: _Support("a comprehension", "write its values out, or loop with `tl.static_range`"),
    Construct.DICT: _Support("a dict", "pass constexpr parameters"),
    Construct.SET: _Support("a set", "compare one by one"),
    Construct.GLOBAL: _Support("`global`", "pass the value as a parameter"),
    Construct.IMPORT: _Support("`import`", "import at the module's level"),
    Construct.DELETE: _Support("`del`", "leave it out"),
    Construct.YIELD: _Support("`yield`", "store the values"),
    Construct.AWAIT: _Support("`await`", "leave it out"),
    Construct.MATCH: _Support("`match`", "use `if` and `elif`"),
    Construct.WALRUS: _Support("`:=`", "assign in a separate statement", since=(3, 8), accepted=True),
}

_FSTRING = Words(
    "an f-string holds `{text}`, which is known only when the kernel runs",
    'pass it as an argument: `tl.device_print("x", {text})`',
    once=True,
)

_WORDS = {
    (MistakeKind.LOOP_OVER, ""): Words(
        "a loop runs over `{text}`, and only `range`, `tl.range` and `tl.static_range` can be looped over",
        "count with `tl.static_range`, and pick the values by `if`",
    ),
    (MistakeKind.LOOP_OVER, "comprehension"): Words(
        "`{text}` runs over a `range`, and a comprehension takes only tuples", "write its values out"
    ),
    (MistakeKind.LOOP_CONSTANT, "*"): Words(
        "`while {text}` has a constant condition, which does not compile", "compare values that change in the loop"
    ),
    (MistakeKind.LOOP_NUMBER, "*"): Words("`while {text}` has a number as its condition", "compare it: `{text} != 0`"),
    (MistakeKind.KERNEL_RETURNS, "*"): Words(
        "a kernel that is launched returns `{text}`", "store it, and return nothing"
    ),
    (MistakeKind.BOTH_RETURN, "*"): Words("a `return` in both arms of an `if`", "return after the `if`"),
    (MistakeKind.RETURN_IN_ONE, "crash"): Words(
        "`{name}` returns a value on one path only", "return one on every path"
    ),
    (MistakeKind.RECURSION, "early"): Words("`{name}` calls itself", "write a loop"),
    (MistakeKind.RECURSION, "runtime"): Words(
        "`{name}` calls itself depending on run-time values, so that nothing ends it at compile time", "write a loop"
    ),
    (MistakeKind.RECURSION, "endless"): Words(
        "`{name}` calls itself without an end: what follows `if …: return` is compiled anyway",
        "put the rest under an `else`",
    ),
    (MistakeKind.CONDITION_KIND, "*"): Words(
        "the condition `{text}` is the constant {value}, and a constant condition must be a truth value, int or None",
        "compare it: `{text} != 0`, `{text} == …`",
    ),
    (MistakeKind.STRING, "*"): Words("a string is assigned to a name", "pass it as a `tl.constexpr` parameter"),
    (MistakeKind.FSTRING, "*"): _FSTRING,
    (MistakeKind.FSTRING, "printed"): replace(_FSTRING, confidence=Confidence.LOW),  # a flag for the interpreter
    (MistakeKind.NO_NUMBER, "*"): Words("{text} is not a number that a kernel knows", "use a float or an int"),
    (MistakeKind.POWER, "*"): Words(
        "`{text}`: values of a kernel have no `**`", "multiply, or use `tl.exp2(y * tl.log2(x))`"
    ),
    (MistakeKind.MATMUL, "*"): Words("kernels have no `@`", "use `tl.dot`"),
    (MistakeKind.MEMBERSHIP, "*"): Words(
        "`{text}`: kernels have no `in`", "compare one by one: `(x == 1) or (x == 2)`"
    ),
    (MistakeKind.SET_ITEM, "*"): Words(
        "an element of `{name}` is set, and blocks cannot be changed",
        "use `tl.where`; store with `tl.store`",
        once=True,
    ),
    (MistakeKind.SET_ATTRIBUTE, "*"): Words(
        "`{name}` is set, and values have no attributes to set", "use a separate name"
    ),
    (MistakeKind.ASSIGNMENT, "several targets"): Words(
        "`a = b = …` does not compile", "write one assignment for each name"
    ),
    (MistakeKind.ASSIGNMENT, "constant tuple"): Words("a constant tuple is unpacked", "pick its values by their index"),
    (MistakeKind.ASSIGNMENT, "nested"): Words(
        "a target in parentheses does not compile", "unpack one tuple after the other"
    ),
    (MistakeKind.ASSIGNMENT, "starred"): Words("a starred target does not compile", "name each value"),
    (MistakeKind.ASSIGNMENT, "annotation"): Words(
        "an annotated assignment does not compile", "leave the annotation out"
    ),
    (MistakeKind.ASSIGNMENT, "number"): Words("{values} values are unpacked into {targets} names", "name each value"),
    (MistakeKind.ASSIGNMENT, "no tuple"): Words(
        "{type} is unpacked into several names", "pick the parts by `tl.split`"
    ),
    (MistakeKind.ASSIGNMENT, "round"): Words("the number of a round is unpacked into several names", "name it by one"),
    (MistakeKind.PARAMETERS, "positional"): Words("positional-only parameters do not compile", "leave out the `/`"),
    (MistakeKind.PARAMETERS, "keyword"): Words(
        "keyword-only parameters (`{name}`) do not compile", "leave out the `*`"
    ),
    (MistakeKind.PARAMETERS, "starred"): Words("`*{name}` does not compile", "name each parameter"),
    (MistakeKind.PARAMETERS, "keywords"): Words("`**{name}` is refused", "name each parameter"),
    (MistakeKind.RAISE, "*"): Words(
        "`raise` does not compile in a kernel", "use `tl.static_assert` or `tl.device_assert`"
    ),
}  # fmt: skip


class UnsupportedConstruct(Rule):
    code, name = "TAC104", "unsupported-construct"
    summary = "A Python construct that Triton's front end rejects, so the kernel does not compile."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        yield from also(kernel, self._constructs(kernel), _WORDS)

    def _constructs(self, kernel: KernelFlow) -> Iterator[Hit]:
        for construct, node in constructs(kernel):
            support = _SUPPORT[construct]
            if kernel.tree.span(node).line in kernel.dead_lines:
                continue
            accepted = kernel.target.supports(support.since) if support.accepted else "none"
            if accepted != "all":
                yield Hit(
                    node,
                    f"{support.called} does not compile in a kernel{_versions(support, kernel.target)}",
                    remedy=support.remedy,
                    confidence=Confidence.LOW if accepted == "some" else None,
                )


def _versions(support: _Support, target: Target) -> str:
    if support.since is None:
        return ""
    return f" before Triton {support.since[0]}.{support.since[1]} (target {target.text})"
