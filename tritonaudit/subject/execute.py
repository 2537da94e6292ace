"""Runs a user's file as Python's import would, and says of what goes wrong in which of the user's lines it does."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from tritonaudit.absent.importer import users_loader
from tritonaudit.execute.blame import text_of, users_place
from tritonaudit.subject.modules import import_folders, module_name


class LoadError(Exception):
    """A file of which no subjects can be made: why, and the user's file and line where there is one."""

    def __init__(self, message: str, path: str, line: int | None = None) -> None:
        super().__init__(message, path, line)
        self.message = message
        self.path = path
        self.line = line

    def __str__(self) -> str:
        return f"{self.path}{f':{self.line}' if self.line else ''}: {self.message}"


def run_file(path: Path) -> ModuleType:
    """The module of a file: one of a package is imported by its dotted name, any other is run afresh.

    What the file imports from its project is found, the checkout before what is installed. Raises LoadError.
    """
    name = module_name(path)
    for folder in reversed(import_folders(path)):
        _prefer(folder)
    with running(path):
        if not name.is_in_package:
            return _run_alone(path)
        module = importlib.import_module(name.name)
    if module.__file__ is None or not os.path.samefile(module.__file__, path):
        raise LoadError(f"importing `{name.name}` gives another file: {module.__file__ or 'a namespace'}", str(path))
    return module


@contextmanager
def running(path: Path) -> Iterator[None]:
    """What goes wrong meanwhile becomes a LoadError at the innermost line of the user's, in `path` if there is none.

    Code that leaves the process (`sys.exit`) has gone wrong too.
    """
    try:
        yield
    except LoadError:
        raise
    except SyntaxError as error:
        raise LoadError(f"{type(error).__name__}: {error.msg}", error.filename or str(path), error.lineno) from error
    except (Exception, SystemExit) as error:
        words = text_of(error)
        place = users_place(error) or (str(path), None)
        raise LoadError(f"{type(error).__name__}{f': {words}' if words else ''}", *place) from error


def alone_name(path: Path) -> str:
    """The name of the module of a file that belongs to no package, which no other module can have."""
    return f"{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"


def _run_alone(path: Path) -> ModuleType:
    """Run a file that belongs to no package, under a name that no other module can have."""
    unique = alone_name(path)
    spec = importlib.util.spec_from_file_location(unique, path, loader=users_loader(unique, str(path)))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[unique] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[unique]
        raise
    return module


_preferred: set[Path] = set()


def _prefer(folder: Path) -> None:
    """Have imports look into the folder first, also for what another such folder has by the same name."""
    if str(folder) in sys.path:
        sys.path.remove(str(folder))
    sys.path.insert(0, str(folder))
    for name in {path.stem for path in folder.glob("*.py")} & set(sys.modules):
        origin = getattr(sys.modules[name], "__file__", None)
        home = None if origin is None else Path(origin).parent
        if home != folder and home in _preferred:
            del sys.modules[name]
    _preferred.add(folder)
