"""TAC104: Python that Triton's front end rejects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonaudit.finding import Confidence, Severity
from tritonaudit.flow.facts import KernelFlow
from tritonaudit.flow.syntax import Construct, constructs
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
    Construct.WALRUS: _Support("`:=`", "assign in a statement of its own", since=(3, 8), accepted=True),
}


class UnsupportedConstruct(Rule):
    code, name = "TAC104", "unsupported-construct"
    summary = "A Python construct that Triton's front end rejects, so the kernel does not compile."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for construct, node in constructs(kernel):
            support = _SUPPORT[construct]
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
