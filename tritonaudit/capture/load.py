"""Runs lifted text in a worker, statement by statement, so that what fails costs as little as it can."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import linecache
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import Any

import triton
from triton.runtime.autotuner import Autotuner, Heuristics
from triton.runtime.jit import JITFunction

from tritonaudit.absent.stand_in import stand_in
from tritonaudit.absent.tolerance import is_tolerable, origin_in
from tritonaudit.capture.decorators import configs_of
from tritonaudit.capture.lift import STAND_IN, CannotLift, Lifted, LiftedFile
from tritonaudit.capture.names import scope_tree
from tritonaudit.source.outline import dotted_name


@dataclass(frozen=True)
class Loaded:
    """A kernel that can be launched: Triton's jit function, maybe in its autotuner and heuristics."""

    kernel: Any
    assumptions: tuple[str, ...] = ()


def load(lifted: Lifted) -> Loaded:
    """Run the lifted files and return the kernel. Its code says that it is the user's file. Raises CannotLift."""
    importer = _Importer(lifted)
    sys.meta_path.insert(0, importer)
    try:
        for file in lifted.files:
            sys.modules.pop(file.name, None)
        module = importlib.import_module(lifted.module)
    finally:
        sys.meta_path.remove(importer)
    found = getattr(module, lifted.kernel, None)
    if found is None:
        raise CannotLift("; ".join(importer.assumptions) or f"`{lifted.kernel}` is not defined by its file")
    found = found.__func__ if isinstance(found, staticmethod) else found
    kernel = found if isinstance(found, _KERNELS) else triton.jit(found)
    _prune_safely(kernel)
    return Loaded(kernel, (*lifted.assumptions, *importer.assumptions))


_IMPORTS = (ast.Import, ast.ImportFrom, ast.Try)
_KERNELS = (JITFunction, Autotuner, Heuristics)


def _prune_safely(kernel: Any) -> None:
    """A pruner that cannot do with inferred arguments prunes nothing; nothing is timed, so no model ranks configs."""
    while isinstance(kernel, (Autotuner, Heuristics)):
        if isinstance(kernel, Autotuner):
            kernel.perf_model = None
            if kernel.early_config_prune is not None:
                kernel.early_config_prune = _safe(kernel.early_config_prune)
        kernel = kernel.fn


def _safe(prune: Callable[..., Any]) -> Callable[..., Any]:
    def pruned(configs: list[Any], *arguments: Any, **keywords: Any) -> Any:
        try:
            return prune(configs, *arguments, **keywords) or configs
        except Exception:
            return configs

    return pruned


class _Importer(MetaPathFinder, Loader):
    """Gives lifted files to Python's import."""

    def __init__(self, lifted: Lifted) -> None:
        self._files = {file.name: file for file in lifted.files}
        self.assumptions: dict[str, None] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in self._files:
            return None
        return ModuleSpec(fullname, self, origin=self._files[fullname].path)

    def exec_module(self, module: ModuleType) -> None:
        file = self._files[module.__name__]
        module.__file__ = file.path
        _show_lines(file)
        _Runner(file, module.__dict__, self.assumptions).run()


def _show_lines(file: LiftedFile) -> None:
    """Let Python find the file's source as it was when it was lifted."""
    known = linecache.getlines(file.path)
    lines = [f"{line}\n" for line in file.text.removesuffix("\n").split("\n")]
    if len(known) == len(lines):
        lines = [line if line.strip() else before for line, before in zip(lines, known, strict=True)]
    linecache.cache[file.path] = (len(file.text), None, lines, file.path)


class _Runner:
    """Runs the statements of one file, each by itself."""

    def __init__(self, file: LiftedFile, names: dict[str, Any], assumptions: dict[str, None]) -> None:
        self._file = file
        self._names = names
        self._assumptions = assumptions
        self._tree = ast.parse(file.text)
        self._flags = 0
        names[STAND_IN] = stand_in
        if any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in self._tree.body):
            self._flags = _annotations_flag()

    def run(self) -> None:
        for node in self._tree.body:
            self._tolerant(node)

    def _assume(self, sentence: str) -> None:
        self._assumptions[sentence] = None

    def _tolerant(self, node: ast.stmt) -> bool:
        """Run a statement, and say whether it runs; what it should have defined is missed by whoever needs it."""
        try:
            self._statement(node)
        except Exception as error:
            self._assume(f"{_defined(node)} is left out, since running it gives {_words(error)}")
            if (origin := origin_in(error)) is not None and is_tolerable(error, is_package=False):
                for name in scope_tree(ast.Module([node], [])).bindings:
                    self._names.setdefault(name, stand_in(origin))
            return False
        return True

    def _statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.FunctionDef):
            self._define(node)
        elif isinstance(node, ast.If):
            self._if(node)
        elif isinstance(node, ast.Try):
            self._try(node)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            self._assign(node, node.targets[0].id)
        elif not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            exec(self._compiled([node]), self._names)

    def _assign(self, node: ast.Assign, name: str) -> None:
        before = self._names.get(name)
        exec(self._compiled([node]), self._names)
        if isinstance(before, _KERNELS) and not isinstance(self._names[name], _KERNELS):
            self._names[name] = before
            self._assume(f"what `{ast.unparse(node.value)}` makes of the kernel is left out")

    def _compiled(self, body: list[ast.stmt]) -> CodeType:
        tree = ast.Module(body=body, type_ignores=[])
        code: CodeType = compile(tree, self._file.path, "exec", flags=self._flags, dont_inherit=True)
        return code

    def _value(self, node: ast.expr) -> Any:
        code = compile(ast.Expression(node), self._file.path, "eval", flags=self._flags, dont_inherit=True)
        return eval(code, self._names)

    def _if(self, node: ast.If) -> None:
        try:
            arm = node.body if self._value(node.test) else node.orelse
        except Exception:
            self._undecided(node)
        else:
            for inner in arm:
                self._tolerant(inner)

    def _undecided(self, node: ast.If) -> None:
        """Of a condition that is unknown, run the arm for the ordinary device, or the one whose imports work."""
        arms = [node.body, node.orelse] if _is_usual(node.test) else [node.orelse, node.body]
        if _is_idle(arms[0]):
            arms.reverse()
        before = dict(self._assumptions)
        for arm in arms:
            self._assumptions.clear()
            self._assumptions.update(before)
            self._assume(f"`{ast.unparse(node.test)}` is taken to be {arm is node.body}")
            lost = [inner for inner in arm if not self._tolerant(inner)]
            if _is_idle(arms[1]) or not any(isinstance(inner, _IMPORTS) for inner in lost):
                break

    def _try(self, node: ast.Try) -> None:
        try:
            for inner in node.body:
                self._statement(inner)
        except Exception as error:
            handler = next((h for h in node.handlers if self._catches(h, error)), None)
            if handler is None:
                raise
            if handler.name is not None:
                self._names[handler.name] = error
            for inner in handler.body:
                self._tolerant(inner)
        else:
            for inner in node.orelse:
                self._tolerant(inner)
        for inner in node.finalbody:
            self._tolerant(inner)

    def _catches(self, handler: ast.ExceptHandler, error: Exception) -> bool:
        if handler.type is None:
            return True
        try:
            return isinstance(error, self._value(handler.type))
        except Exception:
            return False

    # -- functions ---------------------------------------------------------------------------------------------------

    def _define(self, node: ast.FunctionDef) -> None:
        decorators, node.decorator_list = node.decorator_list, []
        exec(self._compiled([node]), self._names)
        function = self._names[node.name]
        for decorator in reversed(decorators):
            function = self._decorated(decorator, function)
        self._names[node.name] = function

    def _decorated(self, decorator: ast.expr, function: Any) -> Any:
        try:
            return self._value(decorator)(function)
        except Exception as error:
            name = dotted_name(decorator.func if isinstance(decorator, ast.Call) else decorator) or ""
            if name.endswith("jit"):
                return triton.jit(function)
            configs = configs_of(decorator)
            if configs is None:
                self._assume(f"the decorator `{name}` is left out, since it gives {_words(error)}")
                return function
            return self._autotuned(name, configs, function, error)

    def _autotuned(self, name: str, configs: ast.expr, function: Any, error: Exception) -> Any:
        """The function with the configs that it would be tuned over."""
        try:
            tuned = triton.autotune(configs=list(self._value(configs)), key=[])(function)
        except Exception as second:
            self._assume(f"the configs of `{name}` are not known, since computing them gives {_words(second)}")
            return function
        if not isinstance(error, NameError):
            self._assume(f"only the configs of `{name}` are used, since all of it gives {_words(error)}")
        return tuned


def _annotations_flag() -> int:
    import __future__

    return __future__.annotations.compiler_flag


def _is_usual(test: ast.expr) -> bool:
    """Whether a condition that is unknown likely holds: it asks for a recent version, or denies a peculiarity."""
    if isinstance(test, ast.Compare) and "version" in ast.unparse(test).lower():
        return isinstance(test.ops[0], (ast.Gt, ast.GtE))
    return isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)


def _is_idle(body: list[ast.stmt]) -> bool:
    return all(isinstance(node, (ast.Pass, ast.Raise)) for node in body)


def _defined(node: ast.stmt) -> str:
    """What a statement would have defined, or else its first words."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return f"`{node.name}`"
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return ", ".join(f"`{alias.asname or alias.name}`" for alias in node.names)
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        return f"`{ast.unparse(target)}`"
    return f"`{ast.unparse(node).splitlines()[0]}`"


def _words(error: Exception) -> str:
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words}" if words else type(error).__name__
