"""The table of what stood in the way of users: each test that it names is there."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from tests.checkout import ROOT

TABLE = ROOT / "bench" / "usability" / "README.md"
ROW = re.compile(r"^\| (?P<defect>[^|]+) \| (?P<tests>[^|]+) \|$", re.M)
HEADS = ("defect", "---")


def rows() -> dict[str, list[str]]:
    """The tests of each defect."""
    found = ROW.finditer(TABLE.read_text(encoding="utf-8"))
    return {row["defect"]: row["tests"].split(", ") for row in found if row["defect"] not in HEADS}


@cache
def functions_of(path: Path) -> frozenset[str]:
    """The names of the functions in a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


def test_every_line_of_the_table_is_read() -> None:
    lines = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    heads = [line for line in lines if line == "| defect | guarded by |"]
    assert len(rows()) == len(lines) - len(heads) > 50


def test_each_defect_is_guarded_by_tests_that_are_there() -> None:
    for defect, tests in rows().items():
        for test in tests:
            named = re.fullmatch(r"`(tests/[\w/]+\.py)::(test_\w+)`", test)
            assert named, (defect, test)
            assert named[2] in functions_of(ROOT / named[1]), (defect, test)
