"""What the host code says about a kernel: its launches, its grid, its tuned constants."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, TypeGuard

from tritonaudit.kernel.reaching import Definitions, definitions_at
from tritonaudit.source.nodes import Nodes, spans
from tritonaudit.source.outline import JitFunction, Module, Unparsable, dotted_name, outline

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


class Cover(Enum):
    """How a grid axis relates to the size that it divides."""

    ROUNDED_UP = "rounded up: the last program may be partial"
    EXACT = "exact: every program is full"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class GridAxis:
    """One axis of a grid: `size` split into blocks of `block` (names or texts of the host code)."""

    cover: Cover
    size: str = ""
    block: str = ""


@dataclass(frozen=True, eq=False)
class Launch:
    """One `kernel[grid](…)` in a file, inside `wrapper` (None: the module's own level)."""

    module: Module
    call: ast.Call
    grid: ast.expr
    arguments: dict[str, ast.expr]
    wrapper: ast.FunctionDef | None

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

    def grid_axis(self, axis: int) -> GridAxis:
        """What the grid's axis divides, and how."""
        return _cover(self, self.axes[axis]) if axis < len(self.axes) else GridAxis(Cover.UNKNOWN)

    def spells(self, node: ast.expr, text: str) -> bool:
        """Whether the expression, or what it was set to, is written so."""
        return text in (ast.unparse(node), ast.unparse(self.definition(node)))

    @cached_property
    def is_superseded(self) -> bool:
        """Whether the wrapper is `f_v1` of several versions, and the file says `f = f_v2`."""
        version = None if self.wrapper is None else _VERSION.fullmatch(self.wrapper.name)
        if version is None:
            return False
        bound = {name: node.id for name, node in self.module.constants.items() if isinstance(node, ast.Name)}
        chosen = (_VERSION.fullmatch(value) for name, value in bound.items() if f"{version[1]}_".startswith(f"{name}_"))
        return any(other is not None and other[0] != version[0] and other[1] == version[1] for other in chosen)

    @property
    def nodes(self) -> Nodes:
        """The nodes of the wrapper; none at the module's own level."""
        return _NO_NODES if self.wrapper is None else self.module.nodes(self.wrapper)

    @cached_property
    def _words(self) -> frozenset[str]:
        """The names and attributes that the wrapper uses, in lower case."""
        names = {node.id.lower() for node in self.nodes.of(ast.Name)}
        return frozenset(names | {node.attr.lower() for node in self.nodes.of(ast.Attribute)})

    @cached_property
    def pads(self) -> bool:
        """Whether the wrapper speaks of padding: its buffers may be larger than the sizes that it passes."""
        return any("pad" in word for word in self._words)

    @cached_property
    def checks_divisibility(self) -> bool:
        """Whether the wrapper asks for a remainder or pads: then its tiles may be full by contract."""
        if self.pads or any("divi" in word or "align" in word for word in self._words):
            return True
        return any(isinstance(node.op, ast.Mod) for node in self.nodes.of(ast.BinOp))

    @cached_property
    def restricts_sizes(self) -> bool:
        """Whether the wrapper names a power of two or checks that a size is one of a few."""
        return (
            any("pow" in word and word != _ROUNDING for word in self._words)
            or any(isinstance(node.op, ast.BitAnd) for node in self.nodes.of(ast.BinOp))
            or any(_is_membership(node) or _ROUNDING in ast.unparse(node) for node in self.nodes.of(ast.Compare))
        )


_NO_NODES = Nodes(ast.Pass())
_ROUNDING = "next_power_of_2"  # speaks of what is passed, not of what is let in, unless it is compared with


def _rounds(node: ast.AST, name: str) -> bool:
    """`next_power_of_2(name)`."""
    if not isinstance(node, ast.Call) or len(node.args) != 1 or not isinstance(node.args[0], ast.Name):
        return False
    return node.args[0].id == name and (dotted_name(node.func) or "").rpartition(".")[2] == _ROUNDING


def _is_membership(node: ast.Compare) -> bool:
    """`size in (16, 32, 64)`."""
    listed = any(isinstance(value, (ast.Tuple, ast.List, ast.Set)) for value in node.comparators)
    return listed and any(isinstance(operator, (ast.In, ast.NotIn)) for operator in node.ops)


_CHECKED_SIZE = re.compile(r"\.(?:shape\[-?\d\]|size\(-?\d\))\s+in\s+[\[({]")


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


@dataclass(frozen=True)
class Multiple:
    """What a flag tells: the parameter `size` is a multiple of `of`, a number or an expression of parameters.

    `node` is the test that the host code makes.
    """

    size: str
    of: str
    node: ast.expr


class LaunchFacts:
    """All that the file says, or else those that import the kernel, about how it is launched."""

    def __init__(self, module: Module, function: JitFunction, launches: tuple[Launch, ...], project: Project) -> None:
        self._module = module
        self._project = project
        self._function = function
        self.launches = launches

    @cached_property
    def sites(self) -> tuple[LaunchSite, ...]:
        """The same launches as the host code makes them: on all paths that lead to them, with what is passed."""
        modules = {launch.module.path: launch.module for launch in self.launches}.values()
        others = [module for module in modules if module is not self._module]
        return self.host.launches(self._module, self._function, others) if self.launches else ()

    @property
    def host(self) -> Host:
        return self._project.host

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

    def has_parameter(self, pattern: re.Pattern[str]) -> bool:
        """Whether the whole name of one of the kernel's parameters, in lower case, is as the pattern has it."""
        return any(pattern.fullmatch(parameter.name.lower()) for parameter in self._function.parameters)

    def is_named(self, pattern: re.Pattern[str]) -> bool:
        """Whether the kernel's name, in lower case, has the pattern."""
        return pattern.search(self._function.name.lower()) is not None

    def promised_multiple(self, flag: str) -> Multiple | None:
        """What `flag` tells, which a heuristic sets to `args["N"] % … == 0` or a launch passes as `n % … == 0`."""
        for decorator in self._function.decorators:
            for node in ast.walk(decorator):
                for key, value in zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ():
                    if isinstance(key, ast.Constant) and key.value == flag and isinstance(value, ast.Lambda):
                        return _multiple(value.body)
        passed = ((launch, launch.arguments[flag]) for launch in self.launches if flag in launch.arguments)
        promises = (_passed_multiple(launch, node) for launch, node in passed)
        return next((promise for promise in promises if promise is not None), None)

    @cached_property
    def prunes(self) -> bool:
        """Whether a pruner may put configs of its own in place of those that are written."""
        calls = (decorator for decorator in self._function.decorators if isinstance(decorator, ast.Call))
        return any(keyword.arg == "prune_configs_by" for call in calls for keyword in call.keywords)

    @cached_property
    def prunes_remainders(self) -> bool:
        """Whether a pruner of the autotuner's configs asks for remainders, so that the tiles it keeps may be full."""
        pruners = {
            node.id
            for decorator in self._function.decorators
            for node in ast.walk(decorator)
            if isinstance(node, ast.Name) and "prune" in node.id
        }
        return any(
            isinstance(node, ast.Mod)
            for function in self._module.tree.body
            if isinstance(function, ast.FunctionDef) and function.name in pruners
            for node in ast.walk(function)
        )

    @cached_property
    def tuned(self) -> frozenset[str]:
        """Names that a decorator sets: autotuned constants and heuristics."""
        names: set[str] = set()
        for decorator in self._function.decorators:
            for node in ast.walk(decorator):
                if isinstance(node, ast.Dict):
                    names |= {k.value for k in node.keys if isinstance(k, ast.Constant) and isinstance(k.value, str)}
        return frozenset(names)

    def is_tuned(self, parameter: str) -> bool:
        """Whether an autotuner chooses the parameter: by the configs, where they can be read."""
        if self.configs:
            return any(parameter in config for config, _ in self.configs)
        called = (ast.unparse(d.func) for d in self._function.decorators if isinstance(d, ast.Call))
        return parameter not in self.tuned and any("tune" in name for name in called)

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

    def rounded_beside(self, parameter: str) -> Size | None:
        """What a launch passes for the parameter, where it rounds the same up for another: then it may be any size."""
        for launch in self.launches:
            node = launch.arguments.get(parameter)
            if not isinstance(node, ast.Name):
                continue
            others = (launch.definition(other) for name, other in launch.arguments.items() if name != parameter)
            if any(_rounds(inner, node.id) for other in others for inner in ast.walk(other)):
                return size_of(node)
        return None

    def rounds_in_place(self, parameter: str) -> bool:
        """`n = next_power_of_2(n)` before a launch: what is allocated after it has the rounded size."""
        for launch in self.launches:
            node = launch.arguments.get(parameter)
            if not isinstance(node, ast.Name):
                continue
            for value in launch.definitions(node):
                if _is_power_of_2(value) and any(isinstance(n, ast.Name) and n.id == node.id for n in ast.walk(value)):
                    return True
        return False

    def _values(self, launch: Launch, node: ast.expr) -> list[ast.expr]:
        result: list[ast.expr] = []
        for value in launch.definitions(node):
            result.extend(_arms(value))
        return [launch.definition(value) for value in result]

    def asks_for_multiples(self, parameter: str, of: str | None = None) -> bool:
        """Whether a function of the file takes no sizes but multiples of what a launch passes for the parameter.

        Any size will do, or that which is passed for the parameter `of`.
        """
        names = {node.id for node in self._passed(parameter) if isinstance(node, ast.Name)}
        sizes = None if of is None else {ast.unparse(node) for node in self._passed(of)}
        return any(block in names and (sizes is None or size in sizes) for size, block in self._asked_multiples)

    def passes_alike(self, one: str, other: str) -> bool:
        """Whether every launch passes the same, as written, for both parameters."""
        passed = [(launch.arguments.get(one), launch.arguments.get(other)) for launch in self.launches]
        return bool(passed) and all(
            left is not None and right is not None and ast.unparse(left) == ast.unparse(right) for left, right in passed
        )

    def _passed(self, parameter: str) -> Iterator[ast.expr]:
        return (launch.arguments[parameter] for launch in self.launches if parameter in launch.arguments)

    @cached_property
    def _asked_multiples(self) -> frozenset[tuple[str, str]]:
        """The sizes and the names of blocks of `assert size % block == 0` and of `if size % block != 0: raise …`."""
        modules = {launch.module.path: launch.module for launch in self.launches}.values()
        hosts = [module.nodes(module.tree) for module in modules]
        tests = [node.test for nodes in hosts for node in nodes.of(ast.Assert)]
        tests += [node.test for nodes in hosts for node in nodes.of(ast.If) if isinstance(node.body[-1], ast.Raise)]
        remainders = (node for test in tests for node in ast.walk(test) if isinstance(node, ast.BinOp))
        return frozenset(
            (ast.unparse(node.left), node.right.id)
            for node in remainders
            if isinstance(node.op, ast.Mod) and isinstance(node.right, ast.Name)
        )

    @cached_property
    def callers_restrict_sizes(self) -> bool:
        """Whether a neighbouring file that calls a wrapper of the kernel checks that a size is one of a few."""
        wrappers = {launch.wrapper.name: launch.module for launch in self.launches if launch.wrapper is not None}
        return any(
            _CHECKED_SIZE.search(text)
            for wrapper, module in wrappers.items()
            for text in self._project.neighbours(self._module, module, wrapper)
        )

    def files_that_call(self, launch: Launch) -> Iterator[tuple[Module, str]]:
        """The neighbouring files that speak of a launch's wrapper, each with the name that they know it by."""
        if launch.wrapper is None:
            return
        aliases = (node.targets[0] for node in launch.module.tree.body if _is_alias(node, launch.wrapper.name))
        for name in (launch.wrapper.name, *(target.id for target in aliases if isinstance(target, ast.Name))):
            for text in self._project.neighbours(self._module, launch.module, name):
                try:
                    yield outline("", text), name
                except Unparsable:
                    continue

    def asserts_power_of_2(self, parameter: str) -> bool:
        """Whether a wrapper speaks of powers of two or of allowed sizes, or the kernel's decorators set it."""
        if parameter in self.tuned:
            return True
        return any(launch.restricts_sizes for launch in self.launches) or self.callers_restrict_sizes

    def rounded_up(self) -> list[tuple[Launch, GridAxis]]:
        """For each launch, every quotient in its grid that is rounded up, whichever axis it is a factor of."""
        found: list[tuple[Launch, GridAxis]] = []
        for launch in self.launches:
            stack, seen = [_grid(launch)], set[int]()
            while stack:
                node = launch.definition(stack.pop())
                if id(node) in seen:  # a name that is updated is defined by itself
                    continue
                seen.add(id(node))
                axis = _cover(launch, node)
                if axis.cover is Cover.ROUNDED_UP:
                    found.append((launch, axis))
                else:
                    stack.extend(child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))
        return found

    def grid_axes(self, axis: int) -> list[tuple[Launch, GridAxis]]:
        """For each launch, what its grid's `axis` is."""
        return [(launch, launch.grid_axis(axis)) for launch in self.launches]


def _is_alias(node: ast.stmt, name: str) -> TypeGuard[ast.Assign]:
    """`other = name`."""
    return isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id == name


def _remainder(test: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """The size and the divisor of `size % divisor == 0`."""
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq)):
        return None
    rest, zero = test.left, test.comparators[0]
    if not (isinstance(rest, ast.BinOp) and isinstance(rest.op, ast.Mod) and ast.unparse(zero) == "0"):
        return None
    return rest.left, rest.right


def _multiple(test: ast.expr) -> Multiple | None:
    """`args["N"] % divisor == 0`."""
    found = _remainder(test)
    size = None if found is None else meta_key(found[0])
    if found is None or size is None:
        return None
    return Multiple(size, _ARGUMENT.sub(r"\1", ast.unparse(found[1])), test)


def _passed_multiple(launch: Launch, node: ast.expr) -> Multiple | None:
    """`n % divisor == 0` of the host code, where both are passed to the kernel, or the divisor is a number."""
    test = launch.definition(node)
    found = _remainder(test)
    if found is None:
        return None
    size, divisor = _parameter_for(launch, found[0]), launch.definition(found[1])
    of = ast.unparse(divisor) if isinstance(divisor, ast.Constant) else _parameter_for(launch, found[1])
    return None if size is None or of is None else Multiple(size, of, test)


def _parameter_for(launch: Launch, node: ast.expr) -> str | None:
    """The kernel's parameter that the expression is passed for."""
    text = ast.unparse(node)
    return next((name for name, given in launch.arguments.items() if ast.unparse(given) == text), None)


_VERSION = re.compile(r"(\w+)_v\d+")
_ARGUMENT = re.compile(r"\w+\['(\w+)'\]")
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
        for function in _kernels(module, call, wrapper, kernel):
            launch = Launch(module, call, call.func.slice, _arguments(call, function), wrapper)
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


def _cover(launch: Launch, node: ast.expr) -> GridAxis:
    node = launch.definition(node)
    if isinstance(node, ast.Call):
        name = (dotted_name(node.func) or "").rpartition(".")[2]
        if name in ROUNDED_UP and len(node.args) == 2:
            return GridAxis(Cover.ROUNDED_UP, ast.unparse(node.args[0]), ast.unparse(node.args[1]))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
        block = ast.unparse(node.right)
        if isinstance(node.left, ast.BinOp) and isinstance(node.left.op, (ast.Add, ast.Sub)):
            return GridAxis(Cover.ROUNDED_UP, ast.unparse(_leftmost(node.left)), block)
        return GridAxis(Cover.EXACT, ast.unparse(node.left), block)
    return GridAxis(Cover.UNKNOWN, ast.unparse(node))


def _leftmost(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.BinOp):
        node = node.left
    return node
