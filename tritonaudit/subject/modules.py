"""Under which name a file is imported, and from which folder."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from tritonaudit.source.discover import project_root

_MAX_UNDECLARED = 4  # folders of a package, one in the other, that lack an `__init__.py`
_RELATIVE_IMPORT = re.compile(r"^\s*from\s+\.", re.MULTILINE)


@dataclass(frozen=True)
class ModuleName:
    """`name`, dotted, is imported with `root` on sys.path; without a dot in it, the file belongs to no package."""

    root: Path
    name: str

    @property
    def is_in_package(self) -> bool:
        return "." in self.name


def module_name(path: Path) -> ModuleName:
    """The name of a file: dotted below its package, whose folders may lack an `__init__.py` of their own."""
    path = path.absolute()
    top = _package_root(path)
    if top is None:
        return ModuleName(path.parent, path.stem)
    parts = [*path.parent.relative_to(top).parts, *([] if path.stem == "__init__" else [path.stem])]
    if not all(part.isidentifier() for part in parts):
        return ModuleName(path.parent, path.stem)
    return ModuleName(top, ".".join(parts))


def import_folders(path: Path) -> tuple[Path, ...]:
    """The folders from which a file, and what it imports of its project, are imported; the nearest first."""
    project = _project(path)
    folders = [module_name(path).root, *([] if project is None else [project, project / "src"])]
    return tuple(dict.fromkeys(folder for folder in folders if folder.is_dir()))


def _project(path: Path) -> Path | None:
    """The top of the project that the file belongs to, where something says that there is one."""
    root = project_root(path)
    return root if (root / "pyproject.toml").is_file() or (root / ".git").exists() else None


def _package_root(path: Path) -> Path | None:
    """The folder that holds the outermost package around the file; None where it belongs to none."""
    project = _project(path)
    top = path.parent
    undeclared = 0
    for folder in path.parents:
        if folder == project or undeclared > _MAX_UNDECLARED:
            break
        if (folder / "__init__.py").is_file():
            top, undeclared = folder.parent, 0
        else:
            undeclared += 1
    reached = _reached_by_imports(path)
    if reached is not None and reached in top.parents:
        top = reached
    return None if top == path.parent else top


def _reached_by_imports(path: Path) -> Path | None:
    """The folder above what the file's relative imports reach, which are packages whether or not they say so."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
        tree = ast.parse(text) if _RELATIVE_IMPORT.search(text) else ast.Module([], [])
    except (OSError, SyntaxError, ValueError):
        return None
    depth = max((node.level for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)), default=0)
    return path.parents[depth] if 0 < depth < len(path.parents) else None
