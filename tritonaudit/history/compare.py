"""What two entries of a history differ in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from tritonaudit.finding import Confidence
from tritonaudit.history.asked import Both
from tritonaudit.history.entry import Data
from tritonaudit.history.figures import Move, figures_of
from tritonaudit.history.folder import Version

Key = tuple[str, str]
"""Two words that name a subject (path, name) or a finding (path, fingerprint)."""


@dataclass(frozen=True)
class Difference:
    """What became of one thing: `better`, `worse`, `new` or `gone`, what it is called, and from what to what."""

    move: str
    name: str
    shown: str


@dataclass(frozen=True)
class Compared:
    """The later entry beside the earlier: the environments' differences, the subjects', and the findings.

    `same` counts the figures that did not move, `untimed` those of times on two devices, which nothing compares, and
    `unasked` the findings that only one of the two was asked for. `both` is what both were.
    """

    environment: tuple[Difference, ...]
    subjects: tuple[tuple[Key, tuple[Difference, ...]], ...]
    findings: tuple[Difference, ...]
    same: int
    untimed: int
    unasked: int
    both: Both


def compared(earlier: Version, later: Version) -> Compared:
    """What got better, worse, new or gone from one to the other."""
    one, other = earlier.data["environment"], later.data["environment"]
    both = Both.of(earlier.data, later.data)
    before, after = (_by_name(both.subjects(entry)) for entry in (earlier.data, later.data))
    same_device = one["device"] == other["device"]
    subjects: list[tuple[Key, tuple[Difference, ...]]] = []
    same = untimed = 0
    for key in dict.fromkeys((*before, *after)):
        if key not in before or key not in after:
            move = "gone" if key in before else "new"
            subjects.append((key, (Difference(move, "the subject", ""),)))
            continue
        moves = list(_moves(before[key], after[key], same_device))
        same += sum(move == Move.SAME.value for move, *_ in moves)
        untimed += sum(move == _UNTIMED for move, *_ in moves)
        reported = tuple(Difference(*move) for move in moves if move[0] not in (Move.SAME.value, _UNTIMED))
        if reported:
            subjects.append((key, reported))
    findings, unasked = _findings(earlier.data, later.data, both)
    return Compared(tuple(_changed(one, other)), tuple(subjects), findings, same, untimed, unasked, both)


_UNTIMED = "untimed"


def subjects_of(entry: Data) -> dict[Key, Data]:
    """The subjects of an entry by path and name."""
    return _by_name(entry["subjects"])


def _by_name(subjects: list[Data]) -> dict[Key, Data]:
    return _keyed(subjects, lambda one: (one["path"], one["subject"]))


def _keyed(things: list[Data], key: Callable[[Data], Key]) -> dict[Key, Data]:
    return {key(one): one for one in things}


def _changed(one: Mapping[str, str | None], other: Mapping[str, str | None]) -> Iterator[Difference]:
    for name in one:
        if one[name] != other[name]:
            yield Difference("changed", name, f"{one[name] or 'none'} → {other[name] or 'none'}")


def _moves(before: Data, after: Data, same_device: bool) -> Iterator[tuple[str, str, str]]:
    """What became of each figure of a subject."""
    old, new = figures_of(before), figures_of(after)
    for name in dict.fromkeys((*old, *new)):
        was, now = old.get(name), new.get(name)
        if was is not None and now is not None:
            move = now.since(was).value if same_device or not now.is_timed else _UNTIMED
            yield move, name, f"{was.shown} → {now.shown}"
        elif was is not None:
            yield "gone", name, f"was {was.shown}{_instead(after, name)}"
        elif now is not None:
            yield "new", name, now.shown


def _instead(subject: Data, name: str) -> str:
    """What a check came to that has no verdict any more."""
    found = next((one for one in subject["checks"] if one["check"] == name), None)
    return f", now {found['status']}: {found['reason']}" if found else ""


def _findings(earlier: Data, later: Data, both: Both) -> tuple[tuple[Difference, ...], int]:
    """Those that are new or gone, and how many others only one of the two was asked for.

    A finding is the same where its path and fingerprint are, on whatever line.
    """
    before, after = (
        _keyed(entry["findings"], lambda one: (one["path"], one["fingerprint"])) for entry in (earlier, later)
    )
    new = [one for key, one in after.items() if key not in before]
    gone = [one for key, one in before.items() if key not in after]
    reported = [
        *(
            _finding("new", one)
            for one in new
            if both.asks_for(one["code"]) and not (both.later_is_pedantic and _is_doubtful(one))
        ),
        *(
            _finding("gone", one)
            for one in gone
            if both.asks_for(one["code"]) and not (both.earlier_is_pedantic and _is_doubtful(one))
        ),
    ]
    return tuple(reported), len(new) + len(gone) - len(reported)


def _is_doubtful(one: Data) -> bool:
    """Whether only a pedantic audit may show the finding, as far as its entry says."""
    confidence: str = one.get("confidence", Confidence.LOW.value)
    return confidence == Confidence.LOW.value


def _finding(move: str, one: Data) -> Difference:
    return Difference(move, f"{one['path']}:{one['line']}", f"{one['code']} {one['name']}: {one['message']}")
