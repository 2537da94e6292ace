"""TAC140: a method of an integer argument, which is no tensor when it is 1."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.kernel.arguments import is_specialised, method_calls
from tritonaudit.queries.passed_sizes import may_be_one
from tritonaudit.rule import Hit, Rule


class MethodOfArgument(Rule):
    code, name = "TAC140", "method-of-argument"
    summary = "A method of an integer argument: where the launch passes 1, it is a constant and has no methods."
    severity, confidence, since = Severity.WARNING, Confidence.HIGH, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        if kernel.is_helper or not is_specialised(kernel.function):
            return
        calls: dict[str, list[ast.Call]] = {}
        for name, call in method_calls(kernel.function, kernel.module.lines):
            calls.setdefault(name, []).append(call)
        for name, (first, *others) in calls.items():
            if may_be_one(kernel, name):
                called = ast.unparse(first.func)
                yield Hit(
                    kernel.place(first),
                    f"`{called}` fails when `{name}` is 1: Triton makes a constant of it, which has no methods",
                    remedy=_remedy(name, first),
                    related=tuple((kernel.place(other), "here too") for other in others),
                )


def _remedy(name: str, call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute) and call.func.attr in ("to", "cast") and len(call.args) == 1:
        return f"write `tl.cast({name}, {ast.unparse(call.args[0])})`, or name `{name}` in `do_not_specialize`"
    return f"name `{name}` in `do_not_specialize` of `@triton.jit`"
