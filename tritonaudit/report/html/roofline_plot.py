"""The roofline as a picture: what bandwidth and arithmetic allow, and where each size is below that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tritonaudit.hardware.roofline import TARGET, Roofline
from tritonaudit.measure.facts import Role, Row
from tritonaudit.report.html.markup import Markup, element, joined, lines
from tritonaudit.report.html.plot import MARKERS, Axis, Plot, quantity, roof_swatch, swatch
from tritonaudit.report.words import Code

_AROUND = 4.0
"""How far the roof reaches beyond the points and ridges, as a factor."""


@dataclass(frozen=True)
class _Roof:
    """Bytes and operations per second that can be had at most, by measurement or by the datasheet."""

    source: str
    bandwidth: float
    rate: float
    rate_name: str

    @property
    def ridge(self) -> float:
        return self.rate / self.bandwidth

    def at(self, intensity: float) -> float:
        return min(self.rate, intensity * self.bandwidth)

    def __str__(self) -> str:
        bandwidth, rate = quantity(self.bandwidth, "B/s"), quantity(self.rate, "FLOP/s")
        return f"{self.source}: {bandwidth}, {rate} ({self.rate_name}), ridge at {self.ridge:.4g} FLOP/B"


@dataclass(frozen=True)
class _Spot:
    """A size: its arithmetic intensity, and the operations per second that were reached."""

    row: Row
    intensity: float
    rate: float


def roofline_plot(subject: str, rows: Sequence[Row]) -> Iterator[Markup]:
    """The picture, where operations and bytes were counted and a roof is known; else a sentence that says why not."""
    spots = [spot for row in rows for spot in _spots(row)]
    roofs = list(dict.fromkeys(roof for row in rows for roof in _roofs(row)))
    if not spots or not roofs:
        yield element("p", "There is no roofline of ", Code(subject), f" to draw: {_why_not(rows, bool(spots))}.")
        return
    names = list(dict.fromkeys(_series(spot) for spot in spots))
    xs = [*(spot.intensity for spot in spots), *(roof.ridge for roof in roofs)]
    x = Axis("arithmetic intensity (FLOP/B)", "", min(xs) / _AROUND, max(xs) * _AROUND)
    ys = [*(spot.rate for spot in spots), *(roof.at(edge) for roof in roofs for edge in (x.low, x.high))]
    plot = Plot(x, Axis.over("operations per second", "FLOP/s", ys))
    marks = [*_drawn_roofs(plot, roofs), *_drawn_spots(plot, spots, names)]
    legend = [*_roof_entries(roofs), *(_entry(number, name) for number, name in enumerate(names))]
    caption = element("figcaption", Code(subject), f": the dotted line is the target, {TARGET:.0%} of the roof")
    picture = plot.drawn(f"Roofline of {subject}", marks)
    yield element("figure", lines(caption, element("ul", lines(*legend), class_="legend"), picture))


def _spots(row: Row) -> Iterator[_Spot]:
    timed = row.of(Role.SUBJECT)
    if row.work is None or not row.work.flops or not row.work.bytes or timed is None:
        return
    if timed.device is None or not timed.device.median:
        return
    yield _Spot(row, row.work.flops / row.work.bytes, row.work.flops / (timed.device.median / 1e3))


def _roofs(row: Row) -> Iterator[_Roof]:
    for source, roofline in (("measured", row.roofline), ("datasheet", row.by_datasheet)):
        if roofline is not None and (roof := _roof(source, roofline)):
            yield roof


def _roof(source: str, roofline: Roofline) -> _Roof | None:
    bandwidth, rate = roofline.bandwidth.in_base_unit, roofline.rate.in_base_unit
    return _Roof(source, bandwidth, rate, roofline.rate.name) if bandwidth and rate else None


def _why_not(rows: Sequence[Row], has_spots: bool) -> str:
    if has_spots:
        return "no rate of this GPU is known that its arithmetic could reach"
    if any(row.work is not None and row.work.flops == 0 for row in rows):
        return "it does no arithmetic, and only its bandwidth counts"
    return "operations or bytes were not counted, or nothing was timed"


def _series(spot: _Spot) -> str:
    return spot.row.case.dtype


def _drawn_roofs(plot: Plot, roofs: Sequence[_Roof]) -> Iterator[Markup]:
    for roof in roofs:
        corner = [(roof.ridge, roof.rate)] if plot.x.low < roof.ridge < plot.x.high else []
        edges = [(plot.x.low, roof.at(plot.x.low)), *corner, (plot.x.high, roof.at(plot.x.high))]
        yield plot.line(edges, f"roof {roof.source}")
        if roof.source == "measured":
            yield plot.line([(x, TARGET * y) for x, y in edges], "target")
        yield plot.line([(roof.ridge, roof.rate), (roof.ridge, plot.y.low)], f"ridge {roof.source}")


def _drawn_spots(plot: Plot, spots: Sequence[_Spot], names: Sequence[str]) -> Iterator[Markup]:
    for spot in spots:
        reached = spot.row.roofline.reached if spot.row.roofline is not None else None
        share = "" if reached is None else f", {reached:.0%} of the measured roof"
        reported = f"{spot.row.case.label}: {quantity(spot.rate, 'FLOP/s')} at {spot.intensity:.4g} FLOP/B{share}"
        yield plot.marker(spot.intensity, spot.rate, names.index(_series(spot)) % MARKERS, reported)


def _roof_entries(roofs: Sequence[_Roof]) -> Iterator[Markup]:
    for roof in roofs:
        yield element("li", roof_swatch(roof.source), f" {roof}")


def _entry(number: int, name: str) -> Markup:
    return element("li", swatch(number % MARKERS), joined(f" {name}"))
