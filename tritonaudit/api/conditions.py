"""What a condition of the host code says about Triton's release: `hasattr(tl, "x")`, version tests, flags of these."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass

from tritonaudit.api.bindings import Import, Origins, is_triton
from tritonaudit.api.table import Table
from tritonaudit.source.outline import Module, dotted_name
from tritonaudit.target import Version

Releases = frozenset[Version]

_MAX_DEPTH = 6

_PROBES = re.compile(r"__version__|\bhasattr\b|\bgetattr\b|find_spec|importlib|\bversion\b|packaging|ImportError")
"""What in a text asks which Triton, or which machine, there is."""

_MACHINES = (
    "tma|descriptors?|hopper|blackwell|arch|sm|cuda|nvidia|hip|rocm|amd|cdna|gfx|npu|xpu|mlu|musa|gluon|libdevice"
)

_PROBING_PARAMETER = re.compile(rf"version|triton|(?:^|_)(?:{_MACHINES})(?:_|\d|$)", re.IGNORECASE)
"""What a kernel's parameter is called where the host may set it by the release or the machine."""

_PROBING_NAME = re.compile(
    rf"ver(?:sion)?$|version|triton|support|avail|capab|experimental"
    rf"|(?:^|_)(?:has|have|ge|gt|le|lt|enable|enabled|{_MACHINES})(?:_|\d|$)",
    re.IGNORECASE,
)
"""Names that, imported from who knows where, may ask for the release or the machine."""

_INSTALLED = re.compile(
    r"(?:has|have|is|with|use|import)?_*triton_*(?:is)?_*(?:available|installed|supported|imported)?|type_checking",
    re.IGNORECASE,
)
"""Names that ask whether there is a Triton at all."""

_OF_TENSORS = frozenset(("is_cuda", "is_cpu", "is_xpu", "is_meta"))
"""Where a tensor lies, which goes with no release."""


class Unsure(Exception):
    """The condition asks for the release, or for something that may go with it, in a way that is not understood."""


@dataclass(frozen=True)
class Arms:
    """The releases in which a condition can be true, and those in which it can be false."""

    true: Releases
    false: Releases

    def negated(self) -> Arms:
        return Arms(self.false, self.true)


class Conditions:
    """Reads the conditions of one project's files."""

    def __init__(self, table: Table, origins: Origins) -> None:
        self._table = table
        self._origins = origins
        self._every: Releases = frozenset(table.releases)

    def arms(self, module: Module, test: ast.expr, depth: int = 0) -> Arms:
        """In which releases the condition can go either way. Raises Unsure."""
        if depth > _MAX_DEPTH:
            raise Unsure
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self.arms(module, test.operand, depth).negated()
        if isinstance(test, ast.BoolOp):
            return self._combined(module, test, depth)
        if isinstance(test, ast.Compare):
            return self._comparison(module, test, depth)
        if isinstance(test, ast.Call):
            return self._call(module, test, depth)
        if isinstance(test, ast.Name):
            return self._name(module, test.id, depth)
        if isinstance(test, ast.Attribute):
            if test.attr in _OF_TENSORS:
                return self._anything()
            if _PROBING_NAME.search(ast.unparse(test)):
                raise Unsure
            return self._anything()
        if isinstance(test, ast.Constant):
            return Arms(self._every, frozenset()) if test.value else Arms(frozenset(), self._every)
        return self._unrelated(test)

    def importable(self, module: Module, body: list[ast.stmt]) -> Releases:
        """The releases in which the imports among the statements find what they name."""
        found = self._every
        for bound in self._origins.bindings(module).imports:
            if bound.node in body and is_triton(bound.spelled):
                found &= frozenset(self._table.name(bound.spelled).definitions)
        return found

    def _anything(self) -> Arms:
        return Arms(self._every, self._every)

    def _unrelated(self, node: ast.AST) -> Arms:
        if _PROBES.search(ast.unparse(node)):
            raise Unsure
        return self._anything()

    def _combined(self, module: Module, test: ast.BoolOp, depth: int) -> Arms:
        parts = [self.arms(module, value, depth) for value in test.values]
        conjunction = isinstance(test.op, ast.And)
        one, other = ("true", "false") if conjunction else ("false", "true")
        all_of = frozenset.intersection(*(getattr(part, one) for part in parts))
        any_of = frozenset.union(*(getattr(part, other) for part in parts))
        return Arms(all_of, any_of) if conjunction else Arms(any_of, all_of)

    # -- calls and names -----------------------------------------------------------------------------------------

    def _call(self, module: Module, test: ast.Call, depth: int) -> Arms:
        called = dotted_name(test.func) or ""
        if called == "hasattr" and len(test.args) == 2:
            return self._hasattr(module, *test.args)
        if called == "bool" and len(test.args) == 1:
            return self.arms(module, test.args[0], depth)
        if called.rpartition(".")[2] == "constexpr" and len(test.args) == 1:
            return self.arms(module, test.args[0], depth)
        if called == "find_spec" or called.endswith(".find_spec") or _INSTALLED.fullmatch(called.strip("_")):
            return self._anything()
        if called and "." not in called:
            where, sole = self._origins.found(module, called)
            if isinstance(sole, ast.FunctionDef):
                return self._function(where, sole, depth + 1)
        if _PROBING_NAME.search(called):
            raise Unsure
        return self._unrelated(test)

    def _hasattr(self, module: Module, owner: ast.expr, attribute: ast.expr) -> Arms:
        origin = self._origin(module, owner)
        if origin is None or not isinstance(attribute, ast.Constant) or not isinstance(attribute.value, str):
            raise Unsure
        having = frozenset(self._table.name(f"{origin}.{attribute.value}").definitions)
        return Arms(having, self._every - having)

    def _origin(self, module: Module, node: ast.expr) -> str | None:
        dotted = dotted_name(node)
        if dotted is None:
            return None
        head, _, rest = dotted.partition(".")
        origin = self._origins.of(module, head)
        return None if origin is None else f"{origin}.{rest}" if rest else origin

    def _function(self, module: Module, function: ast.FunctionDef, depth: int) -> Arms:
        body = function.body[1:] if ast.get_docstring(function) is not None else function.body
        if len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value is not None:
            return self.arms(module, body[0].value, depth)
        if _PROBES.search(ast.unparse(function)) or _PROBING_NAME.search(function.name):
            raise Unsure
        return self._anything()

    def _name(self, module: Module, name: str, depth: int) -> Arms:
        if _INSTALLED.fullmatch(name.strip("_")):
            return self._anything()
        where, sole = self._origins.found(module, name)
        if isinstance(sole, ast.expr):
            return self.arms(where, sole, depth + 1)
        bound = self._origins.bindings(module).bound(name)
        if (_PROBING_NAME if bound else _PROBING_PARAMETER).search(name):
            raise Unsure
        return self._anything()

    # -- comparisons ---------------------------------------------------------------------------------------------

    def _comparison(self, module: Module, test: ast.Compare, depth: int) -> Arms:
        if len(test.ops) != 1:
            return self._unrelated(test)
        left, right, sign = test.left, test.comparators[0], _SIGNS.get(type(test.ops[0]))
        if self._is_release(module, right, depth):
            left, right, sign = right, left, _SIGNS.get(_MIRRORED.get(type(test.ops[0]), ast.In))
        if not self._is_release(module, left, depth):
            names = [node.id for node in ast.walk(test) if isinstance(node, ast.Name)]
            if any(_PROBING_NAME.search(name) for name in names) and not _is_none(right):
                raise Unsure
            return self._unrelated(test)
        given = self._release(module, right, depth)
        if given is None or sign is None:
            raise Unsure
        # Of a minor release there may be patch releases: it can be on both sides of 3.3.1.
        true = {v for v in self._every if any(sign((*v, patch)[: len(given)], given) for patch in (0, 1))}
        false = {v for v in self._every if not all(sign((*v, patch)[: len(given)], given) for patch in (0, 1))}
        return Arms(frozenset(true), frozenset(false))

    def _is_release(self, module: Module, node: ast.expr, depth: int) -> bool:
        """`triton.__version__`, read in any way, or a name for it."""
        if depth > _MAX_DEPTH:
            return False
        if isinstance(node, ast.Name):
            where, sole = self._origins.found(module, node.id)
            if isinstance(sole, Import):
                return sole.origin == "triton.__version__"
            return isinstance(sole, ast.expr) and self._is_release(where, sole, depth + 1)
        origins = (self._origin(module, inner) for inner in ast.walk(node) if isinstance(inner, ast.Attribute))
        return "triton.__version__" in origins and not _joined(node)

    def _release(self, module: Module, node: ast.expr, depth: int) -> tuple[int, ...] | None:
        """The release that a literal gives: `"3.2"`, `(3, 2)`, `Version("3.2.0")`, or a name for one."""
        if depth > _MAX_DEPTH:
            return None
        if isinstance(node, ast.Call) and len(node.args) == 1:
            return self._release(module, node.args[0], depth)
        if isinstance(node, ast.Name):
            where, sole = self._origins.found(module, node.id)
            return self._release(where, sole, depth + 1) if isinstance(sole, ast.expr) else None
        try:
            value = ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return None
        if isinstance(value, str) and (found := re.match(r"(\d+)(?:\.(\d+))?(?:\.(\d+))?", value)):
            return tuple(int(part) for part in found.groups() if part is not None)
        if isinstance(value, (tuple, list)) and value and all(isinstance(part, int) for part in value):
            return tuple(value[:3])
        return (value,) if isinstance(value, int) and not isinstance(value, bool) else None


def _joined(node: ast.expr) -> bool:
    """Whether the version is one side of a condition in itself, as in `triton.__version__ >= "3"`."""
    return isinstance(node, (ast.Compare, ast.BoolOp, ast.IfExp))


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


_Sign = Callable[[tuple[int, ...], tuple[int, ...]], bool]

_SIGNS: dict[type, _Sign] = {
    ast.GtE: lambda a, b: a >= b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.Lt: lambda a, b: a < b,
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
}

_MIRRORED: dict[type, type] = {ast.GtE: ast.LtE, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.Lt: ast.Gt, ast.Eq: ast.Eq}
