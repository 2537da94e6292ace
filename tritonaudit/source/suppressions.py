"""`# tritonaudit: ignore[TAM101] reason`: comments that say which findings the author has judged already.

At the end of a line the comment speaks of the statement there, at the end of a `def` or `class` line of the whole
definition. On a line of its own it speaks of the next statement with all that belongs to it. `ignore-file` at the top
level speaks of the file. Without brackets, every rule is meant.
"""

from __future__ import annotations

import ast
import difflib
import io
import re
import tokenize
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from tritonaudit.finding import Span
from tritonaudit.rule import Rule
from tritonaudit.selection import ALL, meant_by, selected, unknown_selector
from tritonaudit.source.nodes import statements_in

_MARK = "tritonaudit:"
_WORDS = ("ignore", "ignore-file")
_DIRECTIVE = re.compile(r"#\s*tritonaudit:\s*(?P<body>.*?)\s*(?=#\s*tritonaudit:|$)")
_BODY = re.compile(r"(?P<word>[\w-]*)(?:\s*\[(?P<selectors>[^\[\]]*)\])?(?P<rest>.*)")
_FOREIGN = re.compile(
    r"#\s*(?:noqa|ruff:\s*noqa|flake8:\s*noqa|type:\s*ignore|pylint:\s*disable)\b[^#]*", re.IGNORECASE
)
"""What other tools read as a suppression."""
_ALMOST = re.compile(
    r"#\s*(?P<mark>[\w-]+(?: [\w-]+)?)\s*:?\s*(?P<word>ignore(?:-file)?)\s*\[(?P<selectors>[^\[\]]*)\]"
)
_LIKE_MARK = 0.8
"""How like our mark another has to be, to be ours misspelt."""
_CODE = re.compile(r"TA[A-Z]\d{0,3}|[tT][aA][a-zA-Z]\d{1,3}")  # `tab` is a word
_WHOLE_CODE = re.compile(r"TA[A-Z]\d{3}", re.IGNORECASE)


@dataclass(frozen=True)
class Directive:
    """One comment: each selector with the codes that it names, and the lines it speaks of, None for the file."""

    span: Span
    selectors: tuple[tuple[str, frozenset[str]], ...]
    reason: str
    lines: tuple[int, int] | None

    def covers(self, span: Span) -> bool:
        """Whether it speaks of the line on which the span starts; one with a cell stands outside the module."""
        return self.lines is None or (span.cell is None and self.lines[0] <= span.line <= self.lines[1])


@dataclass(frozen=True)
class Malformed:
    """A comment, or a part of it, that suppresses nothing because it cannot be understood."""

    span: Span
    message: str
    remedy: str = "write `# tritonaudit: ignore[TAM101] reason`"


@dataclass(frozen=True)
class Use:
    """One selector of a directive that suppressed something."""

    directive: Directive
    selector: str


@dataclass(frozen=True)
class Unused:
    """The selectors of a directive that suppressed nothing; `whole` when it has no others."""

    directive: Directive
    selectors: tuple[str, ...]
    whole: bool


@dataclass(frozen=True)
class Suppressions:
    """The directives of a file. They do not change: `suppress` says what it used, the caller gathers that."""

    directives: tuple[Directive, ...] = ()
    malformed: tuple[Malformed, ...] = ()

    def suppress(self, code: str, span: Span) -> frozenset[Use]:
        """The selectors that suppress a finding, judged by the line where it starts; none: it stands."""
        return frozenset(
            Use(directive, selector)
            for directive in self.directives
            if directive.covers(span)
            for selector, codes in directive.selectors
            if code in codes
        )

    def unused(self, uses: Collection[Use], ran: Collection[str]) -> Iterator[Unused]:
        """The selectors that are in no use, of those whose every rule is among the codes that `ran`."""
        for directive in self.directives:
            idle = tuple(
                selector
                for selector, codes in directive.selectors
                if Use(directive, selector) not in uses and codes.issubset(ran)
            )
            if idle:
                yield Unused(directive, idle, whole=len(idle) == len(directive.selectors))


def read_suppressions(text: str, tree: ast.Module, rules: Sequence[type[Rule]]) -> Suppressions:
    """The directives among the comments of `text`, whose tree is `tree`; selectors are those of `rules`."""

    def speaks(text: str) -> bool:
        return _MARK in text or next(_strange(text, rules), None) is not None

    if not speaks(text):
        return Suppressions()
    reader = _Reader(tree, rules)
    for comment in _comments(text, speaks):
        reader.read(comment)
    return Suppressions(tuple(reader.directives), tuple(reader.malformed))


@dataclass(frozen=True)
class _Comment:
    """A comment and the logical line that it stands in, None when it has a line of its own between statements."""

    text: str
    line: int
    column: int
    inside: tuple[int, int] | None


@dataclass(frozen=True)
class _Statement:
    """A statement: where its keyword is, and all its lines with decorators and body."""

    line: int
    column: int
    lines: tuple[int, int]
    is_definition: bool


@dataclass
class _Reader:
    tree: ast.Module
    rules: Sequence[type[Rule]]
    directives: list[Directive] = field(default_factory=list)
    malformed: list[Malformed] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._statements = [_statement(node) for node in statements_in(self.tree) if isinstance(node, ast.stmt)]

    def read(self, comment: _Comment) -> None:
        if _MARK not in comment.text:
            self.malformed += [
                Malformed(_span(comment, found), message) for found, message in _strange(comment.text, self.rules)
            ]
        for found in _DIRECTIVE.finditer(comment.text):
            column = comment.column + found.start()
            span = Span(comment.line, column, comment.line, column + len(found[0]))
            self._read_directive(comment, span, found["body"])

    def _read_directive(self, comment: _Comment, span: Span, body: str) -> None:
        parts = _BODY.match(body)
        assert parts is not None
        selectors = None if parts["selectors"] is None else _split(parts["selectors"])
        if message := self._fault(parts["word"], selectors, parts["rest"]) or self._misplaced(comment, parts["word"]):
            self.malformed.append(Malformed(span, message))
            return
        known = []
        for selector in (ALL,) if selectors is None else selectors:
            if message := unknown_selector(selector, self.rules):
                self.malformed.append(_unknown(span, selector, message, self.rules))
            else:
                known.append((selector, selected(selector, self.rules)))
        if known:
            lines = None if parts["word"] == "ignore-file" else self._lines(comment)
            self.directives.append(Directive(span, tuple(known), parts["rest"].strip(), lines))

    def _fault(self, word: str, selectors: Sequence[str] | None, rest: str) -> str | None:
        """What is wrong with the wording."""
        if word not in _WORDS:
            close = difflib.get_close_matches(word, _WORDS, 1)
            hint = f"; did you mean {close[0]!r}?" if close else f"; there are {' and '.join(map(repr, _WORDS))}"
            return f"{word!r} is not a directive{hint}" if word else f"the directive is missing{hint}"
        if selectors is not None:
            return None if selectors else f"the brackets are empty; name the rules, or write {word!r} for every rule"
        if rest.lstrip().startswith("["):
            return "the bracket is not closed"
        if rest and not rest[0].isspace():
            return f"{rest[0]!r} after {word!r}; rules go in brackets, as in '{word}[TAM101]', then the reason"
        first = re.match(r"\s*([\w-]+)", rest)
        if first and (_CODE.fullmatch(first[1]) or any(first[1].lower() == rule.name for rule in self.rules)):
            return f"rules go in brackets: '{word}[{first[1]}]'; without them it would mean every rule"
        return None

    def _misplaced(self, comment: _Comment, word: str) -> str | None:
        if word == "ignore-file":
            at_top = comment.inside is None and comment.column == 1
            return None if at_top else "'ignore-file' goes on a line of its own at the top level"
        return None if comment.inside or self._next(comment) else "no statement follows that it could apply to"

    def _lines(self, comment: _Comment) -> tuple[int, int]:
        if comment.inside is None:
            return _hull(self._next(comment))
        if comment.line in comment.inside:
            starting = [each for each in self._statements if each.is_definition and each.line == comment.inside[0]]
            if starting:
                return _hull(starting)
        return comment.inside

    def _next(self, comment: _Comment) -> list[_Statement]:
        """The statement after a comment, or all of them where one line holds several; none after a block's last."""
        first = min((each.line for each in self._statements if each.line > comment.line), default=None)
        following = [each for each in self._statements if each.line == first]
        return following if any(each.column >= comment.column for each in following) else []


def _unknown(span: Span, selector: str, message: str, rules: Sequence[type[Rule]]) -> Malformed:
    """A selector that names no rule: one that is a whole code may be of a package that is not installed here."""
    if not _WHOLE_CODE.fullmatch(selector):
        return Malformed(span, message)
    message = f"no installed rule has the code {selector!r}{meant_by(selector, rules)}"
    return Malformed(span, message, "correct the code, or install the package that has the rule where tritonaudit runs")


def _strange(text: str, rules: Sequence[type[Rule]]) -> Iterator[tuple[re.Match[str], str]]:
    """What was meant for us and is not read, and why: it names our rules to another tool, or misspells the mark."""
    ours = {name for rule in rules for name in (rule.code, rule.name)}
    for found in _FOREIGN.finditer(text):
        if named := [word for word in re.findall(r"[\w-]+", found[0]) if word in ours]:
            yield (
                found,
                f"this is another tool's comment; write `# {_MARK} ignore[{', '.join(named)}]`, then the reason",
            )
    for found in _ALMOST.finditer(text):
        mark = re.sub(r"[^a-z]", "", found["mark"].lower())
        if difflib.get_close_matches(mark, [_MARK.rstrip(":")], 1, _LIKE_MARK):
            yield found, f"this is not read; did you mean `# {_MARK} {found['word']}[{found['selectors']}]`?"


def _span(comment: _Comment, found: re.Match[str]) -> Span:
    column = comment.column + found.start()
    return Span(comment.line, column, comment.line, column + len(found[0].rstrip()))


def _comments(text: str, speaks: Callable[[str], bool]) -> Iterator[_Comment]:
    """The comments that may hold a directive; a string is no comment."""
    waiting: list[tokenize.TokenInfo] = []
    start: int | None = None
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            if not speaks(token.string):
                continue
            if start is None:
                yield _comment(token, None)
            else:
                waiting.append(token)
        elif token.type == tokenize.NEWLINE and start is not None:
            for comment in waiting:
                yield _comment(comment, (start, token.start[0]))
            waiting, start = [], None
        elif start is None and token.type not in _NO_CODE:
            start = token.start[0]


_NO_CODE = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


def _comment(token: tokenize.TokenInfo, inside: tuple[int, int] | None) -> _Comment:
    return _Comment(token.string, token.start[0], token.start[1] + 1, inside)


def _statement(node: ast.stmt) -> _Statement:
    is_definition = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    first = min((decorator.lineno for decorator in getattr(node, "decorator_list", ())), default=node.lineno)
    return _Statement(node.lineno, node.col_offset + 1, (first, node.end_lineno or node.lineno), is_definition)


def _hull(statements: Iterable[_Statement]) -> tuple[int, int]:
    firsts, lasts = zip(*(statement.lines for statement in statements), strict=True)
    return min(firsts), max(lasts)


def _split(selectors: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(stripped for part in selectors.split(",") if (stripped := part.strip())))
