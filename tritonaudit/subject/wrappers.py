"""The host functions of a module that launch kernels: directly, through each other, or through autograd."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tritonaudit.kernel.project import Function, Project
from tritonaudit.source.outline import Module, dotted_name

HostFunction = ast.FunctionDef

_MAY_LAUNCH = re.compile(r"\]\s*\(|jit")
_NOT_FOR_USE = re.compile(r"_*(?:test|bench|profile|autotune|main$|run_test)", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Wrapper:
    """What a user calls to run kernels: a function, or the `apply` of an autograd.Function.

    `name` is how the module spells it, `kernels` are those that it leads to, `gradients` says whether autograd does.
    """

    host: Host
    name: str
    node: HostFunction
    kernels: tuple[str, ...]
    gradients: bool

    @property
    def module(self) -> Module:
        return self.host.module

    @property
    def skips_context(self) -> bool:
        """Whether its first parameter is autograd's context, which no caller gives."""
        return self.name not in self.host.functions and self.host.takes_context(self.node)


@dataclass(frozen=True, eq=False)
class LaunchSite:
    """One launch in a host function: the kernel, where it is defined, and the call."""

    kernel: Function
    call: ast.Call


@dataclass(frozen=True, eq=False)
class AutogradFunction:
    """A class of a module that derives from torch.autograd.Function."""

    name: str
    forward: HostFunction
    backward: HostFunction | None
    has_setup_context: bool

    @property
    def has_backward(self) -> bool:
        """Whether its backward does anything but refuse."""
        return self.backward is not None and not any(isinstance(node, ast.Raise) for node in self.backward.body)


class Host:
    """A module's host code: its functions and autograd classes, what each launches and calls."""

    def __init__(self, module: Module, project: Project) -> None:
        self.module = module
        self.project = project
        self.functions: dict[str, HostFunction] = {}
        self.autograd: dict[str, AutogradFunction] = {}
        jit = {id(function.node) for function in module.jit}
        for node in _definitions(module.tree.body):
            if isinstance(node, ast.ClassDef):
                if (found := _autograd_function(node)) is not None:
                    self.autograd[node.name] = found
            elif id(node) not in jit:
                self.functions[node.name] = node
        self._launches: dict[int, tuple[LaunchSite, ...]] = {}

    @property
    def all_functions(self) -> list[HostFunction]:
        """The functions of the module, and the methods of its autograd classes."""
        methods = (method for a in self.autograd.values() for method in (a.forward, a.backward) if method is not None)
        return [*self.functions.values(), *methods]

    def takes_context(self, forward: HostFunction) -> bool:
        return any(found.forward is forward and not found.has_setup_context for found in self.autograd.values())

    # -- launches ----------------------------------------------------------------------------------------------------

    def launches(self, function: HostFunction) -> tuple[LaunchSite, ...]:
        """The launches in a function, in the order of the text."""
        if id(function) not in self._launches:
            self._launches[id(function)] = tuple(self._find_launches(function))
        return self._launches[id(function)]

    def _find_launches(self, function: HostFunction) -> Iterator[LaunchSite]:
        if _MAY_LAUNCH.search(self.module.text) is None:
            return
        local = self._aliases(ast.walk(function))
        for node in ast.walk(function):
            if isinstance(node, ast.Call):
                for kernel in self._launched(node, local):
                    yield LaunchSite(kernel, node)

    def _launched(self, call: ast.Call, local: dict[str, list[Function]]) -> list[Function]:
        """The kernels that a call launches: `kernel[grid](…)`, or a kernel that a decorator made callable as it is."""
        target = call.func.value if isinstance(call.func, ast.Subscript) else call.func
        if isinstance(target, ast.Name) and target.id in local:
            return local[target.id]
        if isinstance(target, ast.Attribute) and not isinstance(call.func, ast.Subscript):
            return []
        if isinstance(call.func, ast.Subscript):
            return self._kernels_in(target)
        return self._kernels_in(target) if isinstance(target, ast.Name) else []

    def _kernels_in(self, node: ast.expr) -> list[Function]:
        """The kernels that an expression names."""
        found: list[Function] = []
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and inner.id in self._module_aliases:
                found.extend(self._module_aliases[inner.id])
            elif isinstance(inner, (ast.Name, ast.Attribute)):
                dotted = dotted_name(inner)
                kernel = self.project.function(self.module, dotted, inner.lineno) if dotted is not None else None
                if kernel is not None:
                    found.append(kernel)
        return list(dict.fromkeys(found))

    @cached_property
    def _module_aliases(self) -> dict[str, list[Function]]:
        self.__dict__["_module_aliases"] = {}  # what it is computed from has no aliases yet
        return self._aliases(iter(self.module.tree.body))

    def _aliases(self, nodes: Iterator[ast.AST]) -> dict[str, list[Function]]:
        """Names that stand for kernels: `kernel = fast if aligned else slow`, `tuned = autotune(…)(kernel)`."""
        found: dict[str, list[Function]] = {}
        for node in nodes:
            if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
                continue
            if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Subscript):
                continue  # a launch, whose result is named
            if kernels := self._kernels_in(node.value):
                found.setdefault(node.targets[0].id, []).extend(kernels)
        return found

    # -- calls -------------------------------------------------------------------------------------------------------

    def called(self, call: ast.Call) -> HostFunction | AutogradFunction | None:
        """The function or autograd class of this module that a call runs."""
        name = dotted_name(call.func)
        if name is None:
            return None
        if name in self.functions:
            return self.functions[name]
        origin = self.module.names.get(name, name)
        head, _, method = origin.rpartition(".")
        return self.autograd.get(head) if method == "apply" else None

    def reached(self, start: HostFunction) -> tuple[list[HostFunction], list[AutogradFunction]]:
        """The functions and autograd classes of this module that a call of `start` may run, itself included."""
        functions: dict[int, HostFunction] = {id(start): start}
        classes: dict[str, AutogradFunction] = {}
        pending = [start]
        while pending:
            for found in self._calls_of(pending.pop()):
                if isinstance(found, AutogradFunction):
                    classes.setdefault(found.name, found)
                    new = [node for node in (found.forward, found.backward) if node is not None]
                else:
                    new = [found]
                for node in new:
                    if id(node) not in functions:
                        functions[id(node)] = node
                        pending.append(node)
        return list(functions.values()), list(classes.values())

    def _calls_of(self, function: HostFunction) -> Iterator[HostFunction | AutogradFunction]:
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and (found := self.called(node)) is not None:
                yield found

    # -- wrappers ----------------------------------------------------------------------------------------------------

    def wrappers(self) -> tuple[Wrapper, ...]:
        """What a user of the module calls to run its kernels, in the order of the text.

        That is its public functions, and what is private or an autograd class only where no public function leads to
        it. A function that an autograd class calls is left out: it takes what only the other half of it makes.
        """
        found = {name: self._wrapper(name, node) for name, node in self.functions.items() if self._is_for_use(node)}
        leading = {name: wrapper for name, wrapper in found.items() if wrapper is not None}
        halves = {id(node) for half in self.autograd.values() for node in self._under(half)}
        entries = {name: w for name, w in leading.items() if id(w.node) not in halves}
        public = [wrapper for name, wrapper in entries.items() if not name.startswith("_")]
        reached = {id(node) for wrapper in public for node in self.reached(wrapper.node)[0]}
        private = [w for name, w in entries.items() if name.startswith("_") and id(w.node) not in reached]
        reached |= {id(node) for wrapper in private for node in self.reached(wrapper.node)[0]}
        classes = [
            wrapper
            for name, autograd in self.autograd.items()
            if id(autograd.forward) not in reached
            and (wrapper := self._wrapper(self._spelled(name), autograd.forward)) is not None
        ]
        return tuple(sorted((*public, *private, *classes), key=lambda wrapper: wrapper.node.lineno))

    def wrapper(self, name: str) -> Wrapper | None:
        """A function of the module as a wrapper, whether or not it is seen to launch a kernel."""
        node = self.functions.get(name)
        return None if node is None else self._wrapper(name, node) or Wrapper(self, name, node, (), gradients=False)

    @property
    def methods_that_launch(self) -> list[str]:
        """Methods of other classes that launch kernels: no wrapper, since nothing says how to make their objects."""
        found: list[str] = []
        for owner in _definitions(self.module.tree.body):
            if isinstance(owner, ast.ClassDef) and owner.name not in self.autograd:
                for node in owner.body:
                    if isinstance(node, ast.FunctionDef) and self._kernels_reached(node):
                        found.append(f"{owner.name}.{node.name}")
        return found

    def _is_for_use(self, node: HostFunction) -> bool:
        arguments = node.args
        has_parameters = bool(arguments.posonlyargs or arguments.args or arguments.kwonlyargs)
        return has_parameters and _NOT_FOR_USE.match(node.name) is None and not _is_fixture(node)

    def _under(self, autograd: AutogradFunction) -> Iterator[HostFunction]:
        for method in (autograd.forward, autograd.backward):
            if method is not None:
                yield from self.reached(method)[0][1:]

    def _spelled(self, autograd: str) -> str:
        """How an autograd class is called: by a public name of its `apply`, else as it is."""
        target = f"{autograd}.apply"
        names = (name for name, origin in self.module.names.items() if origin == target and not name.startswith("_"))
        return next(names, target)

    def _wrapper(self, name: str, node: HostFunction) -> Wrapper | None:
        kernels = self._kernels_reached(node)
        if not kernels:
            return None
        backward = [a.backward for a in self.autograd.values() if a.forward is node and a.backward is not None]
        for method in backward:
            kernels = [*kernels, *self._kernels_reached(method)]
        classes = [a for a in self.autograd.values() if a.forward is node] or self.reached(node)[1]
        gradients = any(autograd.has_backward for autograd in classes)
        return Wrapper(self, name, node, tuple(dict.fromkeys(kernels)), gradients)

    def _kernels_reached(self, node: HostFunction) -> list[str]:
        functions, _ = self.reached(node)
        names = (site.kernel.jit.name for function in functions for site in self.launches(function))
        return list(dict.fromkeys(names))


def _definitions(body: list[ast.stmt]) -> Iterator[HostFunction | ast.ClassDef]:
    """The functions and classes of a module's own level, those in its `if` and `try` blocks included."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node
        elif isinstance(node, (ast.If, ast.Try, ast.With)):
            for name in ("body", "orelse", "finalbody"):
                yield from _definitions(getattr(node, name, []))
            for handler in getattr(node, "handlers", []):
                yield from _definitions(handler.body)


def _autograd_function(node: ast.ClassDef) -> AutogradFunction | None:
    if not any((dotted_name(base) or "").rpartition(".")[2] == "Function" for base in node.bases):
        return None
    methods = {inner.name: inner for inner in node.body if isinstance(inner, ast.FunctionDef)}
    if "forward" not in methods:
        return None
    return AutogradFunction(node.name, methods["forward"], methods.get("backward"), "setup_context" in methods)


def _is_fixture(node: HostFunction) -> bool:
    """Whether a decorator makes it a test or a benchmark."""
    text = " ".join(ast.unparse(decorator) for decorator in node.decorator_list)
    return "pytest" in text or "perf_report" in text
