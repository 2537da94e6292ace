"""`python tools/rule_index.py`: writes docs/rules.md, an index of the rules from their metadata and their pages."""

from __future__ import annotations

import argparse
import inspect
import os
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INDEX = ROOT / "docs" / "rules.md"
sys.path.insert(0, str(ROOT))

from tritonaudit.finding import Category  # noqa: E402
from tritonaudit.rule import Rule  # noqa: E402
from tritonaudit.rules import all_rules  # noqa: E402

_HEAD = """\
# Rules

The letter of a code says the category, its first digit the stage that finds it: 1 the source of a kernel, 2 its launch
and the host code around it, 3 the compiler, 4 a run, 5 a measurement. `tritonaudit explain CODE` shows a page, too.
What is pedantic is off until `--pedantic`, or `--select` with its code, asks for it.

<!-- Written by `python tools/rule_index.py`, from the rules. -->
"""
_COLUMNS = ("Code", "Name", "Severity", "What it finds", "Since")


def index(rules: tuple[type[Rule], ...], folder: Path) -> str:
    """The index of these rules, as a file of that folder has it: a table for each category, by code."""
    return _HEAD + "".join(f"{line}\n" for category in Category for line in _group(category, rules, folder))


def own_rules() -> tuple[type[Rule], ...]:
    """The rules of this checkout, without those of installed packages."""
    return tuple(rule for rule in all_rules() if rule.__module__.startswith("tritonaudit.rules."))


def _group(category: Category, rules: tuple[type[Rule], ...], folder: Path) -> Iterator[str]:
    found = [rule for rule in rules if rule.category() is category]
    if not found:
        return
    yield from ("", f"## {category.title}", "")
    yield f"| {' | '.join(_COLUMNS)} |"
    yield "|---" * len(_COLUMNS) + "|"
    for rule in found:
        page = os.path.relpath(Path(inspect.getfile(rule)).with_suffix(".md"), folder).replace(os.sep, "/")
        summary = rule.summary.replace("|", "\\|")
        severity = f"{rule.severity.value}, pedantic" if rule.is_pedantic() else rule.severity.value
        yield f"| [{rule.code}]({page}) | {rule.name} | {severity} | {summary} | {rule.since} |"


def main() -> None:
    """Write the index."""
    argparse.ArgumentParser(prog="python tools/rule_index.py", description=__doc__).parse_args()
    INDEX.parent.mkdir(exist_ok=True)
    INDEX.write_text(index(own_rules(), INDEX.parent), encoding="utf-8")
    print(f"{INDEX}: {len(own_rules())} rules")


if __name__ == "__main__":
    main()
