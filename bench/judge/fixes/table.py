"""The table of real bugs beside injected faults."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_ROW = re.compile(r"^(all|class) ?(\S*)\s+(\d+)\s+(\d+)%\s+(\d+)%$", re.MULTILINE)
_NOISE = re.compile(r"^findings in the (\d+) fixed files: (\d+) on (\d+) kernels$", re.MULTILINE)


@dataclass(frozen=True)
class Share:
    """Bugs, the percentage detected, and the percentage with a finding at the place, gone afterwards or not."""

    bugs: int
    detected: int
    fires: int


@dataclass(frozen=True)
class Scored:
    """A list of bugs by class, all of them under the empty one; and the findings in the fixed files."""

    by_class: tuple[tuple[str, Share], ...]
    noise: tuple[int, int]


@dataclass(frozen=True)
class Injected:
    """The faults of an operator, and how many of them the source stage tells of."""

    kind: str
    faults: int
    source: int


def scored_of(printed: str) -> Scored:
    """What `score --totals` has printed. Raises ValueError for anything else."""
    rows = {
        kind: Share(int(bugs), int(detected), int(fires)) for _, kind, bugs, detected, fires in _ROW.findall(printed)
    }
    noise = _NOISE.search(printed)
    if "" not in rows or noise is None:
        raise ValueError(f"score has printed no totals:\n{printed}")
    return Scored(tuple(rows.items()), (int(noise[2]), int(noise[3])))


def table(found: Mapping[str, Scored], injected: Mapping[str, Injected]) -> str:
    """By class: the bugs of each list, how many are detected, and the same of faults injected by its operators."""
    titles = " | ".join(f"{name} | detected | at the place" for name in found)
    head = f"| class | {titles} | injected faults | detected | operators |"
    lines = [head, "|---" * (3 * len(found) + 4) + "|"]
    shares = {name: dict(scored.by_class) for name, scored in found.items()}
    classes = {kind for share in shares.values() for kind in share} | {one.kind for one in injected.values()}
    bugs = {kind: sum(share[kind].bugs for share in shares.values() if kind in share) for kind in classes}
    for kind in sorted(classes, key=lambda kind: (kind == "", -bugs[kind], kind)):
        cells = " | ".join(_share(share.get(kind)) for share in shares.values())
        lines.append(f"| {kind or '**all**'} | {cells} | {_faults(kind, injected)} |")
    for name, scored in found.items():
        lines += ["", f"{name}: {scored.noise[0]} findings in the fixed files, on {scored.noise[1]} kernels"]
    return "\n".join(lines)


def _share(share: Share | None) -> str:
    return "- | - | -" if share is None else f"{share.bugs} | {share.detected} % | {share.fires} %"


def _faults(kind: str, injected: Mapping[str, Injected]) -> str:
    of = {name: one for name, one in injected.items() if kind in ("", one.kind)}
    faults, source = sum(one.faults for one in of.values()), sum(one.source for one in of.values())
    detected = f"{100 * source / faults:.0f} %" if faults else "-"
    return f"{faults} | {detected} | {', '.join(sorted(of)) if kind else len(of)}"
