"""Subjects from variants of an operation: `kernels/softmax/v2_online.py` with `triton_softmax`. Imports torch."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from tritonaudit.kernel.project import Project
from tritonaudit.source.decode import decode
from tritonaudit.source.discover import project_root
from tritonaudit.source.outline import outline
from tritonaudit.subject.execute import run_file
from tritonaudit.subject.find import SubjectKind, kind_of
from tritonaudit.subject.guess.parameters import Guess, TorchName, guesses
from tritonaudit.subject.guess.roles import KernelRoles
from tritonaudit.subject.model import Subject
from tritonaudit.subject.operations import Fitted, Known, fitted, known_operation
from tritonaudit.subject.wrappers import Host

_MAKES_INPUTS = re.compile(rb"^def\s+make_inputs\s*\(", re.MULTILINE)


def variant_subject(path: Path, module: ModuleType, operation: str, function: Callable[..., Any]) -> Subject:
    """The subject of one variant: what a spec file `audit_*.py` of its folder says, but of this function.

    Without one, its reference is that of `op.py` in the folder, or torch's function of the operation's name, where
    there is one. Its inputs are those of `make_inputs`, defined here or in another file of the folder, or those of
    an operation that is known, or else guessed from the code. A default is passed as well, since torch may have
    another. Raises ValueError if they cannot be guessed.
    """
    name = f"{operation}/{path.stem}"
    if (spec := _spec(path.parent, operation)) is not None:
        return replace(spec, function=function, name=name)
    own = _own_reference(path.parent, operation)
    subject = Subject(function, reference=own or torch_function(operation), name=name)
    make_inputs = _make_inputs(path, module)
    if make_inputs is not None:
        return replace(subject, inputs=make_inputs)
    if (known := known_operation(operation)) is not None and (fit := _fit(known, function)) is not None:
        reference = own or _reference(known, fit)
        return replace(subject, reference=reference, inputs=fit.positional, keywords=fit.keywords)
    guess = _guess(path, function.__name__)
    if guess is None:
        raise ValueError(
            f"the inputs of `{function.__name__}` cannot be guessed: define `make_inputs` in {path.parent}"
        )
    return replace(
        subject,
        inputs=[resolved(parameter.value) for parameter in guess.parameters if not parameter.is_keyword],
        keywords={p.name: resolved(p.value) for p in guess.parameters if p.is_keyword},
        sizes=dict(guess.sizes),
        dtypes=guess.dtypes or subject.dtypes,
    )


def torch_function(operation: str) -> Callable[..., Any] | None:
    """PyTorch's function for an operation; underscores do not matter: `layernorm` is `layer_norm`."""
    if (known := known_operation(operation)) is not None:
        return _torch_name(known)
    wanted = operation.replace("_", "").lower()
    for place in (torch.nn.functional, torch, torch.special, torch.linalg):
        for name in dir(place):
            found: Callable[..., Any] = getattr(place, name)
            if name.replace("_", "").lower() == wanted and callable(found) and not isinstance(found, type):
                return found
    return None


def resolved(value: Any) -> Any:
    """A guessed argument as torch wants it."""
    if isinstance(value, TorchName):
        return getattr(torch, value.name)
    return [resolved(member) for member in value] if isinstance(value, list) else value


def _torch_name(known: Known) -> Callable[..., Any]:
    function: Callable[..., Any] = attrgetter(known.function.removeprefix("torch."))(torch)
    return function


def _reference(known: Known, fit: Fitted) -> Callable[..., Any]:
    function = _torch_name(known)
    return partial(function, **fit.absent) if fit.absent else function


def _fit(known: Known, function: Callable[..., Any]) -> Fitted | None:
    try:
        return fitted(known, inspect.signature(function))
    except (TypeError, ValueError):
        return None


def _spec(folder: Path, operation: str) -> Subject | None:
    """What a spec file of the folder says of the operation: the subject of its name, or the only one."""
    from tritonaudit.subject.load import load_subjects

    specs = [path for path in sorted(folder.glob("audit_*.py")) if kind_of(path) is SubjectKind.SPEC]
    subjects = [subject for path in specs for subject in load_subjects(path)]
    if len(subjects) < 2:
        return subjects[0] if subjects else None
    if (named := next((subject for subject in subjects if subject.name == operation), None)) is None:
        listed = ", ".join(subject.name for subject in subjects)
        raise ValueError(f"none of the subjects of {folder} is named {operation!r}: there are {listed}")
    return named


def _own_reference(folder: Path, operation: str) -> Callable[..., Any] | None:
    """`reference`, or the function of the operation's name, of `op.py` in the folder."""
    path = folder / "op.py"
    if not path.is_file():
        return None
    module = run_file(path)
    found: Callable[..., Any] | None = getattr(module, "reference", None) or getattr(module, operation, None)
    return found


def _make_inputs(path: Path, module: ModuleType) -> Callable[..., Any] | None:
    own = getattr(module, "make_inputs", None)
    if own is not None:
        return own  # type: ignore[no-any-return]
    for other in sorted(path.parent.glob("*.py")):
        if other != path and _MAKES_INPUTS.search(other.read_bytes()):
            return run_file(other).make_inputs  # type: ignore[no-any-return]
    return None


def _guess(path: Path, function: str) -> Guess | None:
    project = Project(project_root(path))
    host = Host(outline(str(path), decode(path.read_bytes())), project)
    wrapper = host.wrapper(function)
    return None if wrapper is None else next(guesses(wrapper, KernelRoles(project)))
