"""An edit is followed: what it leaves alone keeps its nodes, at the places where they stand now."""

from __future__ import annotations

import ast

import pytest

from tritonaudit.source.outline import Module, outline_uncached
from tritonaudit.source.resumed import Edited, edited

TEXT = '''\
import triton
import triton.language as tl

N = 4


@triton.jit
def first(x_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x_ptr + at, 1.0)


def wrapper(x):
    """Call it."""
    n = x.numel()
    first[(n,)](
        x,
        BLOCK=64,
    )
    return x


class Layer:
    def forward(self, x):
        y = wrapper(x)
        return y


@triton.jit
def second(x_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x_ptr + at, 2.0)
'''


def after(old: str, new: str) -> tuple[Module, Edited | None]:
    assert TEXT.count(old) >= 1
    module = outline_uncached("file.py", TEXT)
    return module, edited(module, outline_uncached("file.py", TEXT.replace(old, new, 1)))


def places(tree: ast.AST) -> list[tuple[str, tuple[int, int, int, int] | None]]:
    """Of each node its kind and where it stands."""
    return [
        (
            type(node).__name__,
            (node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)
            if isinstance(node, (ast.stmt, ast.expr, ast.arg, ast.keyword))
            else None,
        )
        for node in ast.walk(tree)
    ]


EDITS = {
    "a line above": ("N = 4\n", "\n\nN = 4\n"),
    "a kernel": ("1.0)", "1.0)\n    tl.store(x_ptr, 0.0)"),
    "blanks in a kernel": ("    tl.store(x_ptr + at, 1.0)", "\n    tl.store(x_ptr + at, 1.0)   "),
    "a number that nobody reads": ("    return x\n", "    y = 2 * 3\n    return x\n"),
    "a name": ("    return x\n", "    y\n    return x\n"),
    "a comment": ("    return x\n", "    # done\n    return x\n"),
    "a call laid out otherwise": ("    first[(n,)](\n        x,", "    first[(n,)](x,"),
    "a number that is read": ("        return y\n", "        y = 2\n        return y\n"),
    "a method": ("wrapper(x)\n", "wrapper(x + 1)\n"),
    "the end of a function": ("        return y\n", "        return y\n        z\n"),
    "lines that go": ("        x,\n        BLOCK=64,\n", "        x, BLOCK=64,\n"),
}


@pytest.mark.parametrize("name", EDITS)
def test_the_followed_tree_is_that_of_the_text(name: str) -> None:
    module, edit = after(*EDITS[name])
    assert edit is not None
    edit.follow()
    text = TEXT.replace(*EDITS[name], 1)
    fresh = outline_uncached("file.py", text)
    assert places(module.tree) == places(fresh.tree)
    assert (module.text, module.lines) == (fresh.text, fresh.lines)
    assert [(jit.first_line, jit.last_line) for jit in module.jit] == [
        (jit.first_line, jit.last_line) for jit in fresh.jit
    ]


@pytest.mark.parametrize(
    ("name", "kernel", "function"),
    [
        ("a line above", None, None),
        ("a kernel", 0, None),
        ("blanks in a kernel", None, None),
        ("a number that nobody reads", None, None),
        ("a name", None, None),
        ("a comment", None, None),
        ("a call laid out otherwise", None, None),
        ("a number that is read", None, "forward"),
        ("a method", None, "forward"),
    ],
)
def test_it_is_known_what_an_edit_may_change(name: str, kernel: int | None, function: str | None) -> None:
    _, edit = after(*EDITS[name])
    assert edit is not None
    assert edit.kernel == kernel
    assert (edit.function.name if edit.function else None) == function


def test_what_an_edit_leaves_alone_keeps_its_nodes() -> None:
    module, edit = after(*EDITS["a number that nobody reads"])
    before = {node for node in ast.walk(module.tree) if isinstance(node, ast.Call)}
    assert edit is not None
    assert edit.follow() == {}
    assert {node for node in ast.walk(module.tree) if isinstance(node, ast.Call)} == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("N = 4", "N = 5"),
        ("def wrapper(x):", "def wrapper(x, y):"),
        ("BLOCK: tl.constexpr):\n    at = tl.arange(0, BLOCK)\n    tl.store(x_ptr + at, 1.0)", "BLOCK):\n    pass"),
        ("@triton.jit\ndef second", "# what it does\n@triton.jit\ndef second"),
        ("import triton\n", "import triton\nimport torch\n"),
    ],
)
def test_other_edits_are_not_followed(old: str, new: str) -> None:
    assert after(old, new)[1] is None


@pytest.mark.parametrize("statement", ["x", "x = 3", "y = x", "y = f()", "y = 'text'", "N = 3", "first"])
def test_what_others_may_read_is_no_dead_statement(statement: str) -> None:
    _, edit = after("    return x\n", f"    {statement}\n    return x\n")
    assert edit is not None
    assert (edit.function is None) is (statement == "x")


def test_a_text_answers_what_it_was_asked_after_an_edit_or_not() -> None:
    module, edit = after("    return x\n", "    # cuda\n    return x\n")
    assert not module.says("cuda")
    assert module.says("numel")
    assert edit is not None
    edit.follow()
    assert not module.says_the_same()
    module.forget_what_it_said()
    assert module.says("cuda")
    assert module.says_the_same()
