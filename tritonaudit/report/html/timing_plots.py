"""How the time of each contender, and the bandwidth that it comes to, grows with the size."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tritonaudit.measure.facts import Row, Sample, Timed
from tritonaudit.report.html.markup import Markup, element, joined, lines
from tritonaudit.report.html.plot import MARKERS, Axis, Plot, quantity, roof_swatch, swatch
from tritonaudit.report.words import Code
from tritonaudit.subject.model import Case


@dataclass(frozen=True)
class _Mark:
    """A contender at a size: how much that is, and the seconds with their interval. `roofs` are bytes per second."""

    name: str
    case: Case
    amount: float
    bytes: float | None
    seconds: tuple[float, float, float]
    roofs: tuple[tuple[str, float], ...]

    @property
    def rates(self) -> tuple[float, float, float] | None:
        """Bytes per second with their interval."""
        if not self.bytes:
            return None
        middle, low, high = self.seconds
        return self.bytes / middle, self.bytes / high, self.bytes / low


def timing_plots(subject: str, rows: Sequence[Row]) -> Iterator[Markup]:
    """A picture of the times for each dtype, and one of the bandwidths where bytes were counted."""
    for dtype in dict.fromkeys(row.case.dtype for row in rows):
        of_dtype = [row for row in rows if row.case.dtype == dtype]
        by_bytes = all(row.work is not None and row.work.bytes for row in of_dtype if row.timed)
        marks = [mark for row in of_dtype for mark in _marks(row, by_bytes)]
        if not marks:
            continue
        names = list(dict.fromkeys(mark.name for mark in marks))
        pictures = [_times(subject, dtype, marks, names, by_bytes), *_bandwidths(subject, dtype, marks, names)]
        caption = element("figcaption", Code(subject), f", {dtype}: a bar is the 95 % interval of the median")
        entries = [*(_entry(number, name) for number, name in enumerate(names)), *_roof_entries(_roofs_of(marks))]
        legend = element("ul", lines(*entries), class_="legend")
        yield element("figure", lines(caption, legend, element("div", lines(*pictures), class_="plots")))


def _entry(number: int, name: str) -> Markup:
    return element("li", swatch(number % MARKERS), joined(" ", name))


def _roof_entries(roofs: Sequence[tuple[str, float]]) -> Iterator[Markup]:
    for source, bandwidth in roofs:
        yield element("li", roof_swatch(source), f" bandwidth, {source}: {quantity(bandwidth, 'B/s')}")


def _marks(row: Row, by_bytes: bool) -> Iterator[_Mark]:
    size = row.work.bytes if row.work is not None else None
    amount = size if by_bytes else float(math.prod(row.case.sizes.values()))
    for timed in row.timed:
        if timed.device is not None and timed.device.low > 0 and amount:
            yield _Mark(_name(timed), row.case, amount, size, _seconds(timed.device), tuple(_roofs(row)))


def _roofs(row: Row) -> Iterator[tuple[str, float]]:
    for source, roofline in (("measured", row.roofline), ("datasheet", row.by_datasheet)):
        if roofline is not None and (bandwidth := roofline.bandwidth.in_base_unit):
            yield source, bandwidth


def _name(timed: Timed) -> str:
    return timed.name or timed.role.value


def _seconds(sample: Sample) -> tuple[float, float, float]:
    return sample.median / 1e3, sample.low / 1e3, sample.high / 1e3


def _times(subject: str, dtype: str, marks: Sequence[_Mark], names: Sequence[str], by_bytes: bool) -> Markup:
    plot = Plot(_size_axis(marks, by_bytes), Axis.over("time", "s", [one for mark in marks for one in mark.seconds]))
    series = ((mark, mark.seconds) for mark in marks)
    return plot.drawn(f"Time against size of {subject} in {dtype}", _drawn(plot, list(series), names, "s"))


def _bandwidths(subject: str, dtype: str, marks: Sequence[_Mark], names: Sequence[str]) -> Iterator[Markup]:
    series = [(mark, mark.rates) for mark in marks]
    known = [(mark, rates) for mark, rates in series if rates is not None]
    if len(known) < len(series):
        return
    roofs = _roofs_of(marks)
    values = [*(one for _, rates in known for one in rates), *(value for _, value in roofs)]
    plot = Plot(_size_axis(marks, True), Axis.over("bandwidth", "B/s", values))
    flat = (plot.line([(plot.x.low, value), (plot.x.high, value)], f"roof {source}") for source, value in roofs)
    yield plot.drawn(f"Bandwidth against size of {subject} in {dtype}", [*flat, *_drawn(plot, known, names, "B/s")])


def _roofs_of(marks: Sequence[_Mark]) -> list[tuple[str, float]]:
    """The bandwidths that the GPU was measured to reach, and those of its datasheet."""
    return list(dict.fromkeys(roof for mark in marks for roof in mark.roofs))


def _size_axis(marks: Sequence[_Mark], by_bytes: bool) -> Axis:
    amounts = [mark.amount for mark in marks]
    return (
        Axis.over("bytes read and written", "B", amounts)
        if by_bytes
        else Axis.over("product of the sizes", "", amounts)
    )


def _drawn(
    plot: Plot, series: Sequence[tuple[_Mark, tuple[float, float, float]]], names: Sequence[str], unit: str
) -> Iterator[Markup]:
    for number, name in enumerate(names):
        own = sorted((one for one in series if one[0].name == name), key=lambda one: one[0].amount)
        kind = number % MARKERS
        plain = [(mark.amount, values[0]) for mark, values in own if _is_plain(mark.case)]
        if len(plain) > 1:
            yield plot.line(plain, f"series-{kind}")
        for mark, (middle, low, high) in own:
            yield plot.interval(mark.amount, low, high, kind)
            reported = f"{name}, {mark.case.label}: {quantity(middle, unit)}"
            yield plot.marker(
                mark.amount, middle, kind, f"{reported} ({quantity(low, unit)} to {quantity(high, unit)})"
            )


def _is_plain(case: Case) -> bool:
    """Whether it differs from others by its size alone, so that a line may go through it."""
    return case.is_plain
