"""What was stood in for in this process, in sentences for the report."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tritonaudit.absent.releases import written_for
from tritonaudit.execute.blame import is_users
from tritonaudit.shown import shown_path


@dataclass(frozen=True)
class Missing:
    """A module that is imported at a line of the user's, and is not there."""

    module: str
    path: str
    line: int


@dataclass(frozen=True)
class LeftOut:
    """A statement that was left out, or a decorator, with why, and the names that it would have given a meaning.

    `origin` is the dotted name of what is absent, where it was left out for that.
    """

    names: tuple[str, ...]
    path: str
    line: int
    why: str
    origin: str | None = None
    decorator: str = ""
    is_consequence: bool = False


_said: dict[Missing | LeftOut, None] = {}


def say(what: Missing | LeftOut) -> None:
    """Note it."""
    _said[what] = None


def stood_in() -> tuple[str, ...]:
    """A sentence for each thing that was stood in for so far, or left out."""
    return tuple(_sentences(_said))


def _sentences(said: Iterable[Missing | LeftOut]) -> Iterator[str]:
    absent: dict[str, None] = {}
    alike: dict[tuple[str, str], list[Missing | LeftOut]] = {}
    for one in said:
        if isinstance(one, LeftOut):
            key = ("", one.origin or "") if one.is_consequence else (one.path, one.origin or one.why)
            alike.setdefault(key, []).append(one)
        elif one.module.startswith("triton."):
            alike.setdefault((one.path, one.module), []).append(one)
        else:
            absent[one.module if _is_of_checkout(one.module) else one.module.partition(".")[0]] = None
    for name in absent:
        where = "in the checkout" if _is_of_checkout(name) else "installed"
        yield f"`{name}` is not {where}: a stand-in takes its place"
    for some in alike.values():
        yield _sentence(some[0], len(some) - 1)


def _sentence(one: Missing | LeftOut, others: int) -> str:
    more = f" and {others} other place{'s' if others > 1 else ''}" if others else ""
    if isinstance(one, Missing):
        return f"{_place(one)}{more}: {written_for(one.module)}"
    if one.is_consequence:
        return f"{_place(one)}{more}: left out, for the value of the stand-in for `{one.origin}`"
    if one.origin is not None and one.origin.startswith("triton."):
        return f"{_place(one)}{more}: {written_for(one.origin)}"
    return f"{_place(one)}{more}: {_effect(one)}, since it gives {one.why}"


def _effect(one: LeftOut) -> str:
    if one.decorator:
        return f"{one.decorator} is left out"
    names = ", ".join(f"`{name}`" for name in one.names)
    return f"{names} {'are' if len(one.names) > 1 else 'is'} stood in for" if names else "left out"


def _place(one: Missing | LeftOut) -> str:
    return f"{shown_path(Path(one.path))}:{one.line}"


def _is_of_checkout(module: str) -> bool:
    """Whether it is a module of a package of the user's."""
    top = getattr(sys.modules.get(module.partition(".")[0]), "__file__", None)
    return top is not None and is_users(top)
