"""The pages of the rules: their code is checked, so that no page teaches what the rule does not do."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from tests.checkout import ROOT
from tests.rules.later_stages import audit_of, is_later, skip_where_it_cannot_run
from tritonaudit.config import Config
from tritonaudit.engine import check_text
from tritonaudit.finding import Stage
from tritonaudit.rule import Rule
from tritonaudit.rules import all_rules

SEEN_IN_MANY_WAYS = (Stage.RUN, Stage.MEASURE)  # one defect by several rules
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def sections(rule: type[Rule]) -> dict[str, str]:
    """The page's text by heading; none of a page that is missing, which test_fixtures.py reports."""
    try:
        _, *parts = re.split(r"^## (.*)$", rule.page(), flags=re.MULTILINE)
    except FileNotFoundError:
        return {}
    return dict(zip(parts[::2], parts[1::2], strict=True))


def blocks(heading: str) -> list[tuple[type[Rule], str]]:
    return [(rule, found[2]) for rule in all_rules() for found in _BLOCK.finditer(sections(rule).get(heading, ""))]


def parameters(heading: str) -> list[ParameterSet]:
    """The blocks as a test takes them; those of later stages are slow."""
    return [pytest.param(rule, text, marks=[pytest.mark.slow] * is_later(rule)) for rule, text in blocks(heading)]


def codes(rule: type[Rule], text: str, written: Callable[[Stage], dict[str, Path]]) -> set[str]:
    """The codes of what the rule's stage finds in a page's block."""
    if not is_later(rule):
        asked = (rule.code,) if rule.is_pedantic() else ()
        audit = check_text(text.encode("utf-8"), ROOT / "kernel.py", Config(ROOT, extend_select=asked))
        return {finding.code for finding in audit.findings}
    files = written(rule.stage())
    skip_where_it_cannot_run(files[text], rule.stage())
    audit = audit_of(files[text], rule.stage(), tuple(files.values()), pedantic=False)
    return {finding.code for finding in audit.findings}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Stage], dict[str, Path]]:
    """The blocks of the pages of a later stage's rules, each in a file of its own."""

    @cache
    def write(stage: Stage) -> dict[str, Path]:
        folder = tmp_path_factory.mktemp("pages")
        files: dict[str, Path] = {}
        for heading in ("Example", "Use instead"):
            for number, (rule, text) in enumerate(blocks(heading)):
                if rule.stage() is stage:
                    files[text] = folder / f"{rule.code}_{heading.split()[0].lower()}_{number}.py"
                    files[text].write_text(text, encoding="utf-8")
        return files

    return write


def name(value: object) -> str:
    return value.code if isinstance(value, type) and issubclass(value, Rule) else ""


@pytest.mark.parametrize("rule", all_rules(), ids=name)
def test_a_page_is_filled_in(rule: type[Rule]) -> None:
    for heading, text in sections(rule).items():
        assert text.strip(), heading
        languages = [found[1] for found in _BLOCK.finditer(text)]
        if heading in ("Example", "Use instead"):
            assert languages
            assert set(languages) == {"python"}
        assert text.count("```") == 2 * len(languages)


@pytest.mark.parametrize(("rule", "text"), parameters("Example"), ids=name)
def test_an_example_is_found(rule: type[Rule], text: str, written: Callable[[Stage], dict[str, Path]]) -> None:
    found = codes(rule, text, written)
    assert rule.code in found
    assert found == {rule.code} or rule.stage() in SEEN_IN_MANY_WAYS


@pytest.mark.parametrize(("rule", "text"), parameters("Use instead"), ids=name)
def test_what_to_use_instead_is_not_found(
    rule: type[Rule], text: str, written: Callable[[Stage], dict[str, Path]]
) -> None:
    found = codes(rule, text, written)
    assert rule.code not in found if rule.stage() is Stage.MEASURE else not found  # of times no other rule is sure


@pytest.mark.parametrize(("rule", "text"), blocks("Use instead"), ids=name)
def test_what_to_use_instead_is_python(rule: type[Rule], text: str) -> None:
    compile(text, rule.code, "exec")


@pytest.mark.parametrize("rule", [rule for rule in all_rules() if rule.is_pedantic()], ids=name)
def test_the_page_of_a_pedantic_rule_says_so(rule: type[Rule]) -> None:
    assert "`--pedantic`" in sections(rule)["What it does"]


@pytest.mark.parametrize("rule", all_rules(), ids=name)
def test_a_page_leads_nowhere_private(rule: type[Rule]) -> None:
    assert not re.search(r"/(home|tmp|work|root)/", rule.page())
    assert max(map(len, rule.page().splitlines())) <= 120
