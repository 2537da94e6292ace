"""What fixes make of published packages: whether all still parses, and whether a second time changes anything."""

from __future__ import annotations

import ast
import shutil
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.corpus import packages
from tritonaudit.cli.fixing import Change, changes, write
from tritonaudit.config import Config
from tritonaudit.engine import check
from tritonaudit.finding import Audit, Problem
from tritonaudit.fixes.applying import is_fixable


@dataclass
class Outcome:
    """Of one package: fixable findings by code, files that changed, did not parse afterwards, or changed again."""

    package: str
    offered: Counter[str] = field(default_factory=Counter)
    fixed: int = 0
    files: int = 0
    changed: int = 0
    unparsable: list[str] = field(default_factory=list)
    again: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def outcomes(corpus: Path, scratch: Path, unsafe: bool) -> Iterator[Outcome]:
    """Fix a copy of each package twice."""
    for package in packages(corpus):
        copy = scratch / package.name
        shutil.copytree(package, copy, symlinks=True)
        yield _outcome(copy, unsafe)
        shutil.rmtree(copy)


def _outcome(package: Path, unsafe: bool) -> Outcome:
    outcome = Outcome(package.name)
    config = Config(package)
    files = sorted(package.rglob("*.py"))
    outcome.files = len(files)
    parsed = {path for path in files if _parses(path)}
    audit = check([package], config)
    outcome.offered.update(finding.code for finding in audit.findings if is_fixable(finding, unsafe=unsafe))
    changed = _fixed(audit, config, unsafe)
    outcome.changed = len(changed)
    outcome.fixed, problems = write(changed, package)
    outcome.problems += problems
    outcome.unparsable = [str(path) for path in sorted(parsed) if not _parses(path)]
    outcome.again = [change.shown for change in _fixed(check([package], config), config, unsafe)]
    return outcome


def _fixed(audit: Audit, config: Config, unsafe: bool) -> Sequence[Change]:
    return [change for change in changes(audit, config, unsafe) if change.before != change.after or change.problems]


def _parses(path: Path) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):
            return False
    return True
