"""Flags that an autotuner's key lacks."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.kernel.optional import asks_for_none
from tritonaudit.kernel.tuning import Autotune, Heuristics, decorators
from tritonaudit.source.nodes import names_in
from tritonaudit.source.outline import JitFunction, Module

_LEAST = 2


@dataclass(frozen=True, eq=False)
class MissingFlag:
    """`flag`, which heuristics set and the kernel branches on, is in the `keys` of all siblings and not in `key`."""

    flag: str
    key: ast.expr
    keys: tuple[ast.expr, ...]


def missing_flags(module: Module, function: JitFunction) -> Iterator[MissingFlag]:
    """The flags that this kernel's key alone lacks, of all tuned kernels of the file that have them."""
    own = _keyed(module, function)
    if own is None:
        return
    key, names, flags = own
    tested = {name for branch in function.nodes.of(ast.If) for name in names_in(branch.test)}
    wanted = (flags & tested) - names
    if not wanted:
        return
    siblings = [found for other in module.jit if other is not function and (found := _keyed(module, other)) is not None]
    for flag in sorted(wanted):
        having = [(node, keyed) for node, keyed, theirs in siblings if flag in theirs]
        if len(having) >= _LEAST and all(flag in keyed for _, keyed in having):
            yield MissingFlag(flag, key, tuple(node for node, _ in having))


def _keyed(module: Module, function: JitFunction) -> tuple[ast.expr, frozenset[str], frozenset[str]] | None:
    """The key that is written out above a kernel, its names, and the flags that heuristics set.

    Triton adds the dtype of each tensor to the key, so that one which tells whether a tensor is given makes none.
    """
    found = decorators(module, function)
    tuner = next((decorator for decorator in found if isinstance(decorator, Autotune)), None)
    key = None if tuner is None else tuner.arguments.get("key")
    if tuner is None or not isinstance(key, (ast.List, ast.Tuple)):
        return None
    names = frozenset(name for name, _ in tuner.names("key"))
    if len(names) != len(key.elts):
        return None
    heuristics = (decorator for decorator in found if isinstance(decorator, Heuristics))
    flags = (name for own in heuristics for name, value in own.values.items() if not asks_for_none(value))
    return key, names, frozenset(flags)
