"""Makes of a file the subject by which something is judged, and loads nothing of what is judged.

Of the file, and of those of its project that it imports, that is run on which the reference and the inputs depend. The
function that is judged stands elsewhere: `Absent` is in its place.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import sys
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn, TypeAlias

from tritonaudit.absent.importer import import_for_user
from tritonaudit.capture.launch import KernelRef
from tritonaudit.execute.blame import described
from tritonaudit.source.decode import Undecodable, decode
from tritonaudit.subject.find import SubjectKind, imports_us, kind_of, operation_of, reference_of
from tritonaudit.subject.model import VARIABLE_SUFFIX, Subject
from tritonaudit.subject.modules import import_folders, module_name
from tritonaudit.subject.slicing import Imported, Slice, binding, sliced

_PAIR = ("Model", "get_inputs", "get_init_inputs")
_ABSENT = "__absent__"


_OURS = frozenset(sys.modules)
"""The modules that are there before any of the user's."""
_registered: set[str] = set()
"""The modules of which there are parts here, for the subject that was asked for last."""


class Inseparable(Exception):
    """Why what judges cannot be had without what is judged."""


class Absent:
    """In the place of a function that is in another process only: `ref` is where it stands, and `caller` calls it.

    A `doubt` says why its code is in this process all the same.
    """

    doubt = ""

    def __init__(self, ref: KernelRef, caller: Any = None) -> None:
        self.ref = ref
        self.caller = caller
        self.__name__ = ref.name

    def taking(self, head: Callable[..., Any]) -> Absent:
        """The same for a function whose parameters are those of this one."""
        alike = Absent(self.ref, self.caller)
        alike.__signature__ = inspect.signature(head)  # type: ignore[attr-defined]
        return alike

    def __call__(self, *_: Any, **__: Any) -> NoReturn:
        raise Inseparable("the function that is judged is needed to judge it")


def judging_subject(path: Path, name: str, absent: Absent) -> Subject:
    """The subject of that name of a file, with what is absent for its function. Raises Inseparable."""
    forget_parts()
    apart = _Apart(absent)
    try:
        found = apart.subject(path.absolute(), name)
    except Inseparable:
        raise
    except (Exception, SystemExit) as error:
        raise Inseparable(f"what it needs cannot be run on its own: it {described(error)}") from error
    if (absent.ref.path, absent.ref.line) in apart.definitions:
        raise Inseparable(f"the reference or the inputs need `{absent.ref.name}` itself")
    return replace(found, function=absent)


def forget_parts() -> None:
    """Have the modules be imported whole by whoever imports them next."""
    for module in _registered:
        sys.modules.pop(module, None)
    _registered.clear()


@dataclass
class _Apart:
    """Runs parts of modules, each of them once."""

    absent: Absent
    definitions: set[tuple[str, int]] = field(default_factory=set)
    _modules: dict[tuple[Path, frozenset[str]], ModuleType] = field(default_factory=dict)

    def subject(self, path: Path, name: str) -> Subject:
        match kind_of(path):
            case SubjectKind.PAIR:
                return self._pair(path)
            case SubjectKind.VARIANT:
                return self._variant(path)
            case SubjectKind.SPEC:
                return self._of_spec(path, name)
            case None if not imports_us(path):
                return self._guessed(path, name)
        raise Inseparable("subjects of a folder are judged where they are called")

    def _guessed(self, path: Path, name: str) -> Subject:
        """Its inputs are guessed from the text: nothing of the file is run."""
        from tritonaudit.subject.guessed import guessed_subjects

        absent = self.absent
        found = guessed_subjects(path, lambda other: absent if other == name else None)
        if (subject := next(found, None)) is None:
            raise Inseparable(f"it has no wrapper `{name}`")
        return subject

    def _pair(self, path: Path) -> Subject:
        from tritonaudit.subject.kernelbench import pair_subject

        reference = reference_of(path)
        if reference is None:
            raise Inseparable("it is not clear which file holds its `Model`")
        new = ModuleType(path.stem)
        vars(new)["ModelNew"] = self.absent
        return pair_subject(new, self.part(reference, _PAIR), path.stem)

    def _variant(self, path: Path) -> Subject:
        from tritonaudit.subject.variants import variant_subject

        operation = operation_of(path)
        tree, function = _parsed(path), f"triton_{operation}"
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and node.name == function:
                node.body, node.decorator_list = [ast.Pass(lineno=node.lineno, col_offset=0)], []
                break
        else:
            raise Inseparable(f"`{function}` is not a plain function")
        module = self._run(path, sliced(tree, (function, "make_inputs")))
        self.definitions.clear()  # of the function that is judged the head alone is there
        return variant_subject(path, module, operation, getattr(module, function))

    def _of_spec(self, path: Path, name: str) -> Subject:
        tree = _parsed(path)
        roots = _with_subjects(tree, partial(_head, path, tree))
        module = self._run(path, sliced(tree, (), roots))
        for variable, value in vars(module).items():
            if isinstance(value, Subject) and (value.name or variable.removesuffix(VARIABLE_SUFFIX)) == name:
                return value if value.name else replace(value, name=name)
        raise Inseparable("it does not come only from the statements that make subjects")

    def part(self, path: Path, wanted: Collection[str]) -> ModuleType:
        """The module of a file as far as it has the wanted names."""
        key = path, frozenset(wanted)
        if key not in self._modules:
            self._modules[key] = self._run(path, sliced(_parsed(path), wanted))
        return self._modules[key]

    def _run(self, path: Path, part: Slice) -> ModuleType:
        spec = importlib.util.spec_from_file_location(_name(path), path)
        assert spec is not None
        module = importlib.util.module_from_spec(spec)
        vars(module)[_ABSENT] = self.absent
        for imported in part.imports:
            vars(module).update(self._imported(path, imported))
        sys.modules[module.__name__] = module
        _registered.add(module.__name__)
        self.definitions |= {(str(path), line) for line in part.definitions}
        exec(compile(part.tree, str(path), "exec"), vars(module))
        return module

    def _imported(self, path: Path, imported: Imported) -> dict[str, Any]:
        name = _absolute(path, imported)
        file = users_file(path, name)
        if imported.member is None:
            if file is None:
                import_for_user(name)
                return {imported.name: sys.modules[name]}
            if imported.attributes is None:
                raise Inseparable(f"it needs all of `{name}`")
            return {imported.name: self.part(file, imported.attributes)}
        inner = users_file(path, f"{name}.{imported.member}")
        if inner is not None:
            return self._imported(
                path, Imported(imported.name, f"{name}.{imported.member}", None, 0, imported.attributes)
            )
        if file is None:
            return _members(import_for_user(name), imported)
        if imported.member == "*":
            names = imported.attributes or frozenset()
            return {key: value for key, value in _exported(self.part(file, names | {"__all__"})) if key in names}
        return {imported.name: getattr(self.part(file, (imported.member,)), imported.member)}


def _members(module: ModuleType, imported: Imported) -> dict[str, Any]:
    if imported.member != "*":
        assert imported.member is not None
        if not hasattr(module, imported.member):
            import_for_user(f"{module.__name__}.{imported.member}")
        return {imported.name: getattr(module, imported.member)}
    return dict(_exported(module))


def _exported(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """What `import *` takes of it, as far as it is there."""
    public = [name for name in vars(module) if not name.startswith("_")]
    for name in vars(module).get("__all__", public):
        if name in vars(module):
            yield name, vars(module)[name]


def _parsed(path: Path) -> ast.Module:
    try:
        return ast.parse(decode(path.read_bytes()), str(path))
    except (OSError, Undecodable, SyntaxError, ValueError) as error:
        raise Inseparable(f"{path} cannot be read: {error}") from error


def _name(path: Path) -> str:
    """The name under which the process that calls has the file."""
    from tritonaudit.subject.execute import alone_name

    known = module_name(path)
    return known.name if known.is_in_package else alone_name(path)


def _absolute(path: Path, imported: Imported) -> str:
    if not imported.level:
        return imported.module
    package = module_name(path).name.split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    above = package[: len(package) - imported.level + 1]
    return ".".join([*above, imported.module] if imported.module else above)


def users_file(path: Path, name: str) -> Path | None:
    """The file of a module of the project; None of one that is installed."""
    parts = name.split(".")
    if parts[0] in _OURS:
        return None
    for folder in import_folders(path):
        for place in (folder.joinpath(*parts).with_suffix(".py"), folder.joinpath(*parts, "__init__.py")):
            if place.is_file():
                return place
    return None


# -- spec files ----------------------------------------------------------------------------------------------------


_Head: TypeAlias = Callable[[ast.expr], ast.arguments | None]


def _head(path: Path, tree: ast.Module, function: ast.expr) -> ast.arguments | None:
    """The parameters of a function that a module names, as its `def` has them here or where it is imported from."""
    found = binding(tree, function.id) if isinstance(function, ast.Name) else ()
    match found:
        case [ast.FunctionDef() as node]:
            return node.args
        case [ast.ImportFrom() as node]:
            assert isinstance(function, ast.Name)
            member = next(one.name for one in node.names if (one.asname or one.name) == function.id)
            module = _absolute(path, Imported(member, node.module or "", member, node.level, None))
            file = users_file(path, module)
            return None if file is None else _head(file, _parsed(file), ast.Name(member))
    return None


def _with_subjects(tree: ast.Module, head: _Head) -> list[ast.stmt]:
    """The statements that subjects are made by, which then take what is absent for their functions."""
    names = set(_names_of_subject(tree))
    replacing = _Replacing(names, head)
    makers: set[str] = set()
    roots: list[ast.stmt] = []
    while True:
        found = [node for node in tree.body if node not in roots and (_calls(node, names) or _loads(node, makers))]
        if not found:
            return roots
        for node in found:
            roots.append(replacing.visit(node))
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                makers.add(node.name)


def _names_of_subject(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "tritonaudit":
            yield from (alias.asname or alias.name for alias in node.names if alias.name == "Subject")
        elif isinstance(node, ast.Import):
            yield from (f"{alias.asname or alias.name}.Subject" for alias in node.names if alias.name == "tritonaudit")


def _calls(node: ast.stmt, names: Collection[str]) -> bool:
    return any(isinstance(inner, ast.Call) and ast.unparse(inner.func) in names for inner in ast.walk(node))


def _loads(node: ast.stmt, names: Collection[str]) -> bool:
    return any(isinstance(inner, ast.Name) and inner.id in names for inner in ast.walk(node))


class _Replacing(ast.NodeTransformer):
    """Puts what is absent into the place of each subject's function, whose parameters it has where they are known."""

    def __init__(self, names: Collection[str], head: _Head) -> None:
        self._names, self._head = names, head

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if ast.unparse(node.func) not in self._names:
            return node
        if node.args and not isinstance(node.args[0], ast.Starred):
            node.args[0] = self._absent(node.args[0])
        for keyword in node.keywords:
            if keyword.arg == "function":
                keyword.value = self._absent(keyword.value)
        return node

    def _absent(self, function: ast.expr) -> ast.expr:
        absent: ast.expr = ast.Name(_ABSENT, ast.Load())
        if (head := self._head(function)) is not None:
            plain = [[ast.arg(one.arg) for one in some] for some in (head.posonlyargs, head.args, head.kwonlyargs)]
            rest = [None if one is None else ast.arg(one.arg) for one in (head.vararg, head.kwarg)]
            arguments = ast.arguments(plain[0], plain[1], rest[0], plain[2], [None] * len(plain[2]), rest[1], [])
            taking = ast.Attribute(absent, "taking", ast.Load())
            absent = ast.Call(taking, [ast.Lambda(arguments, ast.Constant(None))], [])
        return ast.fix_missing_locations(ast.copy_location(absent, function))
