"""One slip of the pen in the text of a kernel and its helpers: any expression may become any other."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable

_WILD = (
    "None", "0", "1", "-1", "3", "2.5", "True", "'text'", "(1, 2)", "float('inf')", "2**40", "300", "tl.float16",
    "tl.arange(0, 16)", "tl.zeros((16, 16), tl.float32)", "tl.program_id(0)", "[]", "len",
)  # fmt: skip
_DTYPES = ("float16", "bfloat16", "float32", "float64", "int1", "int8", "int16", "int32", "int64", "uint8", "uint32",
           "float8e5")  # fmt: skip
_BINARY = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.LShift, ast.RShift, ast.BitAnd,
           ast.BitOr, ast.BitXor, ast.MatMult)  # fmt: skip
_COMPARED = (ast.Lt, ast.GtE, ast.Eq, ast.NotEq, ast.Is, ast.In)


class _Replacing(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self._old:
            return self._new
        self.generic_visit(node)
        return node


def slip(source: str, chance: random.Random) -> tuple[str, str] | None:
    """The text with one change, and the name of it; None where nothing fits."""
    for _ in range(8):
        tree = ast.parse(source)
        kernel = chance.choice([n for n in tree.body if isinstance(n, ast.FunctionDef)])
        change = chance.choice(_SLIPS)
        changed = change(tree, kernel, chance)
        if changed:
            text = ast.unparse(ast.fix_missing_locations(tree))
            if text != ast.unparse(ast.parse(source)):
                return text, change.__name__.strip("_")
    return None


def _expressions(kernel: ast.FunctionDef) -> list[ast.expr]:
    """Every expression that gives a value; of targets and names of functions none."""
    called = {id(node.func) for s in kernel.body for node in ast.walk(s) if isinstance(node, ast.Call)}
    iterated = {id(node.iter) for s in kernel.body for node in ast.walk(s) if isinstance(node, ast.For)}
    return [
        node
        for statement in kernel.body
        for node in ast.walk(statement)
        if isinstance(node, (ast.Name, ast.Constant, ast.BinOp, ast.Call, ast.Compare, ast.Subscript, ast.Tuple))
        and not isinstance(getattr(node, "ctx", None), ast.Store)
        and id(node) not in called | iterated
        and not (isinstance(node, ast.Name) and node.id in ("tl", "triton", "helper", "combine"))
    ]


def _replaced(tree: ast.Module, kernel: ast.FunctionDef, chance: random.Random) -> bool:
    """One expression by a value of any kind."""
    found = _expressions(kernel)
    if not found:
        return False
    _Replacing(chance.choice(found), _parsed(chance.choice(_WILD))).visit(tree)
    return True


def _confused(tree: ast.Module, kernel: ast.FunctionDef, chance: random.Random) -> bool:
    """One variable by another of the kernel."""
    names = [node for node in _expressions(kernel) if isinstance(node, ast.Name)]
    others = sorted({node.id for node in names} | {argument.arg for argument in kernel.args.args})
    if not names or len(others) < 2:
        return False
    node = chance.choice(names)
    node.id = chance.choice([name for name in others if name != node.id])
    return True


def _misspelled(tree: ast.Module, kernel: ast.FunctionDef, chance: random.Random) -> bool:
    names = [node for node in _expressions(kernel) if isinstance(node, ast.Name)]
    if not names:
        return False
    chance.choice(names).id += "_"
    return True


def _dtype(tree: ast.Module, kernel: ast.FunctionDef, chance: random.Random) -> bool:
    found = [n for s in kernel.body for n in ast.walk(s) if isinstance(n, ast.Attribute) and n.attr in _DTYPES]
    if not found:
        return False
    chance.choice(found).attr = chance.choice(_DTYPES)
    return True


def _cast(tree: ast.Module, kernel: ast.FunctionDef, chance: random.Random) -> bool:
    names = [node for node in _expressions(kernel) if isinstance(node, ast.Name)]
    if not names:
        return False
    node = chance.choice(names)
    _Replacing(node, _parsed(f"{node.id}.to(tl.{chance.choice(_DTYPES)})")).visit(tree)
    return True


def _operator(tree: ast.Module, kernel: ast.FunctionDef, chance: random.Random) -> bool:
    found = [n for s in kernel.body for n in ast.walk(s) if isinstance(n, (ast.BinOp, ast.Compare))]
    if not found:
        return False
    node = chance.choice(found)
    if isinstance(node, ast.BinOp):
        node.op = chance.choice(_BINARY)()
    else:
        node.ops = [chance.choice(_COMPARED)()]
    return True


def _argument(tree: ast.Module, kernel: ast.FunctionDef, chance: random.Random) -> bool:
    """An argument is missing, given twice, or given under another name."""
    found = [n for s in kernel.body for n in ast.walk(s) if isinstance(n, ast.Call) and (n.args or n.keywords)]
    if not found:
        return False
    call = chance.choice(found)
    what = chance.randrange(3)
    if what == 0 and call.args:
        call.args.pop(chance.randrange(len(call.args)))
    elif what == 1 and call.args:
        call.args.append(call.args[-1])
    elif call.keywords:
        chance.choice(call.keywords).arg = chance.choice(("axis", "dim", "mask", "dtype", "other", "options"))
    else:
        return False
    return True


def _swapped(tree: ast.Module, kernel: ast.FunctionDef, chance: random.Random) -> bool:
    found = [n for s in kernel.body for n in ast.walk(s) if isinstance(n, ast.Call) and len(n.args) > 1]
    if not found:
        return False
    call = chance.choice(found)
    call.args[0], call.args[1] = call.args[1], call.args[0]
    return True


def _dimension(tree: ast.Module, kernel: ast.FunctionDef, chance: random.Random) -> bool:
    """A dimension too many, too few, or in the wrong place."""
    found = [n for s in kernel.body for n in ast.walk(s) if isinstance(n, ast.Subscript)]
    if not found:
        return False
    node = chance.choice(found)
    index = node.slice
    if isinstance(index, ast.Tuple) and chance.random() < 0.5:
        index.elts.reverse()
    elif isinstance(index, ast.Tuple) and chance.random() < 0.5:
        index.elts.append(chance.choice((ast.Constant(None), ast.Slice(), ast.Constant(0))))
    else:
        _Replacing(node, node.value).visit(tree)
    return True


def _not_constant(tree: ast.Module, kernel: ast.FunctionDef, chance: random.Random) -> bool:
    """A size that a plain assignment makes a value of the run."""
    found = [a.arg for a in kernel.args.args if a.annotation is not None]
    if not found:
        return False
    name = chance.choice(found)
    kernel.body.insert(0, ast.parse(chance.choice((f"{name} = {name}", f"{name} = {name} + 0"))).body[0])
    return True


def _removed(tree: ast.Module, kernel: ast.FunctionDef, chance: random.Random) -> bool:
    bodies = [kernel.body, *(n.body for n in ast.walk(kernel) if isinstance(n, (ast.For, ast.While, ast.If)))]
    longer = [body for body in bodies if len(body) > 1]
    if not longer:
        return False
    body = chance.choice(longer)
    body.pop(chance.randrange(len(body)))
    return True


def _guarded(tree: ast.Module, kernel: ast.FunctionDef, chance: random.Random) -> bool:
    """A statement under a condition of the run, or in a loop."""
    place = chance.randrange(len(kernel.body))
    head = chance.choice(("if tl.program_id(0) > 3:", "for again in range(4):", "while tl.program_id(0) > 3:"))
    block = ast.parse(f"{head}\n    pass").body[0]
    assert isinstance(block, (ast.If, ast.For, ast.While))
    block.body = [kernel.body[place]]
    kernel.body[place] = block
    return True


def _word(tree: ast.Module, kernel: ast.FunctionDef, chance: random.Random) -> bool:
    """A statement of Python's where another stood."""
    text = chance.choice(("break", "continue", "return 1", "raise ValueError('no')", "del pid", "assert False",
                          "x, y = 1, 2, 3", "lambda: 0", "global other", "print(f'{pid}')", "x = {}"))  # fmt: skip
    kernel.body.insert(chance.randrange(1, len(kernel.body) + 1), ast.parse(text).body[0])
    return True


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


_SLIPS: tuple[Callable[[ast.Module, ast.FunctionDef, random.Random], bool], ...] = (
    _replaced, _replaced, _replaced, _confused, _confused, _misspelled, _dtype, _cast, _operator, _argument, _swapped,
    _dimension, _not_constant, _removed, _guarded, _word,
)  # fmt: skip
