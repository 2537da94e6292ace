"""Fixes: the text that they make, which has nothing more to fix; and that a safe one changes no kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from tritonaudit.config import Config
from tritonaudit.engine import check_text
from tritonaudit.finding import Edit, Finding

HEAD = "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef kernel(x, y, n, B: tl.constexpr):\n"


def findings(text: str) -> list[Finding]:
    config = Config(Path("/nowhere"), select=("TAC105", "TAC106"), pedantic=True)
    return list(check_text(text.encode(), Path("/nowhere/kernel.py"), config).findings)


def edited(text: str, edits: list[Edit]) -> str:
    lines = text.splitlines(keepends=True)
    for edit in sorted(edits, key=lambda edit: edit.span, reverse=True):
        row, first, last = edit.span.line - 1, edit.span.column - 1, edit.span.end_column - 1
        assert edit.span.end_line == edit.span.line
        lines[row] = lines[row][:first] + edit.replacement + lines[row][last:]
    return "".join(lines)


def fixed(body: str) -> tuple[str, set[bool]]:
    """The body after all fixes, and whether they are safe."""
    text = f"{HEAD}    {body}\n"
    fixes = [finding.fix for finding in findings(text) if finding.fix is not None]
    text = edited(text, [edit for fix in fixes for edit in fix.edits])
    assert not [finding for finding in findings(text) if finding.fix is not None]
    return text.removeprefix(f"{HEAD}    ").rstrip("\n"), {fix.safe for fix in fixes}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("z = tl.load(x, masks=n)", "z = tl.load(x, mask=n)"),
        ("z = tl.sum(x, dim=0, keepdim=True)", "z = tl.sum(x, axis=0, keep_dims=True)"),
        ("z = tl.load(x).to(tl.fp32) + y.to(tl.fp32)", "z = tl.load(x).to(tl.float32) + y.to(tl.float32)"),
        ("z = tl.dot(x, y, allow_tf32=True)", 'z = tl.dot(x, y, input_precision="tf32")'),
        ("z = tl.dot(x, y, allow_tf32 = False)", 'z = tl.dot(x, y, input_precision="ieee")'),
        ("z = tl.sum(x , dim = 0)  # dim=0", "z = tl.sum(x , axis = 0)  # dim=0"),
    ],
)
def test_what_means_the_same_is_a_safe_fix(before: str, after: str) -> None:
    assert fixed(before) == (after, {True})


@pytest.mark.parametrize(
    ("before", "after"),
    [("z = tl.cidv(n, B)", "z = tl.cdiv(n, B)"), ("z = tl.load(x, othr=0.0)", "z = tl.load(x, other=0.0)")],
)
def test_what_is_spelled_alike_is_an_unsafe_fix(before: str, after: str) -> None:
    assert fixed(before) == (after, {False})


@pytest.mark.parametrize(
    "body",
    ["z = tl.dot(x, y, allow_tf32=B)", "z = tl.make_block_ptr(x, n, n, n, B, B)", "z = tl.mean(x)"],
)
def test_what_takes_more_than_a_word_has_no_fix(body: str) -> None:
    assert fixed(body) == (body, set())


DOT = """
    lanes = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    tl.store(y + lanes, tl.dot(tl.load(x + lanes), tl.load(x + lanes), {}))
"""


@pytest.mark.parametrize(("old", "new", "other"), [("True", "tf32", "ieee"), ("False", "ieee", "tf32")])
def test_the_precision_of_a_product_stays_what_it_was(tmp_path: Path, old: str, new: str, other: str) -> None:
    pytest.importorskip("triton")
    before = _ttir(tmp_path / "old.py", f"allow_tf32={old}")
    assert before == _ttir(tmp_path / "new.py", f'input_precision="{new}"')
    assert before != _ttir(tmp_path / "other.py", f'input_precision="{other}"')


def _ttir(path: Path, argument: str) -> str:
    """The Triton IR of a kernel with this argument, without its places in the text."""
    import importlib.util
    import re

    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource, compile

    path.write_text(HEAD.replace(", n, B: tl.constexpr", "") + DOT.format(argument), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    constants = {"constants": {}} if "constants" in ASTSource.__init__.__code__.co_varnames else {}
    source = ASTSource(fn=module.kernel, signature={"x": "*fp32", "y": "*fp32"}, **constants)
    ttir: str = compile(source, target=GPUTarget("cuda", 90, 32)).asm["ttir"]
    return re.sub(r"loc\(.*?\)|#loc.*|\"[^\"]*\.py\"[^)]*", "", ttir)
