"""Reads a wrapper's body for what it says about its parameters.

Statement by statement, with the functions of its module that it calls; nothing is run. Where branches disagree, what
each says is kept.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from tritonaudit.source.outline import dotted_name
from tritonaudit.subject.guess.conditions import ask, decided, demand_among, demand_at_most, demand_equal
from tritonaudit.subject.guess.methods import attribute, library, method
from tritonaudit.subject.guess.unpacking import member, members
from tritonaudit.subject.guess.usage import (
    ParameterUse,
    Passed,
    Usage,
    default_value,
    defaults_of,
    parameters_of,
)
from tritonaudit.subject.guess.values import (
    Absent,
    Count,
    Dim,
    DtypeName,
    Formula,
    Given,
    Group,
    Literal,
    Shape,
    Strides,
    formula,
)
from tritonaudit.subject.model import FLOATING, INTEGER
from tritonaudit.subject.wrappers import AutogradFunction, Host, HostFunction, LaunchSite, Wrapper

_MAX_DEPTH = 6
_MAX_CALLS = 200
_OPERATORS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//"}


def usage_of(wrapper: Wrapper, ranks: Mapping[str, int] = MappingProxyType({}), given: Collection[str] = ()) -> Usage:
    """What the wrapper's code, and that of its module that it calls, says about its parameters.

    Those that have a default are taken to be left at it unless they are among the `given`, and tensors to have these
    `ranks`, so that only what runs then is read.
    """
    arguments = parameters_of(wrapper)
    usage = Usage({argument.arg: ParameterUse() for argument in arguments})
    names: dict[str, object] = {argument.arg: Given(argument.arg) for argument in arguments}
    for name, node in defaults_of(wrapper.node).items():
        if name not in given:
            value = default_value(node)
            names[name] = Absent(name) if value == Literal(None) else value
    Reader(wrapper.host, usage, ranks).function(wrapper.node, names)
    return usage


@dataclass
class _Frame:
    """A function under way: what its names are, what it returned, how deep it was called."""

    names: dict[str, object]
    returned: list[object] = field(default_factory=list)
    depth: int = 0

    def branch(self, names: Mapping[str, object] = MappingProxyType({})) -> _Frame:
        """The same with names of its own."""
        return replace(self, names={**self.names, **names})


class Reader:
    """Reads host code with what is known of its names."""

    def __init__(self, host: Host, usage: Usage, ranks: Mapping[str, int]) -> None:
        self._host = host
        self._usage = usage
        self._ranks = ranks
        self._sites = {id(site.call): site for function in host.all_functions for site in host.launches(function)}
        self._running: list[HostFunction] = []
        self._calls = 0

    def function(self, node: HostFunction, names: Mapping[str, object], depth: int = 0) -> object:
        """Read a function whose parameters are these, and give what it returns if that is known."""
        frame = _Frame(dict(names), depth=depth)
        self._running.append(node)
        self._block(node.body, frame)
        self._running.pop()
        returned = frame.returned
        return returned[0] if returned and all(value == returned[0] for value in returned) else None

    # -- statements --------------------------------------------------------------------------------------------------

    def _block(self, body: Sequence[ast.stmt], frame: _Frame) -> None:
        for node in body:
            self._statement(node, frame)

    def _statement(self, node: ast.stmt, frame: _Frame) -> None:
        match node:
            case ast.Assign():
                found = self._value(node.value, frame)
                for target in node.targets:
                    self._bind(target, found, frame)
            case ast.AnnAssign() if node.value is not None:
                self._bind(node.target, self._value(node.value, frame), frame)
            case ast.AugAssign():
                self._value(node.value, frame)
                self._bind(node.target, None, frame)
            case ast.Assert():
                self._demand(node.test, frame)
            case ast.If():
                self._if(node, frame)
            case ast.Return():
                frame.returned.append(None if node.value is None else self._value(node.value, frame))
            case ast.Expr():
                self._value(node.value, frame)
            case ast.FunctionDef():
                self._block(node.body, replace(frame.branch(dict.fromkeys(_own_names(node))), returned=[]))
            case ast.For() | ast.While() | ast.With() | ast.Try():
                self._compound(node, frame)

    def _compound(self, node: ast.For | ast.While | ast.With | ast.Try, frame: _Frame) -> None:
        match node:
            case ast.For():
                self._value(node.iter, frame)
                self._bind(node.target, None, frame)
                self._block([*node.body, *node.orelse], frame)
            case ast.While():
                self._value(node.test, frame)
                self._block([*node.body, *node.orelse], frame)
            case ast.With():
                for item in node.items:
                    self._value(item.context_expr, frame)
                self._block(node.body, frame)
            case ast.Try():
                self._block([*node.body, *node.orelse, *node.finalbody], frame)
                for handler in node.handlers:
                    self._block(handler.body, frame.branch())

    def _if(self, node: ast.If, frame: _Frame) -> None:
        truth = self._truth(node.test, frame)
        if truth is not None:
            self._value(node.test, frame)
            self._block(node.body if truth else node.orelse, frame)
            return
        if _only_raises(node.body) and not node.orelse:
            self._demand(ast.UnaryOp(ast.Not(), node.test), frame)
            return
        self._value(node.test, frame)
        arms = [frame.branch(), frame.branch()]
        self._block(node.body, arms[0])
        self._block(node.orelse, arms[1])
        ends = arms[:1] if _only_raises(node.orelse) else arms
        for name in {name for arm in ends for name in arm.names}:
            # What only one arm replaces may still be what it was.
            values = [arm.names.get(name) for arm in ends]
            options = (frame.names.get(name), *values)
            frame.names[name] = next((value for value in options if value is not None and value in values), None)

    def _bind(self, target: ast.expr, value: object, frame: _Frame, rank: int | None = None) -> None:
        match target:
            case ast.Name():
                frame.names[target.id] = value
                match value:
                    case Dim():
                        self._usage.name(value, target.id, rank)
                    case Formula(operator="-", left=Dim() | Count() as whole, right=Literal(value=1)):
                        self._usage.of(whole.of).parts = target.id
            case ast.Tuple() | ast.List():
                self._unpack(target.elts, value, frame)

    def _unpack(self, targets: list[ast.expr], value: object, frame: _Frame) -> None:
        star = next((place for place, target in enumerate(targets) if isinstance(target, ast.Starred)), None)
        found = members(self._usage, value, len(targets), star)
        rank = len(targets) if isinstance(value, Shape) and value.is_whole and star is None else None
        for place, target in enumerate(targets):
            is_known = place != star and found is not None
            self._bind(_unstarred(target), found[place] if is_known and found is not None else None, frame, rank)

    # -- expressions -------------------------------------------------------------------------------------------------

    def _value(self, node: ast.expr, frame: _Frame) -> object:
        """What is known of an expression; what it shows about parameters is noted."""
        match node:
            case ast.Name():
                return frame.names.get(node.id)
            case ast.Constant():
                return Literal(node.value)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                return Literal(-number)
            case ast.Attribute():
                owner = self._value(node.value, frame)
                self._need(owner)
                return attribute(self._usage, owner, node.attr) if isinstance(owner, Given) else _dtype(node)
            case ast.Subscript():
                return self._subscript(self._value(node.value, frame), node.slice, frame)
            case ast.Call():
                return self._call(node, frame)
            case ast.Tuple() | ast.List() | ast.Set():
                return Group(tuple(self._value(_unstarred(part), frame) for part in node.elts))
            case ast.GeneratorExp() | ast.ListComp():
                return self._each(node, frame)
            case ast.BinOp():
                return _arithmetic(node.op, self._value(node.left, frame), self._value(node.right, frame))
            case ast.Lambda():
                return self._value(node.body, frame.branch(dict.fromkeys(_own_names(node))))
            case ast.IfExp() | ast.BoolOp() | ast.Compare():
                return self._choice(node, frame)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self._value(child, frame)
        return None

    def _need(self, owner: object) -> None:
        """Note that something is asked of a parameter which is None."""
        if isinstance(owner, Absent):
            self._usage.of(owner.name).is_needed = True

    def _choice(self, node: ast.IfExp | ast.BoolOp | ast.Compare, frame: _Frame) -> object:
        match node:
            case ast.IfExp():
                self._value(node.test, frame)
                truth = self._truth(node.test, frame)
                arms = [node.body] * (truth is not False) + [node.orelse] * (truth is not True)
                options = [self._value(option, frame) for option in arms]
                return next((option for option in options if option not in (None, Literal(None))), None)
            case ast.BoolOp():
                found = [self._value(operand, frame) for operand in self._reached(node, frame)]
                return (
                    next((v for v in found if not isinstance(v, Absent)), None) if isinstance(node.op, ast.Or) else None
                )
            case ast.Compare():
                values = [self._value(operand, frame) for operand in (node.left, *node.comparators)]
                for left, comparison, right in zip(values, node.ops, values[1:], strict=False):
                    ask(self._usage, left, comparison, right)
                truth = self._truth(node, frame)
                return None if truth is None else Literal(truth)

    def _reached(self, node: ast.BoolOp, frame: _Frame) -> list[ast.expr]:
        """The operands that are evaluated, as far as it is known."""
        found: list[ast.expr] = []
        for operand in node.values:
            found.append(operand)
            if self._truth(operand, frame) is isinstance(node.op, ast.Or):
                break
        return found

    def _subscript(self, owner: object, index: ast.expr, frame: _Frame) -> object:
        if isinstance(owner, (Shape, Strides, Group)):
            return member(self._usage, owner, index)
        if isinstance(owner, Given) and isinstance(index, ast.Tuple):
            self._usage.tensor(owner.name)
            constants = [part.value for part in index.elts if isinstance(part, ast.Constant)]
            if Ellipsis not in constants:
                self._usage.axis(owner.name, len(index.elts) - constants.count(None) - 1)
        self._value(index, frame)
        is_part = isinstance(owner, Given) and isinstance(index, ast.Slice)
        return owner if is_part else None  # some of its rows: all but the first size are the same

    def _each(self, node: ast.GeneratorExp | ast.ListComp, frame: _Frame) -> object:
        """`(f(x) for x in (q, k, v))`: the members one by one."""
        generator = node.generators[0]
        source = self._value(generator.iter, frame)
        if len(node.generators) == 1 and isinstance(source, Group) and isinstance(generator.target, ast.Name):
            target = generator.target.id
            return Group(tuple(self._value(node.elt, frame.branch({target: part})) for part in source.members))
        bound = (inner.id for inner in ast.walk(generator.target) if isinstance(inner, ast.Name))
        self._value(node.elt, frame.branch(dict.fromkeys(bound)))
        return None

    # -- calls -------------------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call, frame: _Frame) -> object:
        arguments = [self._value(_unstarred(argument), frame) for argument in node.args]
        keywords = {k.arg: self._value(k.value, frame) for k in node.keywords if k.arg is not None}
        if id(node) in self._sites:
            self._launch(self._sites[id(node)], arguments, keywords, frame)
            return None
        if (called := self._host.called(node)) is not None:
            return self._inlined(called, node, arguments, keywords, frame.depth + 1)
        if isinstance(node.func, ast.Attribute):
            owner = self._value(node.func.value, frame)
            self._need(owner)
            if isinstance(owner, Given):
                return method(self._usage, owner, node.func.attr, arguments)
        name = (dotted_name(node.func) or "").rpartition(".")[2]
        if name == "map" and len(arguments) == 2:
            return self._mapped(node.args[0], arguments[1], frame)
        return library(self._usage, name, arguments)

    def _mapped(self, function: ast.expr, source: object, frame: _Frame) -> object:
        """`map(lambda x: x.contiguous(), (q, k, v))`."""
        if not isinstance(source, Group) or not isinstance(function, ast.Lambda) or len(_own_names(function)) != 1:
            return None
        (name,) = _own_names(function)
        return Group(tuple(self._value(function.body, frame.branch({name: part})) for part in source.members))

    def _inlined(
        self,
        called: HostFunction | AutogradFunction,
        node: ast.Call,
        arguments: list[object],
        keywords: dict[str, object],
        depth: int,
    ) -> object:
        function = called.forward if isinstance(called, AutogradFunction) else called
        self._calls += 1
        if depth > _MAX_DEPTH or self._calls > _MAX_CALLS or function in self._running:
            return None
        parameters = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
        if isinstance(called, AutogradFunction) and not called.has_setup_context:
            parameters = parameters[1:]
        names: dict[str, object] = {name: default_value(default) for name, default in defaults_of(function).items()}
        star = next((place for place, part in enumerate(node.args) if isinstance(part, ast.Starred)), None)
        names.update(zip(parameters, arguments[:star], strict=False))
        return self.function(function, {**names, **keywords}, depth)

    def _launch(self, site: LaunchSite, arguments: list[object], keywords: dict[str, object], frame: _Frame) -> None:
        passed: list[object] = []
        for argument, written in zip(arguments, site.call.args, strict=True):
            parts = self._spread(argument) if isinstance(written, ast.Starred) else [argument]
            if parts is None:
                break  # how many follow is not known
            passed.extend(parts)
        parameters = (parameter.name for parameter in site.kernel.jit.parameters)
        grid = self._value(site.call.func.slice, frame) if isinstance(site.call.func, ast.Subscript) else None
        sizes = grid.members if isinstance(grid, Group) else (grid,)
        self._usage.passed.append(Passed(site, {**dict(zip(parameters, passed, strict=False)), **keywords}, sizes))

    def _spread(self, value: object) -> list[object] | None:
        """What `*value` passes, where its number of members is known."""
        if isinstance(value, Group):
            return list(value.members)
        ranks = self._usage.of(value.of).ranks if isinstance(value, (Shape, Strides)) else None
        return members(self._usage, value, ranks.most_common(1)[0][0]) if ranks else None

    # -- conditions --------------------------------------------------------------------------------------------------

    def _demand(self, test: ast.expr, frame: _Frame, negated: bool = False) -> None:
        """Learn from a condition without which the wrapper refuses its arguments."""
        match test:
            case ast.Compare(ops=[ast.Is() | ast.IsNot() as asked], comparators=[ast.Constant(value=None)]):
                if isinstance(asked, ast.Is) == negated:
                    self._need(self._value(test.left, frame))
            case ast.UnaryOp(op=ast.Not()):
                self._demand(test.operand, frame, not negated)
            case ast.BoolOp() if isinstance(test.op, ast.Or if negated else ast.And):
                for operand in self._reached(test, frame):
                    self._demand(operand, frame, negated)
            case ast.Compare():
                values = [self._value(operand, frame) for operand in (test.left, *test.comparators)]
                for left, comparison, right in zip(values, test.ops, values[1:], strict=False):
                    if isinstance(comparison, ast.NotEq if negated else ast.Eq):
                        demand_equal(self._usage, left, right)
                    elif isinstance(comparison, ast.NotIn if negated else ast.In):
                        demand_among(self._usage, left, right)
                    elif isinstance(comparison, (ast.Gt, ast.GtE) if negated else (ast.Lt, ast.LtE)):
                        demand_at_most(self._usage, left, right)
            case _:
                self._value(test, frame)

    def _truth(self, test: ast.expr, frame: _Frame) -> bool | None:
        """Whether a condition holds, where what is known decides it."""
        match test:
            case ast.Name() if isinstance(found := frame.names.get(test.id), (Literal, Absent)):
                return bool(found.value) if isinstance(found, Literal) else False
            case ast.UnaryOp(op=ast.Not()):
                truth = self._truth(test.operand, frame)
                return None if truth is None else not truth
            case ast.BoolOp():
                truths = [self._truth(operand, frame) for operand in test.values]
                decisive = isinstance(test.op, ast.Or)
                return decisive if decisive in truths else None if None in truths else not decisive
            case ast.Compare(left=left, ops=[comparison], comparators=[right]):
                return decided(self._value(left, frame), comparison, self._value(right, frame), self._ranks)
        return None


def _arithmetic(operation: ast.operator, left: object, right: object) -> object:
    if isinstance(operation, ast.Mult) and Literal(1) in (left, right):
        return right if left == Literal(1) else left
    if isinstance(operation, ast.Add) and isinstance(left, (Group, Shape)) and isinstance(right, (Group, Shape)):
        sides = [side.members if isinstance(side, Group) else (side,) for side in (left, right)]
        return Group((*sides[0], *sides[1]))
    symbol = _OPERATORS.get(type(operation))
    return None if symbol is None else formula(symbol, left, right)


def _own_names(node: ast.FunctionDef | ast.Lambda) -> list[str]:
    return [argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]


def _only_raises(body: Sequence[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Raise)


def _unstarred(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.Starred) else node


def _dtype(node: ast.Attribute) -> DtypeName | None:
    """The dtype that `torch.float16` is."""
    is_torch = isinstance(node.value, ast.Name) and node.value.id == "torch"
    name = {"half": "float16", "float": "float32", "long": "int64", "int": "int32"}.get(node.attr, node.attr)
    return DtypeName(name) if is_torch and name in (*FLOATING, *INTEGER) else None
