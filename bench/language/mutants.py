"""Mutants of the originals: one place of one kernel is changed, as a slip of the pen would change it."""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.language import originals
from bench.language.cases import Case, render

_SOURCE = Path(originals.__file__)
_FUNCTIONS = ("sum", "max", "exp", "abs", "sqrt", "trans", "maximum", "where", "load", "sigmoid", "dot", "cdiv")
_DTYPES = ("float16", "bfloat16", "int32", "int8", "int64", "float32")
_OPERATORS = (ast.Add, ast.Mult, ast.Div, ast.FloorDiv, ast.BitAnd, ast.Pow, ast.Mod, ast.Sub)


@dataclass(frozen=True)
class Mutant:
    """One kernel with one change, the file of it, and what it is compiled for."""

    kernel: str
    change: str
    case: Case
    source: str
    types: dict[str, str]
    constants: dict[str, Any]


def mutants(count: int, seed: int) -> list[Mutant]:
    """As many different mutants, the same for the same seed."""
    chance = random.Random(seed)
    tree = ast.parse(_SOURCE.read_text(encoding="utf-8"))
    kernels = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name != "activate"]
    found: dict[str, Mutant] = {}
    while len(found) < count:
        kernel = chance.choice(kernels)
        change = chance.choice(_CHANGES)
        mutated = copy.deepcopy(kernel)
        constants = {a.arg: originals.CONSTANTS[a.arg] for a in kernel.args.args if a.arg in originals.CONSTANTS}
        if not change(mutated, constants, chance):
            continue
        mutant = _mutant(tree, kernel, mutated, constants, change.__name__.strip("_"))
        found.setdefault(mutant.case.text, mutant)
    return list(found.values())


def unchanged() -> Iterator[Mutant]:
    """The originals themselves."""
    tree = ast.parse(_SOURCE.read_text(encoding="utf-8"))
    for kernel in tree.body:
        if isinstance(kernel, ast.FunctionDef) and kernel.name != "activate":
            constants = {a.arg: originals.CONSTANTS[a.arg] for a in kernel.args.args if a.arg in originals.CONSTANTS}
            yield _mutant(tree, kernel, kernel, constants, "none")


def _mutant(
    tree: ast.Module, kernel: ast.FunctionDef, mutated: ast.FunctionDef, constants: dict[str, Any], change: str
) -> Mutant:
    body = [mutated if node is kernel else node for node in tree.body]
    source = ast.unparse(ast.fix_missing_locations(ast.Module(body=body, type_ignores=[])))
    types = {a.arg: originals.TYPES[a.arg] for a in kernel.args.args if a.arg in originals.TYPES}
    text = render(source, {"fn": kernel.name, "sig": types, "consts": constants})
    name = f"{kernel.name}: {change}"
    return Mutant(kernel.name, change, Case(change, name, text), source, types, constants)


# -- the changes -------------------------------------------------------------------------------------------------

Change = Callable[[ast.FunctionDef, "dict[str, Any]", random.Random], bool]


def _pick(kernel: ast.FunctionDef, wanted: Callable[[ast.AST], bool], chance: random.Random) -> Any:
    nodes = [node for statement in kernel.body for node in ast.walk(statement) if wanted(node)]
    return chance.choice(nodes) if nodes else None


def _replace(kernel: ast.FunctionDef, old: ast.AST, new: ast.AST) -> bool:
    """Put `new` in the place of an expression."""

    class Replacing(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            return new if node is old else self.generic_visit(node)

    Replacing().visit(kernel)
    return True


def _is_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)


def _annotation(kernel: ast.FunctionDef, constants: dict[str, Any], chance: random.Random) -> bool:
    """A constant becomes an argument like any other."""
    annotated = [a for a in kernel.args.args if a.annotation is not None and type(constants.get(a.arg)) is int]
    if not annotated:
        return False
    argument = chance.choice(annotated)
    argument.annotation = None
    return argument.arg in constants and _as_argument(argument.arg, constants)


def _as_argument(name: str, constants: dict[str, Any]) -> bool:
    del constants[name]
    originals.TYPES.setdefault(name, "i32")
    return True


def _size(kernel: ast.FunctionDef, constants: dict[str, Any], chance: random.Random) -> bool:
    names = [name for name, value in constants.items() if type(value) is int]
    if not names:
        return False
    constants[chance.choice(names)] = chance.choice((8, 24, 48, 100, 128, 256, 4, 1))
    return True


def _dtype(kernel: ast.FunctionDef, constants: dict[str, Any], chance: random.Random) -> bool:
    node = _pick(kernel, lambda n: isinstance(n, ast.Attribute) and n.attr in _DTYPES, chance)
    if node is None:
        return False
    node.attr = chance.choice([name for name in _DTYPES if name != node.attr])
    return True


def _cast(kernel: ast.FunctionDef, constants: dict[str, Any], chance: random.Random) -> bool:
    node = _pick(kernel, lambda n: isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id != "tl", chance)
    if node is None:
        return False
    cast = ast.parse(f"{node.id}.to(tl.{chance.choice(_DTYPES)})", mode="eval").body
    return _replace(kernel, node, cast)


def _uncast(kernel: ast.FunctionDef, constants: dict[str, Any], chance: random.Random) -> bool:
    node = _pick(kernel, lambda n: _is_call(n) and n.func.attr == "to", chance)  # type: ignore[attr-defined]
    return node is not None and _replace(kernel, node, node.func.value)


def _axis_of_index(kernel: ast.FunctionDef, constants: dict[str, Any], chance: random.Random) -> bool:
    node = _pick(kernel, lambda n: isinstance(n, ast.Subscript) and isinstance(n.slice, ast.Tuple), chance)
    if node is None:
        return False
    if chance.random() < 0.5:
        node.slice.elts.reverse()
        return True
    return _replace(kernel, node, node.value)


def _operator(kernel: ast.FunctionDef, constants: dict[str, Any], chance: random.Random) -> bool:
    node = _pick(kernel, lambda n: isinstance(n, ast.BinOp), chance)
    if node is None:
        return False
    node.op = chance.choice([kind for kind in _OPERATORS if not isinstance(node.op, kind)])()
    return True


def _boolean(kernel: ast.FunctionDef, constants: dict[str, Any], chance: random.Random) -> bool:
    node = _pick(kernel, lambda n: isinstance(n, ast.Compare), chance)
    if node is None:
        return False
    left, right = node.left, node.comparators[0]
    if chance.random() < 0.4:
        new: ast.expr = ast.Compare(ast.Constant(0), [ast.LtE(), node.ops[0]], [left, right])
    elif chance.random() < 0.5:
        new = ast.BoolOp(chance.choice((ast.And, ast.Or))(), [node, ast.Compare(left, [ast.Gt()], [ast.Constant(0)])])
    else:
        new = left
    return _replace(kernel, node, new)


def _keyword(kernel: ast.FunctionDef, constants: dict[str, Any], chance: random.Random) -> bool:
    node = _pick(kernel, lambda n: isinstance(n, ast.Call) and bool(n.keywords), chance)
    if node is None:
        return False
    keyword = chance.choice(node.keywords)
    if chance.random() < 0.5:
        node.keywords.remove(keyword)
    else:
        keyword.arg = {"mask": "masks", "axis": "dim", "other": "default", "dtype": "type"}.get(keyword.arg, "by")
    return True


def _function(kernel: ast.FunctionDef, constants: dict[str, Any], chance: random.Random) -> bool:
    node = _pick(kernel, lambda n: _is_call(n) and ast.unparse(n.func).startswith("tl."), chance)  # type: ignore[attr-defined]
    if node is None:
        return False
    if chance.random() < 0.3:
        node.func = ast.Name(chance.choice(("abs", "sum", "max", "int", "float", "len")), ast.Load())
    else:
        node.func.attr = chance.choice(_FUNCTIONS)
    return True


def _argument(kernel: ast.FunctionDef, constants: dict[str, Any], chance: random.Random) -> bool:
    node = _pick(kernel, lambda n: isinstance(n, ast.Call) and bool(n.args), chance)
    if node is None:
        return False
    if chance.random() < 0.5:
        node.args.pop(chance.randrange(len(node.args)))
    else:
        node.args.append(copy.deepcopy(chance.choice(node.args)))
    return True


def _swapped(kernel: ast.FunctionDef, constants: dict[str, Any], chance: random.Random) -> bool:
    node = _pick(kernel, lambda n: isinstance(n, ast.Call) and len(n.args) > 1, chance)
    if node is None:
        return False
    node.args[0], node.args[1] = node.args[1], node.args[0]
    return True


def _name(kernel: ast.FunctionDef, constants: dict[str, Any], chance: random.Random) -> bool:
    """One variable where another belongs."""
    names = sorted({n.id for s in kernel.body for n in ast.walk(s) if isinstance(n, ast.Name)} - {"tl"})
    node = _pick(kernel, lambda n: isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id != "tl", chance)
    if node is None or len(names) < 2:
        return False
    node.id = chance.choice([name for name in names if name != node.id and name not in ("range", "float")])
    return True


def _number(kernel: ast.FunctionDef, constants: dict[str, Any], chance: random.Random) -> bool:
    node = _pick(kernel, lambda n: isinstance(n, ast.Constant) and type(n.value) in (int, float), chance)
    if node is None:
        return False
    node.value = float(node.value) if type(node.value) is int and chance.random() < 0.6 else int(node.value) + 1
    return True


def _deleted(kernel: ast.FunctionDef, constants: dict[str, Any], chance: random.Random) -> bool:
    bodies = [kernel.body, *(n.body for n in ast.walk(kernel) if isinstance(n, (ast.For, ast.While, ast.If)))]
    body = chance.choice([body for body in bodies if len(body) > 1])
    body.pop(chance.randrange(len(body)))
    return True


def _guarded(kernel: ast.FunctionDef, constants: dict[str, Any], chance: random.Random) -> bool:
    """A statement under a condition of the run, in a loop, or with a word that loops do not take."""
    place = chance.randrange(len(kernel.body))
    statement = kernel.body[place]
    test = ast.parse("tl.program_id(0) > 3", mode="eval").body
    kind = chance.random()
    if kind < 0.5:
        kernel.body[place] = ast.If(test, [statement], [])
    elif kind < 0.8:
        loop = ast.parse("for again in range(4):\n    pass").body[0]
        assert isinstance(loop, ast.For)
        loop.body = [statement]
        kernel.body[place] = loop
    else:
        kernel.body[place] = ast.If(test, [statement, ast.Return(None)], [])
    return True


_CHANGES: tuple[Change, ...] = (
    _annotation, _size, _dtype, _cast, _uncast, _axis_of_index, _operator, _boolean, _keyword, _function, _argument,
    _swapped, _name, _name, _number, _deleted, _guarded,
)  # fmt: skip
