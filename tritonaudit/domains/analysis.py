"""From a file to facts: every jit function of it, analysed."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.domains.machine import Machine
from tritonaudit.ir.analysis import FrontEnd, NotRead
from tritonaudit.kernel.launch import Launch, LaunchFacts, launches_of
from tritonaudit.kernel.project import Function, Project
from tritonaudit.source.outline import JitFunction, Module
from tritonaudit.target import Target
from tritonaudit.vendors import names_vendor

if TYPE_CHECKING:
    from tritonaudit.host.host import LaunchSite


@dataclass(frozen=True)
class NotAnalysed:
    """A function whose text is beyond the parser or the interpreter, and why; or the defect of ours that ended it."""

    function: JitFunction
    reason: str = ""
    defect: Exception | None = None


Types = Mapping[str, Mapping[str, str]]
"""The types of parameters, as Triton writes them (`*fp16`, `i32`), by the qualified name of the kernel."""

_NO_TYPES: Types = {}


def analyse(
    module: Module, project: Project, target: Target, types: Types = _NO_TYPES, known: Container[JitFunction] = ()
) -> Iterator[KernelFlow | NotAnalysed]:
    """The facts of each jit function of a file, or that it could not be analysed, in the order of the text.

    Those that are `known` are skipped.
    """
    launches = launches_of(module)
    called = _called(module)
    front_end = FrontEnd(project, target)
    for jit in module.jit:
        if jit in known:
            continue
        try:
            found = _analysed(front_end, Function(module, jit), launches.get(jit), called, types)
        except RecursionError:
            found = NotAnalysed(jit, "nested too deeply to be analysed")
        except Exception as error:  # a defect of ours costs one kernel, not the file
            found = NotAnalysed(jit, defect=error)
        yield found


def _analysed(
    front_end: FrontEnd, function: Function, launches: tuple[Launch, ...] | None, called: frozenset[str], types: Types
) -> KernelFlow | NotAnalysed:
    module, jit, project = function.module, function.jit, front_end.project
    tree = project.tree(function)
    if tree is None:
        return NotAnalysed(jit, project.refusal(function))
    facts = LaunchFacts(module, jit, launches or _elsewhere(project, function, called), project)
    helper = not facts.launches and (_looks_like_helper(jit, called) or _is_called_elsewhere(project, function))
    known, for_vendor = types.get(jit.qualname, {}), names_vendor(module.path)
    try:
        kernel, mistakes = front_end.read(function, facts, known, helper)
    except NotRead as error:
        return NotAnalysed(jit, str(error))
    flow = KernelFlow(module, jit, tree, facts, front_end.target, helper, for_vendor, known)
    flow.kernel = kernel
    Machine(flow, kernel).run()
    if not for_vendor:
        flow.mistakes = mistakes
        flow.dead_lines = front_end.dead_lines(jit)
    return flow


def for_launch(flow: KernelFlow, site: LaunchSite) -> KernelFlow:
    """The kernel as Triton compiles it for a launch: its flags, and pointers that are None, choose the arms."""
    constants = tuple(_flags(flow, site))
    if not constants:
        return flow
    if constants not in flow.specialised:
        flow.specialised[constants] = _specialised(flow, dict(constants))
    return flow.specialised[constants] or flow


def _flags(flow: KernelFlow, site: LaunchSite) -> Iterator[tuple[str, bool | None]]:
    """The parameters that a condition may ask about, and what the launch gives for them."""
    for parameter in flow.function.parameters:
        if parameter.name in site.arguments and site.arguments[parameter.name] is None:
            yield parameter.name, None
        elif parameter.constexpr and (number := site.argument(parameter.name)) is not None and number.value in (0, 1):
            yield parameter.name, bool(number.value)


def _specialised(flow: KernelFlow, constants: Mapping[str, bool | None]) -> KernelFlow | None:
    """None where it cannot be read so."""
    project = flow.launches.project
    try:
        kernel = FrontEnd(project, flow.target).read_for(
            Function(flow.module, flow.function), flow.launches, flow.types, constants
        )
    except (RecursionError, ValueError):
        return None
    found = KernelFlow(
        flow.module, flow.function, flow.tree, flow.launches, flow.target, flow.is_helper, flow.for_vendor, flow.types
    )
    found.kernel = kernel
    Machine(found, kernel).run()
    return found


def _elsewhere(project: Project, function: Function, called: frozenset[str]) -> tuple[Launch, ...]:
    """The launches in other files of what may be a kernel."""
    return () if _looks_like_helper(function.jit, called) else project.launches_elsewhere(function)


def _is_called_elsewhere(project: Project, function: Function) -> bool:
    """Whether kernels of another file call it."""
    return any(project.is_in(user, name, function) for user in project.users(function) for name in _called(user))


def _called(module: Module) -> frozenset[str]:
    """Names called inside jit functions, without a grid; none of Triton's own."""
    return frozenset(name for jit in module.jit for call in jit.nodes.of(ast.Call) for name in _callee(module, call))


def _callee(module: Module, call: ast.Call) -> Iterator[str]:
    match call.func:
        case ast.Name(name):
            yield name
        case ast.Attribute(_, name) if not module.origin_of(call.func).startswith("triton."):
            yield name


def is_helper(function: Function) -> bool:
    """Whether its file says that a jit function is called by kernels; one that is launched is none."""
    return _looks_like_helper(function.jit, _called(function.module))


def _looks_like_helper(jit: JitFunction, called: frozenset[str]) -> bool:
    """Whether other kernels call it, or it is written as a function of blocks."""
    return jit.name in called or _returns_value(jit) or _indexes_parameter(jit)


def _returns_value(jit: JitFunction) -> bool:
    return any(
        found.value is not None and not (isinstance(found.value, ast.Constant) and found.value.value is None)
        for found in jit.nodes.of(ast.Return)
    )


def _indexes_parameter(jit: JitFunction) -> bool:
    """Whether it takes a parameter as only blocks are taken: `mask[None, :]`, `x.shape[1]`, `x.numel`."""
    names = {parameter.name for parameter in jit.parameters}
    set_again = {name.id for name in jit.nodes.of(ast.Name) if isinstance(name.ctx, ast.Store)}
    taken = [index.value for index in jit.nodes.of(ast.Subscript) if _is_of_blocks(index.slice)]
    taken += [attribute.value for attribute in jit.nodes.of(ast.Attribute) if attribute.attr in _OF_BLOCKS]
    return any(isinstance(value, ast.Name) and value.id in names - set_again for value in taken)


_OF_BLOCKS = ("shape", "numel")


def _is_of_blocks(index: ast.expr) -> bool:
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return any(isinstance(part, ast.Slice) for part in parts)
