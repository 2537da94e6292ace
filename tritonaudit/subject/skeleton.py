"""The text of a spec file to begin with: a subject for each wrapper of a module, its inputs guessed from the code."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tritonaudit.subject.guess.parameters import Guess, GuessedParameter, TorchName
from tritonaudit.subject.model import VARIABLE_SUFFIX, Offsets, Size, Tensor
from tritonaudit.subject.wrappers import Wrapper

_WIDTH = 88
_OURS = ("Offsets", "Size", "Subject", "Tensor")


@dataclass(frozen=True)
class Guessed:
    """A wrapper, and how it may be called."""

    wrapper: Wrapper
    guess: Guess


def spec_text(module: str, guessed: Sequence[Guessed], *, first_party: bool) -> str:
    """The spec of a module, by its dotted name; `first_party` says whether import sorters take it for the project's."""
    parts = [_Part(one, variable) for one, variable in zip(guessed, _variables(guessed), strict=True)]
    body = "\n\n".join(part.text for part in parts)
    ours = ", ".join(name for name in _OURS if re.search(rf"\b{name}\(", body))
    torch = ["import torch"] if re.search(r"^ +torch\.", body, re.MULTILINE) else []
    users = _import(module, sorted({part.imported for part in parts}, key=_order))
    from_us = f"from tritonaudit import {ours}"
    blocks = [[*torch, from_us], [users]] if first_party else [[*torch, *sorted((users, from_us), key=_module_of)]]
    imports = "\n\n".join("\n".join(block) for block in blocks)
    return f'"""{_DOCSTRING.format(module=module)}"""\n\n{imports}\n\n{body}\n'


_DOCSTRING = """What tritonaudit runs of `{module}`.

Guessed by `tritonaudit init`: correct what is marked as a guess, and give each subject
its reference.
"""


@dataclass(frozen=True)
class _Part:
    """One subject of the file, and the name of its variable."""

    guessed: Guessed
    variable: str

    @property
    def imported(self) -> str:
        return self.guessed.wrapper.name.partition(".")[0]

    @property
    def text(self) -> str:
        lines = [
            f"{self.variable} = Subject(",
            f"    {self.guessed.wrapper.name},",
            "    reference=None,  # what PyTorch does for the same arguments",
            *self._arguments(),
            *self._restrictions(),
            ")",
        ]
        if kept := self._left_at_default():
            text = f"Left at their defaults: {', '.join(kept)}."
            lines.extend(textwrap.wrap(text, _WIDTH, initial_indent="# ", subsequent_indent="# "))
        return "\n".join(lines)

    def _arguments(self) -> Iterator[str]:
        required = self.guessed.guess.required
        positional = [parameter for parameter in required if not parameter.is_keyword]
        if positional:
            yield "    inputs=["
            yield from (line for p in positional for line in _entry("", p))
            yield "    ],"
        if keywords := [parameter for parameter in required if parameter.is_keyword]:
            yield "    keywords={"
            yield from (line for p in keywords for line in _entry(f'"{p.name}": ', p))
            yield "    },"

    def _restrictions(self) -> Iterator[str]:
        guess = self.guessed.guess
        if guess.sizes:
            yield f"    sizes={_written({name: list(sizes) for name, sizes in guess.sizes})},"
        if guess.dtypes:
            yield f"    dtypes={_written(list(guess.dtypes))},"
        places = {p.name: place for place, p in enumerate(p for p in guess.required if not p.is_keyword)}
        if mutated := [p.name for p in guess.required if p.is_mutated]:
            yield f"    mutates={_written([places.get(name, name) for name in mutated])},  # {', '.join(mutated)}"
        if self.guessed.wrapper.gradients:
            yield "    gradients=True,"

    def _left_at_default(self) -> list[str]:
        return [parameter.name for parameter in self.guessed.guess.parameters if parameter.has_default]


def _entry(key: str, parameter: GuessedParameter) -> Iterator[str]:
    """The lines of an argument in a list or dict, broken where code formatters break them."""
    text, remark = f"        {key}{_written(parameter.value)}", f",  # {_remark(parameter)}"
    if len(text + remark) <= _WIDTH or not isinstance(parameter.value, (Tensor, Offsets)):
        yield f"{text}{remark}"
        return
    call, _, arguments = text.removesuffix(")").partition("(")
    yield f"{call}("
    if len(arguments) + 12 <= _WIDTH:
        yield f"            {arguments}"
    else:
        yield from (f"            {argument}," for argument in arguments.split(", "))
    yield f"        ){remark}"


def _remark(parameter: GuessedParameter) -> str:
    """The parameter's name, and how sure its value is."""
    if parameter.is_known:
        return parameter.name
    if parameter.value is None:
        return f"{parameter.name}: GUESS, nothing shows what it is"
    return f"{parameter.name}: GUESS"


def _written(value: Any) -> str:
    """A value as it is written in Python."""
    match value:
        case Tensor():
            options = {"dtype": value.dtype, "low": value.low or None, "high": value.high if value.high != 2 else None}
            return _call("Tensor", *value.dims, **options)
        case Size():
            return _call("Size", value.dim)
        case Offsets():
            return _call("Offsets", value.parts, value.total, dtype=value.dtype if value.dtype != "int32" else None)
        case TorchName():
            return f"torch.{value.name}"
        case str():
            escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            return f'"{escaped}"'
        case list() | tuple():
            return f"[{', '.join(map(_written, value))}]"
        case dict():
            return "{" + ", ".join(f"{_written(key)}: {_written(member)}" for key, member in value.items()) + "}"
    return re.sub(r"e([-+])0", r"e\1", repr(value))


def _call(name: str, *arguments: Any, **options: Any) -> str:
    given = [f"{option}={_written(value)}" for option, value in options.items() if value is not None]
    return f"{name}({', '.join([*map(_written, arguments), *given])})"


# -- names and imports ---------------------------------------------------------------------------------------------


def _variables(guessed: Sequence[Guessed]) -> Iterator[str]:
    """For each wrapper the name of its subject's variable, none of them twice."""
    taken = {one.wrapper.name for one in guessed}
    for one in guessed:
        own, _, method = one.wrapper.name.partition(".")
        name = f"{_snake_case(own.removesuffix('Function') or own) if method else own}{VARIABLE_SUFFIX}"
        while name in taken:
            name = f"_{name}"
        taken.add(name)
        yield name


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def _import(module: str, names: Sequence[str]) -> str:
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= _WIDTH:
        return line
    return "\n".join([f"from {module} import (", *(f"    {name}," for name in names), ")"])


def _order(name: str) -> tuple[int, list[tuple[int, int, str]], str]:
    """How import sorters order names: constants, classes, the rest; numbers by their value, in either case alike."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    parts = [part for part in re.split(r"(\d+)", name.lower()) if part]
    return kind, [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts], name


def _module_of(line: str) -> str:
    return line.split()[1].lower()
