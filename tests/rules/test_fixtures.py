"""Each rule on its fixtures: what must be found is found, where it is, and nothing else is.

A comment at the end of a line says what is true of it; `CODE` is the code of a rule:

* `# expect: CODE` a finding starts on this line
* `# pedantic: CODE why` one starts here that is shown under `--pedantic` alone
* `# ok: CODE why` looks alike, and nothing is found
* `# todo: CODE why` must be found and is not yet
* `# todook: CODE why` must not be found and still is
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tritonaudit.config import Config
from tritonaudit.engine import check, check_text
from tritonaudit.report import render
from tritonaudit.rule import Rule
from tritonaudit.rules import all_rules

FIXTURES = ROOT / "fixtures" / "rules"
HEADINGS = [
    "## What it does",
    "## Why",
    "## Example",
    "## Use instead",
    "## When it stays silent",
    "## Fix safety",
    "## References",
]
MOST_TODOS = 3  # of all fixtures together; a rule that learns something lowers it

_MARK = re.compile(
    r"(?<!`)# (expect|pedantic|ok|todo|todook): (TA[A-Z]\d{3})(.*?)(?=# (?:expect|pedantic|ok|todo|todook): |$)"
)
_WANTS_REASON = ("pedantic", "ok", "todo", "todook")

Marks = set[tuple[int, str]]


def folder(rule: type[Rule]) -> Path:
    return FIXTURES / f"{rule.code}_{rule.name.replace('-', '_')}"


def files(name: str) -> list[Path]:
    return [folder(rule) / name for rule in all_rules()]


def marks(path: Path, *kinds: str) -> Marks:
    """The lines, with the code, that carry one of these marks."""
    lines = path.read_text(encoding="utf-8").split("\n")
    return {
        (number, found[2])
        for number, line in enumerate(lines, 1)
        for found in _MARK.finditer(line)
        if found[1] in kinds
    }


def findings(path: Path, *, pedantic: bool) -> Marks:
    audit = check_text(path.read_bytes(), path, Config(ROOT, pedantic=pedantic))
    return {(finding.span.line, finding.code) for finding in audit.findings}


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_a_rule_has_its_page_and_its_fixtures(rule: type[Rule]) -> None:
    title, *rest = rule.page().splitlines()
    assert title == f"# {rule.code} {rule.name}"
    assert [line for line in rest if line.startswith("#") and not line.startswith(("# ", "#:"))] == HEADINGS
    assert {path.name for path in folder(rule).iterdir()} >= {"bad.py", "good.py", "bad.txt"}


def test_every_fixture_is_of_a_rule() -> None:
    assert {path.name for path in FIXTURES.iterdir()} == {folder(rule).name for rule in all_rules()}


@pytest.mark.parametrize("path", [*files("bad.py"), *files("good.py")], ids=lambda path: "/".join(path.parts[-2:]))
def test_what_is_marked_is_found_and_nothing_else(path: Path) -> None:
    expected, hidden = marks(path, "expect"), marks(path, "pedantic")
    undecided = marks(path, "todo", "todook")
    assert findings(path, pedantic=False) - undecided == expected
    if hidden or path.name == "good.py":
        assert findings(path, pedantic=True) - undecided == expected | hidden


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_the_marks_of_a_folder_are_of_its_rule(rule: type[Rule]) -> None:
    bad, good = folder(rule) / "bad.py", folder(rule) / "good.py"
    assert rule.code in {code for _, code in marks(bad, "expect")}
    assert rule.code in {code for _, code in marks(good, "ok")}
    assert rule.code not in {code for _, code in marks(good, "expect")}


@pytest.mark.parametrize("path", [*files("bad.py"), *files("good.py")], ids=lambda path: "/".join(path.parts[-2:]))
def test_a_mark_is_spelled_right_and_says_why(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = list(_MARK.finditer(text.replace("\n", "\n\n")))
    spelled = re.findall(r"(?<!`)#\s*(?:expect|pedantic|ok|todo|todook)\b:?\s*TA", text)
    assert len(re.findall(r"(?<!`)# (?:expect|pedantic|ok|todo|todook): TA[A-Z]\d{3}", text)) == len(spelled)
    assert all(mark[3].strip() for mark in found if mark[1] in _WANTS_REASON)


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_the_output_is_literal(
    rule: type[Rule], expected: Callable[[Path, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    audit = check([folder(rule) / "bad.py"], Config(ROOT), jobs=1)
    assert audit.texts
    expected(folder(rule) / "bad.txt", render(audit, "full", color=False))


def test_what_is_left_to_do_stays_little() -> None:
    left = [
        f"{path.parent.name}/{path.name}:{line} {code}"
        for path in [*files("bad.py"), *files("good.py")]
        for line, code in sorted(marks(path, "todo", "todook"))
    ]
    assert len(left) <= MOST_TODOS, "\n".join(left)
