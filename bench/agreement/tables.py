"""The tables, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bench.agreement.facts import Access, Compiled
from bench.agreement.rows import AccessRow, ResourceRow


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; a column whose head ends with a colon is set to the right."""
    lines = [
        [name.removesuffix(":") for name in head],
        ["---:" if name.endswith(":") else "---" for name in head],
        *([str(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows),
    ]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


def compiled(facts: Sequence[Compiled]) -> str:
    """The compile stage's side alone."""
    head = ("launch", "kernel", "registers:", "local:", "shared:", "warps:", "loads and stores")
    rows = (
        (one.subject, one.kernel, one.error, "", "", "", "")
        if one.error
        else (one.subject, one.kernel, one.registers, one.local, one.shared, one.occupancy, _widths(one.accesses))
        for one in facts
    )
    return table(head, rows)


def _widths(accesses: Sequence[Access]) -> str:
    """`load 4 (alignment, could be 16), store 16`, in bytes per lane."""
    words = dict.fromkeys(
        f"{access.kind} {access.bytes}" + (f" ({access.cause}, could be {access.could_be})" if access.cause else "")
        for access in accesses
    )
    return ", ".join(words)


def resources(rows: Sequence[ResourceRow]) -> str:
    """Registers and memory, one row for each launch: one figure where the sides agree, both where they do not."""
    head = ("launch", "kernel", "registers:", "local bytes:", "shared bytes:", "resident warps:", "agree")
    text = table(head, ((row.compiled.subject, row.compiled.kernel, *_figures(row), _yes(row.agrees)) for row in rows))
    count = len(rows)
    return (
        f"{text}\n{sum(row.agrees for row in rows)} of {count} launches agree in every figure; where they do not, the "
        f"cell holds compile stage / driver. {sum(row.same_program for row in rows)} of {count} are the same TTIR text "
        f"on both sides. {sum(row.is_correct for row in rows)} of {count} results on the GPU equal PyTorch's to "
        "within 1 %.\n"
    )


def _figures(row: ResourceRow) -> Sequence[object]:
    if row.error:
        return (row.error, "", "", "")
    both = [(getattr(row.compiled, name), getattr(row.loaded, name)) for name in ResourceRow.FIGURES]
    return [ours if ours == theirs or theirs is None else f"{ours} / {theirs}" for ours, theirs in both]


def accesses(rows: Sequence[AccessRow]) -> str:
    """The width of loads and stores, one row for each kind of access of a launch."""
    head = (
        *("launch", "access", "bytes per lane:", "measured:", "sectors per request:", "measured:"),
        *("compile stage says", "agree"),
    )
    text = table(
        head,
        (
            (
                row.subject,
                row.kind,
                f"{row.width:g}",
                f"{row.measured_width:.2f}",
                "{:g} to {:g}".format(*row.sectors_range),
                f"{row.measured_sectors:.2f}",
                row.verdict,
                _yes(row.agrees),
            )
            for row in rows
        ),
    )
    return f"{text}\n{sum(row.agrees for row in rows)} of {len(rows)} agree.\n"


def _yes(agrees: bool) -> str:
    return "yes" if agrees else "**no**"
