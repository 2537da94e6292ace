"""Where in their outputs subjects are wrong, as pictures."""

from __future__ import annotations

import math
from collections.abc import Iterator

from tritonaudit.compile.phrases import counted
from tritonaudit.report.evidence import Evidence
from tritonaudit.report.html.markup import Markup, element, lines
from tritonaudit.report.words import Code, words
from tritonaudit.suites.error_map import ErrorMap
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.gather import SubjectRun
from tritonaudit.suites.outcome import CaseOutcome

_WRONG = {Symptom.WRONG_RESULT, Symptom.NEW_NON_FINITE, Symptom.WRONG_AT_BOUNDARY}
_MOST = 6
"""Cases of a subject that are shown."""
_TILE = 10.0
_LEAST, _FULLEST = 3.0, 9.0
"""How wide a tile is, and the squares in it that show the least share and all; the area of the square is the share."""
_WIDEST = 640.0
_LARGEST_TILE = 24.0


def error_maps(evidence: Evidence) -> Iterator[Markup]:
    """Maps of a few cases of each subject; the others are counted."""
    for run in evidence.runs:
        yield from _of_subject(evidence.label(run), run)


def why_no_map(evidence: Evidence) -> str:
    """Why there is none."""
    seen = {sighting.symptom for run in evidence.runs for trial in run.trials for sighting in trial.sightings}
    if seen & _WRONG:
        return "the positions of the wrong elements were not recorded"
    return evidence.why_nothing_ran or "no result that was compared is wrong"


def _of_subject(label: str, run: SubjectRun) -> Iterator[Markup]:
    trials = [trial for trial in run.trials if trial.errors]
    partly = [trial for trial in trials if any(one.wrong < one.elements for one in trial.errors)]
    for trial in partly[:_MOST]:
        yield from (_figure(label, trial, one) for one in trial.errors)
    if further := len(partly[_MOST:]):
        yield element("p", Code(label), f" is wrong in parts of its results in {counted(further, 'further case')}.")
    if wholly := len(trials) - len(partly):
        yield element("p", Code(label), f" is wrong in every element of its results in {counted(wholly, 'case')}.")


def _figure(subject: str, trial: CaseOutcome, found: ErrorMap) -> Markup:
    caption = words(Code(subject), f" at {trial.case.label}: ", _reported(found))
    return element("figure", lines(element("figcaption", caption), _picture(found)))


def _reported(found: ErrorMap) -> str:
    shape = " × ".join(map(str, found.shape)) or "one element"
    return f"{found.name} ({shape}) is wrong in {found.wrong:,} of {found.elements:,} elements, {_extent(found)}"


def _extent(found: ErrorMap) -> str:
    """Where the wrong ones lie: `in rows 0 to 63 and columns 128 to 130`."""
    down = [row for row, shares in enumerate(found.shares) if any(shares)]
    across = [column for shares in found.shares for column, share in enumerate(shares) if share]
    if not down:
        return "nowhere"
    height = -(-found.elements // found.width)
    rows = _range(min(down) * found.rows, min((max(down) + 1) * found.rows, height))
    columns = _range(min(across) * found.columns, min((max(across) + 1) * found.columns, found.width))
    if len(found.shape) > 1:
        return f"in rows {rows} and columns {columns}; {_tile(found)}"
    return f"here in lines of {found.width:,} elements; {_tile(found)}"


def _range(first: int, past: int) -> str:
    return f"{first:,}" if past - first == 1 else f"{first:,} to {past - 1:,}"


def _tile(found: ErrorMap) -> str:
    size = f"{found.rows:,} × {found.columns:,}"
    return "each tile is an element" if size == "1 × 1" else f"each tile is {size} elements, the fuller the more wrong"


def _picture(found: ErrorMap) -> Markup:
    columns = max(map(len, found.shares))
    width, height = columns * _TILE, len(found.shares) * _TILE
    shown = min(_WIDEST, columns * _LARGEST_TILE)
    return element(
        "svg",
        element("path", d="".join(_grounds(found)), class_="ground"),
        element("path", d="".join(_squares(found)), class_="wrong"),
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        width=shown,
        height=shown * height / width,
        role="img",
        aria_label=f"{found.name}: {_extent(found)}",
        class_="map",
    )


def _grounds(found: ErrorMap) -> Iterator[str]:
    for row, column, _ in _tiles(found):
        yield f"M{column * _TILE:.0f} {row * _TILE:.0f}h{_TILE:.0f}v{_TILE:.0f}h-{_TILE:.0f}z"


def _squares(found: ErrorMap) -> Iterator[str]:
    for row, column, share in _tiles(found):
        if share:
            side = max(_LEAST, _FULLEST * math.sqrt(share))
            left, top = column * _TILE + (_TILE - side) / 2, row * _TILE + (_TILE - side) / 2
            yield f"M{left:.1f} {top:.1f}h{side:.1f}v{side:.1f}h-{side:.1f}z"


def _tiles(found: ErrorMap) -> Iterator[tuple[int, int, float]]:
    for row, shares in enumerate(found.shares):
        yield from ((row, column, share) for column, share in enumerate(shares) if share is not None)
