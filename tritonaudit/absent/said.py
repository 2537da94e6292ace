"""What was stood in for in this process, in sentences for the report."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tritonaudit.absent.releases import written_for
from tritonaudit.absent.stand_in import DependsOnStandIn
from tritonaudit.execute.blame import is_users
from tritonaudit.shown import shown_path


@dataclass(frozen=True)
class Missing:
    """A module that is imported at a line of the user's, and is not there."""

    module: str
    path: str
    line: int


@dataclass(frozen=True)
class Unrun:
    """A subject whose function is a stand-in."""

    subject: str
    origin: str


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


Said = Missing | LeftOut | Unrun
_said: dict[Said, None] = {}


def say(what: Said) -> None:
    """Note it."""
    _said[what] = None


def said() -> tuple[Said, ...]:
    """All that was noted since it was last asked for in sentences."""
    return tuple(_said)


def newly_said() -> tuple[str, ...]:
    """A sentence for each thing that was stood in for, or left out, since this was asked last."""
    sentences = tuple(_sentences(_said))
    _said.clear()
    return sentences


def for_want_of(error: DependsOnStandIn) -> str:
    """Why something is not known that depends on a stand-in."""
    return written_for(error.origin) if error.origin.startswith("triton.") else str(error)


def _sentences(said: Iterable[Said]) -> Iterator[str]:
    absent: dict[str, None] = {}
    alike: dict[tuple[str, str], list[Missing | LeftOut]] = {}
    for one in said:
        if isinstance(one, Unrun):
            yield f"the subject `{one.subject}` is not run, because it depends on the stand-in for `{one.origin}`"
        elif isinstance(one, LeftOut):
            key = ("", _package(one)) if one.is_consequence else (one.path, one.origin or one.why)
            alike.setdefault(key, []).append(one)
        elif one.module.startswith("triton."):
            alike.setdefault((one.path, one.module), []).append(one)
        else:
            absent[one.module if _is_of_checkout(one.module) else one.module.partition(".")[0]] = None
    for where, names in (
        ("installed", [name for name in absent if not _is_of_checkout(name)]),
        ("in the checkout", list(filter(_is_of_checkout, absent))),
    ):
        if names:
            yield f"{_listed(names)} {_are(names)} not {where}, and stood in for"
    for some in alike.values():
        yield _sentence(some[0], len(some) - 1)


def _sentence(one: Missing | LeftOut, others: int) -> str:
    more = f" and {others} other place{'s' if others > 1 else ''}" if others else ""
    if isinstance(one, Missing):
        return f"{_place(one)}{more}: {written_for(one.module)}"
    if one.is_consequence:
        return f"{_place(one)}{more}: left out, for what is asked of the stand-in for `{_package(one)}`"
    if one.origin is not None and one.origin.startswith("triton."):
        return f"{_place(one)}{more}: {written_for(one.origin)}"
    return f"{_place(one)}{more}: {_effect(one)}, since it gives {one.why}"


def _effect(one: LeftOut) -> str:
    if one.decorator:
        return f"{one.decorator} is left out"
    return f"{_listed(one.names)} {_are(one.names)} stood in for" if one.names else "left out"


def _package(one: LeftOut) -> str:
    return (one.origin or "").partition(".")[0]


def _listed(names: Sequence[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


def _are(names: Sequence[str]) -> str:
    return "are" if len(names) > 1 else "is"


def _place(one: Missing | LeftOut) -> str:
    return f"{shown_path(Path(one.path))}:{one.line}"


def _is_of_checkout(module: str) -> bool:
    """Whether it is a module of a package of the user's."""
    top = getattr(sys.modules.get(module.partition(".")[0]), "__file__", None)
    return top is not None and is_users(top)
