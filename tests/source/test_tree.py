"""The tree of one function: where its nodes stand in the file, and what is too deep to be parsed."""

from __future__ import annotations

import tokenize
from collections.abc import Callable, Iterator
from typing import TypeVar

import libcst as cst
import pytest

from tritonaudit.finding import Span
from tritonaudit.source.outline import Module, Unparsable, outline
from tritonaudit.source.tree import FunctionTree, TooDeep

IMPORTS = "import triton\nimport triton.language as tl\n"

PLAIN = """
@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    mask = (cols < n)  &  (cols >= 0)
    x = tl.load(x_ptr + cols, mask=mask, other=0.0)
    tl.store(x_ptr + cols, ((x)) * 2, mask=mask)
"""
DECORATED = """
@triton.autotune(
    configs=[triton.Config({"BLOCK": 64})],
    key=["n"],
)
# about the kernel
@triton.jit
def kernel(
    x_ptr,  # the data
    n,
    BLOCK: tl.constexpr,
) -> None:
    '''What it does,
    in two lines.'''

    cols = tl.arange(
        0,
        BLOCK,
    )  # lanes
    for start in range(0, n, BLOCK):
        x = (
            tl.load(x_ptr + start + cols)
            + tl.load(x_ptr
                      + cols)
        ); tl.store(x_ptr + cols, x)
    if n > 1 and \\
            n < 5:
        pass
    elif n == 7: x = -x
    else:
        x = [x for _ in (1, 2)]
"""
NON_ASCII = """
@triton.jit
def größe(ä_ptr, 数: tl.constexpr):
    tl.static_print("ß😀", ä_ptr); 和 = tl.sum(tl.load(ä_ptr + tl.arange(0, 数)), axis=0)  # ünïcödé
    tl.store(ä_ptr, 和)
"""
INDENTED = "\nclass Ops:\n    def make(self):\n" + "\n".join(
    f"        {line}" if line else "" for line in PLAIN.strip().split("\n")
)
TABBED = INDENTED.replace("    ", "\t")
ONE_LINE = "\n@triton.jit\ndef kernel(x): tl.store(x, 1); tl.store(x, 2)\n"
LAST_LINE_OPEN = "\n@triton.jit\ndef kernel(x):\n    tl.store(x, 1)"


def first(text: str) -> tuple[Module, FunctionTree]:
    module = outline("m.py", IMPORTS + text)
    return module, FunctionTree(module, module.jit[0])


Node = TypeVar("Node", bound=cst.CSTNode)


def nodes(root: cst.CSTNode, kind: type[Node]) -> Iterator[Node]:
    """The nodes of that type, in the order of the text; a visitor of LibCST's would recurse."""
    stack = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, kind):
            yield node
        stack.extend(reversed(node.children))


def covered(module: Module, span: Span) -> str:
    lines = module.lines[span.line - 1 : span.end_line]
    lines[-1] = lines[-1][: span.end_column - 1]
    lines[0] = lines[0][span.column - 1 :]
    return "\n".join(lines)


@pytest.mark.parametrize(
    "text",
    [PLAIN, DECORATED, NON_ASCII, INDENTED, TABBED, ONE_LINE, LAST_LINE_OPEN],
    ids=["plain", "decorated", "non-ascii", "indented", "tabs", "one line", "no newline at the end"],
)
def test_a_span_covers_the_text_of_its_node(text: str) -> None:
    module, tree = first(text)
    expressions = list(nodes(tree.function, cst.BaseExpression))
    assert len(expressions) > 5
    for node in expressions:
        bare = node.with_changes(lpar=(), rpar=())  # parentheses belong to the code and not to the position
        assert covered(module, tree.span(node)).split() == tree.code(bare).split()


def test_a_span_leaves_out_comments_and_whitespace_around_a_statement() -> None:
    module, tree = first(DECORATED)
    (loop,) = nodes(tree.function, cst.For)
    shown = covered(module, tree.span(loop))
    assert shown.startswith("for start in")
    assert shown.rstrip().endswith("x)")
    (assign, *_) = nodes(tree.function, cst.Assign)
    assert covered(module, tree.span(assign)) == "cols = tl.arange(\n        0,\n        BLOCK,\n    )"


def test_columns_count_code_points() -> None:
    _, tree = first(NON_ASCII)
    (call,) = (node for node in nodes(tree.function, cst.Call) if tree.code(node.func) == "tl.sum")
    assert tree.span(call) == Span(6, 39, 6, 87)


def test_every_kernel_of_a_file_has_its_own_place() -> None:
    module = outline("m.py", f"{IMPORTS}{PLAIN}\n\n{NON_ASCII}")
    for function in module.jit:
        tree = FunctionTree(module, function)
        assert covered(module, tree.span(tree.function.name)) == function.name


def statement(expression: str) -> str:
    return f"\n@triton.jit\ndef kernel(x):\n    y = {expression}\n    tl.store(x, y)\n"


@pytest.mark.parametrize(
    "expression",
    [
        "x" + "[0]" * 3000,
        "x" + " + x" * 2500,
        "x" + " and x" * 1500,
        "x" + ".T" * 4500,
        "'a' " * 6000,
        "-" * 9000 + "x",
        "\\\n".join(["x +"] * 4000 + [" x"]),
    ],
    ids=["subscripts", "sum", "and", "attributes", "strings", "signs", "sum over lines"],
)
def test_what_would_overflow_the_parser_is_too_deep(expression: str) -> None:
    with pytest.raises((Unparsable, TooDeep, RecursionError)):
        first(statement(expression))


@pytest.mark.parametrize("expression", ["x" + "[0]" * 100, "x" + " + x" * 150, "(" * 90 + "x" + ")" * 90, "'a' " * 400])
def test_what_people_write_is_not(expression: str) -> None:
    module, tree = first(statement(expression))
    (assign,) = nodes(tree.function, cst.Assign)
    assert covered(module, tree.span(assign)) == f"y = {expression}".rstrip()


def test_a_long_function_of_short_statements_is_not() -> None:
    _, tree = first("\n@triton.jit\ndef kernel(x):\n" + "    tl.store(x, 1)\n" * 5000)
    assert len(tree.function.body.body) == 5000


def test_a_long_comment_is_not() -> None:
    lines = [f"    if x:  # {'a' * 21000}", "        pass", f"    y = x  # {'b ' * 12000}", *["    # why"] * 4000]
    _, tree = first(
        "\n@triton.jit\ndef kernel(x):\n"
        + "\n".join([*lines, "    for i in x:", *lines[-1:] * 4000, "        pass", ""])
    )
    assert len(tree.function.body.body) == 3


def test_a_line_is_measured_once_however_many_statements_stand_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[int] = []
    generate = tokenize.generate_tokens

    def counting(readline: Callable[[], str]) -> Iterator[tokenize.TokenInfo]:
        measured.append(1)
        return generate(readline)

    monkeypatch.setattr(tokenize, "generate_tokens", counting)
    with pytest.raises(TooDeep):
        first("\n@triton.jit\ndef kernel(x):\n    " + "x += 1; " * 5000 + "\n")
    assert len(measured) <= 3


def test_blocks_in_blocks_count_as_deep() -> None:
    body = "".join(f"{' ' * (depth + 1)}if x:\n" for depth in range(95)) + " " * 97 + "pass\n"
    _, tree = first("\n@triton.jit\ndef kernel(x):\n" + body)
    assert len(list(nodes(tree.function, cst.If))) == 95
