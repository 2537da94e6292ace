"""The rows as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from bench.fidelity.rows import Row, Verdict

_AGREE = (Verdict.EXACT, Verdict.BOUNDED)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; columns whose heading ends in a colon are set to the right."""
    lines = [
        "| " + " | ".join(word.rstrip(":") for word in head) + " |",
        "|" + "|".join("--:" if word.endswith(":") else "---" for word in head) + "|",
    ]
    lines += ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def shares(rows: Sequence[Row]) -> str:
    """How many launches of each source came to which verdict."""
    sources = list(dict.fromkeys(row.source for row in rows))
    counts = {source: Counter(row.verdict for row in rows if row.source == source) for source in sources}
    counts["all"] = Counter(row.verdict for row in rows)
    head = (
        "source",
        "launches:",
        *(f"{verdict.value}:" for verdict in Verdict),
        "share exact:",
        "exact or within bounds:",
    )
    return table(
        head,
        (
            (
                source,
                count.total(),
                *(count[verdict] for verdict in Verdict),
                _share(count[Verdict.EXACT], count),
                _share(sum(count[verdict] for verdict in _AGREE), count),
            )
            for source, count in counts.items()
        ),
    )


def _share(part: int, count: Counter[Verdict]) -> str:
    """Of the launches that were simulated."""
    whole = count.total() - count[Verdict.NOT_SIMULATED]
    return f"{part / whole:.1%}" if whole else "-"


def operations(rows: Sequence[Row]) -> str:
    """How many of the launches with each operation that need not be exact are so."""
    names = Counter(name for row in rows for name in row.operations)
    alone = [(name, [row for row in rows if row.operations == (name,)]) for name in names]
    return table(
        ("operation", "launches with it:", "exact:", "with no other of these:", "exact:"),
        (
            (
                name,
                names[name],
                sum(name in row.operations and row.verdict is Verdict.EXACT for row in rows),
                len(own),
                exact,
            )
            for name, own in sorted(alone, key=lambda one: -names[one[0]])
            for exact in [sum(row.verdict is Verdict.EXACT for row in own)]
        ),
    )


def others(rows: Sequence[Row]) -> str:
    """A line for each launch that is neither the same nor within bounds; those with one reason and kernel together."""
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        if row.verdict not in _AGREE:
            groups.setdefault((row.verdict, row.source, row.kernel, row.place, row.reason), []).append(row)
    ordered = sorted(groups.values(), key=lambda group: list(Verdict).index(group[0].verdict), reverse=True)
    return table(
        ("verdict", "launches:", "kernel", "place", "first in", "tensor", "differing:", "ulps:", "reason"),
        (
            (
                *(row.verdict.value, len(group), row.kernel, row.place, row.unit, row.tensor, row.differing),
                *(f"{row.ulps:.3g}", row.reason),
            )
            for group in ordered
            for row in group[:1]
        ),
    )
