"""Which rules run, and which of their findings are shown."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tritonaudit.finding import Confidence
from tritonaudit.rule import Rule
from tritonaudit.source.gitignore import Patterns

if TYPE_CHECKING:
    from tritonaudit.config import Config

ALL = "ALL"
_EXACT = 100
_PREFIX = re.compile(r"TA([A-Z]\d{0,3})?")


def specificity(selector: str, rule: type[Rule]) -> int | None:
    """How closely a selector names a rule: its code or name most, `ALL` least; None when it does not."""
    if selector in (rule.code, rule.name):
        return _EXACT
    if selector == ALL:
        return 0
    return len(selector) if _PREFIX.fullmatch(selector) and rule.code.startswith(selector) else None


def selected(selector: str, rules: Iterable[type[Rule]]) -> frozenset[str]:
    """The codes of the rules that a selector names."""
    return frozenset(rule.code for rule in rules if specificity(selector, rule) is not None)


def unknown_selector(selector: str, rules: Sequence[type[Rule]]) -> str | None:
    """What to say of a selector that names no rule, None for a good one."""
    if selector == ALL or selected(selector, rules):
        return None
    names = [ALL, *(rule.code for rule in rules), *(rule.name for rule in rules)]
    close = difflib.get_close_matches(selector.upper(), names) or difflib.get_close_matches(selector, names)
    # Of codes that are equally like it, one of the same category is meant more often.
    best = max(close, key=lambda name: name[:3] == selector[:3].upper(), default=None)
    hint = f"; did you mean {best!r}?" if best else ""
    return f"no rule has the code, name or prefix {selector!r}{hint}"


@dataclass(frozen=True)
class _FileIgnores:
    patterns: Patterns
    negated: bool
    codes: frozenset[str]


@dataclass(frozen=True)
class Selection:
    """A configuration applied to rules; `codes` are enabled, `named` were asked for by their own code or name."""

    root: str
    codes: frozenset[str]
    named: frozenset[str]
    pedantic: bool
    _per_file: tuple[_FileIgnores, ...]

    @classmethod
    def of(cls, config: Config, rules: Iterable[type[Rule]]) -> Selection:
        """Applies `select`, `extend-select`, `ignore` and `per-file-ignores` to the rules."""
        rules = tuple(rules)
        selects = (*config.select, *config.extend_select)
        return cls(
            root=os.path.abspath(config.root),
            codes=frozenset(rule.code for rule in rules if _closest(selects, rule) > _closest(config.ignore, rule)),
            named=frozenset(rule.code for rule in rules if _closest(selects, rule) == _EXACT),
            pedantic=config.pedantic,
            _per_file=tuple(_file_ignores(glob, named, rules) for glob, named in config.per_file_ignores),
        )

    def enabled(self, rule: type[Rule]) -> bool:
        """Whether the rule runs: the selector that names it most closely decides, `ignore` where two are equal."""
        return rule.code in self.codes

    def shown(self, code: str, confidence: Confidence) -> bool:
        """Whether a finding is shown: a low confidence only under `pedantic` or where its rule was asked for."""
        return confidence is not Confidence.LOW or self.pedantic or code in self.named

    def ignored_in(self, path: Path) -> frozenset[str]:
        """The codes that `per-file-ignores` turns off for a file; none outside the root, where no glob reaches."""
        if not self._per_file:
            return frozenset()
        relative = Path(os.path.relpath(os.path.join(self.root, path), self.root)).as_posix()
        if relative.startswith("../"):
            return frozenset()
        matching = (entry for entry in self._per_file if entry.patterns.covers(relative) is not entry.negated)
        return frozenset().union(*(entry.codes for entry in matching))


def _closest(selectors: Iterable[str], rule: type[Rule]) -> int:
    """The specificity of the closest selector, below all others where none names the rule."""
    found = (specificity(selector, rule) for selector in selectors)
    return max((value for value in found if value is not None), default=-1)


def _file_ignores(glob: str, selectors: Iterable[str], rules: Sequence[type[Rule]]) -> _FileIgnores:
    codes = frozenset().union(*(selected(selector, rules) for selector in selectors))
    return _FileIgnores(Patterns.of([glob.removeprefix("!")]), glob.startswith("!"), codes)
