"""The rules. One folder per category, one rule per module with its page beside it; nothing lists them."""

from __future__ import annotations

import importlib
import os
import pkgutil
import traceback
from functools import cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from inspect import isclass

from tritonaudit.finding import Problem
from tritonaudit.rule import Rule

if __name__ != "tritonaudit.rules":
    raise ImportError("import the rules as tritonaudit.rules")


@cache
def installed() -> EntryPoints:
    """Those of installed packages that offer rules."""
    return entry_points(group="tritonaudit.rules")


def all_rules() -> tuple[type[Rule], ...]:
    """Every rule of this package and of installed ones (entry point group `tritonaudit.rules`), by code.

    An installed package that cannot be used is left out: `broken_packages` names it. Raises ValueError where two rules
    of this package share a code or a name.
    """
    return _loaded()[0]


def broken_packages() -> tuple[Problem, ...]:
    """The installed packages whose rules could not be loaded, and why."""
    return _loaded()[1]


def find_rule(code_or_name: str) -> type[Rule] | None:
    """The rule of that code or name, in upper or lower case."""
    return next((rule for rule in all_rules() if code_or_name.lower() in (rule.code.lower(), rule.name)), None)


@cache
def _loaded() -> tuple[tuple[type[Rule], ...], tuple[Problem, ...]]:
    found: set[type[Rule]] = set()
    for module in pkgutil.walk_packages(__path__, prefix=f"{__name__}."):
        if not module.ispkg:
            found |= _rules_of(importlib.import_module(module.name))
    if message := _clash(found):
        raise ValueError(message)
    problems: list[Problem] = []
    for entry in installed():
        try:
            found |= _of_package(entry, found)
        except (Exception, SystemExit) as error:  # the fault is another's, and costs its rules
            problems.append(Problem(_shown(entry), f"its rules are left out: {_said(error)}", in_file=False))
    return tuple(sorted(found, key=lambda rule: rule.code)), tuple(problems)


def _of_package(entry: EntryPoint, others: set[type[Rule]]) -> set[type[Rule]]:
    """The rules that an installed package offers. Raises whatever keeps them from being used."""
    loaded = entry.load()
    rules = {loaded} if isclass(loaded) and issubclass(loaded, Rule) else _rules_of(loaded)
    for rule in rules:
        rule.facts()  # which its annotation has to name
    if message := _clash(others | rules):
        raise ValueError(message)
    return rules


def _clash(rules: set[type[Rule]]) -> str | None:
    """That several rules share a code or a name."""
    for label in ("code", "name"):
        values = [getattr(rule, label) for rule in rules]
        if twice := {value for value in values if values.count(value) > 1}:
            return f"several rules have the {label} {', '.join(sorted(twice))}"
    return None


def _shown(entry: EntryPoint) -> str:
    """What names the package: its distribution, or else the module."""
    return f"the rule package {entry.dist.name if entry.dist is not None else entry.module}"


def _said(error: BaseException) -> str:
    """The error in a line, with the file and the line of the package that it comes from."""
    places = [place for place in traceback.extract_tb(error.__traceback__) if not _is_ours(place.filename)]
    where = f" ({places[-1].filename}:{places[-1].lineno})" if places else ""
    if isinstance(error, SyntaxError) and error.filename:
        where = f" ({error.filename}:{error.lineno})"
    return f"{type(error).__name__}: {' '.join(str(error).split())}{where}"


def _is_ours(file: str) -> bool:
    return (
        file.startswith(("<frozen", __path__[0])) or "importlib" in file or file.endswith(f"tritonaudit{os.sep}rule.py")
    )


def _rules_of(module: object) -> set[type[Rule]]:
    name = getattr(module, "__name__", "")
    return {
        value
        for value in vars(module).values()
        if isclass(value) and issubclass(value, Rule) and value is not Rule and value.__module__ == name
    }
