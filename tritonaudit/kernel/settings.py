"""The numbers that a kernel is compiled with: those of a config or of a launch, with its warps."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tritonaudit.kernel.launch import Launch, LaunchFacts
from tritonaudit.kernel.tuning import OPTIONS, Autotune, Config, Jit, decorators
from tritonaudit.source.outline import JitFunction, Module

LANES, WARPS = 32, 4
"""The lanes of a warp of NVIDIA's GPUs, and the warps that Triton compiles for where nobody says how many."""

_SPLITS = frozenset({"num_ctas", "num_consumer_groups", "num_buffers_warp_spec"})
"""Options by which several groups of warps share a tile."""

_OF_AMD = frozenset({"waves_per_eu", "matrix_instr_nonkdim", "kpack", "schedule_hint"})
"""Options that AMD's GPUs alone take."""


@dataclass(frozen=True, eq=False)
class Setting:
    """The numbers that `node`, a config or a launch, gives the kernel's parameters, and its warps.

    `is_one_of_many` says of a config that the autotuner has others.
    """

    node: ast.Call
    numbers: Mapping[str, int]
    warps: int
    is_one_of_many: bool

    @property
    def threads(self) -> int:
        """How many share a tile, on NVIDIA's GPUs."""
        return LANES * self.warps


def settings(module: Module, function: JitFunction, launches: LaunchFacts) -> Iterator[Setting]:
    """What the kernel is compiled with, as far as the text gives the numbers; none where warps are not known."""
    above = decorators(module, function)
    tuners = [found for found in above if isinstance(found, Autotune)]
    if len(tuners) > 1 or not all(isinstance(found, (Autotune, Jit)) for found in above):
        return  # what a heuristic or a decorator of the project's own sets is not known
    if tuners:
        common = _of_all(function, launches)
        many = len(tuners[0].configs) > 1 or not tuners[0].whole
        for config in tuners[0].configs:
            if (found := _of_config(config, common, many)) is not None:
                yield found
        return
    for launch in launches.launches:
        if (found := _of_launch(function, launch)) is not None:
            yield found


def _of_config(config: Config, common: Mapping[str, int], many: bool) -> Setting | None:
    return _setting(config.node, {**common, **_numbers(config.constants)}, config.options, many)


def _of_launch(function: JitFunction, launch: Launch) -> Setting | None:
    if launch.is_open:
        return None
    given = {name: launch.definition(node) for name, node in launch.arguments.items()}
    options = {name: node for name, node in given.items() if name in OPTIONS | _SPLITS | _OF_AMD}
    return _setting(launch.call, {**_defaults(function, launch.arguments), **_numbers(given)}, options, False)


def _setting(node: ast.Call, numbers: Mapping[str, int], options: Mapping[str, ast.expr], many: bool) -> Setting | None:
    named = {*options, *numbers}
    if any(keyword.arg is None for keyword in node.keywords) or not named.isdisjoint(_SPLITS | _OF_AMD):
        return None
    warps = _number(options["num_warps"]) if "num_warps" in options else WARPS
    return Setting(node, numbers, warps, many) if warps else None


def _of_all(function: JitFunction, launches: LaunchFacts) -> dict[str, int]:
    """The numbers that every launch gives."""
    given = [
        {
            **_defaults(function, launch.arguments),
            **_numbers({name: launch.definition(node) for name, node in launch.arguments.items()}),
        }
        for launch in launches.launches
        if not launch.is_open
    ]
    if not given or len(given) < len(launches.launches):
        return {}
    return {name: value for name, value in given[0].items() if all(other.get(name) == value for other in given)}


def _defaults(function: JitFunction, passed: Mapping[str, ast.expr]) -> dict[str, int]:
    """The defaults of the parameters that are not passed."""
    return _numbers({p.name: p.default for p in function.parameters if p.default is not None and p.name not in passed})


def _numbers(given: Mapping[str, ast.expr]) -> dict[str, int]:
    return {name: value for name, node in given.items() if (value := _number(node)) is not None}


def _number(node: ast.expr) -> int | None:
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None
