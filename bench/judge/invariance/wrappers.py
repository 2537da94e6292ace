"""`printed`, `parameter`, `unrelated`, `split`, `keywords`: edits of functions that launch kernels, and of launches."""

from __future__ import annotations

import ast
import tokenize
from collections.abc import Iterator, Sequence

from bench.judge.invariance.changes import Change, Edit, New, inserted
from bench.judge.invariance.scopes import loaded, parameters, sees_names, stored
from bench.judge.invariance.source import Function, Source, code_body
from tritonaudit.source.outline import dotted_name

PRINTED = 'print("100 %% of %d" % 3)'
_KNOWN_DECORATORS = frozenset(("jit", "autotune", "heuristics", "libentry", "libtuner"))


def printed(source: Source) -> Edit:
    """A line that is printed, with a `%` in it, in wrappers."""
    return Edit(tuple(change for one in source.wrappers for change in _before_code(source, one, (PRINTED,))))


def parameter(source: Source) -> Edit:
    """A parameter of wrappers that nothing needs, and that is only looked at."""
    if "padding_idx" in source.words:
        return Edit()
    line = f"{source.fresh('unused')} = padding_idx"
    plain = (one for one in source.wrappers if one in source.tree.body and not one.decorator_list)
    changes: list[Change] = []
    for wrapper in plain:
        added = list(_with_parameter(source, wrapper, "padding_idx=None"))
        changes += [*added, *(_before_code(source, wrapper, (line,)) if added else ())]
    return Edit(tuple(changes))


def unrelated(source: Source) -> Edit:
    """Statements that nothing needs, in wrappers and kernels."""
    unused = source.fresh("unused")
    lines = dict.fromkeys(source.wrappers, f"{unused} = 1 & 2")
    lines |= {kernel.node: f"{unused} = 0" for kernel in source.kernels}
    return Edit(tuple(change for one, line in lines.items() for change in _before_code(source, one, (line,))))


def split(source: Source) -> Edit:
    """What a wrapper does from its first launch on is done by a second function, which gets what it needs."""
    return Edit(tuple(change for wrapper in source.wrappers for change in _split(source, wrapper)))


def keywords(source: Source) -> Edit:
    """Arguments of launches, and of calls of jit functions, by keyword."""
    changes: list[Change] = []
    for call in (node for node in source.nodes if isinstance(node, ast.Call)):
        name = source.launched(call)
        if name is not None and _takes_keywords(source, name) and not _is_in_text(source, call):
            names = [parameter.name for parameter in source.plain_kernels[name].parameters]
            if len(call.args) <= len(names) and not any(isinstance(one, ast.Starred) for one in call.args):
                for parameter, argument in zip(names, call.args, strict=False):
                    changes.append(inserted(_argument_start(source, call, argument), f"{parameter}="))
    return Edit(tuple(changes))


def _before_code(source: Source, function: Function, lines: Sequence[str]) -> Iterator[Change]:
    body = code_body(function)
    if body and body[0].lineno > function.lineno and _starts_line(source, body[0]):
        start = source.lines_of(body[0])[0]
        indent = source.indent(body[0])
        yield inserted(start, "".join(f"{indent}{line}\n" for line in lines))


def _starts_line(source: Source, statement: ast.stmt) -> bool:
    begin = source.starts[statement.lineno - 1]
    return not source.text[begin : source.span(statement)[0]].strip(" \t@")


def _with_parameter(source: Source, function: Function, text: str) -> Iterator[Change]:
    """The parameter as the last one, after the last token before the bracket that closes them."""
    if function.args.kwarg is not None:
        return
    start = source.starts[function.lineno - 1]
    lines = iter(source.text[start:].splitlines(keepends=True))
    depth = 0
    last: tokenize.TokenInfo | None = None
    for token in tokenize.generate_tokens(lambda: next(lines, "")):
        if token.string == ")" and token.type == tokenize.OP and depth == 1 and last is not None:
            at = source.starts[function.lineno + last.end[0] - 2] + last.end[1]
            yield inserted(at, text if last.string in ("(", ",") else f", {text}")
            return
        depth += (token.string in ("(", "[", "{")) - (token.string in (")", "]", "}")) if _is_sign(token) else 0
        if token.type not in (tokenize.NL, tokenize.COMMENT):
            last = token


def _is_sign(token: tokenize.TokenInfo) -> bool:
    return token.type == tokenize.OP


# -- split -------------------------------------------------------------------------------------------------------


def _split(source: Source, wrapper: ast.FunctionDef) -> Iterator[Change]:
    parent = source.parents[wrapper]
    is_method = isinstance(parent, ast.ClassDef) and parent in source.tree.body
    if not (is_method or wrapper in source.tree.body) or not _may_be_split(source, wrapper):
        return
    body = code_body(wrapper)
    first = next((number for number, one in enumerate(body) if source.launches_in(one)), 0)
    if first == 0 or not _starts_line(source, body[first]):
        return
    needed = _needed(wrapper, body[:first], body[first:])
    if needed is None:
        return
    name = source.fresh(f"{wrapper.name.strip('_')}_launched")
    indent = source.indent(wrapper)
    called = f"{parent.name}.{name}" if isinstance(parent, ast.ClassDef) else name
    header = f"{indent}@staticmethod\n" if is_method else ""
    given = ", ".join(needed)
    text = f"{source.indent(body[first])}return {called}({given})\n\n\n{header}{indent}def {name}({given}):\n"
    start = source.lines_of(body[first])[0]
    yield Change(start, start, (New(text, start, start),))


def _may_be_split(source: Source, wrapper: ast.FunctionDef) -> bool:
    own = (node for statement in wrapper.body for node in ast.walk(statement))
    stops = (ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal)
    has_kernel = any(kernel.scope is wrapper for kernel in source.kernels)
    return not has_kernel and not sees_names(wrapper) and not any(isinstance(node, stops) for node in own)


def _needed(wrapper: ast.FunctionDef, head: Sequence[ast.stmt], tail: Sequence[ast.stmt]) -> list[str] | None:
    """The local names that the tail asks the head for; None where one may have no value, or one that changes."""
    given = [one.arg for one in parameters(wrapper)]
    bound = _bound_by(head) | set(given)
    maybe = {name for statement in head for name in stored(statement)} | bound
    read = {name for statement in tail for name in loaded(statement) | _updated(statement)}
    set_again = {name for statement in tail for name in stored(statement)}
    if (read & maybe) - bound or _captured(head) & set_again or any(_deletes(statement) for statement in head):
        return None
    return sorted(read & bound, key=lambda name: (name not in given, given.index(name) if name in given else 0, name))


def _bound_by(statements: Sequence[ast.stmt]) -> set[str]:
    """The names that have a value whenever the statements have run through."""
    found: set[str] = set()
    for statement in statements:
        is_given = isinstance(statement, (ast.Assign, ast.AugAssign))
        if is_given or (isinstance(statement, ast.AnnAssign) and statement.value is not None):
            found |= _names_stored(statement)
        elif isinstance(statement, ast.If):
            branches = [_bound_by(block) for block in (statement.body, statement.orelse) if not _leaves(block)]
            found |= set.intersection(*branches) if branches else set()
        elif isinstance(statement, ast.With):
            found |= _bound_by(statement.body)
        elif isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            found.add(statement.name)
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            found |= stored(statement)
    return found


def _names_stored(statement: ast.stmt) -> set[str]:
    """The names an assignment binds in any case: not those of comprehensions and walruses."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]  # type: ignore[attr-defined]
    return {
        node.id
        for target in targets
        for node in ast.walk(target)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def _leaves(block: Sequence[ast.stmt]) -> bool:
    return bool(block) and isinstance(block[-1], (ast.Return, ast.Raise))


def _updated(statement: ast.stmt) -> set[str]:
    """The names that `+=` reads, and those that `del` needs."""
    found = {
        node.target.id
        for node in ast.walk(statement)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
    }
    return found | {
        node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del)
    }


def _captured(head: Sequence[ast.stmt]) -> set[str]:
    """The names that functions made in the head read when they are called."""
    inner = (ast.Lambda, ast.FunctionDef, ast.GeneratorExp)
    return {
        name for statement in head for node in ast.walk(statement) if isinstance(node, inner) for name in loaded(node)
    }


def _deletes(statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.Delete) for node in ast.walk(statement))


# -- keywords ----------------------------------------------------------------------------------------------------


def _takes_keywords(source: Source, name: str) -> bool:
    kernel = source.plain_kernels[name]
    arguments = kernel.node.args
    calls = [one.func if isinstance(one, ast.Call) else one for one in kernel.decorators]
    known = [(dotted_name(call) or "").rpartition(".")[2] in _KNOWN_DECORATORS for call in calls]
    return all(known) and not arguments.posonlyargs and arguments.vararg is None


def _is_in_text(source: Source, node: ast.AST) -> bool:
    """Whether it stands in a formatted string, whose parts have no places of their own before Python 3.12."""
    while node in source.parents:
        node = source.parents[node]
        if isinstance(node, ast.JoinedStr):
            return True
    return False


def _argument_start(source: Source, call: ast.Call, argument: ast.expr) -> int:
    """Where an argument starts, the brackets around it included."""
    opening = source.text.index("(", source.span(call.func)[1])
    place = start = source.span(argument)[0]
    while start - 1 > opening and source.text[start - 1] in " \t\n(":
        start -= 1
        if source.text[start] == "(":
            place = start
    return place
