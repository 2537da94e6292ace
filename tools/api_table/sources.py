"""The Python text of one published release, read out of its wheel and never imported."""

from __future__ import annotations

import ast
import re
import zipfile
from functools import cached_property
from pathlib import Path

_WHEEL = re.compile(r"triton-(\d+\.\d+\.\d+)-.*\.whl")


def release_of(wheel: Path) -> str | None:
    """The release that a file name says it is a wheel of."""
    found = _WHEEL.fullmatch(wheel.name)
    return found[1] if found else None


class Sources:
    """The modules of a release by their dotted names."""

    def __init__(self, wheel: Path) -> None:
        self._texts: dict[str, str] = {}
        self._packages: set[str] = set()
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.startswith("triton/") and name.endswith(".py"):
                    self._add(name, archive.read(name).decode("utf-8"))
        self._trees: dict[str, ast.Module] = {}

    def _add(self, file: str, text: str) -> None:
        module = file.removesuffix(".py").replace("/", ".")
        if module.endswith(".__init__"):
            module = module.removesuffix(".__init__")
            self._packages.add(module)
        self._texts[module] = text

    @cached_property
    def modules(self) -> frozenset[str]:
        return frozenset(self._texts)

    def tree(self, module: str) -> ast.Module:
        if module not in self._trees:
            self._trees[module] = ast.parse(self._texts[module])
        return self._trees[module]

    def absolute(self, importer: str, node: ast.ImportFrom) -> str:
        """The module that an import in `importer` reads from."""
        if not node.level:
            return node.module or ""
        parts = importer.split(".")
        above = node.level - (1 if importer in self._packages else 0)
        base = parts[: len(parts) - above]
        return ".".join([*base, *filter(None, [node.module])])
