"""The cases of a folder of snippets, each as a file that a person might have written: its kernel, and a launch."""

from __future__ import annotations

import ast
import importlib.util
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

GENERATED = "f08a_gen"
"""The folder into which a snippet file may write kernels of its own when it is imported."""

_POINTERS = {
    "fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64",
    "fp8e5": "float8_e5m2", "fp8e4nv": "float8_e4m3fn", "i1": "bool",
    "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8",
}  # fmt: skip
_SCALARS = {"i32": "7", "i64": "2**40 + 7", "fp32": "0.5", "u32": "2**31 + 7", "i1": "True"}
_DROPPED = frozenset({"CASES", "sys", "os"})


@dataclass(frozen=True)
class Case:
    """One kernel with the types and constants that it is compiled for, as the text of a file."""

    group: str
    name: str
    text: str


def cases(folder: Path, scratch: Path) -> Iterator[Case]:
    """Every case of the snippets in `folder`, which are imported from a copy of it in `scratch`: it needs a Triton."""
    copy = scratch / "snippets"
    shutil.copytree(folder, copy)
    for path in copy.iterdir():
        path.chmod(0o644)
    copy.chmod(0o755)
    sys.path.insert(0, str(copy))
    for path in sorted(copy.glob("f*.py")):
        text = path.read_text(encoding="utf-8")
        if not re.search(r"^CASES\b", text, re.MULTILINE):
            continue
        for case in _table(path):
            yield Case(path.stem, case.get("id", case["fn"]), _text(path, text, case))


def _table(path: Path) -> list[dict[str, Any]]:
    """The table of cases of a file; of one that this Triton cannot import, its literal part."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except TypeError:
        return list(_without_functions(path).CASES)
    return list(module.CASES)


def _without_functions(path: Path) -> Any:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [node for node in tree.body if not isinstance(node, ast.FunctionDef)]
    module = ModuleType(path.stem)
    exec(compile(tree, str(path), "exec"), module.__dict__)
    return module


def _text(path: Path, text: str, case: Mapping[str, Any]) -> str:
    generated = path.parent / GENERATED / f"{case['fn']}.py"
    return render(generated.read_text(encoding="utf-8") if generated.is_file() else text, case)


def render(source: str, case: Mapping[str, Any]) -> str:
    """The part of a file that a kernel needs, and a launch of it: `fn`, its types `sig` and its constants `consts`."""
    tree = ast.parse(source)
    lines = source.splitlines()
    kept = _needed(tree, case["fn"], {name for name in map(_spelled, case.get("consts", {}).values()) if name})
    parts = ["\n".join(lines[_first_line(node) - 1 : node.end_lineno]) for node in tree.body if node in kept]
    return "\n".join(["import torch", *parts, "", "", *_launch(case, _parameters(tree, case["fn"]))]) + "\n"


def _parameters(tree: ast.Module, kernel: str) -> set[str]:
    """The names that a kernel can be given, wherever in the file it is defined."""
    arguments = (n.args for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == kernel)
    return {a.arg for one in arguments for a in (*one.posonlyargs, *one.args, *one.kwonlyargs)}


def _first_line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", ())
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _needed(tree: ast.Module, kernel: str, more: set[str]) -> set[ast.stmt]:
    """The imports, and the statements that define what the kernel names, directly or through what it names."""
    definers: dict[str, list[ast.stmt]] = {}
    kept: set[ast.stmt] = set()
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)) or (isinstance(node, ast.Try) and _imports(node)):
            kept.add(node)
        for name in _defined(node) - _DROPPED:
            definers.setdefault(name, []).append(node)
    names = {kernel} | more
    waiting = list(names)
    while waiting:
        for node in definers.get(waiting.pop(), ()):
            if node in kept:
                continue
            kept.add(node)
            found = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)} - names
            found |= {inner.value.id for inner in ast.walk(node) if _is_attribute_of_name(inner)} - names
            names |= found
            waiting.extend(found)
    return kept


def _is_attribute_of_name(node: Any) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)


def _imports(node: ast.Try) -> bool:
    return any(isinstance(inner, (ast.Import, ast.ImportFrom)) for inner in node.body)


def _defined(node: ast.stmt) -> set[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        heads = [target.value if isinstance(target, ast.Attribute) else target for target in targets]
        return {head.id for head in heads if isinstance(head, ast.Name)}
    return set()


# -- the launch --------------------------------------------------------------------------------------------------


def _launch(case: Mapping[str, Any], parameters: set[str]) -> list[str]:
    """Host code that launches the kernel with arguments of the case's types, and its constants and options."""
    constants = case.get("consts", {})
    lines = ["def launch():"]
    arguments = []
    for name, kind in case["sig"].items():
        if name in constants or name not in parameters:
            continue
        if kind.startswith("*"):
            lines.append(f'    {name} = torch.empty(4096, dtype=torch.{_pointee(kind)}, device="cuda")')
            arguments.append(f"{name}={name}")
        else:
            arguments.append(f"{name}={_scalar(kind)}")
    arguments += [f"{name}={_spelled(value) or repr(value)}" for name, value in constants.items()]
    arguments += [f"{name}={value!r}" for name, value in case.get("opts", {}).items()]
    return [*lines, f"    {case['fn']}[(1,)]({', '.join(arguments)})"]


def _pointee(kind: str) -> str:
    return _POINTERS[kind[1:].partition(":")[0]]


def _scalar(kind: str) -> str:
    kind, _, value = kind.partition(":")
    return value or _SCALARS[kind]


def _spelled(value: Any) -> str | None:
    """How the text names a constant that is no literal: a dtype, a function."""
    if type(value).__name__ == "dtype":
        names = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16", "fp64": "float64"}
        return f"tl.{names.get(str(value), str(value))}"
    name = getattr(value, "__name__", None)
    return name if isinstance(name, str) else None
