"""Where the kernels of a checkout are launched, in whichever of its files."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from tritonaudit.kernel.launch import Launch
from tritonaudit.kernel.project import Function, Project
from tritonaudit.source.decode import Undecodable, decode
from tritonaudit.source.outline import Module, Unparsable, dotted_name, outline

_LAUNCH = re.compile(rb"\]\s*\(")
_MENTIONS = (
    re.compile(rb"(\w+)\s*\)*\s*\["),
    re.compile(rb"=\s*(\w+)\s*(?:\n|if\b|else\b|$)"),  # `chosen = kernel`
    re.compile(rb"(\w+)\s+as\s+\w"),  # `import kernel as chosen`
)

_Key = tuple[str, int]  # a kernel's file and first line


class Launches:
    """The launches in these files, looked for when first asked for."""

    def __init__(self, project: Project, files: Sequence[Path]) -> None:
        self._project = project
        self._files = files
        self._read: dict[Path, dict[_Key, list[Launch]]] = {}

    def of(self, function: Function) -> tuple[Launch, ...]:
        """The launches of a kernel: those in its own file, or else those in others."""
        own = Path(function.module.path)
        found = self._in(own).get(_key(function), [])
        if not found:
            others = [path for path in self._words.get(function.jit.name.encode(), ()) if path != own]
            found = [launch for path in others for launch in self._in(path).get(_key(function), ())]
        return tuple(found)

    @cached_property
    def _words(self) -> dict[bytes, list[Path]]:
        """The files by the names that are subscripted in them, where something subscripted is called."""
        words: dict[bytes, list[Path]] = {}
        for path in self._files:
            try:
                data = path.read_bytes()
            except OSError:
                continue
            if _LAUNCH.search(data):
                for word in {word for pattern in _MENTIONS for word in pattern.findall(data)}:
                    words.setdefault(word, []).append(path)
        return words

    def _in(self, path: Path) -> dict[_Key, list[Launch]]:
        if path not in self._read:
            module = _outlined(path)
            self._read[path] = {} if module is None else self._launches(module)
        return self._read[path]

    def _launches(self, module: Module) -> dict[_Key, list[Launch]]:
        found: dict[_Key, list[Launch]] = {}
        for call, wrapper in _subscripted_calls(module.tree):
            assert isinstance(call.func, ast.Subscript)
            bare = Launch(module, call, call.func.slice, {}, wrapper)
            for name in _kernel_names(bare, call.func.value):
                kernel = self._project.function(module, name, call.lineno)
                if kernel is not None:
                    arguments = _arguments(call, [parameter.name for parameter in kernel.jit.parameters])
                    launch = Launch(module, call, call.func.slice, arguments, wrapper)
                    found.setdefault(_key(kernel), []).append(launch)
        return found


def _key(function: Function) -> _Key:
    return function.module.path, function.jit.first_line


def _outlined(path: Path) -> Module | None:
    try:
        return outline(str(path), decode(path.read_bytes()))
    except (OSError, Undecodable, Unparsable):
        return None


def _subscripted_calls(tree: ast.Module) -> Iterator[tuple[ast.Call, ast.FunctionDef | None]]:
    """Every `_[_](…)` in the order of the text, with the outermost function around it."""
    stack: list[tuple[ast.AST, ast.FunctionDef | None]] = [(tree, None)]
    while stack:
        node, wrapper = stack.pop()
        if isinstance(node, ast.FunctionDef) and wrapper is None:
            wrapper = node
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript):
            yield node, wrapper
        stack.extend((child, wrapper) for child in reversed(list(ast.iter_child_nodes(node))))


def _kernel_names(launch: Launch, node: ast.expr) -> set[str]:
    """The dotted names of what may be launched: through `wrap_triton(kernel)` and names that the wrapper gives it."""
    if isinstance(node, ast.Call) and len(node.args) == 1:
        node = node.args[0]
    names: set[str] = set()
    for value in launch.definitions(node):
        for choice in (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,):
            if (name := dotted_name(choice)) is not None:
                names.add(name)
    return names


def _arguments(call: ast.Call, parameters: list[str]) -> dict[str, ast.expr]:
    found: dict[str, ast.expr] = {}
    for name, node in zip(parameters, call.args, strict=False):
        if isinstance(node, ast.Starred):
            break
        found[name] = node
    found.update({keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None})
    return found
