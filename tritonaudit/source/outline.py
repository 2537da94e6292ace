"""What a file says at a glance, read with Python's own parser: names, jit functions, where they stand.

Only the functions that matter are parsed again with LibCST, since that costs ten times as much.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from tritonaudit.finding import Span
from tritonaudit.source.nodes import Nodes, spans, statements_in

# A file without these holds no kernel: every way to make one spells both words.
_PREFILTER = (re.compile(rb"triton|\btl\b"), b"jit")


def may_hold_kernels(data: bytes) -> bool:
    """The prefilter: a search in the raw bytes, before anything is parsed; encodings of wide characters count, too."""
    if b"\0" in data:
        data = data.replace(b"\0", b"")
    return _PREFILTER[1] in data and _PREFILTER[0].search(data) is not None


@dataclass(frozen=True)
class Parameter:
    """A parameter of a jit function, as written. One that is `wide` is annotated as an integer of 64 bits."""

    name: str
    constexpr: bool
    default: ast.expr | None
    wide: bool = False


Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_Search = tuple["str | re.Pattern[str]", "ast.stmt | None"]


@dataclass(frozen=True, eq=False)
class JitFunction:
    """A function that Triton compiles, with its parameters.

    `scope` is the function or class whose name it is; None at the module's own level.
    """

    name: str
    qualname: str
    parameters: tuple[Parameter, ...]
    node: ast.FunctionDef
    decorators: tuple[ast.expr, ...]
    scope: Scope | None = None

    @property
    def first_line(self) -> int:
        """The first of its own lines, decorators included."""
        return first_line(self.node)

    @property
    def last_line(self) -> int:
        return self.node.end_lineno or self.node.lineno

    @cached_property
    def nodes(self) -> Nodes:
        """The nodes of its syntax tree, decorators included."""
        return Nodes(self.node)

    @property
    def docstring(self) -> str | None:
        return ast.get_docstring(self.node)


def first_line(node: ast.stmt) -> int:
    """The first line of a statement, with its decorators."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


@dataclass(eq=False)
class Module:
    """One file. `names` maps a name of the file to what it is elsewhere, dotted: `tl` to `triton.language`.

    `embedded` are the lines of strings that hold kernels, `gluon` the kernels in Triton's other language, by line.
    It changes only where an edit of its text is followed (`source/resumed.py`).
    """

    path: str
    text: str
    tree: ast.Module
    names: dict[str, str]
    jit: tuple[JitFunction, ...]
    constants: dict[str, ast.expr]
    embedded: tuple[int, ...] = ()
    gluon: tuple[tuple[str, int], ...] = ()
    lines: list[str] = field(default_factory=list)
    _walked: dict[int, Nodes] = field(default_factory=dict, repr=False)
    _said: dict[_Search, bool] = field(default_factory=dict, repr=False)

    def nodes(self, root: ast.AST) -> Nodes:
        """The nodes below a node of the file's tree, which is walked once."""
        if id(root) not in self._walked:
            self._walked[id(root)] = Nodes(root)
        return self._walked[id(root)]

    def says(self, pattern: str | re.Pattern[str], inside: ast.stmt | None = None) -> bool:
        """Whether the words stand in the text, or in the lines of a statement, comments included.

        What was asked is kept, so that an edit which would change no answer can be told from others.
        """
        search = (pattern, inside)
        if search not in self._said:
            self._said[search] = self._search(search)
        return self._said[search]

    def _search(self, search: _Search) -> bool:
        pattern, inside = search
        text = self.text if inside is None else "\n".join(self.lines[inside.lineno - 1 : inside.end_lineno])
        return pattern in text if isinstance(pattern, str) else pattern.search(text) is not None

    def says_the_same(self) -> bool:
        """Whether the text, which has been edited, answers all that was asked of it as it did before."""
        return all(self._search(search) is answer for search, answer in self._said.items())

    def follow(self, newer: Module, jit: tuple[JitFunction, ...], gone: Iterable[ast.AST]) -> None:
        """Be the newer text, to which the tree has been brought; what was walked below nodes that are `gone` is not
        so any more.
        """
        self.text, self.lines, self.jit = newer.text, newer.lines, jit
        self.embedded, self.gluon = newer.embedded, newer.gluon
        for node in gone:
            self._walked.pop(id(node), None)

    def forget_what_it_said(self) -> None:
        self._said.clear()

    @cached_property
    def has_inner_kernels(self) -> bool:
        """Whether a jit function stands in another function or in a class."""
        return any(function.scope is not None for function in self.jit)

    def text_of(self, function: JitFunction) -> str:
        """The lines of a jit function, its decorators' too."""
        return "\n".join(self.lines[function.first_line - 1 : function.last_line])

    def origin(self, dotted: str) -> str:
        """What `dotted`, as spelled in the file, is: `tl.load` gives `triton.language.load`."""
        head, _, rest = dotted.partition(".")
        known = self.names.get(head, head)
        return f"{known}.{rest}" if rest else known

    def origin_of(self, node: ast.expr) -> str:
        """The same of a chain of attributes; `?` for any other expression."""
        return self.origin(dotted_name(node) or "?")

    def function(self, name: str, line: int | None = None) -> JitFunction | None:
        """The jit function that a name stands for at a line, or else in other files; the last one of several.

        The innermost function around the line that defines one comes first, as Python has it.
        """
        seen = [jit for jit in self.jit if jit.name == name and _is_seen(jit.scope, line)]
        if not seen:
            return None
        innermost = max(seen, key=lambda jit: 0 if jit.scope is None else jit.scope.lineno).scope
        defined = [jit for jit in seen if jit.scope is innermost]
        before = [jit for jit in defined if innermost is not None and line is not None and jit.first_line < line]
        return (before or defined)[-1]


def _is_seen(scope: Scope | None, line: int | None) -> bool:
    """Whether a name of the scope is known at the line; a class's names are not, in its methods."""
    if scope is None or isinstance(scope, ast.ClassDef):
        return scope is None
    return line is not None and spans(scope, line)


class Unparsable(Exception):
    """The running Python cannot parse the file."""

    def __init__(self, message: str, line: int | None, column: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


@lru_cache(maxsize=32)
def outline(path: str, text: str) -> Module:
    """Parse a file. Raises Unparsable with the line."""
    return outline_uncached(path, text)


def outline_uncached(path: str, text: str) -> Module:
    """The same as a module that nobody else has, and which edits may change. Raises Unparsable."""
    tree = parse(text)
    try:
        return _outline(path, text, tree)
    except RecursionError:
        raise Unparsable("nested too deeply to be analysed", None) from None


def _outline(path: str, text: str, tree: ast.Module) -> Module:
    names, constants = _names(tree, _NESTED_IMPORT.search(text) is not None)
    lines = text.split("\n")
    resolve = _Resolver(names, lines)
    walked = {id(tree): Nodes(tree)} if _JIT_CALL.search(text) else {}
    wrapped = _wrapped_functions(walked[id(tree)], resolve) if walked else set()
    jit = tuple(_jit_functions(tree, resolve, wrapped))
    # A walk over everything is worth it only where more kernels are spelled than were found.
    spelled = len(_JIT_SPELLED.findall(text))
    embedded = tuple(_embedded(tree)) if spelled > len(jit) else ()
    gluon = tuple(_gluon_functions(tree, resolve)) if "gluon" in text else ()
    return Module(path, text, tree, names, jit, constants, embedded, gluon, lines, walked)


_NESTED_IMPORT = re.compile(r"^[ \t]+(?:from|import)\s", re.MULTILINE)
_JIT_CALL = re.compile(r"jit\W{0,3}\(")
_JIT_SPELLED = re.compile(r"triton\.jit\b")


def parse(text: str) -> ast.Module:
    """Python's own syntax tree. Raises Unparsable, also for what is nested too deeply."""
    try:
        return ast.parse(text)
    except SyntaxError as error:
        raise Unparsable(error.msg or "invalid syntax", error.lineno, error.offset) from None
    except (RecursionError, MemoryError):
        raise Unparsable("nested too deeply for Python's parser", None) from None
    except ValueError as error:
        raise Unparsable(str(error), None) from None


def dotted_name(node: ast.expr) -> str | None:
    """`a.b.c` of a chain of attributes."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    parts.append(node.id)
    return ".".join(reversed(parts))


def span_of(node: ast.expr | ast.stmt | ast.alias | ast.keyword | ast.arg, lines: list[str]) -> Span:
    """Where an `ast` node stands; its columns count bytes, ours code points."""

    def column(line: int, offset: int) -> int:
        return len(lines[line - 1].encode("utf-8", "replace")[:offset].decode("utf-8", "replace")) + 1

    end_line = node.end_lineno or node.lineno
    end_offset = node.end_col_offset if node.end_col_offset is not None else node.col_offset
    return Span(node.lineno, column(node.lineno, node.col_offset), end_line, column(end_line, end_offset))


def _names(tree: ast.Module, nested: bool) -> tuple[dict[str, str], dict[str, ast.expr]]:
    names: dict[str, str] = {}
    constants: dict[str, ast.expr] = {}
    for node in _statements(tree.body, nested):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    names[alias.asname] = alias.name
                else:
                    names.setdefault(alias.name.partition(".")[0], alias.name.partition(".")[0])
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            for alias in node.names:
                names[alias.asname or alias.name] = _reexported(module, alias.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            _bind(node, names, constants)
    return names, constants


def _reexported(module: str, name: str) -> str:
    # Projects import triton through modules of their own: `from vllm.triton_utils import tl, triton`.
    if name == "tl":
        return "triton.language"
    if name == "triton":
        return "triton"
    return f"{module}.{name}" if module.strip(".") else f"{module}{name}"


def _bind(node: ast.Assign | ast.AnnAssign, names: dict[str, str], constants: dict[str, ast.expr]) -> None:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    if node.value is None or len(targets) != 1 or not isinstance(targets[0], ast.Name):
        return
    name = targets[0].id
    if (dotted := dotted_name(node.value)) is not None and "." in dotted:
        head, _, rest = dotted.partition(".")
        names.setdefault(name, f"{names.get(head, head)}.{rest}")
    else:
        constants[name] = node.value


def _statements(body: list[ast.stmt], nested: bool) -> Iterator[ast.stmt]:
    """The statements of a body and of the blocks in it; of other scopes their imports, where there are any."""
    for node in body:
        yield node
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if nested:
                yield from (inner for inner in statements_in(node) if isinstance(inner, (ast.Import, ast.ImportFrom)))
            continue
        for name in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(node, name, None) or [], nested)
        for handler in getattr(node, "handlers", None) or []:
            yield from _statements(handler.body, nested)


class _Resolver:
    """Tells whether an expression is Triton's jit decorator."""

    def __init__(self, names: dict[str, str], lines: list[str]) -> None:
        self._names = names
        self._lines = lines
        language = sorted(name for name, origin in names.items() if origin.startswith("triton.language"))
        self._language = re.compile(rf"\b(?:{'|'.join(map(re.escape, language))})\b") if language else None

    def is_kernel(self, node: ast.FunctionDef) -> bool:
        """Whether a decorator makes it a kernel: Triton's own jit, or a project's on a body in Triton's language."""
        found = [self.is_jit(decorator) for decorator in node.decorator_list]
        if True in found:
            return True
        return (
            None in found
            and self._language is not None
            and any(self._language.search(line) for line in self._lines[node.lineno - 1 : node.end_lineno])
        )

    def is_jit(self, node: ast.expr) -> bool | None:
        """Whether it is Triton's jit; None for a jit of another name, which may wrap it."""
        if isinstance(node, ast.Call):
            is_partial = (dotted_name(node.func) or "").rpartition(".")[2] == "partial" and bool(node.args)
            node = node.args[0] if is_partial else node.func
        dotted = dotted_name(node)
        if dotted is None:
            return False
        head, _, rest = dotted.partition(".")
        origin = self._names.get(head, head) + (f".{rest}" if rest else "")
        if not origin.endswith("jit"):
            return False
        if origin.startswith("triton.experimental"):
            return False
        if origin in ("triton.jit", "triton.runtime.jit", "triton.runtime.jit.jit"):
            return True
        return None  # a re-export or a wrapper of the project's own, or another compiler

    def is_gluon(self, node: ast.expr) -> bool:
        """Whether it is the decorator of Gluon's kernels."""
        dotted = dotted_name(node.func if isinstance(node, ast.Call) else node) or ""
        head, _, rest = dotted.partition(".")
        origin = self._names.get(head, head) + (f".{rest}" if rest else "")
        return origin.startswith("triton.experimental.gluon") and origin.endswith("jit")


def _wrapped_functions(nodes: Nodes, resolve: _Resolver) -> set[str]:
    """Functions made kernels by a call: `kernel = triton.jit(fn)`."""
    found: set[str] = set()
    for node in nodes.of(ast.Call):
        if resolve.is_jit(node.func):
            given = [*node.args[:1], *(keyword.value for keyword in node.keywords if keyword.arg == "fn")]
            found.update(argument.id for argument in given if isinstance(argument, ast.Name))
    return found


def _jit_functions(tree: ast.Module, resolve: _Resolver, wrapped: set[str]) -> Iterator[JitFunction]:
    stack: list[tuple[ast.AST, str, Scope | None]] = [(tree, "", None)]
    found: list[JitFunction] = []
    while stack:
        parent, prefix, scope = stack.pop()
        for node in _blocks(parent):
            if isinstance(node, ast.FunctionDef) and (node.name in wrapped or resolve.is_kernel(node)):
                found.append(_jit_function(node, prefix, scope))
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                stack.append((node, f"{prefix}{node.name}.", node))
            elif isinstance(node, (ast.stmt, ast.excepthandler, ast.match_case)):
                stack.append((node, prefix, scope))
    yield from sorted(found, key=lambda function: function.first_line)


def _gluon_functions(tree: ast.Module, resolve: _Resolver) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(map(resolve.is_gluon, node.decorator_list)):
            yield node.name, node.lineno


def _blocks(parent: ast.AST) -> Iterator[ast.AST]:
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        yield from getattr(parent, name, None) or ()


def _jit_function(node: ast.FunctionDef, prefix: str, scope: Scope | None) -> JitFunction:
    parameters, decorators = tuple(_parameters(node.args)), tuple(node.decorator_list)
    return JitFunction(node.name, prefix + node.name, parameters, node, decorators, scope)


def _parameters(args: ast.arguments) -> Iterator[Parameter]:
    positional = [*args.posonlyargs, *args.args]
    defaults: list[ast.expr | None] = [*([None] * (len(positional) - len(args.defaults))), *args.defaults]
    for arg, default in zip((*positional, *args.kwonlyargs), (*defaults, *args.kw_defaults), strict=True):
        # Triton looks for the word in the annotation's text, strings and aliases included.
        text = "" if arg.annotation is None else ast.unparse(arg.annotation)
        yield Parameter(arg.arg, "constexpr" in text, default, "int64" in text or "i64" in text)


def _embedded(tree: ast.Module) -> Iterator[int]:
    """Lines of strings that hold kernels: templates, generated code; what stands as a statement explains something."""
    explaining = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or node in explaining:
            continue
        if "triton.jit" in node.value and "def " in node.value:
            yield node.lineno
