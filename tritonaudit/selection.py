"""Which rules run, and which of their findings are shown."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tritonaudit.finding import Confidence, Problem, Stage
from tritonaudit.rule import Rule
from tritonaudit.source.gitignore import Patterns

if TYPE_CHECKING:
    from tritonaudit.config import Config

ALL = "ALL"
_EXACT = 100
_PREFIX = re.compile(r"TA([A-Z]\d{0,3})?")


def specificity(selector: str, rule: type[Rule]) -> int | None:
    """How closely a selector, in upper or lower case, names a rule: its code or name most, `ALL` least; or not."""
    code = selector.upper()
    if code == rule.code or selector.lower() == rule.name:
        return _EXACT
    if code == ALL:
        return 0
    return len(code) if _PREFIX.fullmatch(code) and rule.code.startswith(code) else None


def selected(selector: str, rules: Iterable[type[Rule]]) -> frozenset[str]:
    """The codes of the rules that a selector names."""
    return frozenset(rule.code for rule in rules if specificity(selector, rule) is not None)


def unknown_selector(selector: str, rules: Sequence[type[Rule]]) -> str | None:
    """What to say of a selector that names no rule, None for a good one."""
    if selector.upper() == ALL or selected(selector, rules):
        return None
    return f"no rule has the code, name or prefix {selector!r}{meant_by(selector, rules)}"


def meant_by(selector: str, rules: Sequence[type[Rule]]) -> str:
    """`; did you mean 'TAM101'?` of a selector that names no rule; empty where none is like it."""
    names = [ALL, *(rule.code for rule in rules), *(rule.name for rule in rules)]
    close = difflib.get_close_matches(selector.upper(), names) or difflib.get_close_matches(selector, names)
    # Of codes that are equally like it, one of the same category is meant more often.
    best = max(close, key=lambda name: name[:3] == selector[:3].upper(), default=None)
    return f"; did you mean {best!r}?" if best else ""


def unknown_selectors(config: Config, rules: Sequence[type[Rule]]) -> list[Problem]:
    """The selectors of a configuration, and of those below it, that name no rule, unless one that is left out."""
    selectors = dict.fromkeys(selector for one in config.every for selector in _selectors(one))
    unknown = filter(None, (unknown_selector(selector, rules) for selector in selectors))
    why = "the rules of a broken package are left out, and"
    return [Problem("the selectors", f"{why} {message}", in_file=False) for message in unknown]


def _selectors(config: Config) -> Iterator[str]:
    yield from (*config.select, *config.extend_select, *config.ignore)
    for _, named in config.per_file_ignores:
        yield from named


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


class Chosen:
    """What a configuration asks of the files that it governs."""

    def __init__(self, config: Config, rules: Sequence[type[Rule]]) -> None:
        self.config = config
        self._rules = rules
        self._selection = Selection.of(config, rules)

    @cached_property
    def _by_facts(self) -> dict[type, list[Rule]]:
        table: dict[type, list[Rule]] = {}
        for rule in self._rules:
            if self._selection.enabled(rule):
                table.setdefault(rule.facts(), []).append(rule())
        return table

    def rules(self, facts: type, path: Path) -> list[Rule]:
        """The rules that read such facts and are on in a file."""
        found = self._by_facts.get(facts, [])
        ignored = self._selection.ignored_in(path) if found else frozenset()
        return [rule for rule in found if rule.code not in ignored] if ignored else found

    def of_source(self, path: Path) -> list[Rule]:
        """The rules of the source stage that are on in a file."""
        return [rule for facts in self._by_facts for rule in self.rules(facts, path) if rule.stage() is Stage.SOURCE]

    def shown(self, code: str, confidence: Confidence) -> bool:
        """Whether a finding is shown."""
        return self._selection.shown(code, confidence)

    def may_show(self, rule: Rule) -> bool:
        """Whether any finding of a rule may be shown."""
        return not rule.is_pedantic() or self.shown(rule.code, rule.confidence)


def _closest(selectors: Iterable[str], rule: type[Rule]) -> int:
    """The specificity of the closest selector, below all others where none names the rule."""
    found = (specificity(selector, rule) for selector in selectors)
    return max((value for value in found if value is not None), default=-1)


def _file_ignores(glob: str, selectors: Iterable[str], rules: Sequence[type[Rule]]) -> _FileIgnores:
    codes = frozenset().union(*(selected(selector, rules) for selector in selectors))
    return _FileIgnores(Patterns.of([glob.removeprefix("!")]), glob.startswith("!"), codes)
