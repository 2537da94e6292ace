"""Each rule on its fixtures: what must be found is found, where it is, and nothing else is.

A comment at the end of a line says what is true of it; `CODE` is the code of a rule:

* `# expect: CODE` a finding starts on this line
* `# pedantic: CODE why` one starts here that is shown under `--pedantic` alone
* `# ok: CODE why` looks alike, and nothing is found
* `# todo: CODE why` must be found and is not yet
* `# todook: CODE why` must not be found and still is

A rule that is pedantic as a whole has `pedantic` marks alone, in fixtures of its own: it speaks of what most kernels
lack, so that it is not asked about the fixtures of other rules. Its literal output is that of the rule asked for.

The rules of later stages have fixtures that are run through their stage, where torch and triton are installed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tests.rules.later_stages import LATER, audit_of, skip_where_it_cannot_run, triton
from tritonaudit.config import Config
from tritonaudit.engine import check, check_text
from tritonaudit.finding import Audit, Stage
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
WRITTEN_BY = (3, 9)  # the Triton whose figures the output of later stages holds
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


OF_STAGE: dict[Stage, list[Path]] = {
    stage: sorted(path for rule in all_rules() if rule.stage() is stage for path in folder(rule).glob("*.py"))
    for stage in LATER
}
LATER_STAGE = {path: stage for stage, paths in OF_STAGE.items() for path in paths}


PEDANTIC = {rule.code for rule in all_rules() if rule.is_pedantic()}


def code_of(path: Path) -> str:
    """The code of the rule whose fixture the file is."""
    return path.parent.name.partition("_")[0]


def slow(path: Path) -> list[pytest.MarkDecorator]:
    return [pytest.mark.slow] if path in LATER_STAGE else []


def looked_at(path: Path, *, pedantic: bool) -> Audit:
    """What the later stage that the file is for finds in it: where one defect is seen in many ways, one rule's."""
    stage = LATER_STAGE[path]
    skip_where_it_cannot_run(path, stage)
    audit = audit_of(path, stage, OF_STAGE[stage], pedantic=pedantic)
    if stage is Stage.COMPILE:
        return audit
    own = tuple(finding for finding in audit.findings if finding.code == code_of(path))
    return replace(audit, findings=own, outcomes=())


def findings(path: Path, *, pedantic: bool) -> Marks:
    """The lines where something is found; of later stages what the file's rule finds, for the others may agree."""
    if path in LATER_STAGE:
        audit, codes = looked_at(path, pedantic=pedantic), {code_of(path)}
    else:
        audit = check_text(path.read_bytes(), path, Config(ROOT, pedantic=pedantic))
        codes = {finding.code for finding in audit.findings} - (PEDANTIC - {code_of(path)})
    return {(finding.span.line, finding.code) for finding in audit.findings if finding.code in codes}


def asking_for(rule: type[Rule]) -> Config:
    """The defaults, with the rule asked for where it is pedantic."""
    return Config(ROOT, extend_select=(rule.code,)) if rule.is_pedantic() else Config(ROOT)


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_a_rule_has_its_page_and_its_fixtures(rule: type[Rule]) -> None:
    title, *rest = rule.page().splitlines()
    assert title == f"# {rule.code} {rule.name}"
    assert [line for line in rest if line.startswith("#") and not line.startswith(("# ", "#:"))] == HEADINGS
    assert {path.name for path in folder(rule).iterdir()} >= {"bad.py", "good.py", "bad.txt"}


def test_every_fixture_is_of_a_rule() -> None:
    assert {path.name for path in FIXTURES.iterdir()} == {folder(rule).name for rule in all_rules()}


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=slow(path)) for path in [*files("bad.py"), *files("good.py")]],
    ids=lambda path: "/".join(path.parts[-2:]),
)
def test_what_is_marked_is_found_and_nothing_else(path: Path) -> None:
    expected, hidden = marks(path, "expect"), marks(path, "pedantic")
    undecided = marks(path, "todo", "todook")
    assert findings(path, pedantic=False) - undecided == expected
    if hidden or path.name == "good.py":
        assert findings(path, pedantic=True) - undecided == expected | hidden


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_the_marks_of_a_folder_are_of_its_rule(rule: type[Rule]) -> None:
    bad, good = folder(rule) / "bad.py", folder(rule) / "good.py"
    assert rule.code in {code for _, code in marks(bad, "pedantic" if rule.is_pedantic() else "expect")}
    assert not rule.is_pedantic() or rule.code not in {code for _, code in marks(bad, "expect")}
    assert rule.code in {code for _, code in marks(good, "ok")}
    assert rule.code not in {code for _, code in marks(good, "expect")}


@pytest.mark.parametrize("path", [*files("bad.py"), *files("good.py")], ids=lambda path: "/".join(path.parts[-2:]))
def test_a_mark_is_spelled_right_and_says_why(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = list(_MARK.finditer(text.replace("\n", "\n\n")))
    spelled = re.findall(r"(?<!`)#\s*(?:expect|pedantic|ok|todo|todook)\b:?\s*TA", text)
    assert len(re.findall(r"(?<!`)# (?:expect|pedantic|ok|todo|todook): TA[A-Z]\d{3}", text)) == len(spelled)
    assert all(mark[3].strip() for mark in found if mark[1] in _WANTS_REASON)


@pytest.mark.parametrize(
    "rule",
    [pytest.param(rule, marks=slow(folder(rule) / "bad.py")) for rule in all_rules()],
    ids=lambda rule: rule.code,
)
def test_the_output_is_literal(
    rule: type[Rule], expected: Callable[[Path, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    path = folder(rule) / "bad.py"
    audit = looked_at(path, pedantic=False) if path in LATER_STAGE else check([path], asking_for(rule), jobs=1)
    if LATER_STAGE.get(path) in (Stage.COMPILE, Stage.RUN) and triton() != WRITTEN_BY:
        pytest.skip(f"its figures are those of Triton {'.'.join(map(str, WRITTEN_BY))}")
    assert audit.texts
    expected(folder(rule) / "bad.txt", render(audit, "full", color=False))


def test_what_is_left_to_do_stays_little() -> None:
    left = [
        f"{path.parent.name}/{path.name}:{line} {code}"
        for path in [*files("bad.py"), *files("good.py")]
        for line, code in sorted(marks(path, "todo", "todook"))
    ]
    assert len(left) <= MOST_TODOS, "\n".join(left)
