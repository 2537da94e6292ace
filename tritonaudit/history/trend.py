"""How the figures of subjects went from version to version, and whether they have come to where work can stop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tritonaudit.history.compare import Key, subjects_of
from tritonaudit.history.entry import Data
from tritonaudit.history.figures import Figure, figures_of, size_of
from tritonaudit.history.folder import HistoryError, Version


@dataclass(frozen=True)
class Line:
    """A figure, as each version shows it; empty where a version has none."""

    name: str
    shown: tuple[str, ...]


@dataclass(frozen=True)
class Standing:
    """Whether a subject has reached the target in the latest version, and why that is said."""

    is_reached: bool
    reason: str


@dataclass(frozen=True)
class Trend:
    """A subject over the versions."""

    path: str
    subject: str
    lines: tuple[Line, ...]
    standing: Standing


def trends(versions: Sequence[Version], subject: str | None = None) -> tuple[Trend, ...]:
    """The subjects of these versions, the earliest first; those of one name alone where it is given.

    Raises HistoryError where no version has a subject of that name.
    """
    by_version = [subjects_of(version.data) for version in versions]
    keys = dict.fromkeys(key for subjects in by_version for key in subjects if subject in (None, key[1]))
    if subject is not None and not keys:
        raise HistoryError(f"no version has a subject {subject!r}")
    return tuple(_trend(key, versions, [subjects.get(key) for subjects in by_version]) for key in keys)


def _trend(key: Key, versions: Sequence[Version], kept: Sequence[Data | None]) -> Trend:
    figures = [figures_of(one) if one is not None else {} for one in kept]
    names = dict.fromkeys(name for one in figures for name in one)
    moving = [name for name in names if not _always_passes(name, figures)]
    lines = (
        Line("checks passed", tuple(_passed(one) for one in figures)),
        *(Line(name, tuple(one[name].shown if name in one else "" for one in figures)) for name in moving),
    )
    return Trend(*key, lines, _standing(kept[-1], float(versions[-1].data["target"])))


def _always_passes(name: str, figures: Sequence[Mapping[str, Figure]]) -> bool:
    """Whether it is a check that passes wherever it was run: `checks passed` tells it."""
    had = [one[name] for one in figures if name in one]
    return all(figure.is_verdict and figure.shown == "pass" for figure in had)


def _passed(figures: Mapping[str, Figure]) -> str:
    verdicts = [figure for figure in figures.values() if figure.is_verdict]
    return f"{sum(figure.shown == 'pass' for figure in verdicts)} of {len(verdicts)}" if verdicts else ""


def _standing(latest: Data | None, target: float) -> Standing:
    """The stop condition: no check fails, and the size with the longest roof reaches the target of it."""
    if latest is None:
        return Standing(False, "the latest version does not have it")
    failed = [one["check"] for one in latest["checks"] if one["status"] == "fail"]
    if failed:
        return Standing(False, f"{failed[0]} fails")
    if latest.get("verdict") == "incomplete":
        return Standing(False, "not everything that has to be tried was tried")
    held = [
        (row["roofline"]["roof_milliseconds"], row["roofline"]["reached"], size_of(row))
        for row in latest["sizes"]
        if row["status"] != "fail" and row["roofline"] is not None and row["roofline"]["reached"] is not None
    ]
    if not held:
        why = next((row["reason"] for row in latest["sizes"] if row["reason"]), "it was not measured")
        return Standing(False, f"how close it comes to the roof is not known: {why}")
    _, reached, size = max(held)
    compared = "at least" if reached >= target else "less than"
    return Standing(reached >= target, f"{reached:.1%} of the roof at {size}, {compared} {target:.0%}")
