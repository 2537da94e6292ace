"""Subjects that nobody has written: the wrappers of a module, with inputs that are guessed from its code.

Only text is read here: the module itself is run by who calls its wrappers. Each guess is kept with what it rests on, so
that nobody is accused of what only a guess shows.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from tritonaudit.kernel.project import Project
from tritonaudit.source.decode import Undecodable, decode
from tritonaudit.source.discover import project_root
from tritonaudit.source.outline import Unparsable, outline
from tritonaudit.subject.entries import Entrance, entrance_of
from tritonaudit.subject.find import imports_us, kind_of
from tritonaudit.subject.guess.dimensions import is_invented
from tritonaudit.subject.guess.parameters import Guess, GuessedParameter, TorchName, guesses
from tritonaudit.subject.guess.roles import KernelRoles
from tritonaudit.subject.model import DTYPES, FLOATING, Offsets, Subject, Tensor
from tritonaudit.subject.modules import module_name
from tritonaudit.subject.specs import spec_beside
from tritonaudit.subject.wrappers import Host, Wrapper

_MOST_WAYS = 3
_MAY_LAUNCH = re.compile(rb"\btriton\b")


@dataclass(frozen=True)
class GuessedSubject(Subject):
    """A wrapper with guessed inputs, and no reference.

    Users may give it tensors of the `free` parameters as they like, or of all where that is None; `callers` say why
    that may be none. On the `ranks` and `doubts` nothing in the project sheds light, nor on the `sizes_apart`, where
    sizes differ from those that it is first called with: what is seen of the wrapper may come of these. `names` are
    those of the parameters that are tensors, in the order of the arguments. `others` are further ways to call it, for
    where this one fails.
    """

    free: frozenset[str] | None = None
    callers: tuple[str, ...] = ()
    ranks: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    sizes_apart: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    others: tuple[GuessedSubject, ...] = ()


@dataclass(frozen=True)
class Entry:
    """A wrapper of a module, and what its project tells."""

    wrapper: Wrapper
    project: Project
    roles: KernelRoles

    @property
    def name(self) -> str:
        """That of its subject."""
        return self.wrapper.name


def is_guessable(path: Path) -> bool:
    """Whether wrappers of a file may be called with guessed inputs: it holds no subjects, and none are beside it."""
    if path.suffix != ".py" or kind_of(path) is not None or spec_beside(path).is_file() or imports_us(path):
        return False
    try:
        return _MAY_LAUNCH.search(path.read_bytes()) is not None and bool(entries_of(path.absolute()))
    except OSError:
        return False


def guessed_subjects(path: Path, function_of: Callable[[str], Any]) -> Iterator[GuessedSubject]:
    """The guessed subjects of a file, with the functions that are had by their names; None leaves one out."""
    for entry in entries_of(path.absolute()):
        if (function := function_of(entry.name)) is not None:
            yield _subject(entry, function)


def uncovered(paths: Iterable[Path], specs: Iterable[Path]) -> tuple[Path, ...]:
    """Those of the files that no file with subjects imports, nor a package above them, which may hand them on."""
    imported = frozenset[str]().union(*map(_imported_by, specs))

    def is_covered(path: Path) -> bool:
        name = module_name(path).name
        return any(name == one or name.startswith(f"{one}.") for one in imported)

    return tuple(path for path in paths if is_guessable(path) and not is_covered(path))


def _imported_by(path: Path) -> frozenset[str]:
    """The modules, by their dotted names, that a file may import; none where it cannot be parsed."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return frozenset()
    found: set[str] = set()
    package = module_name(path).name.split(".")
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: -node.level] if node.level else []
            module = ".".join((*above, *filter(None, (node.module,))))
            found.update(filter(None, (module, *(f"{module}.{alias.name}".lstrip(".") for alias in node.names))))
    return frozenset(found)


def function_in(module: Any, name: str) -> Any:
    """What a module has by a dotted name; None where it has not."""
    found = module
    for part in name.split("."):
        found = getattr(found, part, None)
    return found if callable(found) else None


@lru_cache(maxsize=8)
def _project(root: Path) -> tuple[Project, KernelRoles]:
    project = Project(root)
    return project, KernelRoles(project)


@lru_cache(maxsize=64)
def entries_of(path: Path) -> tuple[Entry, ...]:
    """The wrappers of a file that can be imported by its name; none where it cannot be read."""
    if not all(part.isidentifier() for part in module_name(path).name.split(".")):
        return ()
    try:
        project, roles = _project(project_root(path))
        host = Host(outline(str(path), decode(path.read_bytes())), project)
    except (OSError, Undecodable, Unparsable):
        return ()
    return tuple(Entry(wrapper, project, roles) for wrapper in host.wrappers())


def _subject(entry: Entry, function: Any) -> GuessedSubject:
    entrance = entrance_of(entry.wrapper, entry.project)
    ways = islice(guesses(entry.wrapper, entry.roles), _MOST_WAYS)
    first, *others = (_called_so(entry, guess, function, entrance) for guess in ways)
    return replace(first, others=tuple(others))


def _called_so(entry: Entry, guess: Guess, function: Any, entrance: Entrance) -> GuessedSubject:
    required = guess.required
    positional = [parameter for parameter in required if not parameter.is_keyword]
    by_name = [parameter for parameter in required if parameter.is_keyword]
    places: Mapping[str, int] = {parameter.name: place for place, parameter in enumerate(positional)}
    return GuessedSubject(
        function,
        inputs=[_argument(parameter.value) for parameter in positional],
        keywords={parameter.name: _argument(parameter.value) for parameter in by_name},
        name=entry.name,
        sizes={name: list(sizes) for name, sizes in guess.sizes},
        dtypes=guess.dtypes or DTYPES,
        mutates=[places.get(parameter.name, parameter.name) for parameter in required if parameter.is_mutated],
        gradients=entry.wrapper.gradients,
        free=entrance.free or None,
        callers=(entrance.doubt,) if entrance.doubt else (),
        ranks=tuple(f"how many dimensions `{one.name}` has" for one in required if _has_no_rank(one)),
        sizes_apart=tuple(_sizes_apart(required)),
        doubts=tuple(doubt for one in required if (doubt := _doubt(one))),
        names=tuple(one.name for one in (*positional, *by_name) if isinstance(one.value, Tensor | Offsets)),
    )


def _argument(value: Any) -> Any:
    if isinstance(value, TorchName):
        import torch

        return getattr(torch, value.name)
    return [_argument(member) for member in value] if isinstance(value, list) else value


def _has_no_rank(parameter: GuessedParameter) -> bool:
    return isinstance(parameter.value, Tensor) and not parameter.is_known


def _sizes_apart(required: Sequence[GuessedParameter]) -> Iterator[str]:
    """Of several tensors those with a dimension that neither code nor notes name, and that no other one has."""
    tensors = [(one.name, one.value) for one in required if isinstance(one.value, Tensor)]
    for name, tensor in tensors if len(tensors) > 1 else ():
        others = {dim for other, value in tensors if other != name for dim in value.dims}
        if any(is_invented(dim, name) and dim not in others for dim in tensor.dims):
            yield f"how the sizes of `{name}` go with those of other tensors"


def _doubt(parameter: GuessedParameter) -> str:
    """What about a parameter is only guessed, and decides what the wrapper does; nothing of a plain number."""
    value, name = parameter.value, parameter.name
    if isinstance(value, Offsets) or (isinstance(value, Tensor) and value.dtype not in (None, "bool", *FLOATING)):
        return f"which integers `{name}` may hold"
    if parameter.is_known or isinstance(value, float | Tensor):
        return ""
    return f"what `{name}` is"
