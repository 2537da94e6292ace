"""What the names of a file mean inside its kernels, where no local variable has the name."""

from __future__ import annotations

import ast
import builtins
import math
import operator
import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tritonaudit.ir.values import (
    ANY,
    DTYPES,
    UNKNOWN,
    Const,
    Dtype,
    Helper,
    Named,
    Plain,
    Value,
)
from tritonaudit.source.nodes import Nodes, statements_in
from tritonaudit.source.outline import Module, Scope, dotted_name

if TYPE_CHECKING:
    from tritonaudit.kernel.project import Function, Project

_LANGUAGE_BUILTINS = frozenset(
    {"len", "list", "range", "float", "int", "isinstance", "getattr", "hasattr", "print", "min", "max"}
)
"""The functions of Python that the front end has under their own names."""

_PYTHON = frozenset(name for name in dir(builtins) if not name.startswith("_"))
_HOST_VALUES = frozenset(
    {"int", "float", "str", "bool", "list", "dict", "set", "os.getenv", "os.environ.get", "types.SimpleNamespace"}
)
_PLAIN_BASES = frozenset({"object", "Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})
_ALLOWS_GLOBALS = "TRITON_ALLOW_NON_CONSTEXPR_GLOBALS"

CONSTANTS: dict[str, Any] = {
    "math.pi": math.pi,
    "math.inf": math.inf,
    "math.e": math.e,
    "math.nan": math.nan,
    "math.tau": math.tau,
    "numpy.pi": math.pi,
    "numpy.inf": math.inf,
    "numpy.e": math.e,
    "numpy.nan": math.nan,
    "sys.maxsize": sys.maxsize,
}


class Refusal(Enum):
    """Why a kernel cannot use a name."""

    UNDEFINED = auto()
    PYTHON_BUILTIN = auto()
    GLOBAL = auto()
    ANNOTATED_GLOBAL = auto()
    NONE_GLOBAL = auto()


@dataclass(frozen=True)
class Refused:
    """A name that the front end does not take; `node` defines it."""

    why: Refusal
    node: ast.AST | None = None


class Names:
    """The names of one file, as its kernels see them."""

    def __init__(self, module: Module, project: Project) -> None:
        self._module = module
        self._project = project
        self._copying: set[str] = set()
        self._known: dict[tuple[Scope | None, str], Value | Refused] = {}

    def meaning(self, caller: Function, name: str) -> Value | Refused:
        """The value that a name has inside a kernel of the file, or why it has none."""
        scope = caller.jit.scope
        found = self._known.get((scope, name))
        if found is None:
            found = self._known[scope, name] = self._meaning(caller, name)
        return found

    def _meaning(self, caller: Function, name: str) -> Value | Refused:
        function = self._project.resolve(caller, name)
        if function is not None:
            return UNKNOWN if self._is_set_otherwise(function) else Helper(function)
        if name in self._enclosed:
            return UNKNOWN
        definitions = self._definitions.get(name, [])
        if definitions and name in self._imported and not all(map(_is_none, definitions)):
            return UNKNOWN
        if (not definitions or name in self._imported) and name in self._module.names:
            found = named(self._project.origin_of(self._module, self._module.names[name]))
            is_number = isinstance(found, Const) and not isinstance(found.value, Dtype)
            return Refused(Refusal.GLOBAL) if is_number and not self._allows_globals else found
        if name in _OF_MODULES and not definitions and not self._allows_globals:
            return Refused(Refusal.GLOBAL)
        meanings = [self._defined(node) for node in self._lasting(name, definitions)]
        if meanings:
            return meanings[0] if all(same_refusal(meaning, meanings[0]) for meaning in meanings) else UNKNOWN
        if name in _LANGUAGE_BUILTINS:
            return Named(name)
        if name in self._bound or self._stars:
            return UNKNOWN
        return Refused(Refusal.PYTHON_BUILTIN if name in _PYTHON else Refusal.UNDEFINED)

    def _lasting(self, name: str, definitions: list[ast.stmt]) -> list[ast.stmt]:
        """The definitions that may count when a kernel is compiled: the last one, where nothing chooses among them."""
        body = self._module.tree.body
        if len(definitions) < 2 or not all(node in body for node in definitions) or name in self._declared:
            return definitions
        last = max(definitions, key=lambda node: node.lineno)
        return definitions if isinstance(last, ast.AugAssign) else [last]

    @cached_property
    def _declared(self) -> frozenset[str]:
        """Names that a function declares `global`, and may set."""
        return frozenset(name for node in self._nodes.of(ast.Global) for name in node.names)

    def _is_set_otherwise(self, function: Function) -> bool:
        """Whether the file that a function stands in gives its name to something else, too, as in another arm."""
        module, name = function.module, function.jit.name
        if function.jit.scope is not None:
            return False
        of_file = self if module is self._module else Names(module, self._project)
        return any(isinstance(node, (ast.Assign, ast.AnnAssign)) for node in of_file._definitions.get(name, ()))

    @cached_property
    def _stars(self) -> bool:
        return any(node.names[0].name == "*" for node in self._nodes.of(ast.ImportFrom))

    @property
    def _nodes(self) -> Nodes:
        return self._module.nodes(self._module.tree)

    @cached_property
    def _allows_globals(self) -> bool:
        return self._module.says(_ALLOWS_GLOBALS)

    @cached_property
    def _enclosed(self) -> frozenset[str]:
        """Names that a function of the host around a kernel gives it."""
        own = {id(jit.node) for jit in self._module.jit}
        found: set[str] = set()
        for node in self._nodes.of(ast.FunctionDef):
            if id(node) not in own and any(id(inner) in own for inner in statements_in(node)):
                found |= {arg.arg for arg in (*node.args.args, *node.args.kwonlyargs, *node.args.posonlyargs)}
                found |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
                found |= {n.name for n in ast.walk(node) if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
        return frozenset(found)

    @cached_property
    def _imported(self) -> frozenset[str]:
        """Names that an import statement of the file binds, at whatever level."""
        imports: list[ast.Import | ast.ImportFrom] = [*self._nodes.of(ast.Import), *self._nodes.of(ast.ImportFrom)]
        return frozenset((a.asname or a.name).partition(".")[0] for node in imports for a in node.names)

    @cached_property
    def _bound(self) -> frozenset[str]:
        """Every name that the file's own level, or a `global` of it, may bind in any way."""
        found: set[str] = set()
        for node in self._nodes.of(ast.Global):
            found.update(node.names)
        found |= {handler.name for handler in self._nodes.of(ast.ExceptHandler) if handler.name}
        found |= {n.id for s in self._statements for n in ast.walk(s) if isinstance(n, ast.Name) and _stores(n)}
        found |= {s.name for s in self._all_definitions}
        return frozenset(found | self._imported | {"__name__", "__file__"})

    @cached_property
    def _all_definitions(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
        nodes = self._nodes
        return [*nodes.of(ast.FunctionDef), *nodes.of(ast.AsyncFunctionDef), *nodes.of(ast.ClassDef)]

    @cached_property
    def _statements(self) -> list[ast.stmt]:
        """The statements of the file's own level, and of blocks in it; of functions and classes none."""
        found: list[ast.stmt] = []
        stack: list[ast.stmt] = list(self._module.tree.body)
        while stack:
            node = stack.pop()
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                continue
            found.append(node)
            for name in ("body", "orelse", "finalbody"):
                stack.extend(getattr(node, name, None) or ())
            for handler in getattr(node, "handlers", None) or ():
                stack.extend(handler.body)
        return found

    @cached_property
    def _definitions(self) -> dict[str, list[ast.stmt]]:
        """The statements that define each name of the file's own level, imports aside."""
        found: dict[str, list[ast.stmt]] = {}
        for node in self._statements:
            targets = node.targets if isinstance(node, ast.Assign) else []
            if isinstance(node, (ast.AnnAssign, ast.AugAssign)):
                targets = [node.target]
            for target in targets:
                for inner in ast.walk(target):
                    if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                        found.setdefault(inner.id, []).append(node)
        for statement in self._module.tree.body:
            if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                found.setdefault(statement.name, []).append(statement)
        return found

    def _defined(self, node: ast.stmt) -> Value | Refused:
        if isinstance(node, ast.FunctionDef):
            return UNKNOWN if node.decorator_list else Plain(node.name)
        if isinstance(node, ast.ClassDef):
            return self._class(node)
        if isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
            meaning = self._assigned(node, node.value)
            if isinstance(meaning, Refused) and "constexpr" in ast.unparse(node.annotation):
                return Refused(Refusal.ANNOTATED_GLOBAL, node)
            return meaning
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            return self._assigned(node, node.value)
        return UNKNOWN

    def _class(self, node: ast.ClassDef) -> Value | Refused:
        bases = {(dotted_name(base) or "?").rpartition(".")[2] for base in node.bases}
        if node.decorator_list or node.keywords or not bases <= _PLAIN_BASES or self._allows_globals:
            return UNKNOWN
        return Refused(Refusal.GLOBAL, node)

    def _assigned(self, node: ast.stmt, value: ast.expr) -> Value | Refused:
        if isinstance(value, ast.Call):
            called = self._module.origin_of(value.func)
            if called.startswith("triton") and called.endswith(".constexpr") and len(value.args) == 1:
                return Const(constant(self._module, value.args[0]))
            is_of_host = called in _HOST_VALUES or self._is_of_host(value)
            return Refused(Refusal.GLOBAL, node) if is_of_host and not self._allows_globals else UNKNOWN
        if (dotted := dotted_name(value)) is not None and dotted != "None":
            if "." not in dotted:
                return Refused(Refusal.GLOBAL, node) if self._is_copy(dotted) else UNKNOWN
            return named(self._project.origin_of(self._module, self._module.origin(dotted)))
        if self._allows_globals or not self._is_of_host(value):
            return UNKNOWN
        if isinstance(value, ast.Constant) and value.value is None:
            return Refused(Refusal.NONE_GLOBAL, node)
        return Refused(Refusal.GLOBAL, node)

    def _is_copy(self, name: str) -> bool:
        """Whether a name stands for a number or text of the host's."""
        definitions = self._definitions.get(name, [])
        if name in self._copying or len(definitions) != 1 or name in self._imported or self._allows_globals:
            return False
        self._copying.add(name)
        meaning = self._defined(definitions[0])
        self._copying.discard(name)
        return isinstance(meaning, Refused) and meaning.why is Refusal.GLOBAL and isinstance(definitions[0], ast.Assign)

    def _is_of_host(self, node: ast.expr) -> bool:
        """Whether an expression is surely a number, text or truth value of Python's, and no constant of a kernel's."""
        if _is_literal(node) or isinstance(node, ast.JoinedStr):
            return True
        if isinstance(node, ast.Name):
            return self._is_copy(node.id)
        if isinstance(node, ast.Attribute):
            origin = self._module.origin(dotted_name(node) or "?")
            return origin.startswith(_VALUES_OF) or origin in CONSTANTS
        if isinstance(node, ast.Call):
            return self._gives_host_value(node)
        if isinstance(node, ast.BinOp):
            return self._is_of_host(node.left) and self._is_of_host(node.right)
        if isinstance(node, ast.UnaryOp):
            return self._is_of_host(node.operand)
        if isinstance(node, ast.Compare):
            return all(map(self._is_of_host, (node.left, *node.comparators)))
        if isinstance(node, ast.BoolOp):
            return all(map(self._is_of_host, node.values))
        if isinstance(node, ast.IfExp):
            return self._is_of_host(node.body) and self._is_of_host(node.orelse)
        return False

    def _gives_host_value(self, node: ast.Call) -> bool:
        """A call of Python's that gives a number or text, of a plain function that does, or of a plain class."""
        called = self._module.origin_of(node.func)
        if (
            called in _HOST_VALUES
            or called in _GIVES_NUMBERS
            or called.startswith(("math.", "os.environ.", "platform."))
        ):
            return "." in called or called not in self._definitions
        definitions = self._definitions.get(called, [])
        if len(definitions) != 1 or called in self._copying:
            return False
        if isinstance(definitions[0], ast.ClassDef):
            return isinstance(self._class(definitions[0]), Refused)
        if not isinstance(definitions[0], ast.FunctionDef) or definitions[0].decorator_list:
            return False
        returned = [inner for inner in ast.walk(definitions[0]) if isinstance(inner, ast.Return)]
        return bool(returned) and all(one.value is not None and _is_literal(one.value) for one in returned)


_OF_MODULES = ("__name__", "__file__")
"""What Python itself sets in every module."""
_VALUES_OF = ("sys.version", "sys.platform", "sys.maxsize", "os.name", "torch.__version__", "torch.version.")
_GIVES_NUMBERS = frozenset(
    {"len", "round", "abs", "ord", "sys.getsizeof", "os.cpu_count", "os.path.exists", "torch.cuda.is_available",
     "torch.cuda.device_count", "torch.cuda.get_device_capability", "torch.cuda.get_device_name"}
)  # fmt: skip


def _is_none(node: ast.stmt) -> bool:
    """`libdevice = None`, beside an import that may fail."""
    return isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and node.value.value is None


def _stores(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def same_refusal(left: Value | Refused, right: Value | Refused) -> bool:
    """Whether two definitions of a name mean the same to a kernel."""
    if isinstance(left, Refused) and isinstance(right, Refused):
        return left.why is right.why
    return left == right


def _is_literal(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return all(_is_literal(element) for element in node.elts)
    if isinstance(node, ast.UnaryOp):
        return _is_literal(node.operand)
    if isinstance(node, ast.BinOp):
        return _is_literal(node.left) and _is_literal(node.right)
    return isinstance(node, ast.Dict)


def _computed(op: ast.operator, left: Any, right: Any) -> Any:
    """`2**20 - 1`, `4 * 16`: what a person writes for a number."""
    if type(left) is not int or type(right) is not int:
        return ANY
    if isinstance(op, ast.Pow):
        return left**right if 0 <= right < 128 and abs(left) < 1024 else ANY
    if isinstance(op, ast.LShift):
        return left << right if 0 <= right < 128 else ANY
    fold = _FOLDS.get(type(op))
    return ANY if fold is None else fold(left, right)


_FOLDS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}


def named(origin: str) -> Value:
    """The value of a dotted name of a module: a dtype, a constant, or a function or module by its name."""
    if origin in CONSTANTS:
        return Const(CONSTANTS[origin])
    if origin.startswith("triton.language."):
        last = origin.rpartition(".")[2]
        if last in DTYPES:
            return Const(Dtype(DTYPES[last]))
    return Named(origin)


def constant(module: Module, node: ast.expr) -> Any:
    """The Python value of an expression of the host code that is a literal or a dtype; `ANY` for others."""
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        pass
    if isinstance(node, ast.BinOp):
        return _computed(node.op, constant(module, node.left), constant(module, node.right))
    dotted = dotted_name(node)
    if dotted is not None:
        found = named(module.origin(dotted))
        if isinstance(found, Const):
            return found.value
    return ANY
