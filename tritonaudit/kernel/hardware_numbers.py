"""What one GPU has so many of, written down as a number, and assembly that one maker's GPUs understand."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import TypeGuard

from tritonaudit.kernel.launch import Launch, LaunchFacts
from tritonaudit.kernel.tensors import parameters
from tritonaudit.source.nodes import names_in
from tritonaudit.source.outline import JitFunction, Module

_DEPTH = 4
_LEAST = 8  # a number of multiprocessors below it stands for something else

_PROCESSORS = r"(sms?|cus?|streaming_?multi_?processors?|multi_?processors?|compute_?units?)"
_FULL = frozenset({108, 114, 132, 142, 148, 188, 228, 304})
"""How many multiprocessors A100, H100, H200, L40, B200 and the like have: odd numbers for anything else."""

_CAPABILITY = re.compile(r"capability|\bcc\b|\.major\b|\bcc_major\b", re.IGNORECASE)
_PTX = re.compile(r"\.(?:b|f|u|s|bf)(?:8|16|32|64)\b")
_OTHER_MAKERS = re.compile(r"(?<![a-z])(?:hip(?![a-z])|rocm|amd)", re.IGNORECASE)


class Counted(Enum):
    """What the number counts."""

    PROCESSORS = auto()
    LANES = auto()


_COUNTED = {
    Counted.PROCESSORS: re.compile(
        rf"(num|n|nr|total|device|gpu)_?{_PROCESSORS}|{_PROCESSORS}_?(count|num|cnt)", re.IGNORECASE
    ),
    Counted.LANES: re.compile(
        r"(num_?)?threads_?(per|in)_?(a_?)?warp|(warp|wave(front)?)_?size|lanes_?per_?warp", re.IGNORECASE
    ),
}


@dataclass(frozen=True, eq=False)
class HardwareNumber:
    """A name that says what it counts, and the literal at `node` that is its only value.

    `is_default`: callers that are not seen may give another.
    """

    name: str
    value: int
    counts: Counted
    node: ast.expr
    is_default: bool = False


def hardware_numbers(function: JitFunction, launches: LaunchFacts) -> Iterator[HardwareNumber]:
    """The numbers that a launch of the kernel rests on: in its grid, its options or its arguments."""
    for parameter in function.parameters:
        passed = any(parameter.name in launch.arguments or launch.is_open for launch in launches.launches)
        if parameter.default is not None and not passed:
            yield from _literal(parameter.name, parameter.default, is_default=not launches.launches)
    for launch in launches.launches:
        for name in _names(launch):
            if _counted(name) is not None:
                yield from _of_name(launch, name)


def full_grids(launches: LaunchFacts) -> Iterator[ast.Constant]:
    """The axes of grids that are, or are at most, as long as some GPU has multiprocessors."""
    for launch in launches.launches:
        axes = [launch.definition(axis) for axis in launch.axes]
        bounds = [bound for axis in axes if _is_least(axis) for bound in axis.args]
        for node in (*axes, *bounds):
            if isinstance(node, ast.Constant) and node.value in _FULL:
                yield node


def _is_least(node: ast.expr) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "min"


def open_ended_tests(launches: LaunchFacts) -> Iterator[ast.expr]:
    """Tests that a capability is at least so high, which decide about numbers of a launch."""
    for launch in launches.launches:
        if asking := [node for node in launch.nodes.of(ast.If) if _asks_for_more(node.test)]:
            names = set(_names(launch))
            yield from (node.test for node in asking if names & _numbers_set(node.body))


def _asks_for_more(test: ast.expr) -> bool:
    more = isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], (ast.Gt, ast.GtE))
    return more and _CAPABILITY.search(ast.unparse(test)) is not None


def _numbers_set(body: list[ast.stmt]) -> set[str]:
    """The names that the statements set to numbers."""
    found: set[str] = set()
    for node in body:
        if isinstance(node, ast.Assign) and all(isinstance(part, _OF_NUMBERS) for part in ast.walk(node.value)):
            found |= names_in(node.targets[0])
    return found


_OF_NUMBERS = (ast.Constant, ast.Tuple, ast.Load)


def bare_ptx(module: Module, function: JitFunction) -> Iterator[ast.Call]:
    """Assembly for NVIDIA's GPUs, in a file that speaks of no others."""
    calls = [call for call in function.nodes.of(ast.Call) if _is_assembly(module, call)]
    if calls and not module.says(_OTHER_MAKERS):
        yield from (call for call in calls if any(_is_ptx(node) for node in ast.walk(call)))


def _is_assembly(module: Module, call: ast.Call) -> bool:
    return module.origin_of(call.func) == "triton.language.inline_asm_elementwise"


def _is_ptx(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and _PTX.search(node.value) is not None


def _counted(name: str) -> Counted | None:
    return next((counts for counts, pattern in _COUNTED.items() if pattern.fullmatch(name.strip("_"))), None)


def _names(launch: Launch) -> Iterable[str]:
    """The names that the launch is made of, and those that they are set to."""
    found: dict[str, None] = {}
    nodes: list[ast.AST] = [launch.call]
    for _ in range(_DEPTH):
        new = {name for node in nodes for name in names_in(node)} - found.keys()
        if not new:
            break
        found.update(dict.fromkeys(sorted(new)))
        nodes = [value for name in new for value in launch.reaching.get(name, ())]
    return found


def _of_name(launch: Launch, name: str) -> Iterator[HardwareNumber]:
    module = launch.module
    if name in launch.reaching:
        values = launch.reaching[name]
        if len(values) == 1:
            yield from _literal(name, values[0])
    elif (default := _default(launch, name)) is not None:
        yield from _literal(name, default, is_default=not _is_left_out(launch, name))
    elif name in module.constants and _is_set_once(module, name) and not _is_parameter(launch, name):
        yield from _literal(name, module.constants[name])


def _literal(name: str, node: ast.expr, is_default: bool = False) -> Iterator[HardwareNumber]:
    counts = _counted(name)
    value = node.value if isinstance(node, ast.Constant) else None
    if counts is None or not isinstance(value, int) or isinstance(value, bool):
        return
    if value in (32, 64) if counts is Counted.LANES else value >= _LEAST:
        yield HardwareNumber(name, value, counts, node, is_default)


def _is_parameter(launch: Launch, name: str) -> bool:
    return launch.wrapper is not None and name in parameters(launch.wrapper)


def _default(launch: Launch, name: str) -> ast.expr | None:
    """The default of the wrapper's parameter."""
    if launch.wrapper is None:
        return None
    arguments = launch.wrapper.args
    by_place = [node.arg for node in (*arguments.posonlyargs, *arguments.args)]
    defaults = dict(zip(reversed(by_place), reversed(arguments.defaults), strict=False))
    by_name = {
        node.arg: value for node, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value
    }
    return {**defaults, **by_name}.get(name)


def _is_left_out(launch: Launch, name: str) -> bool:
    """Whether a call of the wrapper in the file leaves its parameter to the default."""
    wrapper = launch.wrapper
    assert wrapper is not None
    place = parameters(wrapper).index(name)
    calls = (call for call in launch.module.nodes(launch.module.tree).of(ast.Call) if isinstance(call.func, ast.Name))
    return any(
        len(call.args) <= place and all(keyword.arg not in (name, None) for keyword in call.keywords)
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id == wrapper.name
    )


def _is_set_once(module: Module, name: str) -> bool:
    stores = (node for node in module.nodes(module.tree).of(ast.Name) if isinstance(node.ctx, ast.Store))
    return sum(node.id == name for node in stores) == 1
