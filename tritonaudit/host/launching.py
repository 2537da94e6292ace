"""Launches: what a kernel is passed, by its parameters, its configs and its heuristics."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from tritonaudit.host.expressions import value
from tritonaudit.host.run import Recorded, Run
from tritonaudit.host.values import (
    Config,
    Dims,
    External,
    Function,
    Kernel,
    Partial,
    Rest,
    Symbol,
    Value,
)

OPTIONS = frozenset(("num_warps", "num_stages", "num_ctas", "maxnreg", "enable_fp_fusion", "grid", "warmup"))
_CHOSEN = "an autotuner chooses it"


@dataclass(frozen=True, eq=False)
class Decorations:
    """What the decorators of a kernel give: the configs (None: not known), and what is computed from arguments."""

    configs: tuple[Config, ...] | None
    heuristics: dict[str, Value]


def launch(
    run: Run, kernel: Kernel, grid: Value, args: list[Value], keywords: dict[str, Value], node: ast.AST | None
) -> Value:
    """Record the launch; it returns nothing that matters."""
    decorations = decorations_of(run, kernel)
    names = [parameter.name for parameter in kernel.function.parameters]
    is_whole = "**" not in keywords and not any(isinstance(one, Rest) for one in args)
    before = next((place for place, one in enumerate(args) if isinstance(one, Rest)), len(args))
    arguments: dict[str, Value] = dict(zip(names, args[:before], strict=False))
    arguments.update({name: one for name, one in keywords.items() if name in names})
    options = {name: one for name, one in keywords.items() if name in OPTIONS and name not in names}
    _choose(run, kernel, decorations, arguments)
    for parameter in kernel.function.parameters:
        if parameter.name not in arguments and parameter.default is not None:
            arguments[parameter.name] = value(run, kernel.scope.frame, parameter.default)
    for name, function in decorations.heuristics.items():
        arguments[name] = run.apply(function, [{**arguments, **options}], {}, None)
    if isinstance(node, ast.Call):
        if isinstance(grid, (Function, Partial)):
            grid = run.apply(grid, [{**arguments, **options}], {}, None)
        axes, written = _axes(run, grid), run.written.get(id(grid), (None, []))[1]
        passed = {name: _put_in(run, one) for name, one in arguments.items()}
        configs, conditions = decorations.configs or (), tuple(run.facts.conditions)
        around = tuple(run.calls)
        made = Recorded(
            kernel,
            node,
            passed,
            axes,
            tuple(written),
            options,
            configs,
            conditions,
            dict(run.ranks),
            around,
            is_whole,
            run.called,
        )
        run.launches.append(made)
    return None


def _put_in(run: Run, given: Value) -> Value:
    """A number that was put in for an input is passed as that number."""
    is_number = isinstance(given, Symbol) and not given.reason and given.name in run.sizes
    return run.integer(given) if is_number else given


def _choose(run: Run, kernel: Kernel, decorations: Decorations, arguments: dict[str, Value]) -> None:
    """What the configs give: the number, where all give the same, or else one of the kernel's own unknowns."""
    configs = decorations.configs
    if configs is None:
        for parameter in kernel.function.parameters:
            if parameter.constexpr and parameter.name not in arguments and parameter.default is None:
                arguments[parameter.name] = chosen(run, kernel, parameter.name)
        return
    for name in dict.fromkeys(name for config in configs for name in config.given):
        if name not in arguments:
            given = [config.given.get(name) for config in configs]
            is_same = all(one == given[0] for one in given) and given[0] is not None
            arguments[name] = given[0] if is_same else chosen(run, kernel, name)


def chosen(run: Run, kernel: Kernel, name: str) -> Symbol:
    """The constant of a kernel that its autotuner chooses."""
    return Symbol(("config", kernel.scope.module.path, kernel.function.qualname, name), name, _CHOSEN)


def _axes(run: Run, grid: Value) -> tuple[Value, ...] | Symbol:
    """The grid's axes."""
    if isinstance(grid, Dims):
        grid = run.dims(grid)
    if not isinstance(grid, (tuple, list)):
        whole = None if grid is None else run.integer(grid)
        if isinstance(grid, Symbol):
            return replace(grid, reason=grid.reason or "the grid is given")
        return run.unknown("the grid is not a tuple", grid) if whole is None else (whole,)
    axes = [run.integer(axis) for axis in grid]
    return tuple(run.unknown("no number", one) if axis is None else axis for axis, one in zip(axes, grid, strict=True))


def decorations_of(run: Run, kernel: Kernel) -> Decorations:
    """Read once of each kernel."""
    kept = kernel.scope.decorations
    if kernel not in kept:
        kept[kernel] = Decorations((), {})
        with kernel.scope.reading(run):
            kept[kernel] = _decorations(run, kernel)
    found: Decorations = kept[kernel]
    return found


def _decorations(run: Run, kernel: Kernel) -> Decorations:
    configs: tuple[Config, ...] | None = ()
    heuristics: dict[str, Value] = {}
    for decorator in kernel.function.decorators:
        if not isinstance(decorator, ast.Call):
            continue
        given = {keyword.arg: keyword.value for keyword in decorator.keywords if keyword.arg is not None}
        function = value(run, kernel.scope.frame, decorator.func)
        name = function.name if isinstance(function, (External, Symbol, Function)) else ""
        first = decorator.args[0] if decorator.args else None
        listed = given.get("configs", first if name == "triton.autotune" else None)
        if listed is not None:
            configs = _configs(run, kernel, listed)
        computed = given.get("values", first if name == "triton.heuristics" else None)
        functions = None if computed is None else value(run, kernel.scope.frame, computed)
        if isinstance(functions, dict):
            heuristics.update({str(key): one for key, one in functions.items()})
    return Decorations(configs, heuristics)


def _configs(run: Run, kernel: Kernel, node: ast.expr) -> tuple[Config, ...] | None:
    found = value(run, kernel.scope.frame, node)
    if isinstance(found, (tuple, list)) and found and all(isinstance(one, Config) for one in found):
        nodes = node.elts if isinstance(node, (ast.List, ast.Tuple)) and len(node.elts) == len(found) else []
        return tuple(replace(one, node=at) for one, at in zip(found, nodes, strict=True)) if nodes else tuple(found)
    return None
