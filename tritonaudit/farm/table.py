"""The summary of a farm as text, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tritonaudit.farm.summary import MOST_SHOWN, Counted, Summary
from tritonaudit.report.escape import visible

_WIDEST = 100


def text(summary: Summary) -> str:
    """The tables one below the other; places in the results are `FILE:LINE`."""
    return "\n".join(_lines(summary)) + "\n"


def _lines(summary: Summary) -> Iterator[str]:
    source = visible(summary.source)
    yield f"{summary.verdicts.total()} files in {source}"
    yield from (f"  {number:>7}  {verdict}" for verdict, number in summary.verdicts.most_common())
    yield from _counted("What failed", summary.failures, source)
    yield from _counted("What tries to look right", summary.cheats, source)
    if summary.typical_speed is not None:
        yield ""
        yield f"Speed-up over PyTorch: {summary.typical_speed:.2f} on the geometric mean of {len(summary.speeds)} sizes"
        yield "Slowest:"
        for one in summary.slowest:
            roof = "" if one.efficiency is None else f", {one.efficiency:.0%} of the roof"
            figure = f"{one.value:.2f} ({one.low:.2f} to {one.high:.2f}){roof}"
            yield f"  {figure}  {visible(one.path)} {visible(one.size)}  {source}:{one.line}"
    if summary.entries:
        yield ""
        yield "Not passed:"
        for entry in summary.entries[:MOST_SHOWN]:
            why = visible(entry.why)
            short = why if len(why) <= _WIDEST else f"{why[: _WIDEST - 3]}..."
            yield f"  {entry.verdict:<10}  {visible(entry.path)}  {source}:{entry.line}  {short}".rstrip()
        if len(summary.entries) > MOST_SHOWN:
            yield f"  and {len(summary.entries) - MOST_SHOWN} more"


def _counted(title: str, kinds: Sequence[Counted], source: str) -> Iterator[str]:
    if kinds:
        yield ""
        yield f"{title}:"
        for kind in kinds:
            yield f"  {kind.files:>7}  {visible(kind.code)} {visible(kind.name)}  first at {source}:{kind.line}"
