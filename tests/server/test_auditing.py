"""One text after another: what is said of each is what a check of it alone says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tritonaudit.config import project_config
from tritonaudit.engine import check_text

pytest.importorskip("pygls")

from tritonaudit.server.auditing import Auditor, Superseded

FAULTY = ROOT / "examples" / "faulty"
TYPED = (
    "\n    ",
    "\n    y",
    "\n    y = 2",
    "\n    y = 2  ",
    "\n    y = 2 * 3",
    "\n    # y",
    "\n    y = [2]",
    "\n    y = [3]",
)


def texts(text: str) -> Iterator[str]:
    """What is typed after some lines, each text followed by the first one again; and a kernel that moves as it does."""
    lines = text.split("\n")
    rows = [row for row, line in enumerate(lines, 1) if line.startswith("    ") and line.endswith((")", "]"))]
    for row in (rows[0], rows[len(rows) // 2], rows[-1]):
        for typed in TYPED:
            yield "\n".join(["\n".join(lines[:row]) + typed, *lines[row:]])
        yield text
        yield "\n\n" + text
    yield text.replace("tl.float32", "tl.float16").replace("1024", "1000")


@pytest.mark.parametrize("name", ["softmax.py", "matmul.py"])
def test_edits_come_to_what_a_check_finds(name: str) -> None:
    path = FAULTY / name
    config, auditor = project_config(ROOT), Auditor([ROOT])
    auditor.audit(path, path.read_text())
    for text in texts(path.read_text()):
        found, expected = auditor.audit(path, text).audit, check_text(text.encode(), path, config)
        assert (found.findings, found.outcomes) == (expected.findings, expected.outcomes)


def test_a_finding_that_names_a_line_names_the_one_that_it_is_in(tmp_path: Path) -> None:
    text = (
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef copy(x_ptr, out_ptr, BLOCK: tl.constexpr):\n"
        "    at = tl.arange(0, BLOCK)\n    x = tl.load(x_ptr + at)\n    y = tl.load(x_ptr + at)\n"
        "    tl.store(out_ptr + at, x + y)\n"
    )
    auditor, path = Auditor([tmp_path]), tmp_path / "kernel.py"
    for above, line in (("", 8), ("\n", 9), ("\n\n", 10)):
        found = auditor.audit(path, above + text).audit.findings
        (repeated,) = [one for one in found if one.code == "TAM107"]
        assert f"line {line} " in repeated.message


def test_an_audit_that_was_given_up_leaves_the_next_one_right(tmp_path: Path) -> None:
    path, config = FAULTY / "softmax.py", project_config(ROOT)
    auditor, text = Auditor([ROOT]), (FAULTY / "softmax.py").read_text()
    auditor.audit(path, text)
    edited = text.replace("tl.exp(x)", "tl.exp(x) + 1.0\n    z = tl.exp(x)")
    with pytest.raises(Superseded):
        auditor.audit(path, edited, lambda: True)
    again = edited.replace("import torch\n", "import torch\n\n")
    assert auditor.audit(path, again).audit.findings == check_text(again.encode(), path, config).findings


def test_places_of_facts_move_with_the_text() -> None:
    path, auditor = FAULTY / "softmax.py", Auditor([ROOT])
    text = path.read_text()

    def lines_of(text: str) -> list[int]:
        (kernel,) = auditor.audit(path, text).kernels
        return [kernel.tree.span(access.node).line for access in kernel.accesses]

    before = lines_of(text)
    store = "    tl.store("
    assert text.count(store) == 1
    assert lines_of("\n\n" + text) == [line + 2 for line in before]
    assert lines_of(text.replace(store, f"\n\n{store}")) == [*before[:-1], before[-1] + 2]
    assert lines_of(text) == before
