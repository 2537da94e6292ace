"""Sizes of tiles that a launch gives as numbers, regardless of the data and the GPU."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.kernel.launch import Launch, LaunchFacts
from tritonaudit.kernel.tuning import Jit, decorators
from tritonaudit.source.outline import JitFunction, Module

_SMALL = 32


@dataclass(frozen=True, eq=False)
class FixedSize:
    """Every launch of the file gives the parameter `value`, the first at `node`."""

    parameter: str
    value: int
    node: ast.expr


@dataclass(frozen=True, eq=False)
class FixedGrid:
    """The launch has `value` programs, however much there is to do."""

    value: int
    node: ast.expr


def fixed_sizes(
    module: Module, function: JitFunction, launches: LaunchFacts, of_tiles: frozenset[str]
) -> Iterator[FixedSize]:
    """Those of the parameters `of_tiles` that are numbers in all launches, where no decorator chooses anything."""
    plain = all(isinstance(found, Jit) for found in decorators(module, function))
    if not plain or any(launch.is_open for launch in launches.launches):
        return
    for parameter in function.parameters:
        if parameter.constexpr and parameter.name in of_tiles:
            found = [_size(launch, parameter.name) for launch in launches.launches]
            first = found[0] if found else None
            if first is not None and all(other is not None and other.value == first.value for other in found):
                yield first


def _size(launch: Launch, parameter: str) -> FixedSize | None:
    """What the launch passes for the parameter, where it is a number and not small."""
    node = launch.arguments.get(parameter)
    given = None if node is None else launch.definition(node)
    if not isinstance(given, ast.Constant) or type(given.value) is not int or given.value <= _SMALL:
        return None
    return FixedSize(parameter, given.value, given)


def fixed_grids(launches: LaunchFacts) -> Iterator[FixedGrid]:
    """The grids of one axis that is a number of programs, two or more."""
    for launch in launches.launches:
        axes = [launch.definition(axis) for axis in launch.axes]
        if len(axes) == 1 and isinstance(axes[0], ast.Constant) and type(axes[0].value) is int and axes[0].value > 1:
            yield FixedGrid(axes[0].value, axes[0])
