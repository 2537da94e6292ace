"""Writes spec files for modules that launch kernels, beside them or into one folder."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from tritonaudit.kernel.project import Project
from tritonaudit.source.decode import Undecodable, decode
from tritonaudit.source.discover import project_root
from tritonaudit.source.outline import Unparsable, outline
from tritonaudit.subject.find import kind_of
from tritonaudit.subject.guess.parameters import guesses
from tritonaudit.subject.guess.roles import KernelRoles
from tritonaudit.subject.modules import module_name
from tritonaudit.subject.skeleton import Guessed, spec_text
from tritonaudit.subject.wrappers import Host


class Fate(Enum):
    """What became of the spec of a module."""

    WRITTEN = "written"
    EXISTS = "left as it is, since it exists"
    IMPOSSIBLE = "cannot be written"
    FAILED = "failed"


@dataclass(frozen=True)
class Spec:
    """The spec of one module: `wrappers` are those that it has subjects for, `reason` says why it was not written."""

    module: Path
    fate: Fate
    path: Path | None = None
    wrappers: tuple[str, ...] = ()
    reason: str = ""


def write_specs(modules: Sequence[Path], folder: Path | None) -> Iterator[Spec]:
    """Write the spec of each module that launches kernels, beside it or into the folder; nothing is overwritten."""
    writer = _Writer(folder)
    for module in modules:
        spec = writer.write(module)
        if spec is not None:
            yield spec


class _Writer:
    """Writes specs; what the modules of a project share is read once."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._projects: dict[Path, tuple[Project, KernelRoles]] = {}
        self._taken: set[Path] = set()

    def write(self, path: Path) -> Spec | None:
        """None for a module that launches no kernel, and for one that holds subjects itself."""
        if kind_of(path) is not None:
            return None
        try:
            host = self._host(path)
        except (Undecodable, Unparsable) as error:
            line = f" (line {error.line})" if error.line else ""
            return Spec(path, Fate.FAILED, reason=f"cannot be read as Python: {error.message}{line}")
        except OSError as error:
            return Spec(path, Fate.FAILED, reason=f"cannot be read: {error.strerror or error}")
        try:
            return self._spec(path, host)
        except Exception as error:  # a defect of ours costs one file, not the run
            place = traceback.extract_tb(error.__traceback__)[-1]
            defect = f"{type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})"
            return Spec(path, Fate.FAILED, reason=f"tritonaudit failed on this file, please report it: {defect}")

    def _host(self, path: Path) -> Host:
        project, _ = self._project(path)
        return Host(outline(str(path.absolute()), decode(path.read_bytes())), project)

    def _project(self, path: Path) -> tuple[Project, KernelRoles]:
        root = project_root(path)
        if root not in self._projects:
            project = Project(root)
            self._projects[root] = project, KernelRoles(project)
        return self._projects[root]

    def _spec(self, path: Path, host: Host) -> Spec | None:
        wrappers = host.wrappers()
        if not wrappers:
            methods = host.methods_that_launch
            reason = f"only methods launch kernels ({', '.join(methods)}), and nothing shows how to make their objects"
            return Spec(path, Fate.IMPOSSIBLE, reason=reason) if methods else None
        name = module_name(path).name
        if not all(part.isidentifier() for part in name.split(".")):
            return Spec(path, Fate.IMPOSSIBLE, reason=f"`{name}` cannot be imported by its name")
        _, roles = self._project(path)
        guessed = [Guessed(wrapper, next(guesses(wrapper, roles))) for wrapper in wrappers]
        target = self._target(path)
        self._taken.add(target)
        names = tuple(wrapper.name for wrapper in wrappers)
        text = spec_text(name, guessed, first_party=_is_first_party(path, name))
        if target.exists():
            return Spec(path, Fate.EXISTS, target, names)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("x", encoding="utf-8", newline="\n") as file:
                file.write(text)
        except OSError as error:
            return Spec(path, Fate.FAILED, target, names, reason=f"cannot write {target}: {error.strerror or error}")
        return Spec(path, Fate.WRITTEN, target, names)

    def _target(self, path: Path) -> Path:
        """Where the spec goes; in a folder for all, modules of one name have that of their folder before it."""
        place = path.absolute().with_suffix("")
        parts = [re.sub(r"\W", "_", part) for part in (place.parent if place.name == "__init__" else place).parts[1:]]
        folder = path.parent if self._folder is None else self._folder
        candidates = [folder / f"audit_{'_'.join(parts[-count:])}.py" for count in range(1, len(parts) + 1)]
        return next(target for target in candidates if target not in self._taken)


def spec_beside(path: Path) -> Path:
    """Where the spec of a module goes that has its folder for itself."""
    return path.with_name(f"audit_{path.stem}.py")


def _is_first_party(path: Path, name: str) -> bool:
    """Whether import sorters find the module in its project, as they look for it."""
    top = name.partition(".")[0]
    root = project_root(path)
    return any((folder / top).is_dir() or (folder / f"{top}.py").is_file() for folder in (root, root / "src"))
