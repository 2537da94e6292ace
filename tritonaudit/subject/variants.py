"""Subjects from variants of an operation: `kernels/softmax/v2_online.py` with `triton_softmax`. Imports torch."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from tritonaudit.kernel.project import Project
from tritonaudit.source.decode import decode
from tritonaudit.source.discover import project_root
from tritonaudit.source.outline import outline
from tritonaudit.subject.execute import run_file
from tritonaudit.subject.guess.parameters import Guess, TorchName, guesses
from tritonaudit.subject.guess.roles import KernelRoles
from tritonaudit.subject.model import Subject
from tritonaudit.subject.wrappers import Host

_MAKES_INPUTS = re.compile(rb"^def\s+make_inputs\s*\(", re.MULTILINE)


def variant_subject(path: Path, module: ModuleType, operation: str, function: Callable[..., Any]) -> Subject:
    """The subject of one variant: its reference is torch's function of the operation's name, where there is one.

    Its inputs are those of `make_inputs`, defined here or in another file of the folder, or else guessed from the
    code. A default is passed as well, since torch may have another. Raises ValueError if they cannot be guessed.
    """
    name = f"{operation}/{path.stem}"
    subject = Subject(function, reference=torch_function(operation), name=name)
    make_inputs = _make_inputs(path, module)
    if make_inputs is not None:
        return replace(subject, inputs=make_inputs)
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
