"""What the host code says about a kernel: its launches, its grid, its tuned constants."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from tritonaudit.kernel.reaching import Definitions, definitions_at
from tritonaudit.source.nodes import Nodes, spans
from tritonaudit.source.outline import JitFunction, Module, dotted_name

if TYPE_CHECKING:
    from tritonaudit.host.host import Host, LaunchSite
    from tritonaudit.kernel.project import Project


class Origin(Enum):
    """Where the value of a launch argument comes from, as far as it decides whether it is a power of two."""

    NUMBER = "a number"
    POWER_OF_2 = "rounded to a power of two"
    SIZE = "the size of a tensor"
    LAST_SIZE = "the size of a tensor's last dimension, or of one that may be"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Size:
    """A launch argument used as a size: `value` when the text gives the number."""

    origin: Origin
    value: int | None
    node: ast.expr
    text: str


@dataclass(frozen=True, eq=False)
class Launch:
    """One `kernel[grid](…)` in a file, inside `wrapper` (None: the module's own level).

    `is_choice`: what stands for the kernel there stands for others as well, under conditions.
    """

    module: Module
    call: ast.Call
    grid: ast.expr
    arguments: dict[str, ast.expr]
    wrapper: ast.FunctionDef | None
    is_choice: bool = False

    @property
    def is_open(self) -> bool:
        """Whether it passes more than its text shows, by `*args` or `**options`."""
        starred = any(isinstance(argument, ast.Starred) for argument in self.call.args)
        return starred or any(keyword.arg is None for keyword in self.call.keywords)

    @cached_property
    def reaching(self) -> Definitions:
        """For each name of the wrapper, what it may be set to at the launch."""
        return {} if self.wrapper is None else definitions_at(self.wrapper, self.call)

    def definition(self, node: ast.expr) -> ast.expr:
        """What a name of the wrapper was set to, where it is set once."""
        for _ in range(4):
            if not isinstance(node, ast.Name):
                break
            values = self._values(node)
            if len(values) != 1:
                break
            node = values[0]
        return node

    def definitions(self, node: ast.expr) -> list[ast.expr]:
        """All that a name of the wrapper is set to."""
        return self._values(node) if isinstance(node, ast.Name) and node.id in self.reaching else [node]

    def _values(self, node: ast.Name) -> list[ast.expr]:
        """What may be set when the launch runs; a name in a definition is not what is set there or after it."""
        values = list(self.reaching.get(node.id, ()))
        if spans(self.call, node.lineno):
            return values
        place = node.lineno, node.col_offset
        before = [value for value in values if (value.end_lineno or 0, value.end_col_offset or 0) <= place]
        return values if len(before) == len(values) else [*before, node]

    @cached_property
    def axes(self) -> tuple[ast.expr, ...]:
        """What the grid gives for each of its axes, as written; empty where it is no tuple of expressions."""
        grid = _grid(self)
        starred = isinstance(grid, (ast.Tuple, ast.List)) and any(isinstance(e, ast.Starred) for e in grid.elts)
        return tuple(grid.elts) if isinstance(grid, (ast.Tuple, ast.List)) and not starred else ()

    def spells(self, node: ast.expr, text: str) -> bool:
        """Whether the expression, or what it was set to, is written so."""
        return text in (ast.unparse(node), ast.unparse(self.definition(node)))

    @property
    def nodes(self) -> Nodes:
        """The nodes of the wrapper; none at the module's own level."""
        return _NO_NODES if self.wrapper is None else self.module.nodes(self.wrapper)


_NO_NODES = Nodes(ast.Pass())


@dataclass(frozen=True)
class Constant:
    """A constant of the host code: `value` of a literal, or the dotted `name` of an enum's member."""

    value: bool | int | None = None
    name: str | None = None


def _flag(node: ast.expr) -> Constant | None:
    if isinstance(node, ast.Constant) and (
        isinstance(node.value, bool) or (isinstance(node.value, int) and node.value == 1)
    ):
        return Constant(value=node.value)
    dotted = dotted_name(node)
    return Constant(name=dotted) if dotted is not None and dotted.endswith(".value") else None


class LaunchFacts:
    """All that the file says, or else those that import the kernel, about how it is launched."""

    def __init__(self, module: Module, function: JitFunction, launches: tuple[Launch, ...], project: Project) -> None:
        self._module = module
        self.project = project
        self._function = function
        self._written = launches

    @cached_property
    def launches(self) -> tuple[Launch, ...]:
        """Those of which nothing says that another kernel is chosen wherever they are made."""
        if not any(launch.is_choice for launch in self._written):
            return self._written
        made = {_place(site.module, site.call) for site in self.sites}
        return tuple(one for one in self._written if not one.is_choice or _place(one.module, one.call) in made)

    @cached_property
    def sites(self) -> tuple[LaunchSite, ...]:
        """The same launches as the host code makes them: on all paths that lead to them, with what is passed."""
        modules = {launch.module.path: launch.module for launch in self._written}.values()
        others = [module for module in modules if module is not self._module]
        return self.host.launches(self._module, self._function, others) if self._written else ()

    @property
    def host(self) -> Host:
        return self.project.host

    @cached_property
    def here(self) -> tuple[Launch, ...]:
        """The launches in the kernel's own file: none where it is launched from other files."""
        return tuple(launch for launch in self.launches if launch.module is self._module)

    @cached_property
    def configs(self) -> tuple[tuple[dict[str, Size], ast.expr], ...]:
        """The literal configs of `@triton.autotune`: their constants, and where each stands."""
        found: list[tuple[dict[str, Size], ast.expr]] = []
        for decorator in self._function.decorators:
            if isinstance(decorator, ast.Call) and "tune" in (dotted_name(decorator.func) or ""):
                found.extend(self._configs_of(decorator))
        return tuple(found)

    def _configs_of(self, decorator: ast.Call) -> Iterator[tuple[dict[str, Size], ast.expr]]:
        for node in ast.walk(decorator):
            if isinstance(node, ast.Call) and (dotted_name(node.func) or "").endswith("Config") and node.args:
                constants = node.args[0]
                if isinstance(constants, ast.Dict):
                    yield (
                        {
                            key.value: size_of(value)
                            for key, value in zip(constants.keys, constants.values, strict=False)
                            if isinstance(key, ast.Constant) and isinstance(key.value, str)
                        },
                        node,
                    )

    def constant(self, parameter: str) -> Constant | None:
        """The flag that every launch of the file gives the constexpr parameter: a truth value, 1, or an enum's member.

        Other numbers are sizes, and stay what the launch makes them.
        """
        default = next((p.default for p in self._function.parameters if p.name == parameter), None)
        if parameter in self.tuned or not self.launches:
            return None
        values: set[Constant | None] = set()
        for launch in self.launches:
            if parameter not in launch.arguments and launch.is_open:
                return None
            node = launch.arguments.get(parameter, default)
            values |= {None} if node is None else {_flag(launch.definition(v)) for v in launch.definitions(node)}
        return values.pop() if len(values) == 1 else None

    @cached_property
    def tuned(self) -> frozenset[str]:
        """Names that a decorator sets: autotuned constants and heuristics."""
        names: set[str] = set()
        for decorator in self._function.decorators:
            for node in ast.walk(decorator):
                if isinstance(node, ast.Dict):
                    names |= {k.value for k in node.keys if isinstance(k, ast.Constant) and isinstance(k.value, str)}
        return frozenset(names)

    def sizes(self, parameter: str) -> list[Size]:
        """Everything that the file passes for a parameter, by launches, configs and the parameter's default."""
        found = [config[parameter] for config, _ in self.configs if parameter in config]
        for launch in self.launches:
            if parameter in launch.arguments:
                found.extend(size_of(node) for node in self._values(launch, launch.arguments[parameter]))
        if not found:
            default = next((p.default for p in self._function.parameters if p.name == parameter), None)
            if default is not None:
                found.append(size_of(default))
        return found

    def _values(self, launch: Launch, node: ast.expr) -> list[ast.expr]:
        result: list[ast.expr] = []
        for value in launch.definitions(node):
            result.extend(_arms(value))
        return [launch.definition(value) for value in result]


def _place(module: Module, call: ast.Call) -> tuple[str, int, int]:
    return module.path, call.lineno, call.col_offset


_LAUNCH = re.compile(r"\]\s*\(")


_Lookup = Callable[[str, int], JitFunction | None]
"""Which kernel a name of a file stands for at a line."""


def launches_of(module: Module) -> dict[JitFunction, tuple[Launch, ...]]:
    """The launches in a file of the kernels that stand in it."""
    return launches_in(module, module.function) if module.jit else {}


def launches_in(module: Module, kernel: _Lookup) -> dict[JitFunction, tuple[Launch, ...]]:
    """The launches in a file of the kernels that `kernel` knows."""
    found: dict[JitFunction, list[Launch]] = {}
    if _LAUNCH.search(module.text) is None:
        return {}
    own = [function.node for function in module.jit]
    nodes = module.nodes(module.tree)
    for call in nodes.of(ast.Call):
        if not isinstance(call.func, ast.Subscript) or any(spans(node, call.lineno) for node in own):
            continue
        wrapper = next((node for node in nodes.of(ast.FunctionDef) if spans(node, call.lineno)), None)
        functions = _kernels(module, call, wrapper, kernel)
        for function in functions:
            arguments = _arguments(call, function)
            launch = Launch(module, call, call.func.slice, arguments, wrapper, len(functions) > 1)
            found.setdefault(function, []).append(launch)
    return {
        function: tuple(sorted(launches, key=lambda launch: (launch.call.lineno, launch.call.col_offset)))
        for function, launches in found.items()
    }


def _kernels(module: Module, call: ast.Call, wrapper: ast.FunctionDef | None, kernel: _Lookup) -> list[JitFunction]:
    """The kernels that `launched[grid](…)` launches: of `wrap_triton(kernel)` and of a name for one of several, too."""
    assert isinstance(call.func, ast.Subscript)
    node = _wrapped(call.func.value)
    if wrapper is None or not isinstance(node, ast.Name):
        found = _named(node, kernel)
        return [] if found is None else [found]
    if not _is_bound(module, wrapper, node) and (found := _named(node, kernel)) is not None:
        return [] if _is_given(module, node, found) else [found]
    chosen = definitions_at(wrapper, call).get(node.id, ())
    arms = [arm for value in chosen for arm in _arms(value)]
    return list(dict.fromkeys(function for arm in arms if (function := _named(arm, kernel)) is not None))


def _wrapped(node: ast.expr) -> ast.expr:
    """`kernel` of `wrap_triton(kernel)`."""
    return node.args[0] if isinstance(node, ast.Call) and len(node.args) == 1 else node


def _is_bound(module: Module, wrapper: ast.FunctionDef, node: ast.Name) -> bool:
    """Whether the wrapper sets the name."""
    names = module.nodes(wrapper).of(ast.Name)
    return any(name.id == node.id and isinstance(name.ctx, ast.Store) for name in names)


def _is_given(module: Module, node: ast.Name, function: JitFunction) -> bool:
    """Whether the name is a parameter of a function that the kernel does not stand in: it may be any kernel."""
    return any(
        inner is not function.scope and spans(inner, node.lineno) and node.id in _parameter_names(inner.args)
        for inner in module.nodes(module.tree).of(ast.FunctionDef)
    )


def _parameter_names(arguments: ast.arguments) -> set[str]:
    return {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}


def _arms(value: ast.expr) -> tuple[ast.expr, ...]:
    """Both values of `a if … else b`."""
    return (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,)


def _named(node: ast.expr, kernel: _Lookup) -> JitFunction | None:
    """The kernel that a name stands for."""
    dotted = dotted_name(node)
    return None if dotted is None else kernel(dotted, node.lineno)


def _arguments(call: ast.Call, function: JitFunction) -> dict[str, ast.expr]:
    found: dict[str, ast.expr] = {}
    for parameter, node in zip(function.parameters, call.args, strict=False):
        if isinstance(node, ast.Starred):
            break
        found[parameter.name] = node
    found.update({keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None})
    return found


def size_of(node: ast.expr) -> Size:
    """What is known of an expression of the host code as a size."""
    text = ast.unparse(node)
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return Size(Origin.NUMBER, node.value, node, text)
    if _is_power_of_2(node):
        return Size(Origin.POWER_OF_2, None, node, text)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
        return Size(_dimension(node.slice), None, node, text)
    if isinstance(node, ast.Call):
        return Size(_called_size(node), None, node, text)
    return Size(Origin.UNKNOWN, None, node, text)


def _called_size(node: ast.Call) -> Origin:
    """The origin of a call: `x.size(0)`, `x.numel()`, `len(x)`, a rounded-up quotient, the lesser of sizes."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else dotted_name(node.func)
    if name == "size" and node.args:
        return _dimension(node.args[0])
    if name in ROUNDED_UP:
        text = ast.unparse(node)
        return Origin.SIZE if any(word in text for word in ("shape", "numel", ".size(")) else Origin.UNKNOWN
    if name in ("numel", "len"):
        return Origin.SIZE
    if name == "max" and any(isinstance(argument, ast.Constant) for argument in node.args):
        return Origin.UNKNOWN  # the number may be what is passed
    if name in ("min", "max"):
        origins = [size_of(argument).origin for argument in node.args]
        return next((origin for origin in (Origin.LAST_SIZE, Origin.SIZE) if origin in origins), Origin.UNKNOWN)
    return Origin.UNKNOWN


def _dimension(index: ast.expr) -> Origin:
    """Whether the dimension is certainly not the last one, which is a head or hidden size more often than a count."""
    try:
        number = ast.literal_eval(index)
    except ValueError:
        return Origin.LAST_SIZE
    return Origin.SIZE if number in (0, -2, -3, -4) else Origin.LAST_SIZE


def _is_power_of_2(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value > 0 and node.value & (node.value - 1) == 0
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.LShift, ast.Pow)):
        return isinstance(node.left, ast.Constant) and node.left.value in (1, 2)
    if isinstance(node, ast.Call):
        name = (dotted_name(node.func) or "").rpartition(".")[2]
        if "pow" in name:
            return True
        if name in ("min", "max"):
            return all(_is_power_of_2(argument) for argument in node.args)
    return False


ROUNDED_UP = ("cdiv", "ceil_div", "ceildiv", "div_up")
"""What functions are called whose quotient is rounded up."""


def meta_key(node: ast.expr) -> str | None:
    """`BLOCK` of `META["BLOCK"]`."""
    key = node.slice.value if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) else None
    return key if isinstance(key, str) else None


def _grid(launch: Launch) -> ast.expr:
    """The grid's expression, that of a lambda or a local function included."""
    grid = launch.definition(launch.grid)
    if isinstance(grid, ast.Lambda):
        return grid.body
    return (_returned(launch, grid.id) or grid) if isinstance(grid, ast.Name) else grid


def _returned(launch: Launch, name: str) -> ast.expr | None:
    """What a local `def grid(meta): return (…)` returns, the last one before the launch."""
    named = [node for node in launch.nodes.of(ast.FunctionDef) if node.name == name and node is not launch.wrapper]
    before = [node for node in named if node.lineno <= launch.call.lineno]
    if not before:
        return None
    grid = max(before, key=lambda node: node.lineno)
    returns = [inner.value for inner in ast.walk(grid) if isinstance(inner, ast.Return)]
    return returns[0] if len(returns) == 1 else None
