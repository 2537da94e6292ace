"""What the package imports is what it says that it needs."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
EXTRAS = ("audit", "cluster", "server")
IMPORTED_AS = {"jsonschema": {"jsonschema"}, "markdown-it-py": {"markdown_it"}, "sarif-om": {"sarif_om"}}
OF_OTHERS = {"attr", "pytest", "_pytest", "referencing", "xdist"}
"""What comes with the dependencies, and what a plugin or a hook is called by, so that it is there."""


def imported(file: Path) -> Iterator[str]:
    """The first names of the modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def declared() -> set[str]:
    """The modules of what a user who installs the package with its extras has."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(one for extra in EXTRAS for one in extras[extra])]
    names = [re.match(r"[\w.-]+", one) for one in wanted]
    return {module for name in names if name for module in IMPORTED_AS.get(name[0], {name[0].replace("-", "_")})}


@pytest.mark.parametrize("folder", ["tritonaudit", "rules"])
def test_nothing_is_imported_that_is_not_declared(folder: str) -> None:
    known = {*sys.stdlib_module_names, "tritonaudit", *declared(), *OF_OTHERS}
    missing = {
        (name, str(file.relative_to(ROOT)))
        for file in (ROOT / folder).rglob("*.py")
        for name in imported(file)
        if name not in known
    }
    assert missing == set()
