"""Follows a kernel's parameters through its body and through the helpers that it calls."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from tritonaudit.capture.body.intrinsics import INTRINSICS, METHODS, Call
from tritonaudit.capture.body.trail import NOTHING, Nature, Trail, added, combined, joined
from tritonaudit.capture.body.uses import STRONG, Evidence, Use, Uses
from tritonaudit.kernel.project import Function, Project
from tritonaudit.source.outline import dotted_name

State = dict[str, Trail]

_MAX_DEPTH = 8
_MAX_CALLS = 400


def uses_of(project: Project, function: Function, pointers: Iterable[str] = ()) -> Uses:
    """What the kernel does with its parameters, of which some are known to be pointers."""
    numbers: list[str] = []
    for _ in range(2):  # which of two is the address may show only later in the body
        follower = Follower(project, function)
        follower.note(pointers, Evidence.POINTER)
        follower.note(numbers, Evidence.NUMBER)
        follower.run()
        numbers = [name for name, use in follower.uses.parameters.items() if Evidence.NUMBER in use]
    return follower.uses


class Follower:
    """Runs a kernel's statements over trails; both arms of every branch, every loop twice."""

    def __init__(self, project: Project, function: Function) -> None:
        self.project = project
        self.frames = [function]
        self.state: State = {}
        self.returned: list[list[Trail]] = [[]]
        self.uses = Uses({parameter.name: Use() for parameter in function.jit.parameters})
        self._calls = 0

    def run(self) -> None:
        function = self.frames[0]
        for parameter in function.jit.parameters:
            name = parameter.name
            sums = () if parameter.constexpr else ((name,),)
            self.state[name] = Trail(sums=sums, scalars=frozenset((name,)), direct=name)
        self._block(function.jit.node.body)

    @property
    def function(self) -> Function:
        return self.frames[-1]

    # -- evidence ----------------------------------------------------------------------------------------------------

    def note(self, names: Iterable[str], kind: Evidence, weight: int = STRONG) -> None:
        for name in names:
            self.uses.parameters[name].evidence[kind] += weight

    def is_number(self, trail: Trail, kind: Evidence, weight: int = STRONG) -> None:
        """The value is a number of this kind, and so are the elements or the parameter that it is."""
        self.note(trail.whole, kind, weight)
        self.note((name for name in (trail.direct, trail.typed) if name is not None), kind, weight)
        if trail.direct is not None and kind is not Evidence.BOOLEAN:
            self.note((trail.direct,), Evidence.NUMBER)

    def is_index(self, trail: Trail, weight: int = STRONG) -> None:
        """The value counts or places something: all that went into it are integers."""
        self.note(trail.loads, Evidence.INTEGER, weight)
        self.note(trail.scalars, Evidence.INTEGER, weight)
        self.note(trail.scalars, Evidence.NUMBER)

    def is_tile(self, trail: Trail) -> None:
        """The value is the size of a tile, and a parameter that it is such a size itself."""
        for part in trail.parts or (trail,):
            self.note(part.scalars, Evidence.TILE, 1)
            if part.direct is not None:
                self.note((part.direct,), Evidence.TILE)

    # -- statements --------------------------------------------------------------------------------------------------

    def _block(self, body: list[ast.stmt]) -> None:
        for node in body:
            self._statement(node)

    def _statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Assign):
            value = self.evaluate(node.value)
            for target in node.targets:
                self._bind(target, value)
        elif isinstance(node, ast.AnnAssign):
            if node.value is not None:
                self._bind(node.target, self.evaluate(node.value))
        elif isinstance(node, ast.AugAssign):
            value = self._binary(node, node.op, self.evaluate(_loaded(node.target)), self.evaluate(node.value))
            self._bind(node.target, value)
        elif isinstance(node, ast.If):
            self._condition(self.evaluate(node.test))
            self._arms(node.body, node.orelse)
        elif isinstance(node, (ast.For, ast.While)):
            self._loop(node)
        elif isinstance(node, ast.With):
            for item in node.items:
                self.evaluate(item.context_expr)
            self._block(node.body)
        elif isinstance(node, ast.Return):
            self.returned[-1].append(NOTHING if node.value is None else self.evaluate(node.value))
        elif isinstance(node, ast.Expr):
            self.evaluate(node.value)
        elif isinstance(node, ast.Assert):
            self.evaluate(node.test)

    def _bind(self, target: ast.expr, value: Trail) -> None:
        if isinstance(target, ast.Name):
            self.state[target.id] = value
            if len(self.frames) == 1:
                self.uses.names.setdefault(target.id, set()).update(value.sources)
        elif isinstance(target, (ast.Tuple, ast.List)):
            fits = value.parts is not None and len(value.parts) == len(target.elts)
            for index, element in enumerate(target.elts):
                self._bind(element, value.parts[index] if fits and value.parts is not None else value.but(direct=None))

    def _condition(self, value: Trail) -> None:
        self.note(value.whole, Evidence.INTEGER, 1)
        if value.direct is not None:
            self.note((value.direct,), Evidence.FLAG)

    def _arms(self, body: list[ast.stmt], orelse: list[ast.stmt]) -> None:
        before = dict(self.state)
        self._block(body)
        after, self.state = self.state, before
        self._block(orelse)
        for name, value in after.items():
            mine = self.state.get(name)
            self.state[name] = value if mine is None or mine is value else joined((value, mine))

    def _loop(self, node: ast.For | ast.While) -> None:
        for _ in range(2):
            if isinstance(node, ast.For):
                self._bind(node.target, self._rounds(node.iter))
            else:
                self._condition(self.evaluate(node.test))
            self._arms(node.body, [])

    def _rounds(self, node: ast.expr) -> Trail:
        """What a loop's variable is; its bounds are integers."""
        value = self.evaluate(node)
        if isinstance(node, ast.Call) and (dotted_name(node.func) or "").endswith("range"):
            return value
        return joined(value.parts) if value.parts is not None else NOTHING

    # -- expressions -------------------------------------------------------------------------------------------------

    def evaluate(self, node: ast.expr) -> Trail:
        handler = _HANDLERS.get(type(node))
        if handler is None:
            return NOTHING
        value = handler(self, node)
        if value.loads or value.scalars:
            place = (self.function.module.path, node.lineno)
            self.uses.reach.setdefault(place, set()).update(value.sources)
        return value

    def _constant(self, node: ast.Constant) -> Trail:
        kinds = {bool: Nature.BOOLEAN, int: Nature.INTEGER, float: Nature.FLOAT}
        return Trail(written=(node.value,), nature=kinds.get(type(node.value)))

    def _name(self, node: ast.Name) -> Trail:
        if node.id in self.state:
            return self.state[node.id]
        return self._global(node.id)

    def _global(self, dotted: str) -> Trail:
        """A name of the file: a dtype of the language, or a constant as it is written."""
        module = self.function.module
        origin = self.project.origin_of(module, module.origin(dotted))
        last = origin.rpartition(".")[2]
        if origin.startswith("triton.language") and last in DTYPES:
            return Trail(dtype=last)
        value = module.constants.get(dotted)
        while isinstance(value, ast.Call) and len(value.args) == 1 and ast.unparse(value.func).endswith("constexpr"):
            value = value.args[0]
        return self._constant(value) if isinstance(value, ast.Constant) else NOTHING

    def _attribute(self, node: ast.Attribute) -> Trail:
        dotted = dotted_name(node)
        if dotted is not None and dotted.partition(".")[0] not in self.state:
            return self._global(dotted)
        value = self.evaluate(node.value)
        if node.attr == "element_ty":
            self.note(value.bases[:1], Evidence.POINTER)
        if node.attr in ("dtype", "type", "element_ty", "scalar"):
            return Trail(dtype="", sums=value.sums)
        if node.attr in ("value", "T"):
            return value
        if node.attr in ("shape", "strides") and value.direct is not None:
            self.note((value.direct,), Evidence.DESCRIPTOR)
        return NOTHING

    def _tuple(self, node: ast.Tuple | ast.List) -> Trail:
        parts = tuple(self.evaluate(element) for element in node.elts)
        return combined(parts).but(parts=parts)

    def _subscript(self, node: ast.Subscript) -> Trail:
        value = self.evaluate(node.value)
        index = node.slice
        if value.parts is not None and isinstance(index, ast.Constant) and isinstance(index.value, int):
            return value.parts[index.value] if -len(value.parts) <= index.value < len(value.parts) else NOTHING
        self.evaluate(index)
        return value.but(direct=None, parts=None)

    def _unary(self, node: ast.UnaryOp) -> Trail:
        value = self.evaluate(node.operand)
        if isinstance(node.op, ast.Not):
            self._condition(value)
            return Trail(loads=value.loads, scalars=value.scalars, nature=Nature.BOOLEAN)
        if isinstance(node.op, ast.Invert):
            self.note(value.whole, Evidence.BOOLEAN, 1)
            return value.but(sums=(), direct=None)
        if value.written and isinstance(value.written[0], (int, float)):
            return value.but(written=(-value.written[0],))
        return value.but(sums=(), whole=frozenset(), direct=None)

    def _binary_operation(self, node: ast.BinOp) -> Trail:
        return self._binary(node, node.op, self.evaluate(node.left), self.evaluate(node.right))

    def _binary(self, node: ast.AST, operator: ast.operator, left: Trail, right: Trail) -> Trail:
        nature = _nature(left, right)
        for one, other in ((left, right), (right, left)):
            if isinstance(operator, (ast.FloorDiv, ast.Mod, ast.LShift, ast.RShift)):
                self.is_number(one, Evidence.INTEGER, 2)
            elif isinstance(operator, (ast.BitAnd, ast.BitOr, ast.BitXor)):
                kind = Evidence.BOOLEAN if other.nature is Nature.BOOLEAN else Evidence.INTEGER
                self.is_number(one, kind, STRONG if other.nature is Nature.BOOLEAN or other.written else 1)
            elif isinstance(operator, ast.Div):
                self.note(one.whole, Evidence.FLOAT, 1)
            elif isinstance(operator, ast.Mult):
                self._factor(one, other)
        if isinstance(operator, ast.Add):
            for one, other in ((left, right), (right, left)):
                if one.factors and other.nature is Nature.INTEGER and not other.written:
                    self.note(one.factors, Evidence.SMALL_INTEGER)
            return added(left, right, nature)
        if isinstance(operator, ast.Sub):
            return combined((left, right), nature).but(sums=left.sums)
        if isinstance(operator, ast.Div):
            nature = Nature.FLOAT
        return combined((left, right), nature)

    def _factor(self, value: Trail, other: Trail) -> None:
        """A number that multiplies an index is an integer, one that multiplies data is likely a float."""
        if other.nature is Nature.FLOAT:
            self.note(value.whole, Evidence.FLOAT, 1)
        if value.direct is None:
            return
        if other.nature is Nature.INTEGER and not other.loads and not other.written:
            self.note((value.direct,), Evidence.INTEGER)
            self.note((value.direct,), Evidence.NUMBER)
        elif other.nature is Nature.FLOAT or other.loads:
            self.note((value.direct,), Evidence.FLOAT, 1)

    def _compare(self, node: ast.Compare) -> Trail:
        values = [self.evaluate(operand) for operand in (node.left, *node.comparators)]
        for operator, left, right in zip(node.ops, values, values[1:], strict=False):
            for one, other in ((left, right), (right, left)):
                self._compared(operator, one, other)
        # What data is compared to is no longer that data.
        return combined(values, Nature.BOOLEAN).but(loads=frozenset())

    def _compared(self, operator: ast.cmpop, value: Trail, other: Trail) -> None:
        if other.written and value.direct is not None:
            use = self.uses.parameters[value.direct]
            if other.written[0] is None:
                self.note((value.direct,), Evidence.NONE)
            elif isinstance(other.written[0], str):
                self.note((value.direct,), Evidence.TEXT)
            if isinstance(operator, (ast.Eq, ast.NotEq, ast.In)):
                use.compared.extend(constant for constant in other.written if constant not in use.compared)
        if other.dtype is not None and value.direct is not None:
            self.note((value.direct,), Evidence.DTYPE)
        if value.parts is None and other.parts is not None and value.direct is not None:
            texts = [part.written[0] for part in other.parts if part.written]
            self.uses.parameters[value.direct].compared.extend(texts)
        if other.nature is Nature.INTEGER and not other.loads:
            if not other.written and value.nature is not Nature.FLOAT:
                self.note(value.loads - value.whole, Evidence.INTEGER, 2)
            exact = not other.written or isinstance(operator, (ast.Eq, ast.NotEq))
            self.is_number(value, Evidence.INTEGER, 2 if exact and not other.written else 1)
        if other.nature is Nature.FLOAT:
            self.is_number(value, Evidence.FLOAT, 1)

    def _boolean(self, node: ast.BoolOp) -> Trail:
        values = [self.evaluate(operand) for operand in node.values]
        for value in values:
            self._condition(value)
        return combined(values, Nature.BOOLEAN)

    def _choice(self, node: ast.IfExp) -> Trail:
        self._condition(self.evaluate(node.test))
        return joined((self.evaluate(node.body), self.evaluate(node.orelse)))

    # -- calls -------------------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> Trail:
        dotted = dotted_name(node.func)
        head = "" if dotted is None else dotted.partition(".")[0]
        if isinstance(node.func, ast.Attribute) and (dotted is None or head in self.state):
            return self._method(node, node.func)
        if dotted is None:
            return NOTHING
        if head in self.state:
            return self._called_value(node, self.state[head])
        module = self.function.module
        helper = self.project.resolve(self.function, dotted) or self._starred(dotted)
        if helper is not None:
            return self.inlined(helper, self.arguments(node))
        origin = self.project.origin_of(module, module.origin(dotted))
        last = origin.rpartition(".")[2]
        operation = INTRINSICS.get(last)
        if operation is not None and (origin.startswith("triton.") or "." not in origin or "math" in origin):
            return operation(self, self.arguments(node))
        return combined(value for _, value in self.arguments(node).all)

    def _starred(self, name: str) -> Function | None:
        """A helper that the file imports by `from module import *`."""
        module = self.function.module
        if "*" not in module.names or "." in name or name in module.names:
            return None
        for node in module.tree.body:
            if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
                target = self.project.imported(module, "." * node.level + (node.module or ""))
                if target is not None and (found := self.project.function(target, name)):
                    return found
        return None

    def _called_value(self, node: ast.Call, called: Trail) -> Trail:
        """A call of a parameter or a local name."""
        if called.direct is not None:
            self.note((called.direct,), Evidence.CALLED)
        return combined(value for _, value in self.arguments(node).all)

    def _method(self, node: ast.Call, func: ast.Attribute) -> Trail:
        owner = self.evaluate(func.value)
        call = self.arguments(node, owner)
        operation = METHODS.get(func.attr)
        if operation is None:
            operation = INTRINSICS.get(func.attr)
        return combined(value for _, value in call.all) if operation is None else operation(self, call)

    def arguments(self, node: ast.Call, first: Trail | None = None) -> Call:
        """A call's arguments, evaluated."""
        positional = [] if first is None else [first]
        keywords: dict[str, Trail] = {}
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                value = self.evaluate(argument.value)
                positional.extend(value.parts or (value,))
            else:
                positional.append(self.evaluate(argument))
        for keyword in node.keywords:
            value = self.evaluate(keyword.value)
            if keyword.arg is not None:
                keywords[keyword.arg] = value
        return Call(node, tuple(positional), keywords)

    def inlined(self, helper: Function, call: Call) -> Trail:
        """What a jit helper returns for these arguments."""
        self._calls += 1
        recursive = any(frame.jit is helper.jit for frame in self.frames)
        if recursive or len(self.frames) > _MAX_DEPTH or self._calls > _MAX_CALLS:
            return combined(value for _, value in call.all)
        state: State = {}
        for parameter, value in zip(helper.jit.parameters, call.positional, strict=False):
            state[parameter.name] = value
        state.update(call.keywords)
        outer, self.state = self.state, state
        self.frames.append(helper)
        for parameter in helper.jit.parameters:
            if parameter.name not in state:
                state[parameter.name] = NOTHING if parameter.default is None else self.evaluate(parameter.default)
        self.returned.append([])
        self._block(helper.jit.node.body)
        self.frames.pop()
        self.state = outer
        return joined(self.returned.pop())


DTYPES = frozenset((
    "int1", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16",
    "float32", "float64", "float8e4nv", "float8e5", "float8e4b8", "float8e5b16", "float8e4b15",
))  # fmt: skip

_HANDLERS: dict[type[ast.expr], Callable[[Follower, Any], Trail]] = {
    ast.Constant: Follower._constant,
    ast.Name: Follower._name,
    ast.Attribute: Follower._attribute,
    ast.Tuple: Follower._tuple,
    ast.List: Follower._tuple,
    ast.Subscript: Follower._subscript,
    ast.UnaryOp: Follower._unary,
    ast.BinOp: Follower._binary_operation,
    ast.Compare: Follower._compare,
    ast.BoolOp: Follower._boolean,
    ast.IfExp: Follower._choice,
    ast.Call: Follower._call,
}


def _nature(left: Trail, right: Trail) -> Nature | None:
    """The nature of a result; Python's own numbers take the other's."""
    natures = {left.nature, right.nature}
    if Nature.FLOAT in natures:
        return Nature.FLOAT
    if left.nature is right.nature:
        return left.nature
    for one, other in ((left, right), (right, left)):
        if one.nature is Nature.INTEGER and not other.loads:
            return Nature.INTEGER  # an index, whatever number is added to it
    return None


def _loaded(target: ast.expr) -> ast.expr:
    """The target of an augmented assignment, as what it is before it."""
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(id=target.id, ctx=ast.Load()), target)
    return target
