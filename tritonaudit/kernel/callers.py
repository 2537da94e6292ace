"""Whether what a wrapper launches or returns depends on who asks: on the call stack, on what is imported, on the time.

A value is asked for where it is read, and what is computed from it is the same, through names of a function and through
functions of the file. It decides where a condition is made of it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.kernel.launch import launches_of
from tritonaudit.source.outline import JitFunction, Module, dotted_name

_STACK, _IMPORTED, _OBJECTS = "the call stack", "what else is imported", "the objects of the process"
_SEED, _TIME, _COMMAND = "the seed of the random numbers", "the time", "the command line"
_ASKED = {
    **dict.fromkeys(("sys._getframe", "sys._current_frames", "inspect.currentframe", "inspect.stack"), _STACK),
    **dict.fromkeys(("traceback.extract_stack", "traceback.format_stack", "traceback.walk_stack"), _STACK),
    **dict.fromkeys(("sys.modules", "sys.meta_path"), _IMPORTED),
    **dict.fromkeys(("gc.get_objects", "gc.get_referrers", "gc.get_referents"), _OBJECTS),
    **dict.fromkeys(("torch.initial_seed", "torch.random.initial_seed", "torch.cuda.initial_seed"), _SEED),
    **dict.fromkeys(("torch.get_rng_state", "torch.random.get_rng_state", "random.getstate"), _SEED),
    **dict.fromkeys(("torch.cuda.get_rng_state", "numpy.random.get_state"), _SEED),
    **{f"time.{name}{unit}": _TIME for name in ("time", "perf_counter", "monotonic") for unit in ("", "_ns")},
    **dict.fromkeys(("datetime.datetime.now", "datetime.datetime.today", "datetime.date.today"), _TIME),
    **dict.fromkeys(("sys.argv", "sys.orig_argv"), _COMMAND),
}
"""What tells a function who asks, by its origin. Variables of the environment do, too, and are meant for that."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, eq=False)
class Decision:
    """A condition made of what is `asked`, in a wrapper of that name, and what hangs on it is a launch or a result."""

    test: ast.expr
    asked: str
    wrapper: str


def decisions(module: Module, kernel: JitFunction) -> Iterator[Decision]:
    """Those in the file's wrappers, in the order of the text, reported of the first kernel that is launched there."""
    if not _may_ask(module):
        return
    launches = launches_of(module)
    if next((one for one in module.jit if launches.get(one)), None) is not kernel:
        return
    calls = {id(launch.call) for those in launches.values() for launch in those}
    yield from _Reading(module, calls).decisions()


def _may_ask(module: Module) -> bool:
    """Whether it imports what tells who asks, or may, and has its last name somewhere."""
    known = {*_imported(module).values(), *module.names.values()}
    spelled = [name for name in _ASKED if module.says(name.rpartition(".")[2])]
    return any(name == origin or name.startswith(f"{origin}.") for name in spelled for origin in known)


class _Reading:
    def __init__(self, module: Module, launches: set[int]) -> None:
        self._module = module
        self._imported = _imported(module)
        jitted = {id(jit.node) for jit in module.jit}
        nodes = module.nodes(module.tree)
        every: list[_Function] = [*nodes.of(ast.FunctionDef), *nodes.of(ast.AsyncFunctionDef)]
        self._functions = [function for function in every if id(function) not in jitted]
        self._launching = self._those_that(lambda call: id(call) in launches)
        self._answering: dict[str, str] = {}
        self._find_answering()

    def decisions(self) -> Iterator[Decision]:
        wrappers = [function for function in self._functions if function.name in self._launching]
        for function in sorted(wrappers, key=lambda one: one.lineno):
            known = self._known(function)
            for node in ast.walk(function):
                if isinstance(node, (ast.If, ast.While, ast.IfExp)) and self._decides(node):
                    asked = self._asked(node.test, known)
                    if asked is not None:
                        yield Decision(node.test, asked, function.name)

    def _those_that(self, launches: object) -> frozenset[str]:
        """The names of functions that launch a kernel, or call one that does."""
        assert callable(launches)
        found: set[str] = set()
        grows = True
        while grows:
            more = {
                function.name
                for function in self._functions
                if any(
                    isinstance(node, ast.Call) and (launches(node) or _last(node.func) in found)
                    for node in ast.walk(function)
                )
            }
            grows = not more <= found
            found |= more
        return frozenset(found)

    def _find_answering(self) -> None:
        """Functions of the file that return what is asked, or what is computed of it."""
        grows = True
        while grows:
            grows = False
            for function in self._functions:
                if function.name in self._answering:
                    continue
                known = self._known(function)
                for node in ast.walk(function):
                    value = node.value if isinstance(node, ast.Return) else None
                    asked = None if value is None else self._asked(value, known)
                    if asked is not None:
                        self._answering[function.name] = asked
                        grows = True
                        break

    def _known(self, function: _Function) -> dict[str, str]:
        """Names of the function that are set to such values."""
        known: dict[str, str] = {}
        grows = True
        while grows:
            grows = False
            for node in ast.walk(function):
                for name, value in _set(node):
                    if name not in known and (asked := self._asked(value, known)) is not None:
                        known[name] = asked
                        grows = True
        return known

    def _asked(self, node: ast.expr, known: dict[str, str]) -> str | None:
        """What an expression asks for, or is computed from; nothing of what is only launched or called with it."""
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and part.id in known:
                return known[part.id]
            if isinstance(part, ast.Call) and (asked := self._answering.get(_last(part.func))) is not None:
                return asked
            if isinstance(part, (ast.Name, ast.Attribute)):
                dotted = dotted_name(part)
                if dotted is not None and dotted.partition(".")[0] in self._imported:
                    asked = _ASKED.get(self._module.origin(dotted)) or _ASKED.get(self._imported_origin(dotted))
                    if asked is not None:
                        return asked
        return None

    def _imported_origin(self, dotted: str) -> str:
        head, _, rest = dotted.partition(".")
        origin = self._imported[head]
        return f"{origin}.{rest}" if rest else origin

    def _decides(self, node: ast.If | ast.While | ast.IfExp) -> bool:
        """Whether a launch or a result hangs on it."""
        if isinstance(node, ast.IfExp):
            return True
        parts = [part for statement in (*node.body, *node.orelse) for part in ast.walk(statement)]
        return any(
            (isinstance(part, ast.Return) and part.value is not None)
            or isinstance(part, (ast.Assign, ast.AnnAssign, ast.AugAssign))
            or (isinstance(part, ast.Call) and self._is_launching(part))
            for part in parts
        )

    def _is_launching(self, call: ast.Call) -> bool:
        return _last(call.func) in self._launching or isinstance(call.func, ast.Subscript)


def _last(function: ast.expr) -> str:
    return (dotted_name(function) or "").rpartition(".")[2]


def _set(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Names that a node sets, each with the expression."""
    if isinstance(node, ast.Assign):
        targets: list[ast.expr] = node.targets
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
        targets = [node.target]
    elif isinstance(node, (ast.For, ast.comprehension)):
        yield from ((name.id, node.iter) for name in ast.walk(node.target) if isinstance(name, ast.Name))
        return
    else:
        return
    if node.value is not None:
        for target in targets:
            yield from ((name.id, node.value) for name in ast.walk(target) if isinstance(name, ast.Name))


def _imported(module: Module) -> dict[str, str]:
    """What each name is that is imported anywhere in a file, dotted."""
    found: dict[str, str] = {}
    nodes = module.nodes(module.tree)
    for alias in (alias for node in nodes.of(ast.Import) for alias in node.names):
        name = alias.asname or alias.name.partition(".")[0]
        found[name] = alias.name if alias.asname else name
    for node in nodes.of(ast.ImportFrom):
        if node.module is not None and not node.level:
            found.update({alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names})
    return found
