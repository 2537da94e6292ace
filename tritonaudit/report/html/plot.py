"""Pictures with two logarithmic axes, in SVG."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tritonaudit.report.html.markup import Markup, element, lines

_WIDTH, _HEIGHT = 640.0, 400.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 92.0, 16.0, 30.0, 56.0
_STEPS = (1, 2, 5)
_MOST_TICKS = 9
_ROOM = 1.15
"""How far an axis reaches beyond its last value, as a factor."""
_SIZE = 5.0
"""Half the width of a marker."""
_CAP = 4.0
_PREFIXES = {-9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P"}

MARKERS = 5
"""Series that look different: by marker, line and colour."""

Point = tuple[float, float]


def quantity(value: float, unit: str) -> str:
    """`1.5 TB/s`, `20 µs`; where there is no unit, `0.25` and `10 k`."""
    exponent = 3 * math.floor(math.log10(value) / 3 + 1e-9) if value >= 1e4 or unit else 0
    exponent = min(max(exponent, min(_PREFIXES)), max(_PREFIXES))
    return f"{value / 10.0**exponent:.4g} {_PREFIXES[exponent]}{unit}".rstrip()


@dataclass(frozen=True)
class Axis:
    """A logarithmic axis from `low` to `high`, both above 0."""

    label: str
    unit: str
    low: float
    high: float

    @classmethod
    def over(cls, label: str, unit: str, values: Iterable[float]) -> Axis:
        """The axis on which all the values have their place, of which there is one at least."""
        known = list(values)
        low, high = min(known) / _ROOM, max(known) * _ROOM
        return cls(label, unit, *((low, high) if high / low > 2 else (low / 2, high * 2)))

    def part(self, value: float) -> float:
        """Where a value is, from 0 to 1."""
        return math.log(value / self.low) / math.log(self.high / self.low)

    @property
    def ticks(self) -> list[float]:
        """Round numbers: powers of ten, fewer where there are many, and more between them where there are few."""
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        every = range(first, last + 1)
        tens = self._inside(10.0**power for power in every)
        if len(tens) > 2:
            return tens[:: math.ceil(len(tens) / _MOST_TICKS)]
        return self._inside(step * 10.0**power for power in every for step in _STEPS)

    def _inside(self, values: Iterable[float]) -> list[float]:
        return [value for value in values if self.low <= value <= self.high]


@dataclass(frozen=True)
class Plot:
    """A picture over two axes; values become places by `at`."""

    x: Axis
    y: Axis

    def at(self, x: float, y: float) -> Point:
        """The place of a point."""
        across, up = self.x.part(x), self.y.part(y)
        return _LEFT + across * (_WIDTH - _LEFT - _RIGHT), _HEIGHT - _BOTTOM - up * (_HEIGHT - _TOP - _BOTTOM)

    def drawn(self, label: str, marks: Iterable[Markup]) -> Markup:
        """The picture with its axes; `label` tells it to those who do not see it."""
        parts = (*self._axes(), *marks)
        return element(
            "svg",
            lines(*parts),
            viewBox=f"0 0 {_WIDTH:.0f} {_HEIGHT:.0f}",
            role="img",
            aria_label=label,
            class_="plot",
        )

    def _axes(self) -> Iterator[Markup]:
        left, bottom = self.at(self.x.low, self.y.low)
        right, top = self.at(self.x.high, self.y.high)
        for tick in self.x.ticks:
            place, _ = self.at(tick, self.y.low)
            yield element("line", x1=place, x2=place, y1=top, y2=bottom, class_="grid")
            yield _text(quantity(tick, self.x.unit), place, bottom + 18, "middle")
        for tick in self.y.ticks:
            _, place = self.at(self.x.low, tick)
            yield element("line", x1=left, x2=right, y1=place, y2=place, class_="grid")
            yield _text(quantity(tick, self.y.unit), left - 6, place + 4, "end")
        yield element("rect", x=left, y=top, width=right - left, height=bottom - top, class_="edge")
        yield _text(self.x.label, (left + right) / 2, bottom + 42, "middle")
        yield _text(self.y.label, left, top - 12, "start")

    def line(self, points: Sequence[Point], class_: str) -> Markup:
        """A line through points, which are values."""
        places = " ".join(",".join(f"{part:.1f}" for part in self.at(*point)) for point in points)
        return element("polyline", points=places, class_=f"line {class_}")

    def marker(self, x: float, y: float, kind: int, title: str) -> Markup:
        """The marker of a series at a point, which shows the title."""
        return element("g", element("title", title), _shape(*self.at(x, y), kind), class_=f"marker series-{kind}")

    def interval(self, x: float, low: float, high: float, kind: int) -> Markup:
        """A bar from one value to another."""
        (place, bottom), (_, top) = self.at(x, low), self.at(x, high)
        path = (
            f"M{place:.1f} {bottom:.1f}V{top:.1f}"
            f"M{place - _CAP:.1f} {bottom:.1f}h{2 * _CAP:.0f}M{place - _CAP:.1f} {top:.1f}h{2 * _CAP:.0f}"
        )
        return element("path", d=path, class_=f"interval series-{kind}")


def swatch(kind: int) -> Markup:
    """What the line and the marker of a series look like, for a legend."""
    return _swatch(f"series-{kind}", element("g", _shape(18, 8, kind), class_=f"marker series-{kind}"))


def roof_swatch(source: str) -> Markup:
    """What the roof of a source looks like: "measured" or "datasheet"."""
    return _swatch(f"roof {source}")


def _swatch(class_: str, *marks: Markup) -> Markup:
    line = element("line", x1=0.0, x2=36.0, y1=8.0, y2=8.0, class_=f"line {class_}")
    return element("svg", line, *marks, viewBox="0 0 36 16", class_="swatch", aria_hidden="true")


def _text(text: str, x: float, y: float, anchor: str) -> Markup:
    return element("text", text, x=x, y=y, text_anchor=anchor)


def _shape(x: float, y: float, kind: int) -> Markup:
    """A circle, a square, a triangle, a diamond or a cross."""
    match kind % MARKERS:
        case 0:
            return element("circle", cx=x, cy=y, r=_SIZE)
        case 1:
            return element("rect", x=x - _SIZE, y=y - _SIZE, width=2 * _SIZE, height=2 * _SIZE)
        case 2:
            return _polygon((x, y - _SIZE), (x + _SIZE, y + _SIZE), (x - _SIZE, y + _SIZE))
        case 3:
            return _polygon((x, y - 1.3 * _SIZE), (x + 1.3 * _SIZE, y), (x, y + 1.3 * _SIZE), (x - 1.3 * _SIZE, y))
        case _:
            return element(
                "path", d=f"M{x - _SIZE:.1f} {y:.1f}h{2 * _SIZE:.0f}M{x:.1f} {y - _SIZE:.1f}v{2 * _SIZE:.0f}"
            )


def _polygon(*points: Point) -> Markup:
    return element("polygon", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in points))
