"""What the decorators above a kernel say: its autotuner's configs and keys, its heuristics, and their order."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tritonaudit.kernel.launch import Launch, meta_key
from tritonaudit.source.nodes import names_in
from tritonaudit.source.outline import JitFunction, Module

OPTIONS = frozenset({"num_warps", "num_stages", "num_ctas", "maxnreg"})
"""What a config takes beside the kernel's own parameters."""

LAUNCH_OPTIONS = OPTIONS | {
    "allow_flush_denorm", "arch", "cluster_dims", "debug", "enable_fp_fusion", "enable_reflect_ftz",
    "enable_warp_specialization", "extern_libs", "grid", "instrumentation_mode", "ir_override", "kpack",
    "launch_cluster", "launch_cooperative_grid", "launch_pdl", "matrix_instr_nonkdim", "num_buffers_warp_spec",
    "num_consumer_groups", "optimize_epilogue", "ptx_options", "ptx_version", "reg_dec_producer", "reg_inc_consumer",
    "sanitize_overflow", "schedule_hint", "stream", "warmup", "warp_size", "waves_per_eu",
}  # fmt: skip
"""What a launch takes beside the kernel's own parameters, in any release."""


@dataclass(frozen=True, eq=False)
class Config:
    """One `triton.Config`: its constants by name, and its keyword arguments."""

    node: ast.Call
    constants: dict[str, ast.expr]
    options: dict[str, ast.expr]


@dataclass(frozen=True, eq=False)
class Autotune:
    """`@triton.autotune(…)`. `configs` are those that are written out, `whole` says that there are no others."""

    node: ast.Call
    configs: tuple[Config, ...]
    whole: bool
    arguments: dict[str, ast.expr]

    def names(self, argument: str) -> Iterator[tuple[str, ast.expr]]:
        """The strings of a list argument such as `key`, each with its node."""
        value = self.arguments.get(argument)
        if isinstance(value, (ast.List, ast.Tuple)):
            for element in value.elts:
                if isinstance(element, ast.Constant) and isinstance(element.value, str):
                    yield element.value, element

    @property
    def tuned(self) -> frozenset[str]:
        """The constants that every config sets, where all of them are written out."""
        if not self.whole or not self.configs:
            return frozenset()
        return frozenset.intersection(*(frozenset(config.constants) for config in self.configs))


@dataclass(frozen=True, eq=False)
class Heuristics:
    """`@triton.heuristics({…})`: what it sets; `whole` says that it sets nothing else."""

    node: ast.Call
    values: dict[str, ast.expr]
    whole: bool


@dataclass(frozen=True, eq=False)
class Jit:
    """`@triton.jit`."""

    node: ast.expr


@dataclass(frozen=True, eq=False)
class Other:
    """A decorator that is not Triton's: what it makes of a launch is not known."""

    node: ast.expr


Decorator = Autotune | Heuristics | Jit | Other


def decorators(module: Module, function: JitFunction) -> tuple[Decorator, ...]:
    """The decorators of a kernel, the outermost first."""
    return tuple(_decorator(module, node) for node in function.decorators)


def tuners(module: Module, function: JitFunction) -> Iterator[tuple[Autotune, bool]]:
    """What tries a kernel with several configs, and whether it is Triton's own.

    A project's own counts where it is called with `configs` and `key`, as Triton's is.
    """
    for node, found in zip(function.decorators, decorators(module, function), strict=True):
        if isinstance(found, Autotune):
            yield found, True
        elif isinstance(node, ast.Call) and {"configs", "key"} <= {keyword.arg for keyword in node.keywords}:
            yield _autotune(module, node), False


def computes(heuristic: ast.expr, launch: Launch, name: str) -> bool:
    """Whether what the launch passes for the parameter decides: it is what the heuristic computes, or computes from."""
    if not isinstance(heuristic, ast.Lambda) or len(heuristic.args.args) != 1:
        return False
    if any(meta_key(node) == name for node in ast.walk(heuristic.body) if isinstance(node, ast.Subscript)):
        return True
    bound = _Bound(heuristic.args.args[0].arg, launch.arguments).visit(copy.deepcopy(heuristic.body))
    return launch.spells(launch.arguments[name], ast.unparse(bound))


class _Bound(ast.NodeTransformer):
    """Puts what is passed in the place of `args["name"]`."""

    def __init__(self, arguments: str, passed: Mapping[str, ast.expr]) -> None:
        self._arguments = arguments
        self._passed = passed

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        is_argument = isinstance(node.value, ast.Name) and node.value.id == self._arguments
        name = node.slice.value if is_argument and isinstance(node.slice, ast.Constant) else None
        return self._passed.get(name, node) if isinstance(name, str) else node


def sets_up(module: Module, autotune: Autotune) -> bool:
    """Whether a hook may prepare the memory before each config is tried."""
    written = [value for name, value in autotune.arguments.items() if name in ("configs", "pre_hook")]
    texts = [ast.unparse(node) for node in written]
    names = set().union(*map(names_in, written))
    texts += [ast.unparse(module.constants[name]) for name in names if name in module.constants]
    functions = (node for node in module.tree.body if isinstance(node, ast.FunctionDef) and node.name in names)
    return "pre_hook" in autotune.arguments or any(
        "pre_hook" in text for text in [*texts, *map(ast.unparse, functions)]
    )


def _decorator(module: Module, node: ast.expr) -> Decorator:
    called = node.func if isinstance(node, ast.Call) else node
    origin = module.origin_of(called)
    last = origin.rpartition(".")[2]
    if not origin.startswith("triton."):
        return Other(node)
    if last == "jit":
        return Jit(node)
    if isinstance(node, ast.Call) and last == "autotune":
        return _autotune(module, node)
    if isinstance(node, ast.Call) and last == "heuristics":
        return _heuristics(node)
    return Other(node)


def _autotune(module: Module, node: ast.Call) -> Autotune:
    arguments = dict(zip(("configs", "key"), node.args, strict=False))
    arguments.update({keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None})
    written = arguments.get("configs")
    elements = written.elts if isinstance(written, (ast.List, ast.Tuple)) else []
    configs = tuple(config for element in elements if (config := _config(module, element)) is not None)
    if "prune_configs_by" in arguments:  # a pruner may rewrite the configs
        return Autotune(node, (), False, arguments)
    return Autotune(node, configs, bool(elements) and len(configs) == len(elements), arguments)


def _config(module: Module, node: ast.expr) -> Config | None:
    if not isinstance(node, ast.Call) or not module.origin_of(node.func).endswith("triton.Config"):
        return None
    given = node.args[0] if node.args else next((k.value for k in node.keywords if k.arg == "kwargs"), None)
    if not isinstance(given, ast.Dict) or not all(isinstance(key, ast.Constant) for key in given.keys):
        return None
    constants = {
        str(key.value): value
        for key, value in zip(given.keys, given.values, strict=True)
        if isinstance(key, ast.Constant)
    }
    options = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg not in (None, "kwargs")}
    return Config(node, constants, {name: value for name, value in options.items() if name is not None})


def _heuristics(node: ast.Call) -> Heuristics:
    given = node.args[0] if node.args else next((k.value for k in node.keywords if k.arg == "values"), None)
    values: dict[str, ast.expr] = {}
    if isinstance(given, ast.Dict):
        for key, value in zip(given.keys, given.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                values[key.value] = value
    return Heuristics(node, values, isinstance(given, ast.Dict) and len(values) == len(given.keys))
