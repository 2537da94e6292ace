"""The values of expressions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from tritonaudit.domains.affine import Affine
from tritonaudit.host import library, members, operators
from tritonaudit.host.run import Raises, Run
from tritonaudit.host.scopes import Scope, Unevaluated
from tritonaudit.host.values import Bag, Condition, Dims, External, Frame, Function, Rest, Symbol, Value, number

_BUILTINS = frozenset(library.FUNCTIONS) | {"int", "float", "str", "bool", "tuple", "list", "dict", "super", "type"}
_LARGEST = 1 << 64
_MOST_TURNS = 512
_Handler = Callable[[Run, Frame, Any], Value]


def value(run: Run, frame: Frame, node: ast.expr) -> Value:
    """What an expression is on this path."""
    run.step(node)
    handler = _HANDLERS.get(type(node))
    if handler is None:
        return run.unknown(f"`{type(node).__name__}` is not evaluated")
    return handler(run, frame, node)


def look_up(run: Run, frame: Frame, name: str) -> Value:
    """What a name means in a function: its own, those around it, the module's, Python's."""
    inner: Frame | None = frame
    while inner is not None:
        if name in inner.names:
            return inner.names[name]
        inner = inner.outer
    found = frame.scope.look_up(name)
    if isinstance(found, Unevaluated):
        return constant(run, found, name)
    if found is not None:
        if isinstance(found, Function):
            run.read.add(found.node)
        return found
    return External(name) if name in _BUILTINS else Symbol(("name", name), name, f"`{name}` is not defined")


def constant(run: Run, found: Unevaluated, name: str) -> Value:
    """What a module sets a name to; one that is computed from itself is not known.

    A list or a dictionary is the run's own: what one run puts there is not there when another begins.
    """
    known = _constant_of(run, found, name)
    if not isinstance(known, (list, dict)):
        return known
    return run.of_modules.setdefault((found.scope.module.path, name), _copied(known))


def _copied(found: Value) -> Value:
    if isinstance(found, list):
        return [_copied(one) for one in found]
    return {key: _copied(one) for key, one in found.items()} if isinstance(found, dict) else found


def _constant_of(run: Run, found: Unevaluated, name: str) -> Value:
    values = found.scope.values
    if name not in values:
        values[name] = Symbol((found.scope.module.path, name), name, f"`{name}` is set by a cycle")
        with found.scope.reading(run):
            values[name] = value(run, found.scope.frame, found.node)
        if isinstance(values[name], Symbol):
            values[name] = Symbol((found.scope.module.path, name), name, values[name].reason or "set by its module")
    return values[name]


def resolved(run: Run, found: Value, name: str) -> Value:
    return constant(run, found, name) if isinstance(found, Unevaluated) else found


def _constant(run: Run, frame: Frame, node: ast.Constant) -> Value:
    if isinstance(node.value, int) and not isinstance(node.value, bool):
        return number(node.value) if abs(node.value) <= _LARGEST else run.unknown("a huge number")
    if isinstance(node.value, (bool, float, str, type(None))):
        return node.value
    return Ellipsis if node.value is Ellipsis else run.unknown("a constant that is not a number")


def _name(run: Run, frame: Frame, node: ast.Name) -> Value:
    return frame.names[node.id] if node.id in frame.names else look_up(run, frame, node.id)


def _attribute(run: Run, frame: Frame, node: ast.Attribute) -> Value:
    base = value(run, frame, node.value)
    if isinstance(base, Scope):
        found = base.look_up(node.attr)
        if isinstance(found, Function):
            run.read.add(found.node)
        return External(node.attr) if found is None else resolved(run, found, node.attr)
    return members.attribute(run, base, node.attr)


def _subscript(run: Run, frame: Frame, node: ast.Subscript) -> Value:
    base = value(run, frame, node.value)
    return members.item(run, base, value(run, frame, node.slice))


def _slice(run: Run, frame: Frame, node: ast.Slice) -> Value:
    lower, upper, step = (None if n is None else value(run, frame, n) for n in (node.lower, node.upper, node.step))
    return slice(lower, upper, step)


def _binary(run: Run, frame: Frame, node: ast.BinOp) -> Value:
    return operators.binary(run, node.op, value(run, frame, node.left), value(run, frame, node.right))


def _unary(run: Run, frame: Frame, node: ast.UnaryOp) -> Value:
    return operators.unary(run, node.op, value(run, frame, node.operand))


def _boolean(run: Run, frame: Frame, node: ast.BoolOp) -> Value:
    """The first that decides, as Python has it; what it depends on is settled on this path."""
    found: Value = None
    for operand in node.values:
        found = value(run, frame, operand)
        if operand is not node.values[-1] and run.truth(found) is isinstance(node.op, ast.Or):
            return isinstance(node.op, ast.Or) if isinstance(found, Condition) else found
    return found


def _compare(run: Run, frame: Frame, node: ast.Compare) -> Value:
    left, found = value(run, frame, node.left), True
    for place, (operator, operand) in enumerate(zip(node.ops, node.comparators, strict=True)):
        right = value(run, frame, operand)
        found = operators.compare(run, operator, left, right)
        if place + 1 < len(node.ops) and not run.truth(found):
            return False
        left = right
    return found


def _choice(run: Run, frame: Frame, node: ast.IfExp) -> Value:
    return value(run, frame, node.body if run.truth(value(run, frame, node.test)) else node.orelse)


def _elements(run: Run, frame: Frame, nodes: list[ast.expr]) -> list[Value] | Symbol:
    found: list[Value] = []
    for node in nodes:
        if isinstance(node, ast.Starred):
            inner = value(run, frame, node.value)
            inner = run.dims(inner) if isinstance(inner, Dims) else inner
            if not isinstance(inner, (tuple, list)):
                return run.unknown("a sequence of unknown length", inner)
            found.extend(inner)
        else:
            found.append(value(run, frame, node))
    return found


def _tuple(run: Run, frame: Frame, node: ast.Tuple) -> Value:
    found = _elements(run, frame, node.elts)
    return found if isinstance(found, Symbol) else _written(run, tuple(found), node.elts)


def _list(run: Run, frame: Frame, node: ast.List | ast.Set) -> Value:
    return _written(run, _elements(run, frame, node.elts), node.elts)


def _written(run: Run, found: Value, nodes: list[ast.expr]) -> Value:
    """Where the elements of a sequence are, for reports of them; it is kept, so that its id stays its own."""
    run.written[id(found)] = (found, nodes)
    return found


def _dict(run: Run, frame: Frame, node: ast.Dict) -> Value:
    found: dict[Value, Value] = {}
    for key, element in zip(node.keys, node.values, strict=True):
        inner = value(run, frame, element)
        if key is not None:
            name = value(run, frame, key)
            try:
                found[name] = inner
            except TypeError:
                return run.unknown("a dictionary with a key that is not known", inner)
        elif isinstance(inner, dict):
            found.update(inner)
        else:
            return run.unknown("a dictionary with keys that are not known", inner)
    return found


def _text(run: Run, frame: Frame, node: ast.JoinedStr) -> Value:
    parts: list[str] = []
    for part in node.values:
        inner = value(run, frame, part.value if isinstance(part, ast.FormattedValue) else part)
        if not isinstance(inner, str):
            return run.unknown("a text", inner)
        parts.append(inner)
    return "".join(parts)


def _lambda(run: Run, frame: Frame, node: ast.Lambda) -> Value:
    return Function(node, frame)


def _named(run: Run, frame: Frame, node: ast.NamedExpr) -> Value:
    found = value(run, frame, node.value)
    frame.names[node.target.id] = found
    return found


def _comprehension(run: Run, frame: Frame, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Value:
    found: list[Value] = []
    for inner in _turns(run, frame, node.generators):
        if inner is None:
            return Bag(run.unknown("the elements of a comprehension"))
        found.append(value(run, inner, node.elt))
    return found if isinstance(node, ast.ListComp) else tuple(found)


def _dict_comprehension(run: Run, frame: Frame, node: ast.DictComp) -> Value:
    found: dict[Value, Value] = {}
    for inner in _turns(run, frame, node.generators):
        if inner is None:
            return run.unknown("a dictionary that is made in a loop")
        key = value(run, inner, node.key)
        if isinstance(key, (list, dict)):
            return run.unknown("a dictionary with a key that is not known")
        found[key] = value(run, inner, node.value)
    return found


def _turns(run: Run, frame: Frame, generators: list[ast.comprehension]) -> Iterator[Frame | None]:
    """The names of each turn; None where the turns are not known one by one."""
    if not generators:
        yield frame
        return
    first, *rest = generators
    over = value(run, frame, first.iter)
    over = run.dims(over) if isinstance(over, Dims) else over
    if not isinstance(over, (tuple, list, dict)) or len(over) > _MOST_TURNS:
        yield None
        return
    for element in over:
        inner = Frame(frame.scope, {}, frame)
        bind(run, inner, first.target, element)
        if all(run.truth(value(run, inner, test)) for test in first.ifs):
            yield from _turns(run, inner, rest)


def _call(run: Run, frame: Frame, node: ast.Call) -> Value:
    if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
        return run.unknown("`super()`")
    function = value(run, frame, node.func)
    args, keywords = arguments(run, frame, node)
    return run.apply(function, args, keywords, node)


def arguments(run: Run, frame: Frame, node: ast.Call) -> tuple[list[Value], dict[str, Value]]:
    """What a call passes. What is passed by a sequence or dictionary that is not known is passed as `*` or `**`."""
    args: list[Value] = []
    for argument in node.args:
        inner = value(run, frame, argument.value if isinstance(argument, ast.Starred) else argument)
        if not isinstance(argument, ast.Starred):
            args.append(inner)
            continue
        inner = run.dims(inner) if isinstance(inner, Dims) else inner
        args.extend(inner if isinstance(inner, (tuple, list)) else [Rest(run.unknown("arguments by `*`", inner))])
    keywords: dict[str, Value] = {}
    for keyword in node.keywords:
        inner = value(run, frame, keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = inner
        elif isinstance(inner, dict):
            keywords.update({name: element for name, element in inner.items() if isinstance(name, str)})
        else:
            keywords["**"] = inner
    return args, keywords


def bind(run: Run, frame: Frame, target: ast.expr, given: Value) -> None:
    """Set the names of a target."""
    if isinstance(target, ast.Name):
        frame.names[target.id] = given
        if isinstance(given, Affine) and given.atom is not None:
            run.called.setdefault(given.atom, target.id)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _bind_parts(run, frame, target.elts, given)
    elif isinstance(target, ast.Attribute):
        members.set_attribute(run, value(run, frame, target.value), target.attr, given)
    elif isinstance(target, ast.Subscript):
        base, key = value(run, frame, target.value), value(run, frame, target.slice)
        members.set_item(run, base, key, given)
    elif isinstance(target, ast.Starred):
        bind(run, frame, target.value, given)


def learn_rank(run: Run, frame: Frame, target: ast.expr, node: ast.expr) -> None:
    """`B, T, H, K, V = *q.shape, v.shape[-1]` says how many dimensions `q` has."""
    if not isinstance(target, ast.Tuple) or not isinstance(node, ast.Tuple):
        return
    stars = [one for one in node.elts if isinstance(one, ast.Starred)]
    if len(stars) != 1 or any(isinstance(one, ast.Starred) for one in target.elts):
        return
    shape = value(run, frame, stars[0].value)
    if isinstance(shape, Dims) and isinstance(run.dims(shape), Dims):
        run.unpacked(shape, len(target.elts) - len(node.elts) + 1, 0, False)


def _bind_parts(run: Run, frame: Frame, targets: list[ast.expr], given: Value) -> None:
    star = next((place for place, target in enumerate(targets) if isinstance(target, ast.Starred)), None)
    before, after = (len(targets), 0) if star is None else (star, len(targets) - star - 1)
    if isinstance(given, Dims):
        parts: list[Value] = run.unpacked(given, before, after, star is not None)
    elif isinstance(given, (tuple, list)):
        if len(given) < before + after or (star is None and len(given) != before):
            raise Raises(f"it takes {len(given)} values apart into {before + after}")
        middle = [] if star is None else [list(given[before : len(given) - after])]
        parts = [*given[:before], *middle, *given[len(given) - after :][:after]]
    else:
        symbol = given if isinstance(given, Symbol) else run.unknown("a part of what is not known", given)
        parts = [members.item(run, symbol, number(place)) for place in range(len(targets))]
    for target, part in zip(targets, parts, strict=False):
        bind(run, frame, target, part)


_HANDLERS: dict[type[ast.expr], _Handler] = {
    ast.Constant: _constant, ast.Name: _name, ast.Attribute: _attribute, ast.Subscript: _subscript, ast.Slice: _slice,
    ast.BinOp: _binary, ast.UnaryOp: _unary, ast.BoolOp: _boolean, ast.Compare: _compare, ast.IfExp: _choice,
    ast.Tuple: _tuple, ast.List: _list, ast.Set: _list, ast.Dict: _dict, ast.JoinedStr: _text, ast.Lambda: _lambda,
    ast.NamedExpr: _named, ast.ListComp: _comprehension, ast.GeneratorExp: _comprehension, ast.SetComp: _comprehension,
    ast.DictComp: _dict_comprehension, ast.Call: _call,
}  # fmt: skip
