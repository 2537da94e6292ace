"""Imports one module of a package without what its packages' `__init__.py` would load, which may not be installed."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType


def module(name: str) -> ModuleType:
    """The module of this dotted name; the packages above it are made empty. Raises ImportError."""
    parents = name.split(".")[:-1]
    for count in range(1, len(parents) + 1):
        _make_empty(".".join(parents[:count]))
    return importlib.import_module(name)


def _make_empty(name: str) -> None:
    if name in sys.modules:
        return
    above, _, last = name.rpartition(".")
    places = sys.modules[above].__path__ if above else sys.path
    found = [str(Path(place) / last) for place in places if (Path(place) / last).is_dir()]
    if not found:
        raise ImportError(f"there is no package {name}")
    package = ModuleType(name)
    package.__path__ = found
    sys.modules[name] = package
    if above:
        setattr(sys.modules[above], last, package)
