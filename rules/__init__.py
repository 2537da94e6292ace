"""The rules. One folder per category, one rule per module with its page beside it; nothing lists them."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from importlib.metadata import EntryPoints, entry_points
from inspect import isclass

from tritonaudit.rule import Rule

if __name__ != "tritonaudit.rules":
    raise ImportError("import the rules as tritonaudit.rules")


@cache
def installed() -> EntryPoints:
    """Those of installed packages that offer rules."""
    return entry_points(group="tritonaudit.rules")


@cache
def all_rules() -> tuple[type[Rule], ...]:
    """Every rule of this package and of installed ones (entry point group `tritonaudit.rules`), by code.

    Raises ValueError where two rules share a code or a name.
    """
    found: set[type[Rule]] = set()
    for module in pkgutil.walk_packages(__path__, prefix=f"{__name__}."):
        if not module.ispkg:
            found |= _rules_of(importlib.import_module(module.name))
    for entry in installed():
        loaded = entry.load()
        found |= {loaded} if isclass(loaded) and issubclass(loaded, Rule) else _rules_of(loaded)
    rules = tuple(sorted(found, key=lambda rule: rule.code))
    for label in ("code", "name"):
        values = [getattr(rule, label) for rule in rules]
        if twice := {value for value in values if values.count(value) > 1}:
            raise ValueError(f"several rules have the {label} {', '.join(sorted(twice))}")
    return rules


def find_rule(code_or_name: str) -> type[Rule] | None:
    """The rule of that code or name."""
    return next((rule for rule in all_rules() if code_or_name in (rule.code, rule.name)), None)


def _rules_of(module: object) -> set[type[Rule]]:
    name = getattr(module, "__name__", "")
    return {
        value
        for value in vars(module).values()
        if isclass(value) and issubclass(value, Rule) and value is not Rule and value.__module__ == name
    }
