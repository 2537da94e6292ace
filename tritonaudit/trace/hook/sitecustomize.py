"""Found by every Python process of a command that is traced, before anything of the command's own.

It waits for torch to be imported, as most processes do nothing of the kind, and then has launches recorded.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from types import ModuleType
from typing import Any


class _Waiting(importlib.abc.MetaPathFinder):
    """Finds torch as all others would, and begins when it has been imported."""

    def __init__(self) -> None:
        self._is_looking = False

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name != "torch" or self._is_looking:
            return None
        self._is_looking = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._is_looking = False
        if spec is not None and spec.loader is not None:
            spec.loader = _Beginning(spec.loader)
        return spec


class _Beginning(importlib.abc.Loader):
    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: Any) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        _begin()


def _begin() -> None:
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    try:
        import tritonaudit  # noqa: F401
    except ImportError:
        sys.path.append(root)
    if importlib.util.find_spec("triton") is not None:
        from tritonaudit.trace.session import begin

        begin()


def _others() -> None:
    """Run the `sitecustomize` that this one hides, if there is one."""
    here = os.path.dirname(os.path.abspath(__file__))
    rest = [entry for entry in sys.path if os.path.abspath(entry) != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", rest)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


if "TRITONAUDIT_TRACE" in os.environ:
    sys.meta_path.insert(0, _Waiting())
_others()
