"""Configs that stand in an autotuner's list twice."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonaudit.kernel.tuning import Config, tuners
from tritonaudit.source.outline import JitFunction, Module


def repeated_configs(module: Module, function: JitFunction) -> Iterator[tuple[Config, Config]]:
    """The configs that are written again later in the same list, each with the first of its kind."""
    for autotune, _ in tuners(module, function):
        seen: dict[tuple[frozenset[tuple[str, str]], frozenset[tuple[str, str]]], Config] = {}
        for config in autotune.configs:
            first = seen.setdefault((_written(config.constants), _written(config.options)), config)
            if first is not config:
                yield config, first


def _written(values: dict[str, ast.expr]) -> frozenset[tuple[str, str]]:
    return frozenset((name, ast.unparse(value)) for name, value in values.items())
