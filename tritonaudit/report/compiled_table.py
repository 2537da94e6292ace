"""The table of a compiled kernel: one row for each target and config, with what its variants need."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tritonaudit.compile.facts import CompiledKernel, Resources, Variant
from tritonaudit.compile.phrases import instruction, memory
from tritonaudit.report.escape import visible
from tritonaudit.report.section import Line, Piece

_NONE = "-"
_BAD, _DIM = "red", "dim"
_KIB = 1024
_GAP = _INDENT = "  "
_LONGEST = 120
"""Characters of the compiler's words that a table repeats."""


def table(kernel: CompiledKernel, path: str) -> Iterator[Line]:
    """The kernel's name and place, the heads of the columns, and the rows; columns of which nothing is known go."""
    name, place = visible(kernel.name), f"{visible(path)}:{kernel.span.line}"
    inferred = all(variant.assumed for variant in kernel.variants)
    yield ((name, "bold"), (f"  {place}{'  (launch inferred)' * inferred}", _DIM))
    rows = [[column.cell(variants) for column in _COLUMNS] for variants in _rows(kernel)]
    shown = [number for number in range(len(_COLUMNS)) if any(row[number][0] != _NONE for row in rows)]
    widths = {number: max(len(_COLUMNS[number].head), *(len(row[number][0]) for row in rows)) for number in shown}
    yield _line([(_COLUMNS[number].head, _DIM) for number in shown], list(widths.values()))
    for row in rows:
        yield _line([row[number] for number in shown], list(widths.values()))
    for said in dict.fromkeys(_unsure(kernel)):
        yield ((f"{_INDENT}as inferred, it does not compile: {visible(said)}", _DIM),)


def _unsure(kernel: CompiledKernel) -> Iterator[str]:
    """What the compiler says of launches that may have been inferred wrongly, where no finding need say it."""
    for variant in kernel.variants:
        if variant.assumed and variant.error is not None and not variant.error.is_certain:
            line = f" (line {variant.error.span.line})" if variant.error.span else ""
            yield f"{_shortened(' '.join(variant.error.message.split()))}{line}"


def _shortened(words: str) -> str:
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…"


def _line(cells: Sequence[Piece], widths: Sequence[int]) -> Line:
    *rest, (last, last_style) = cells
    padded = [(f"{text:<{width}}", style) for (text, style), width in zip(rest, widths, strict=False)]
    return tuple(piece for cell in (*padded, (last, last_style)) for piece in ((_GAP, ""), cell))


def _rows(kernel: CompiledKernel) -> list[list[Variant]]:
    rows: dict[tuple[str, str], list[Variant]] = {}
    for variant in kernel.variants:
        rows.setdefault((variant.config, variant.target), []).append(variant)
    return list(rows.values())


@dataclass(frozen=True)
class _Column:
    head: str
    cell: Callable[[Sequence[Variant]], Piece]


def _config(variants: Sequence[Variant]) -> Piece:
    return visible(variants[0].config) or _NONE, ""


def _target(variants: Sequence[Variant]) -> Piece:
    return variants[0].target, ""


def _registers(variants: Sequence[Variant]) -> Piece:
    """Registers per thread, and how many of them AMD's matrix unit accumulates in."""
    accumulators = _span(_amounts(variants, "accumulators"))
    among = f", {accumulators} acc" if accumulators not in (_NONE, "0") else ""
    return f"{_span(_amounts(variants, 'registers'))}{among}", ""


def _spills(variants: Sequence[Variant]) -> Piece:
    sizes = _amounts(variants, "spilled")
    return _span(sizes), _BAD if any(sizes) else ""


def _shared(variants: Sequence[Variant]) -> Piece:
    sizes = _amounts(variants, "shared")
    if not sizes:
        return _NONE, ""
    limits = [variant.shared_limit for variant in variants if variant.shared_limit is not None]
    text, most = _memory_span(min(sizes), max(sizes)), max(sizes)
    if not limits:
        return text, ""
    return f"{text} of {memory(min(limits))}", _BAD if most > min(limits) else ""


def _memory_span(least: int, most: int) -> str:
    """`8 KiB`, `0.5-16 KiB`, `0-16 bytes`."""
    if most < _KIB:
        return f"{_span((least, most))} byte{'s' if most != 1 else ''}"
    return "-".join(dict.fromkeys(f"{size / _KIB:,.1f}".removesuffix(".0") for size in (least, most))) + " KiB"


def _occupancy(variants: Sequence[Variant]) -> Piece:
    """Warps per multiprocessor, an estimate, with what allows no more."""
    known = [resources for resources in _resources(variants) if resources.occupancy is not None]
    if not known:
        return _NONE, ""
    least = min(known, key=lambda resources: resources.occupancy or 0)
    of = f" of {least.occupancy_of}" if least.occupancy_of else ""
    limit = f" ({least.occupancy_limit})" if least.occupancy_limit else ""
    return f"~{least.occupancy}{of}{limit}", ""


def _narrowest(variants: Sequence[Variant]) -> Piece:
    """The bytes per lane of the narrowest access, and its line."""
    accesses = [access for variant in variants for access in variant.accesses if access.narrowest]
    if not accesses:
        return _NONE, ""
    narrowest = min(accesses, key=lambda access: (access.narrowest, access.span))
    return f"{memory(narrowest.narrowest)}, line {narrowest.span.line}", ""


def _matrix(variants: Sequence[Variant]) -> Piece:
    return ", ".join(dict.fromkeys(instruction(name) for variant in variants for name in variant.matrix)) or _NONE, ""


def _cases(variants: Sequence[Variant]) -> Piece:
    """The case, or their number; and how many of them do not compile."""
    cases = dict.fromkeys(case for variant in variants for case in variant.cases if case)
    failed = dict.fromkeys(case for variant in variants if variant.error for case in variant.cases)
    text = next(iter(cases)) if len(cases) == 1 else f"{len(cases)} cases"
    if all(variant.error for variant in variants):
        return f"does not compile ({visible(text)})" if cases else "does not compile", _BAD
    if failed:
        return f"{visible(text)}, {len(failed)} not compiling", _BAD
    return visible(text) if cases else _NONE, ""


_COLUMNS = (
    _Column("config", _config),
    _Column("target", _target),
    _Column("registers", _registers),
    _Column("bytes spilled", _spills),
    _Column("shared memory", _shared),
    _Column("warps (estimate)", _occupancy),
    _Column("narrowest access", _narrowest),
    _Column("matrix instruction", _matrix),
    _Column("cases", _cases),
)


def _resources(variants: Sequence[Variant]) -> list[Resources]:
    return [variant.resources for variant in variants if variant.resources is not None]


def _amounts(variants: Sequence[Variant], name: str) -> list[int]:
    return [value for resources in _resources(variants) if (value := getattr(resources, name)) is not None]


def _span(numbers: Sequence[int]) -> str:
    """`20`, `20-32`, or `-` where nothing is known."""
    if not numbers:
        return _NONE
    least, most = min(numbers), max(numbers)
    return f"{most:,}" if least == most else f"{least:,}-{most:,}"
