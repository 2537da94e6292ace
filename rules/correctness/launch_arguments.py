"""TAC211: a launch whose arguments or grid do not fit the kernel."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.kernel.launch import Launch
from tritonaudit.kernel.tuning import LAUNCH_OPTIONS, Autotune, Heuristics, Other, decorators
from tritonaudit.rule import Hit, Rule
from tritonaudit.source.outline import dotted_name

_CLOSE = 0.8


class LaunchArguments(Rule):
    code, name = "TAC211", "launch-arguments"
    summary = "The arguments or the grid of a launch do not fit the kernel, so the launch fails."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        found = decorators(kernel.module, kernel.function)
        wrapped = _is_wrapped(kernel) or any(isinstance(decorator, Other) for decorator in found)
        given = set().union(*(d.tuned if isinstance(d, Autotune) else d.values for d in found
                              if isinstance(d, (Autotune, Heuristics))))  # fmt: skip
        complete = all(d.whole for d in found if isinstance(d, Autotune)) and not any(
            isinstance(d, Heuristics) and not d.whole for d in found
        )
        for launch in kernel.launches.launches:
            yield from self._grid(kernel, launch)
            if wrapped or launch.is_open or kernel.function.node.args.kwarg or kernel.function.node.args.vararg:
                continue
            yield from self._keywords(kernel, launch)
            yield from self._positional(kernel, launch)
            if complete:
                yield from self._missing(kernel, launch, given)

    def _keywords(self, kernel: KernelFlow, launch: Launch) -> Iterator[Hit]:
        names = [parameter.name for parameter in kernel.function.parameters]
        positional = set(names[: len(launch.call.args)])
        for keyword in launch.call.keywords:
            assert keyword.arg is not None
            if keyword.arg in positional:
                message = f"`{keyword.arg}` is passed twice, by position and by name"
                yield self._hit(kernel, keyword.value, message, "pass it once")
            elif keyword.arg not in names and keyword.arg not in LAUNCH_OPTIONS:
                close = difflib.get_close_matches(keyword.arg, [*names, *sorted(LAUNCH_OPTIONS)], 1, _CLOSE)
                yield self._hit(
                    kernel,
                    keyword.value,
                    f"`{keyword.arg}` is neither a parameter of `{kernel.name}` nor a launch option",
                    f"did you mean `{close[0]}`?" if close else "leave it out",
                    None if close else Confidence.LOW,  # an option of another backend
                )
            elif keyword.arg == "num_warps" and isinstance(keyword.value, ast.Constant):
                value = keyword.value.value
                if type(value) is not int or value < 1 or value & (value - 1):
                    message = f"`num_warps` is {value!r}, and must be a power of two"
                    yield self._hit(kernel, keyword.value, message, "use 4 or 8")

    def _positional(self, kernel: KernelFlow, launch: Launch) -> Iterator[Hit]:
        limit = len(kernel.function.parameters)
        if len(launch.call.args) > limit:
            message = f"`{kernel.name}` has {limit} parameters, and {len(launch.call.args)} arguments are passed"
            yield self._hit(kernel, launch.call.args[limit], message, "leave out what it does not take")

    def _missing(self, kernel: KernelFlow, launch: Launch, given: set[str]) -> Iterator[Hit]:
        missing = [
            parameter.name
            for parameter in kernel.function.parameters
            if parameter.default is None and parameter.name not in launch.arguments and parameter.name not in given
        ]
        if missing:
            names = ", ".join(f"`{name}`" for name in missing)
            yield self._hit(kernel, launch.call, f"this launch of `{kernel.name}` does not pass {names}", "pass it")

    def _grid(self, kernel: KernelFlow, launch: Launch) -> Iterator[Hit]:
        node = launch.definition(launch.grid)
        if isinstance(node, ast.Lambda):
            node = node.body
        if _is_number(launch, node):
            text = ast.unparse(node)
            yield self._hit(kernel, node, f"the grid is the number `{text}`, and must be a tuple", f"write `({text},)`")
        for axis in node.elts[:3] if isinstance(node, (ast.Tuple, ast.List)) else []:
            if isinstance(axis, ast.BinOp) and isinstance(axis.op, ast.Div):
                message = f"the grid's `{ast.unparse(axis)}` is a float, and must be an integer"
                yield self._hit(kernel, axis, message, "divide with `triton.cdiv`")
        if isinstance(node, (ast.Tuple, ast.List)) and not all(map(_is_one, node.elts[3:])):
            message = f"the grid has {len(node.elts)} axes, and all after the third are silently dropped"
            yield self._hit(kernel, node, message, "fold two of the axes into one")

    def _hit(
        self, kernel: KernelFlow, node: ast.expr, message: str, remedy: str, confidence: Confidence | None = None
    ) -> Hit:
        return Hit(kernel.place(node), message, remedy=remedy, confidence=confidence)


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1


def _is_wrapped(kernel: KernelFlow) -> bool:
    """Whether the file gives the kernel's name to something else, as `kernel = triton.heuristics(…)(kernel)` does."""
    return kernel.name in kernel.module.constants or kernel.name in kernel.module.names


def _is_number(launch: Launch, node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return type(node.value) is int
    called = dotted_name(node.func) if isinstance(node, ast.Call) else None
    return called is not None and launch.module.origin(called) in ("triton.cdiv", "len", "triton.next_power_of_2")
