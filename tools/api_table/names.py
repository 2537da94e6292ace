"""What a module of a release defines: each name with its kind and its parameters, imports followed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tools.api_table.sources import Sources

FUNCTION, BUILTIN, JIT, CLASS, VALUE, MODULE, PROPERTY = (
    "function",
    "builtin",
    "jit",
    "class",
    "value",
    "module",
    "property",
)


@dataclass(frozen=True)
class Entry:
    """One name in one release.

    `parameters` are as the table writes them (`x`, `x=1`, `*`, `*args`, `~x=None` for a deprecated one), None where
    they are not known; of a module `target` is its own name. `state` is `deprecated`, `removed` (it only raises), or
    empty.
    """

    kind: str
    parameters: tuple[str, ...] | None = None
    state: str = ""
    target: str = ""


class Release:
    """Resolves the names of one release."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._found: dict[str, dict[str, Entry]] = {}

    def names(self, module: str) -> dict[str, Entry]:
        """Every name that the module has once it is imported, submodules included."""
        if module not in self._found:
            found = self._found[module] = {}  # a cycle of imports sees what is there so far
            prefix = f"{module}."
            for other in sorted(self._sources.modules):
                if other.startswith(prefix) and "." not in other.removeprefix(prefix):
                    found[other.removeprefix(prefix)] = Entry(MODULE, target=other)
            for statement in _statements(self._sources.tree(module).body):
                found.update(self._bound(module, statement, found))
        return self._found[module]

    def members(self, module: str, class_name: str) -> dict[str, Entry]:
        """The attributes of a class, those of its bases in the same module included."""
        classes = {node.name: node for node in self._sources.tree(module).body if isinstance(node, ast.ClassDef)}
        if class_name not in classes:
            return {}
        node = classes[class_name]
        found: dict[str, Entry] = {}
        for base in node.bases:
            if isinstance(base, ast.Name):
                found.update(self.members(module, base.id))
        for statement in _statements(node.body):
            found.update(_members(statement))
        return found

    def tensor_members(self) -> dict[str, Entry]:
        """The attributes of a block: those of the class, and the functions that a decorator adds to it."""
        found = self.members("triton.language.core", "tensor")
        jit_works = self._jit_members_work()
        for module in ("triton.language.core", "triton.language.math", "triton.language.standard"):
            if module not in self._sources.modules:
                continue
            for node in self._sources.tree(module).body:
                if not isinstance(node, ast.FunctionDef) or not _decorated(node, "_tensor_member_fn"):
                    continue
                entry = _function(node)
                if entry.kind == JIT and not jit_works:
                    found.pop(node.name, None)
                else:
                    found[node.name] = replace(entry, parameters=(entry.parameters or ())[1:])
        return found

    def _jit_members_work(self) -> bool:
        """Whether what a decorator adds to blocks may be a jit function; it was wrapped in plain Python once."""
        for node in self._sources.tree("triton.language.core").body:
            if isinstance(node, ast.FunctionDef) and node.name == "_tensor_member_fn":
                return "isinstance(fn, JIT" in ast.unparse(node)
        return False

    def _bound(self, module: str, node: ast.stmt, found: dict[str, Entry]) -> dict[str, Entry]:
        if isinstance(node, ast.FunctionDef):
            return {node.name: _function(node)}
        if isinstance(node, ast.ClassDef):
            return {node.name: self._class(module, node)}
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            return dict(self._assigned(module, node, found))
        if isinstance(node, ast.Import):
            return dict(self._imports(node))
        if isinstance(node, ast.ImportFrom):
            return dict(self._imports_from(module, node))
        return {}

    def _assigned(
        self, module: str, node: ast.Assign | ast.AnnAssign, found: dict[str, Entry]
    ) -> Iterator[tuple[str, Entry]]:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        value = Entry(VALUE) if node.value is None else self._value(node.value, found)
        for target in targets:
            for name in ast.walk(target):
                if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                    yield name.id, value

    def _value(self, node: ast.expr, found: dict[str, Entry]) -> Entry:
        """`language.core.must_use_result` and the like; anything else is a value."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.insert(0, node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or (entry := found.get(node.id)) is None:
            return Entry(VALUE)
        for part in parts:
            if entry.kind != MODULE or part not in (names := self.names(entry.target)):
                return Entry(VALUE)
            entry = names[part]
        return entry

    def _imports(self, node: ast.Import) -> Iterator[tuple[str, Entry]]:
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            target = alias.name if alias.asname else name
            ours = target in self._sources.modules
            yield name, Entry(MODULE, target=target) if ours else Entry(VALUE)

    def _imports_from(self, module: str, node: ast.ImportFrom) -> Iterator[tuple[str, Entry]]:
        source = self._sources.absolute(module, node)
        if source not in self._sources.modules:
            yield from ((alias.asname or alias.name, Entry(VALUE)) for alias in node.names)
            return
        names = self.names(source)
        for alias in node.names:
            if alias.name == "*":
                yield from ((name, entry) for name, entry in names.items() if not name.startswith("_"))
            elif (entry := names.get(alias.name)) is not None:
                yield alias.asname or alias.name, entry
            else:
                yield alias.asname or alias.name, Entry(VALUE)

    def _class(self, module: str, node: ast.ClassDef) -> Entry:
        for statement in _statements(node.body):
            if isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
                return Entry(CLASS, (_function(statement).parameters or ())[1:])
        if _decorated(node, "dataclass") and not node.bases:
            return Entry(CLASS, tuple(_fields(node)))
        return Entry(CLASS)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a body, those of its `if` and `try` included."""
    for node in body:
        if isinstance(node, ast.If):
            yield from _statements([*node.body, *node.orelse])
        elif isinstance(node, ast.Try):
            yield from _statements([*node.body, *node.orelse, *node.finalbody])
            for handler in node.handlers:
                yield from _statements(handler.body)
        else:
            yield node


def _decorators(node: ast.FunctionDef | ast.ClassDef) -> list[str]:
    calls = (item.func if isinstance(item, ast.Call) else item for item in node.decorator_list)
    return [ast.unparse(call).rpartition(".")[2] for call in calls]


def _decorated(node: ast.FunctionDef | ast.ClassDef, name: str) -> bool:
    return name in _decorators(node)


def _function(node: ast.FunctionDef) -> Entry:
    decorators = _decorators(node)
    if "jit" in decorators or "gluon_jit" in decorators:
        kind = JIT
    elif "builtin" in decorators or "extern" in decorators:
        kind = BUILTIN
    else:
        kind = PROPERTY if "property" in decorators else FUNCTION
    state = "removed" if _only_raises(node) else "deprecated" if _warns(node, None) else ""
    return Entry(kind, tuple(_parameters(node)), state)


def _parameters(node: ast.FunctionDef) -> Iterator[str]:
    """As the table writes them, without those that the compiler passes, which begin with an underscore."""
    args = node.args
    positional = [*args.posonlyargs, *args.args]
    defaults = [*([None] * (len(positional) - len(args.defaults))), *args.defaults]
    for arg, default in zip(positional, defaults, strict=True):
        if not arg.arg.startswith("_"):
            yield _parameter(node, arg, default)
    if args.vararg is not None:
        yield f"*{args.vararg.arg}"
    keywords = [
        (arg, default)
        for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)
        if not arg.arg.startswith("_")
    ]
    if keywords and args.vararg is None:
        yield "*"
    yield from (_parameter(node, arg, default) for arg, default in keywords)
    if args.kwarg is not None:
        yield f"**{args.kwarg.arg}"


def _parameter(node: ast.FunctionDef, arg: ast.arg, default: ast.expr | None) -> str:
    mark = "~" if _warns(node, arg.arg) or _documented_as_deprecated(node, arg.arg) else ""
    return f"{mark}{arg.arg}" + ("" if default is None else f"={ast.unparse(default)}")


def _only_raises(node: ast.FunctionDef) -> bool:
    """The body says only that it has been removed."""
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    return len(body) == 1 and isinstance(body[0], ast.Raise) and "removed" in ast.unparse(body[0])


def _warns(node: ast.FunctionDef, parameter: str | None) -> bool:
    """Whether the body warns that the function, or the parameter where it is passed, is deprecated."""
    for statement in node.body:
        if parameter is None and isinstance(statement, ast.Expr) and _is_warning(statement):
            return True
        if parameter is not None and isinstance(statement, ast.If):
            named = any(isinstance(name, ast.Name) and name.id == parameter for name in ast.walk(statement.test))
            if named and any(_is_warning(inner) for inner in statement.body):
                return True
    return False


def _is_warning(node: ast.stmt) -> bool:
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return False
    text = ast.unparse(node)
    return ast.unparse(node.value.func).endswith("warn") and "deprecated" in text


def _documented_as_deprecated(node: ast.FunctionDef, parameter: str) -> bool:
    text = ast.get_docstring(node) or ""
    return re.search(rf":param {parameter}:[^\n]*deprecated", text, re.IGNORECASE) is not None


def _fields(node: ast.ClassDef) -> Iterator[str]:
    """The parameters that a dataclass makes of its fields."""
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            yield item.target.id + ("" if item.value is None else f"={ast.unparse(item.value)}")


def _members(node: ast.stmt) -> Iterator[tuple[str, Entry]]:
    if isinstance(node, ast.FunctionDef):
        entry = _function(node)
        static = _decorated(node, "staticmethod")
        yield node.name, entry if static else replace(entry, parameters=(entry.parameters or ())[1:])
        if node.name == "__init__":
            for inner in ast.walk(node):
                if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store):
                    yield inner.attr, Entry(VALUE)
    elif isinstance(node, (ast.Assign, ast.AnnAssign)):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if isinstance(target, ast.Name):
                yield target.id, Entry(VALUE)
    elif isinstance(node, ast.ClassDef):
        yield node.name, Entry(CLASS)
