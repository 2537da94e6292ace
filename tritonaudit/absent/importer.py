"""Has a user's modules be imported where what they import is not there, and says what was stood in for.

A module that is absent is stood in for, unless the user's code is prepared for its absence. Of a module of the user's a
statement is left out that needs the value of a stand-in, a name that the installed Triton or another library does not
have, or a file that is not there; of a package's `__init__`, whatever fails. The names that it would have given a
meaning are stood in for.
"""

from __future__ import annotations
import __future__

import ast
import copy
import importlib
import re
import sys
import traceback
from collections.abc import Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType, TracebackType
from typing import Any

from tritonaudit.absent.guards import importing, is_caught, parsed
from tritonaudit.absent.said import LeftOut, Missing, say
from tritonaudit.absent.stand_in import StandInModule, depending, reached_by, reaching, stand_in
from tritonaudit.absent.tolerance import is_tolerable, origin_in
from tritonaudit.capture.lift import LIFTED
from tritonaudit.capture.names import scope_tree
from tritonaudit.execute.blame import is_users, text_of

_VENDORS = {"torch_npu": "npu", "torch_mlu": "mlu", "torch_musa": "musa", "torch_gcu": "gcu"}
"""Modules that give torch an attribute as they are imported."""

_BUILT = re.compile(r"[._](?:C|cuda|ext|version)$")
"""What the build of a package often makes."""


def install() -> None:
    """Import the user's modules so, for the rest of the process."""
    if not is_installed():
        sys.meta_path.insert(0, _UsersModules())
        sys.meta_path.append(_AbsentModules())


def is_installed() -> bool:
    """Whether the user's modules are imported so."""
    return any(isinstance(finder, _UsersModules) for finder in sys.meta_path)


def users_loader(name: str, path: str) -> SourceFileLoader | None:
    """What runs a file of the user's so; None where that is not installed."""
    return _Tolerant(name, path) if is_installed() else None


def import_for_user(name: str) -> ModuleType:
    """The module of that name, as a statement of the user's imports it that is not run itself."""
    _waiting.append(name)
    try:
        return importlib.import_module(name)
    finally:
        _waiting.pop()


_waiting: list[str] = []


class _AbsentModules(MetaPathFinder, Loader):
    """Is asked last of all, for what nobody else has found."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        parent = fullname.rpartition(".")[0]
        if not isinstance(sys.modules.get(parent), StandInModule) and not self._is_wanted(fullname):
            return None
        return ModuleSpec(fullname, self, is_package=True)

    def _is_wanted(self, fullname: str) -> bool:
        if _waiting and (_waiting[-1] == fullname or _waiting[-1].startswith(f"{fullname}.")):
            return True
        found = importing()
        if found is None or (found.is_of_name and not _BUILT.search(fullname)):
            return False
        frame = found.frame
        if str(frame.f_globals.get("__name__")).startswith(LIFTED):  # which has a way of its own
            return False
        if not is_users(frame.f_code.co_filename) or is_caught(frame, ModuleNotFoundError):
            return False
        say(Missing(fullname, frame.f_code.co_filename, frame.f_lineno))
        return True

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return StandInModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        torch = sys.modules.get("torch")
        attribute = _VENDORS.get(module.__name__)
        if torch is not None and attribute is not None and not hasattr(torch, attribute):
            setattr(torch, attribute, stand_in(module.__name__))


class _UsersModules(MetaPathFinder):
    """Is asked first, for what is the user's."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or type(spec.loader) is not SourceFileLoader or not is_users(spec.loader.path):
            return None
        spec.loader = _Tolerant(fullname, spec.loader.path)
        return spec


class _Tolerant(SourceFileLoader):
    """Runs a file, and where a statement fails that can be left out, what comes after it."""

    def exec_module(self, module: ModuleType) -> None:
        with reaching():
            try:
                super().exec_module(module)
            except Exception as error:
                tree, line = parsed(self.path), _line_of(module, error)
                if tree is None or line is None:
                    raise
                _Rest(module, self.path, tree).run(tree.body, line, error)


class _Rest:
    """Runs what is left of a file after a failure, statement by statement."""

    def __init__(self, module: ModuleType, path: str, tree: ast.Module) -> None:
        self._module, self._path = module, path
        self._flags = 0
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                for alias in node.names:
                    self._flags |= getattr(__future__, alias.name).compiler_flag

    def run(self, body: Sequence[ast.stmt], line: int, error: Exception) -> None:
        """Go on after the statement at that line, which fails so. Raises the error of one that cannot be left out."""
        waiting = self._after(body, line, error)
        while waiting:
            node = waiting.pop(0)
            try:
                self._execute(node)
            except Exception as another:
                inner = _line_of(self._module, another)
                waiting = self._after([node, *waiting], node.lineno if inner is None else inner, another)

    def _after(self, body: Sequence[ast.stmt], line: int, error: Exception) -> list[ast.stmt]:
        """What is to be run instead of the failing statement at a line, and after it."""
        failing, left = _split(body, line)
        if failing is None or not self._may_leave_out(error):
            raise error
        if isinstance(failing, ast.ImportFrom) and len(failing.names) > 1:
            each = [ast.ImportFrom(failing.module, [alias], failing.level) for alias in failing.names]
            return [*(ast.copy_location(one, failing) for one in each), *left]
        if isinstance(failing, ast.FunctionDef) and failing.decorator_list:
            self._decorate(failing)
        else:
            self._leave_out(failing, error)
        return left

    def _may_leave_out(self, error: Exception) -> bool:
        is_package = hasattr(self._module, "__path__")
        return is_tolerable(error, is_package=is_package) and not is_caught(sys._getframe(1), type(error))

    def _leave_out(self, failing: ast.stmt, error: Exception) -> None:
        """Stand in for the names that the statement would have given a meaning."""
        names = sorted(scope_tree(ast.Module([failing], [])).bindings)
        if isinstance(failing, ast.Import):
            names = [name for name in names if name not in vars(self._module)]
        origin = origin_in(error)
        for name in names:
            vars(self._module)[name] = stand_in(origin or f"{self._module.__name__}.{name}")
        self._say(tuple(names), failing.lineno, error)

    def _decorate(self, node: ast.FunctionDef) -> None:
        """Define a function without those of its decorators that fail; whoever calls it depends on them."""
        bare = copy.copy(node)
        bare.decorator_list = []
        self._execute(bare)
        function = vars(self._module)[node.name]
        for decorator in reversed(node.decorator_list):
            try:
                code = self._compiled(ast.Expression(decorator), "eval")
                function = eval(code, vars(self._module))(function)
            except Exception as error:
                if not self._may_leave_out(error):
                    raise
                origin = origin_in(error)
                function = depending(origin or f"{self._module.__name__}.{node.name}", function)
                name = ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator)
                self._say((), decorator.lineno, error, f"`@{name}` of `{node.name}`")
        vars(self._module)[node.name] = function

    def _say(self, names: tuple[str, ...], line: int, error: Exception, decorator: str = "") -> None:
        is_consequence = reached_by(error) is not None
        say(LeftOut(names, self._path, line, _words(error), origin_in(error), decorator, is_consequence))

    def _execute(self, node: ast.stmt) -> None:
        exec(self._compiled(ast.Module([node], []), "exec"), vars(self._module))

    def _compiled(self, tree: ast.Module | ast.Expression, mode: str) -> CodeType:
        code: CodeType = compile(tree, self._path, mode, flags=self._flags, dont_inherit=True)
        return code


def _words(error: Exception) -> str:
    words = text_of(error)
    return f"{type(error).__name__}{f': {words}' if words else ''}"


def _line_of(module: ModuleType, error: Exception) -> int | None:
    """At which line of a module an error came up that it was run with."""
    lines = (line for frame, line in _walked(error.__traceback__) if frame.f_globals is vars(module))
    return next(lines, None)


def _walked(trace: TracebackType | None) -> Iterator[tuple[Any, int]]:
    return ((frame, line) for frame, line in traceback.walk_tb(trace) if frame.f_code.co_name == "<module>")


def _split(body: Sequence[ast.stmt], line: int) -> tuple[ast.stmt | None, list[ast.stmt]]:
    """The statement at a line, or the one of an `if`, and those that are run after it."""
    for place, node in enumerate(body):
        if not _first(node) <= line <= (node.end_lineno or node.lineno):
            continue
        after = list(body[place + 1 :])
        if isinstance(node, ast.If):
            for arm in (node.body, node.orelse):
                failing, left = _split(arm, line)
                if failing is not None:
                    return failing, [*left, *after]
        return node, after
    return None, []


def _first(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])
