"""Readers' verdicts on a draw, and what they come to."""

from __future__ import annotations

import csv
import math
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

from bench.judge.draw.frozen import VERDICTS, Draw, Verdict, write
from tritonaudit.finding import Confidence

_WORTH = VERDICTS[0]


def take(draw: Draw, reader: str, path: Path) -> None:
    """Keep a reader's verdicts; what the reader said before of the same findings is replaced. Leaves on a bad row."""
    known = {one.index for one in draw.findings}
    taken: dict[int, Verdict] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE), 1):
            if row and row[0] != "index":
                taken.update([_verdict(path, number, reader, row, known)])
    kept = [one for one in draw.verdicts if one.reader != reader or one.index not in taken]
    write(draw.verdicts_file, Verdict, sorted([*kept, *taken.values()], key=lambda one: (one.reader, one.index)))
    print(f"{len(taken)} verdicts of reader {reader}, {len(known - taken.keys())} findings not judged")


def _verdict(path: Path, number: int, reader: str, row: Sequence[str], known: set[int]) -> tuple[int, Verdict]:
    if len(row) != 3 or not row[0].isdigit() or int(row[0]) not in known or row[1] not in VERDICTS or not row[2]:
        sys.exit(f"{path}:{number}: no index of the draw, verdict and reason: {row}")
    return int(row[0]), Verdict(reader, int(row[0]), row[1], row[2])


def table(draw: Draw) -> str:
    """By severity: what the readers said, with 95 % intervals; and how far they agree."""
    by_reader: dict[str, dict[int, str]] = {}
    for one in draw.verdicts:
        by_reader.setdefault(one.reader, {})[one.index] = one.verdict
    packages = "\n".join(_packages(draw))
    return "\n\n".join(
        (packages, "\n".join(_rows(draw, by_reader)), "\n".join(_rules(draw, by_reader)), _agreement(by_reader))
    )


def wilson(hits: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson, 1927)."""
    if not of:
        return 0.0, 1.0
    z = 1.959964
    share = hits / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return middle - half, middle + half


def kappa(pairs: Sequence[tuple[str, str]]) -> float:
    """Cohen's kappa (1960): agreement beyond that of two who guess with the same frequencies; 1 where both say one."""
    firsts, seconds = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    by_chance = sum(firsts[kind] * seconds[kind] for kind in VERDICTS) / len(pairs) ** 2
    same = sum(one == other for one, other in pairs) / len(pairs)
    return 1.0 if by_chance == 1 else (same - by_chance) / (1 - by_chance)


def _packages(draw: Draw) -> Iterator[str]:
    yield f"Frozen at {draw.packages[0].commit}."
    yield ""
    yield "| package | kernels | errors | warnings | infos | only pedantic | |"
    yield "|---" * 7 + "|"
    for one in draw.packages:
        counts = f"{one.kernels} | {one.errors} | {one.warnings} | {one.infos} | {one.pedantic}"
        yield f"| {one.package} {one.version} | {counts} | {one.reason} |"


def _rows(draw: Draw, by_reader: Mapping[str, Mapping[int, str]]) -> Iterator[str]:
    yield "| severity | verdicts | true and worth reporting | true, useless | false | unsure | worth reporting | 95 % |"
    yield "|---" * 8 + "|"
    rows: dict[str, set[int]] = {
        title: set() for title in ("error", "warning", "info", "**all shown**", "only pedantic")
    }
    for one in draw.findings:
        is_low = one.confidence == Confidence.LOW.value
        for title in ("only pedantic",) if is_low else (one.severity, "**all shown**"):
            rows[title].add(one.index)
    for title, indices in rows.items():
        given = [verdict for verdicts in by_reader.values() for index, verdict in verdicts.items() if index in indices]
        counts = Counter(given)
        low, high = wilson(counts[_WORTH], len(given))
        share = f"{counts[_WORTH] / len(given):.0%} | {low:.0%}-{high:.0%}" if given else "- | -"
        cells = " | ".join(str(counts[kind]) for kind in VERDICTS)
        yield f"| {title} | {len(given)} | {cells} | {share} |"


def _rules(draw: Draw, by_reader: Mapping[str, Mapping[int, str]]) -> Iterator[str]:
    yield "| rule | verdicts | true and worth reporting | true, useless | false | unsure |"
    yield "|---" * 6 + "|"
    codes = {one.index: one.code for one in draw.findings}
    for code in sorted(set(codes.values())):
        counts = Counter(v for verdicts in by_reader.values() for index, v in verdicts.items() if codes[index] == code)
        yield f"| {code} | {counts.total()} | {' | '.join(str(counts[kind]) for kind in VERDICTS)} |"


def _agreement(by_reader: Mapping[str, Mapping[int, str]]) -> str:
    lines = []
    for one, other in combinations(sorted(by_reader), 2):
        both = sorted(by_reader[one].keys() & by_reader[other].keys())
        pairs = [(by_reader[one][index], by_reader[other][index]) for index in both]
        if pairs:
            same = sum(a == b for a, b in pairs)
            lines.append(f"Readers {one} and {other} agree on {same} of {len(pairs)}, kappa {kappa(pairs):.2f}.")
    return "\n".join(lines)
