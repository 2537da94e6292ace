"""docs/rules.md is what the script makes of the rules; `pytest --update-expected` rewrites it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from tools.rule_index import INDEX, index, own_rules


def test_the_index_is_up_to_date(expected: Callable[[Path, str], None]) -> None:
    expected(INDEX, index(own_rules(), INDEX.parent))


def test_every_rule_is_there_once_with_its_page() -> None:
    text = index(own_rules(), INDEX.parent)
    linked = re.findall(r"^\| \[(TA\w+)\]\((\S+)\) \| (\S+) \|", text, re.M)
    assert [(code, name) for code, _, name in sorted(linked)] == [(rule.code, rule.name) for rule in own_rules()]
    for code, page, name in linked:
        assert (INDEX.parent / page).read_text(encoding="utf-8").startswith(f"# {code} {name}\n")
