"""Parts, their figures and rooflines, as text for people and as data for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tritonaudit.hardware.parts import BANDWIDTH, L2, MEMORY, MULTIPROCESSORS, Part
from tritonaudit.hardware.roofline import Conflict, Figure, Roofline, Work
from tritonaudit.hardware.targets import Source

UNKNOWN = "UNKNOWN"

_BINARY = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))
_LARGE = 10_000
_DECIMAL = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_TIMES = ((1.0, "ms"), (1e-3, "µs"), (1e-6, "ns"))
_IN_TABLE = (
    (("float16", True), "float16"),
    (("float8_e4m3fn", True), "float8"),
    (("float32", False), "float32, vector"),
)


def with_unit(value: float | None, unit: str) -> str:
    """A value with its unit: "3,350 GB/s", "50 MiB", "132"; UNKNOWN where there is none."""
    if value is None:
        return UNKNOWN
    if unit == "B":
        fitting = ((f, n) for f, n in _BINARY if f <= value < f * _LARGE and value % f == 0)
        factor, name = next(fitting, (1e9, "GB"))
        return f"{value / factor:,g} {name}"
    return f"{value:,.10g} {unit}".rstrip()


def amount(value: float | None, unit: str) -> str:
    """A number of operations or bytes, to three digits: "137 GFLOP", "2.1 MB"."""
    if value is None:
        return UNKNOWN
    factor, prefix = next(((f, p) for f, p in _DECIMAL if value >= f), (1.0, ""))
    return f"{value / factor:.3g} {prefix}{unit}" if value else f"0 {unit}"


def duration(milliseconds: float | None) -> str:
    """A time, to three digits: "40 ms", "1.25 µs"."""
    if milliseconds is None:
        return UNKNOWN
    factor, unit = next(((f, u) for f, u in _TIMES if milliseconds >= f), _TIMES[-1])
    return f"{milliseconds / factor:.3g} {unit}"


def ratio(value: float | None) -> str:
    """An arithmetic intensity or a ridge, to three digits."""
    return UNKNOWN if value is None else f"{value:.3g}"


_FOOT = """
Rates are dense: float16 and float8 of matrix products, with sums of float32 where a source says what they are kept in.
The ridge is that of float16, in FLOP/B. * another source says otherwise: `tritonaudit hardware PART` has the sources.
"""

# -- parts ---------------------------------------------------------------------------------------------------------


def parts_table(parts: Mapping[str, Part]) -> str:
    """One line per part; `*` marks what another source contradicts."""
    head = ("part", "DRAM bandwidth", "DRAM size", "L2", "multiprocessors", *(name for _, name in _IN_TABLE), "ridge")
    lines = [head, *(_row(part) for part in parts.values())]
    return columns(lines) + _FOOT


def _row(part: Part) -> tuple[str, ...]:
    plain = [part.figure(name) for name in (BANDWIDTH, MEMORY, L2, MULTIPROCESSORS)]
    rates = [part.rate(dtype, is_matrix) for (dtype, is_matrix), _ in _IN_TABLE]
    return (part.name, *map(_marked, (*plain, *rates)), ratio(ridge(part, rates[0])))


def _marked(figure: Figure) -> str:
    return with_unit(figure.value, figure.unit) + ("*" if figure.conflicts else "")


def ridge(part: Part, rate: Figure) -> float | None:
    """The arithmetic intensity, in FLOP/B, from which on a rate rather than DRAM bounds work."""
    none = Work(None, "", None, "", "", is_matrix=True)
    return Roofline(none, part.figure(BANDWIDTH), rate).ridge


def part_text(part: Part) -> str:
    """All that is known of a part, each figure with its source and what contradicts it."""
    lines = [f"{part.name}: {part.title}"]
    if part.devices:
        lines.append(f"torch calls it {' or '.join(map(repr, part.devices))}")
    for figure in part.shown:
        known = ridge(part, figure) if figure.unit in ("TFLOP/s", "TOP/s") else None
        lines += ["", *figure_lines(figure, f", ridge {known:.3g} {figure.unit[1:-2]}/B" if known else "")]
    return "\n".join(lines) + "\n"


def figure_lines(figure: Figure, more: str = "") -> Iterator[str]:
    """A figure with its source, how it was derived, and what contradicts it."""
    yield f"{figure.name}: {with_unit(figure.value, figure.unit)}{more}"
    if figure.source is not None:
        yield from (f"  {line}" for line in _source_lines(figure.source))
    elif not figure.conflicts:
        yield "  no source was found"
    if figure.note:
        yield f"  {figure.note}"
    for conflict in figure.conflicts:
        yield f"  {'' if figure.value is None else 'but '}{with_unit(conflict.value, figure.unit)}, says"
        yield from (f"    {line}" for line in _source_lines(conflict.source))


def _source_lines(source: Source) -> tuple[str, str]:
    return f"{source.document}, {source.place}:", f"“{source.quote}”"


def columns(lines: Sequence[Sequence[str]]) -> str:
    """Lines of cells, in columns."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() + "\n" for line in lines
    )


# -- data ----------------------------------------------------------------------------------------------------------


def part_data(part: Part) -> dict[str, Any]:
    """A part as JSON holds it; a figure that is unknown has the value null."""
    return {
        "name": part.name,
        "title": part.title,
        "target": part.target,
        "devices": list(part.devices),
        "figures": [figure_data(figure) for figure in part.shown],
    }


def figure_data(figure: Figure) -> dict[str, Any]:
    """A figure as JSON holds it."""
    return {
        "name": figure.name,
        "value": figure.value,
        "unit": figure.unit,
        "source": _source_data(figure.source),
        "note": figure.note,
        "conflicts": [_conflict_data(conflict) for conflict in figure.conflicts],
    }


def _conflict_data(conflict: Conflict) -> dict[str, Any]:
    return {"value": conflict.value, "source": _source_data(conflict.source)}


def _source_data(source: Source | None) -> dict[str, str] | None:
    return None if source is None else {"document": source.document, "place": source.place, "quote": source.quote}


def roofline_data(roofline: Roofline) -> dict[str, Any]:
    """What can at best be done of some work, as JSON holds it; what depends on an unknown figure is null."""
    work = roofline.work
    return {
        "flops": work.flops,
        "flops_source": work.flops_source,
        "bytes": work.bytes,
        "bytes_source": work.bytes_source,
        "dtype": work.dtype,
        "is_matrix": work.is_matrix,
        "intensity": roofline.intensity,
        "ridge": roofline.ridge,
        "bound": roofline.bound,
        "roof_milliseconds": roofline.roof_milliseconds,
        "target_milliseconds": roofline.target_milliseconds,
        "reached": roofline.reached,
        "missing": list(roofline.missing),
        "bandwidth": figure_data(roofline.bandwidth),
        "rate": figure_data(roofline.rate),
    }
