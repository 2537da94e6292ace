"""Finds the files to audit: a quick walk that skips what git ignores and what the configuration excludes."""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tritonaudit.config import Config
from tritonaudit.finding import Problem
from tritonaudit.source.gitignore import Patterns
from tritonaudit.source.notebook import SUFFIX

_TEMPLATES = (".jinja", ".j2")

_Layer = tuple[str, Patterns]
"""Patterns and the folder that they are relative to. Of several layers, the last one that speaks decides."""


@dataclass(frozen=True)
class Discovery:
    """Absolute paths, sorted, each file once. `templates` are Jinja templates: no Python before they are rendered.

    Notebooks stand apart from the `files` of Python, since nothing can import one.
    """

    files: tuple[Path, ...] = ()
    notebooks: tuple[Path, ...] = ()
    templates: tuple[Path, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def sources(self) -> tuple[Path, ...]:
        """All that the source stage reads."""
        return tuple(sorted((*self.files, *self.notebooks)))


def discover(paths: Sequence[Path], config: Config) -> Discovery:
    """The Python files, notebooks and templates among `paths` and in the folders among them.

    A path that is named is taken even if it is excluded, unless the configuration says `force_exclude`. Links to
    folders are not followed; a file that is reached in several ways is listed once.
    """
    walk = _Walk(config)
    for path in paths:
        walk.take(path)
    return walk.discovery()


def project_root(start: Path) -> Path:
    """The nearest folder at or above `start` with a pyproject.toml or .git; without one, what holds its package.

    That is the folder from which the outermost package around `start` is imported, or its own folder without one.
    """
    folder = os.path.abspath(start)
    if os.path.isfile(folder):
        folder = os.path.dirname(folder)
    candidate, below = folder, ""
    while candidate != below:
        if os.path.isfile(f"{candidate}/pyproject.toml") or os.path.exists(f"{candidate}/.git"):
            return Path(candidate)
        candidate, below = os.path.dirname(candidate), candidate
    while os.path.isfile(f"{folder}/__init__.py"):
        folder = os.path.dirname(folder)
    return Path(folder)


class _Walk:
    """One discovery under way. Folders are strings with `/`, and the root of the file system is the empty one."""

    def __init__(self, config: Config) -> None:
        self._root = _posix(config.root)
        self._found: dict[str, str] = {}
        self._links: list[str] = []
        self._problems: list[Problem] = []
        self._of = cache(lambda folder: config.of_folder(folder or "/"))
        self._patterns = cache(_excluded)
        self._layers_in = cache(self._find_layers_in)
        self._is_reached = cache(self._find_reached)

    def take(self, path: Path) -> None:
        try:
            mode = os.stat(path).st_mode
        except OSError as error:
            self._problems.append(Problem(str(path), _reason(error, path)))
            return
        place = _posix(path)
        is_folder = stat.S_ISDIR(mode)
        if not is_folder and not stat.S_ISREG(mode):
            self._problems.append(Problem(str(path), "neither a file nor a folder"))
        elif self._of(place if is_folder else place.rpartition("/")[0]).force_exclude and not self._is_admitted(
            place, is_folder=is_folder
        ):
            return
        elif is_folder:
            self._walk(place)
        elif os.path.islink(place):
            self._links.append(place)
        else:
            self._add(_real(place), place)

    def discovery(self) -> Discovery:
        for link in sorted(self._links):
            self._found.setdefault(_real(link), link)
        places = sorted(self._found.values())
        return Discovery(
            files=tuple(Path(place) for place in places if not place.endswith((SUFFIX, *_TEMPLATES))),
            notebooks=tuple(Path(place) for place in places if place.endswith(SUFFIX)),
            templates=tuple(Path(place) for place in places if place.endswith(_TEMPLATES)),
            problems=tuple(sorted(set(self._problems), key=lambda problem: problem.path)),
        )

    def _add(self, real: str, place: str) -> None:
        """Lists a file: one that is reached in several ways under its real path, or else the first by name."""
        self._found[real] = min(place, self._found.get(real, place), key=lambda way: (way != real, way))

    def _walk(self, top: str) -> None:
        real_top = _real(top)
        pending = [(top, self._layers_above(top))]
        while pending:
            folder, layers = pending.pop()
            entries = self._list(folder)
            names = {entry.name for entry in entries}
            if "pyvenv.cfg" in names and folder != top:
                continue
            layers = self._layers_with(folder, layers, names)
            config = self._of(folder)
            anchor = _anchor(folder, config, top)
            for entry in entries:
                place = f"{folder}/{entry.name}"
                is_folder = _is_folder(entry)
                if not is_folder and not _is_source(entry):
                    continue
                if self._is_ignored(place, config, layers, anchor, is_folder=is_folder):
                    continue
                if is_folder:
                    pending.append((place, layers))
                elif entry.is_symlink():
                    self._links.append(place)
                else:
                    self._add(real_top + place[len(top) :], place)

    def _list(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(folder or "/") as entries:
                return list(entries)
        except OSError as error:
            self._problems.append(Problem(folder, f"cannot list the folder: {error.strerror}"))
            return []

    def _is_ignored(
        self, place: str, config: Config, layers: Sequence[_Layer], anchor: str, *, is_folder: bool
    ) -> bool:
        if self._patterns(config).verdict(place[len(anchor) + 1 :], folder=is_folder):
            return True
        for base, patterns in reversed(layers):
            verdict = patterns.verdict(place[len(base) + 1 :], folder=is_folder)
            if verdict is not None:
                return verdict
        return False

    def _is_admitted(self, place: str, *, is_folder: bool) -> bool:
        """Whether a walk from the top of the project would come to the path."""
        if is_folder:
            return self._is_reached(place)
        folder = place.rpartition("/")[0]
        return self._is_reached(folder) and not self._is_ignored_in(folder, place, is_folder=False)

    def _find_reached(self, folder: str) -> bool:
        if folder in ("", self._outermost(folder)):
            return True
        parent = folder.rpartition("/")[0]
        return (
            self._is_reached(parent)
            and not os.path.isfile(f"{folder}/pyvenv.cfg")
            and not self._is_ignored_in(parent, folder, is_folder=True)
        )

    def _is_ignored_in(self, folder: str, place: str, *, is_folder: bool) -> bool:
        config = self._of(folder)
        anchor = _anchor(folder, config, folder)
        return self._is_ignored(place, config, self._layers_in(folder), anchor, is_folder=is_folder)

    def _outermost(self, folder: str) -> str:
        """The folder in which a walk to this one would begin: the project's, or outside of it the folder itself."""
        return self._root if _is_within(folder, self._root) else folder

    def _top(self, folder: str) -> str:
        """The folder whose .gitignore is the first that counts."""
        for ancestor in _upwards(folder):
            if os.path.lexists(f"{ancestor}/.git"):
                return ancestor
        return self._outermost(folder)

    def _layers_above(self, folder: str) -> tuple[_Layer, ...]:
        return () if folder == self._top(folder) else self._layers_in(folder.rpartition("/")[0])

    def _find_layers_in(self, folder: str) -> tuple[_Layer, ...]:
        names = {name for name in (".git", ".gitignore") if os.path.lexists(f"{folder}/{name}")}
        return self._layers_with(folder, self._layers_above(folder), names)

    def _layers_with(self, folder: str, above: tuple[_Layer, ...], names: Iterable[str]) -> tuple[_Layer, ...]:
        """The layers inside a folder with these entries: a repository of its own starts afresh."""
        if not self._of(folder).respect_gitignore:
            return ()
        layers = above
        if ".git" in names:
            layers = self._layer(folder, f"{_git_folder(folder)}/info/exclude")
        if ".gitignore" in names:
            layers += self._layer(folder, f"{folder}/.gitignore")
        return layers

    def _layer(self, base: str, file: str) -> tuple[_Layer, ...]:
        # Like git, no link is followed; and opening a pipe would wait for ever.
        if os.path.islink(file) or not os.path.isfile(file):
            return ()
        try:
            text = Path(file).read_bytes().decode("utf-8", "surrogateescape")
        except OSError as error:
            self._problems.append(Problem(file, f"cannot read it: {error.strerror}"))
            return ()
        return ((base, Patterns.of(text.removeprefix("\ufeff").split("\n"))),)


def _anchor(folder: str, config: Config, top: str) -> str:
    """What the patterns of the configuration of a folder are relative to: its root, or outside of it the walk's top."""
    root = _posix(config.root)
    return root if _is_within(folder, root) else top


def _excluded(config: Config) -> Patterns:
    return Patterns.of((*config.exclude, *config.extend_exclude))


def _git_folder(folder: str) -> str:
    """Where the repository at `folder` keeps its data: a submodule and a worktree have a file that says so."""
    git = Path(folder, ".git")
    if not git.is_file():
        return str(git)
    try:
        git = Path(folder, git.read_text(encoding="utf-8").removeprefix("gitdir:").strip())
        common = git / "commondir"
        return str(git / common.read_text(encoding="utf-8").strip()) if common.is_file() else str(git)
    except (OSError, ValueError):
        return str(git)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _is_source(entry: os.DirEntry[str]) -> bool:
    """Whether it is a regular file, or a link to one, with a name of ours; a link in a circle is no file."""
    try:
        return entry.name.endswith((".py", SUFFIX, *_TEMPLATES)) and entry.is_file()
    except OSError:
        return False


def _is_within(folder: str, root: str) -> bool:
    return folder == root or folder.startswith(f"{root}/")


def _upwards(folder: str) -> Iterator[str]:
    yield folder
    while folder:
        folder = folder.rpartition("/")[0]
        yield folder


def _posix(path: Path) -> str:
    return Path(os.path.abspath(path)).as_posix().rstrip("/")


def _real(place: str) -> str:
    return _posix(Path(os.path.realpath(place or "/")))


def _beside(path: Path) -> list[str]:
    try:
        return os.listdir(path.parent)
    except OSError:
        return []


def _reason(error: OSError, path: Path) -> str:
    if isinstance(error, FileNotFoundError):
        if os.path.islink(path):
            return "a broken link"
        close = difflib.get_close_matches(path.name, _beside(path), 1)
        return "no such file or folder" + (f"; did you mean {str(path.with_name(close[0]))!r}?" if close else "")
    return f"cannot read it: {error.strerror}"
