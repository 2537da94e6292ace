"""What each format prints, literally."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tritonaudit.finding import Audit, Outcome, Status
from tritonaudit.report import render

EXPECTED = Path(__file__).parent / "expected"
FILES = {
    "full": "full.txt",
    "concise": "concise.txt",
    "json": "findings.json",
    "github": "github.txt",
    "sarif": "log.sarif",
    "markdown": "report.md",
}
"""All but the page in HTML, which has tests of its own."""
Expected = Callable[[Path, str], None]


@pytest.mark.parametrize("format", FILES)
def test_prints_the_audit(format: str, audit: Audit, expected: Expected) -> None:
    expected(EXPECTED / FILES[format], render(audit, format, color=False))


def test_colour_adds_only_escape_sequences(audit: Audit) -> None:
    coloured = render(audit, "full", color=True)
    assert "\x1b[1;31merror\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render(audit, "full", color=False)


@pytest.mark.parametrize(
    ("audit", "summary"),
    [
        (Audit(), "Nothing was checked.\n"),
        (Audit(files=1, kernels=2), "No findings in 1 file, 2 kernels.\n"),
        (
            Audit(outcomes=(Outcome("source", "a.py", Status.NOT_RUN),), files=1),
            "a.py: not analysed\n\nNo kernel was analysed in 1 file. 1 not analysed.\n",
        ),
    ],
)
def test_says_when_there_is_nothing(audit: Audit, summary: str) -> None:
    assert render(audit, "full", color=False) == summary


@pytest.mark.parametrize("format", ["concise", "github"])
def test_prints_nothing_where_every_line_is_a_finding(format: str) -> None:
    assert render(Audit(files=1), format, color=False) == ""


def test_refuses_an_unknown_format() -> None:
    with pytest.raises(ValueError, match="'xml' is not a format"):
        render(Audit(), "xml", color=False)


@pytest.mark.parametrize("format", ["concise", "json", "github"])
def test_light_formats_import_nothing_heavy(format: str) -> None:
    script = (
        "import sys; from tritonaudit.finding import Audit; from tritonaudit.report import render;"
        f"render(Audit(), {format!r}, color=False); print(*{{'rich', 'sarif_om', 'libcst'}} & set(sys.modules))"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout == "\n"
