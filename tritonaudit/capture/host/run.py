"""Host code evaluated as far as its text tells: what a wrapper passes to the kernel that it launches.

Tensors are known by their dtype at most; sizes have typical values, the same wherever the same name stands.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tritonaudit.capture import typical
from tritonaudit.capture.host.expressions import HANDLERS, operate
from tritonaudit.capture.host.library import TENSOR_WORDS
from tritonaudit.capture.host.values import UNKNOWN, Dtype, HostFunction, Shape, Tensor, is_known
from tritonaudit.capture.typical import Sizes
from tritonaudit.kernel.launch import Launch
from tritonaudit.kernel.project import Project
from tritonaudit.source.outline import Module

Environment = dict[str, Any]
HostDef = ast.FunctionDef | ast.AsyncFunctionDef

_MAX_STEPS = 20_000
_MAX_DEPTH = 10


@dataclass
class Passed:
    """What one launch passes: values by the kernel's parameters, and the launch's own options, such as num_warps."""

    arguments: dict[str, Any]
    options: dict[str, Any]


def passed_by(launch: Launch, parameters: list[str], project: Project, dtype: str, sizes: Sizes) -> Passed:
    """What a launch passes to a kernel with these parameters, where tensors have the `dtype` unless told otherwise."""
    host = Host(project, launch.module, dtype, sizes)
    run = host.run_to(launch.wrapper, launch.call) if launch.wrapper is not None else Run(host, launch.module, {})
    return _passed(run, launch.call, parameters)


def passed_without_optional(
    launch: Launch, parameters: list[str], project: Project, dtype: str, sizes: Sizes
) -> Iterator[tuple[str, Passed]]:
    """For each tensor that the wrapper's caller may leave out, what the launch then passes, where it is still made."""
    if launch.wrapper is None:
        return
    for name in _optional_tensors(launch.wrapper):
        host = Host(project, launch.module, dtype, sizes)
        run = host.run_to(launch.wrapper, launch.call, {name: None})
        if run.reached and not run.contradicted:
            yield name, _passed(run, launch.call, parameters)


def _optional_tensors(function: HostDef) -> Iterator[str]:
    """The parameters that are tensors where they are given, and None by default."""
    used = _tensor_names(function)
    positional = [*function.args.posonlyargs, *function.args.args]
    defaults = zip(reversed(positional), reversed(function.args.defaults), strict=False)
    for arg, default in (*defaults, *zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)):
        is_none = isinstance(default, ast.Constant) and default.value is None
        if is_none and (arg.arg in used or (arg.annotation is not None and "Tensor" in ast.unparse(arg.annotation))):
            yield arg.arg


def _passed(run: Run, call: ast.Call, parameters: list[str]) -> Passed:
    values: dict[str, Any] = {}
    position = 0
    for argument in call.args:
        hint = parameters[position] if position < len(parameters) else ""
        if isinstance(argument, ast.Starred):
            spread = run.value(argument.value)
            if not isinstance(spread, (tuple, list)):
                break
            values.update(zip(parameters[position:], spread, strict=False))
            position += len(spread)
        else:
            if hint:
                values[hint] = run.value(argument, hint)
            position += 1
    for keyword in call.keywords:
        if keyword.arg is not None:
            values[keyword.arg] = run.value(keyword.value, keyword.arg)
        elif isinstance(more := run.value(keyword.value), dict):
            values.update({key: value for key, value in more.items() if isinstance(key, str)})
    return Passed(
        {name: value for name, value in values.items() if name in parameters},
        {name: value for name, value in values.items() if name not in parameters},
    )


class Host:
    """A file's host code, of which functions are run."""

    def __init__(self, project: Project, module: Module, dtype: str, sizes: Sizes) -> None:
        self.project = project
        self.module = module
        self.dtype = dtype
        self.sizes = sizes
        self.steps = 0
        self.depth = 0
        self.globals: dict[tuple[str, str], Any] = {}
        self._given: dict[int, Mapping[str, Any]] = {}

    def run_to(self, function: HostDef, node: ast.AST, given: Mapping[str, Any] | None = None) -> Run:
        """The state of a function when it comes to the node, with parameters as given or as names and defaults tell."""
        run = Run(self, self.module, {}, function, target=node)
        run.bind_parameters(function, given or {})
        run.block(function.body)
        return run

    def returned_by(self, called: HostFunction, given: Mapping[str, Any]) -> Any:
        """What a function of the project returns for these arguments."""
        if self.depth > _MAX_DEPTH:
            return UNKNOWN
        run = Run(self, called.module, dict(called.names), called.node)
        run.bind_parameters(called.node, given)
        self.depth += 1
        run.block(called.node.body)
        self.depth -= 1
        return run.returned[0] if run.returned else UNKNOWN

    def given_by_caller(self, function: HostDef) -> Mapping[str, Any]:
        """What a call of the function in the same file passes to it, by its parameters."""
        key = id(function)
        if key not in self._given:
            self._given[key] = {}
            if self.depth <= _MAX_DEPTH:
                self.depth += 1
                self._given[key] = self._passed_by_caller(function)
                self.depth -= 1
        return self._given[key]

    def _passed_by_caller(self, function: HostDef) -> Mapping[str, Any]:
        names = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)]
        for caller, call in self._calls.get(function.name, ()):
            if caller is function or not _fits(call, function.args):
                continue
            run = self.run_to(caller, call)
            plain = [argument for argument in call.args if not isinstance(argument, ast.Starred)]
            given = {name: run.value(argument, name) for name, argument in zip(names, plain, strict=False)}
            given.update({k.arg: run.value(k.value, k.arg) for k in call.keywords if k.arg is not None})
            return {name: value for name, value in given.items() if value is not UNKNOWN}
        return {}

    @cached_property
    def _calls(self) -> dict[str, list[tuple[HostDef, ast.Call]]]:
        """The calls by plain names in the file's functions."""
        found: dict[str, list[tuple[HostDef, ast.Call]]] = {}
        for function in ast.walk(self.module.tree):
            if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                for node in ast.walk(function):
                    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                        found.setdefault(node.func.id, []).append((function, node))
        return found

    def sibling_value(self, function: HostDef, attribute: str) -> Any:
        """What another method of the same class sets `self.attribute` or `ctx.attribute` to."""
        holder = next(
            (n for n in ast.walk(self.module.tree) if isinstance(n, ast.ClassDef) and function in n.body), None
        )
        if holder is None or self.depth > _MAX_DEPTH:
            return UNKNOWN
        for method in holder.body:
            if not isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)) or method is function:
                continue
            for node in ast.walk(method):
                found = _sets(node, attribute)
                if found is not None:
                    self.depth += 1
                    value = self.run_to(method, node).value(found, attribute)
                    self.depth -= 1
                    return value
        return UNKNOWN

    def global_value(self, module: Module, dotted: str) -> Any:
        """What a name of a file is: a constant, a function, or what a library gives."""
        key = (module.path, dotted)
        if key not in self.globals:
            self.globals[key] = UNKNOWN
            self.globals[key] = self._global(module, dotted)
        return self.globals[key]

    def _global(self, module: Module, dotted: str) -> Any:
        if "." not in dotted:
            for node in module.tree.body:
                if isinstance(node, ast.FunctionDef) and node.name == dotted and module.function(dotted) is None:
                    return HostFunction(node, module)
            if dotted in module.constants:
                return Run(self, module, {}).value(module.constants[dotted], dotted)
        elif (member := self._member(module, dotted)) is not UNKNOWN:
            return member
        origin = module.origin(dotted)
        if dotted.partition(".")[0] in module.names and not origin.startswith(("torch", "triton", "math")):
            source, _, name = origin.rpartition(".")
            while name:
                target = self.project.imported(module, source or ".")
                if target is not None and target is not module:
                    return self.global_value(target, name)
                source, _, last = source.rpartition(".")
                name = f"{last}.{name}" if last else ""
        last = origin.rpartition(".")[2]
        return Dtype(last) if Dtype.is_name(last) and origin.startswith(("torch.", "triton.")) else UNKNOWN

    def _member(self, module: Module, dotted: str) -> Any:
        """`Mode.FAST` and `Mode.FAST.value` of a class of the file: a member is known by its value."""
        holder, _, rest = dotted.removesuffix(".value").partition(".")
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and node.name == holder:
                for place, statement in enumerate(node.body):
                    if isinstance(statement, ast.Assign) and _single_name(statement.targets) == rest:
                        value = Run(self, module, {}).value(statement.value, rest)
                        automatic = isinstance(statement.value, ast.Call)
                        return place + 1 if value is UNKNOWN and automatic else value
        return UNKNOWN


def _fits(call: ast.Call, args: ast.arguments) -> bool:
    """Whether the call gives all that the signature asks for."""
    if any(isinstance(argument, ast.Starred) for argument in call.args) or any(k.arg is None for k in call.keywords):
        return True
    positional = [arg.arg for arg in (*args.posonlyargs, *args.args)]
    given = {*positional[: len(call.args)], *(keyword.arg for keyword in call.keywords)}
    required = positional[: len(positional) - len(args.defaults)]
    return len(call.args) <= len(positional) and given.issuperset(required)


def _sets(node: ast.AST, attribute: str) -> ast.expr | None:
    """The value, where the node is `_.attribute = value` or saves tensors that are asked for."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Attribute) and target.attr == attribute:
                return node.value
    if attribute == "saved_tensors" and isinstance(node, ast.Call) and _called_method(node) == "save_for_backward":
        return ast.copy_location(ast.Tuple(elts=node.args, ctx=ast.Load()), node)
    return None


def _called_method(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else ""


@dataclass
class Run:
    """One function being run, up to `target` where that is given.

    `contradicted` says that a condition on the way there is known not to hold.
    """

    host: Host
    module: Module
    names: Environment
    function: HostDef | None = None
    target: ast.AST | None = None
    reached: bool = False
    contradicted: bool = False
    returned: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tensors = _tensor_names(self.function)

    def bind_parameters(self, function: HostDef, given: Mapping[str, Any]) -> None:
        args = function.args
        positional = [*args.posonlyargs, *args.args]
        defaults: list[ast.expr | None] = [*([None] * (len(positional) - len(args.defaults))), *args.defaults]
        for arg, default in zip((*positional, *args.kwonlyargs), (*defaults, *args.kw_defaults), strict=True):
            self.names[arg.arg] = given[arg.arg] if arg.arg in given else self._parameter(arg, default)

    def _parameter(self, arg: ast.arg, default: ast.expr | None) -> Any:
        annotation = "" if arg.annotation is None else ast.unparse(arg.annotation)
        given = UNKNOWN if self.function is None else self.host.given_by_caller(self.function).get(arg.arg, UNKNOWN)
        is_tensor = "Tensor" in annotation or arg.arg in self.tensors
        if isinstance(given, Tensor) or (given is not UNKNOWN and given is not None and not is_tensor):
            return given
        if is_tensor:
            return Tensor(None)
        value = UNKNOWN if default is None else self.value(default)
        if value is not UNKNOWN and value is not None:
            return value
        if annotation in ("int", "Optional[int]", "int | None") and not typical.is_float(arg.arg):
            return self.host.sizes.number(arg.arg)
        if "float" in annotation:
            return 1.0
        return False if annotation == "bool" else Dtype(self.host.dtype) if "dtype" in annotation else UNKNOWN

    # -- statements --------------------------------------------------------------------------------------------------

    def block(self, body: list[ast.stmt]) -> bool:
        """Run a body; whether it runs to its end."""
        for node in body:
            self.host.steps += 1
            if self.host.steps > _MAX_STEPS or not self._statement(node) or self.reached:
                return False
        return True

    def _statement(self, node: ast.stmt) -> bool:
        if self.target is not None and _contains(node, self.target):
            self._towards(node)
            return False
        if isinstance(node, ast.Assign):
            value = self.value(node.value, _single_name(node.targets))
            for target in node.targets:
                self._bind(target, value)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self._bind(node.target, self.value(node.value, _single_name([node.target])))
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            left = self.names.get(node.target.id, UNKNOWN)
            self.names[node.target.id] = operate(node.op, left, self.value(node.value))
        elif isinstance(node, ast.If):
            return self._if(node)
        elif isinstance(node, (ast.For, ast.While)):
            self._loop(node)
        elif isinstance(node, (ast.With, ast.Try)):
            return self.block(node.body)
        elif isinstance(node, ast.Return):
            self.returned.append(UNKNOWN if node.value is None else self.value(node.value))
            return False
        elif isinstance(node, ast.FunctionDef):
            self.names[node.name] = HostFunction(node, self.module, self.names)
        elif isinstance(node, ast.Expr):
            self._effect(node.value)
        elif isinstance(node, ast.Assert):
            test = self.value(node.test)
            return not is_known(test) or bool(test)
        return not isinstance(node, (ast.Raise, ast.Continue, ast.Break))

    def _towards(self, node: ast.stmt) -> None:
        """Run what comes before the target inside a statement that holds it."""
        assert self.target is not None
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self.tensors = self.tensors | _tensor_names(node)
            self.bind_parameters(node, {})
        elif isinstance(node, ast.For):
            self._bind(node.target, _first_of(self.value(node.iter)))
        elif isinstance(node, ast.If) and is_known(test := self.value(node.test)):
            self.contradicted |= bool(test) is any(_contains(other, self.target) for other in node.orelse)
        for name in ("body", "orelse", "finalbody"):
            inner: list[ast.stmt] = getattr(node, name, None) or []
            if any(_contains(statement, self.target) for statement in inner):
                self.block(inner)
                return
        for handler in getattr(node, "handlers", ()):
            if any(_contains(statement, self.target) for statement in handler.body):
                self.block(handler.body)
                return
        self.reached = True

    def _if(self, node: ast.If) -> bool:
        test = self.value(node.test)
        if is_known(test):
            return self.block(node.body if test else node.orelse)
        before = dict(self.names)
        goes_on = self.block(node.body)
        after, self.names = self.names, before
        if not goes_on and not self.returned:
            return self.block(node.orelse)
        otherwise = self.block(node.orelse)
        if goes_on:
            self.names = after if not otherwise else {**self.names, **_known(after)}
        return goes_on or otherwise

    def _loop(self, node: ast.For | ast.While) -> None:
        if isinstance(node, ast.For):
            self._bind(node.target, _first_of(self.value(node.iter)))
        self.block(node.body)

    def _effect(self, node: ast.expr) -> None:
        """`names.append(x)`, `names.update(x)`: lists and dicts change."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = self.value(node.func.value)
            if isinstance(owner, list) and node.func.attr in ("append", "extend") and len(node.args) == 1:
                more = self.value(node.args[0])
                owner.extend(more if node.func.attr == "extend" and isinstance(more, (list, tuple)) else [more])
            elif isinstance(owner, dict) and node.func.attr == "update" and len(node.args) == 1:
                more = self.value(node.args[0])
                owner.update(more if isinstance(more, dict) else {})

    def _bind(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            self.names[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            for index, element in enumerate(target.elts):
                name = element.value if isinstance(element, ast.Starred) else element
                self._bind(name, self._part(value, index, len(target.elts), name))
        elif isinstance(target, ast.Subscript):
            owner, key = self.value(target.value), self.value(target.slice)
            if isinstance(owner, dict) and isinstance(key, (str, int)):
                owner[key] = value

    def _part(self, value: Any, index: int, count: int, target: ast.expr) -> Any:
        if isinstance(value, Shape):
            return self.host.sizes.number(target.id) if isinstance(target, ast.Name) else UNKNOWN
        if isinstance(value, (tuple, list)) and len(value) == count:
            return value[index]
        return UNKNOWN

    # -- expressions -------------------------------------------------------------------------------------------------

    def value(self, node: ast.expr, hint: str = "") -> Any:
        """What an expression is; `hint` is the name that the value goes by."""
        handler = HANDLERS.get(type(node))
        self.host.steps += 1
        if handler is None or self.host.steps > _MAX_STEPS:
            return UNKNOWN
        try:
            return handler(self, node, hint)
        except (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError, RecursionError):
            return UNKNOWN

    def number(self, node: ast.expr, hint: str = "") -> Any:
        """The same where a number is wanted: an unknown name has a typical one."""
        value = self.value(node, hint)
        if value is UNKNOWN and isinstance(node, (ast.Name, ast.Attribute)):
            name = node.id if isinstance(node, ast.Name) else node.attr
            return 1.0 if typical.is_float(name) else self.host.sizes.number(name)
        return value


def _contains(node: ast.AST, target: ast.AST) -> bool:
    first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
    line: int = getattr(target, "lineno", 0)
    return first <= line <= last and (node is target or any(inner is target for inner in ast.walk(node)))


def _tensor_names(function: HostDef | None) -> frozenset[str]:
    """The names that a function treats as tensors."""
    if function is None:
        return frozenset()
    return frozenset(
        node.value.id
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in TENSOR_WORDS
    ) - {"self", "ctx", "cls"}


def _single_name(targets: list[ast.expr]) -> str:
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else ""


def _first_of(value: Any) -> Any:
    return value[0] if isinstance(value, (list, tuple, range)) and len(value) else UNKNOWN


def _known(names: Environment) -> Environment:
    return {name: value for name, value in names.items() if value is not UNKNOWN}
