"""The log of an operation, in Markdown: what it is, its variants, what became of each, and which is chosen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tritonaudit import __version__
from tritonaudit.hardware.formatting import UNKNOWN, amount, ratio
from tritonaudit.hardware.parts import Part, part_of_device
from tritonaudit.measure.counting import Counted
from tritonaudit.port.attempts import Attempt
from tritonaudit.port.costs import Resources, Times
from tritonaudit.port.folders import Operation
from tritonaudit.port.selecting import Considered, Selected
from tritonaudit.port.validating import Verdict
from tritonaudit.report.markdown.text import code, prose, row, table
from tritonaudit.shown import shown_path
from tritonaudit.subject.find import SubjectKind, kind_of
from tritonaudit.subject.model import TIMED, Tensor
from tritonaudit.subject.operations import Known, known_operation

_NOTHING = "—"
_MOST_REASONS = 6


def log_text(selected: Selected, parts: Mapping[str, Part]) -> str:
    """The whole log."""
    lines = [
        *_head(selected),
        "## Phase 1: research",
        "",
        *_research(selected, parts),
        "",
        "## Phase 2: kernels",
        "",
        *_kernels(selected.variants),
        "## Phase 3: correctness and benchmark",
        "",
        *_correctness(selected.variants),
        "",
        *_benchmark(selected),
        "",
        "## Phase 4: choice",
        "",
        *_choice(selected),
    ]
    return "\n".join(lines) + "\n"


def summary_text(selected: Sequence[Selected], failed: Sequence[tuple[str, str]]) -> str:
    """What became of every operation; `failed` are those that could not be done, with the reason."""
    lines = ["# Variants chosen", "", *table("Operation", "Chosen", "Right", "Final (ms)", "Speedup", "File or reason")]
    for one in selected:
        chosen = one.chosen
        times = chosen.times if chosen else None
        right = sum(other.right is not None for other in one.variants)
        lines.append(
            row(
                code(one.operation.name),
                prose(chosen.title) if chosen else _NOTHING,
                f"{right} of {len(one.variants)}",
                f"{times.final:.4g}" if times else _NOTHING,
                _times(times.speedup) if times else _NOTHING,
                code(shown_path(chosen.right[0])) if chosen and chosen.right else prose(one.choice.reasons[0]),
            )
        )
    lines += [row(code(name), _NOTHING, _NOTHING, _NOTHING, _NOTHING, prose(reason)) for name, reason in failed]
    tried = [f"{code(one.operation.name)} {what}" for one in selected for what in _tried(one)]
    if tried:
        lines += ["", f"Tried of those chosen: {'; '.join(tried)}. A larger `--budget` tries more cases."]
    if untimed := [one for one in selected if one.untimed and one.chosen]:
        targets = ", ".join(dict.fromkeys(one.target for one in untimed))
        names = ", ".join(code(one.operation.name) for one in untimed)
        why = prose(untimed[0].untimed)
        lines += [
            "",
            f"Not timed: {names}, since {why}. The choice rests on correctness and on what the compiler makes",
        ]
        lines += [f"of each kernel only for {targets}."]
    return "\n".join(lines) + "\n"


def _tried(selected: Selected) -> Iterator[str]:
    """How much was tried of the variant that was chosen, where that is not all."""
    if selected.chosen is not None and selected.chosen.right is not None:
        coverage = selected.chosen.right[1].coverage
        if coverage.called < coverage.cases:
            yield coverage.shown


def _head(selected: Selected) -> Iterator[str]:
    operation = selected.operation
    yield f"# Porting log: {prose(operation.name)}"
    yield ""
    where = selected.device or "nothing was run"
    folder = code(shown_path(operation.folder))
    tool = f"**Run on**: {prose(where)}   **Tool**: tritonaudit {__version__}"
    yield f"**Operation**: {code(operation.name)}   **Folder**: {folder}   {tool}"
    yield ""


# -- phase 1 -------------------------------------------------------------------------------------------------------


def _research(selected: Selected, parts: Mapping[str, Part]) -> Iterator[str]:
    yield from _described(selected.operation)
    if not selected.work:
        yield "* Work and bound: unknown, since no variant could be loaded."
        return
    fitting = _parts(selected, parts)
    yield ""
    yield from table("Size", "Case", "FLOPs", "Bytes", "FLOP/B", "Bound")
    for one in selected.work:
        intensity = fitting[0].roofline(one.work).intensity
        figures = (amount(one.work.flops, "FLOP"), amount(one.work.bytes, "B"), ratio(intensity))
        yield row(one.size, prose(one.case.label), *figures, prose(_bound(one, fitting)))
    yield ""
    yield from dict.fromkeys(map(_sources, selected.work))
    yield from _shrunk(selected)


def _sources(one: Counted) -> str:
    return f"* FLOPs: {prose(one.work.flops_source)}; bytes: {prose(one.work.bytes_source)}."


def _described(operation: Operation) -> Iterator[str]:
    """What the operation is, by where the variants' reference is from."""
    spec = next(
        (path for path in sorted(operation.folder.glob("audit_*.py")) if kind_of(path) is SubjectKind.SPEC), None
    )
    own = spec or next((path for path in [operation.folder / "op.py"] if path.is_file()), None)
    known = known_operation(operation.name)
    if own is not None:
        yield f"* Operation: as {code(shown_path(own))} says, which has the reference; its formula is not known here."
        yield "* Inputs and outputs: those of the reference."
    elif known is None:
        yield f"* Operation: PyTorch's function {code(operation.name)}, if there is one; its formula is not known here."
        yield "* Inputs and outputs: those of PyTorch's function, as far as the variants' code lets them be guessed."
    else:
        yield from _table_entry(known)


def _table_entry(known: Known) -> Iterator[str]:
    yield f"* Operation: {code(known.function)}"
    yield f"* Formula: {prose(known.formula)}"
    reported = ", ".join(f"{code(name)} {_argument(value)}" for name, value in known.arguments.items())
    yield f"* Inputs: {reported}, unless the folder has a `make_inputs`."
    yield f"* Output: {prose(known.output)}"
    yield f"* Complexity: {prose(known.growth)}"


def _argument(value: object) -> str:
    if not isinstance(value, Tensor):
        return "of its last dimension" if isinstance(value, list) else f"= {value}"
    return prose(f"({', '.join(map(str, value.dims))})")


def _parts(selected: Selected, parts: Mapping[str, Part]) -> tuple[Part, ...]:
    """The part that timed, or all of the target."""
    if selected.gpu is not None:
        return (part_of_device(selected.gpu.name, parts),)
    fitting = tuple(part for part in parts.values() if part.target == selected.target)
    return fitting or (Part(selected.target, "of which nothing is known"),)


def _bound(one: Counted, parts: Sequence[Part]) -> str:
    """What bounds the work by the data sheets; by which part, where they differ."""
    bounds: dict[str, list[str]] = {}
    for part in parts:
        bounds.setdefault(part.roofline(one.work).bound or UNKNOWN, []).append(part.name)
    if len(bounds) == 1:
        (bound,) = bounds
        return f"{bound} ({', '.join(part.name for part in parts)})"
    return "; ".join(f"{bound} on {', '.join(names)}" for bound, names in bounds.items())


def _shrunk(selected: Selected) -> Iterator[str]:
    """Which sizes were timed smaller than they are elsewhere, since memory holds no more."""
    usual = {one.size: one.case.label for one in selected.work}
    timed = (time for one in selected.variants if one.times for time in one.times.sizes)
    for time in timed:
        if (wanted := usual.get(time.size)) is not None and wanted != time.case:
            yield f"* Shrunk to what the GPU's memory holds: {time.size} is {prose(time.case)}, not {prose(wanted)}."
            return


# -- phase 2 -------------------------------------------------------------------------------------------------------


def _kernels(variants: Iterable[Considered]) -> Iterator[str]:
    for one in variants:
        yield f"### {prose(one.name)}"
        yield ""
        yield f"File: {code(shown_path(one.path))}. As its source says:"
        yield ""
        yield from (f"* {prose(technique)}" for technique in one.techniques)
        yield ""


# -- phase 3 -------------------------------------------------------------------------------------------------------


def _correctness(variants: Sequence[Considered]) -> Iterator[str]:
    yield "### Correctness"
    yield ""
    yield from table("Kernel", "Verdict", "Tried", "Why")
    for one in variants:
        yield _verdict_row(prose(one.name), one.verdict)
        for attempt in one.attempts:
            yield _attempt_row(one.name, attempt)
    kept = [(one, attempt) for one in variants for attempt in one.attempts]
    if kept:
        yield ""
    for one, attempt in kept:
        where = f"kept in {code(shown_path(attempt.path))}" if attempt.path else "nothing was written"
        said = f"; it said: {code(attempt.said.strip().splitlines()[-1])}" if attempt.said.strip() else ""
        yield f"* {prose(one.name)}, attempt {attempt.number}: {where}{said}"


def _verdict_row(name: str, verdict: Verdict) -> str:
    why = verdict.doubts if verdict.is_right else verdict.reasons
    word = "✅ right" if verdict.is_right else "🟡 incomplete" if verdict.is_incomplete else "❌ refused"
    return row(name, word, verdict.coverage.shown if verdict.is_loaded else _NOTHING, _listed(why))


def _attempt_row(name: str, attempt: Attempt) -> str:
    title = prose(f"{name} (attempt {attempt.number})")
    if attempt.verdict is not None:
        return _verdict_row(title, attempt.verdict)
    return row(title, "❌ failed", "0", prose(attempt.failure))


def _listed(reasons: Sequence[str]) -> str:
    more = [f"and {len(reasons) - _MOST_REASONS} more"] if len(reasons) > _MOST_REASONS else []
    return "; ".join((*map(prose, reasons[:_MOST_REASONS]), *more)) or _NOTHING


def _benchmark(selected: Selected) -> Iterator[str]:
    yield "### Benchmark"
    yield ""
    right = [one for one in selected.variants if one.right]
    if not right:
        yield "NOT RUN: no variant is right, and only those that are right are timed."
    elif selected.gpu is None:
        yield f"NOT RUN: {prose(selected.untimed)}. What the compiler makes of each for {selected.target} instead:"
        yield ""
        yield from table("Kernel", "Bytes spilled", "Narrow accesses", "Occupancy", "Registers")
        yield from (_resources_row(one) for one in right)
    else:
        yield (
            f"On {prose(selected.gpu.name)}, in milliseconds: the median at each size, Final their mean with the means "
            "of the 95 % intervals, Speedup PyTorch's Final over this one. Only what is right is timed."
        )
        yield ""
        yield from table("Kernel", *(size.title() for size in TIMED), "Final", "Speedup")
        yield from (_times_row(one, one.times) for one in right if one.times is not None)
        if cases := next((one.times.sizes for one in right if one.times and one.times.sizes), ()):
            yield ""
            yield from (f"* {time.size}: {prose(time.case)}" for time in cases)
    yield from (f"* {prose(one.title)}: {prose(one.uncosted)}" for one in right if one.uncosted)


def _times_row(one: Considered, times: Times) -> str:
    known = {time.size: f"{time.median:.4g}" for time in times.sizes}
    final, speedup = _NOTHING, _NOTHING
    if times.sizes and not times.missing:
        final, speedup = f"{times.final:.4g} ({times.low:.4g} to {times.high:.4g})", _times(times.speedup)
    return row(prose(one.title), *(known.get(size, _NOTHING) for size in TIMED), final, speedup)


def _resources_row(one: Considered) -> str:
    found = one.resources
    return row(prose(one.title), *(_NOTHING,) * 4) if found is None else row(prose(one.title), *_resources(found))


def _resources(found: Resources) -> tuple[str, str, str, str]:
    occupancy = UNKNOWN if found.occupancy is None else f"{found.occupancy:.0%}"
    numbers = (UNKNOWN if value is None else str(value) for value in (found.spilled, found.registers))
    spilled, registers = numbers
    return spilled, str(found.narrow), occupancy, registers


def _times(value: float | None) -> str:
    return _NOTHING if value is None else f"{value:.2f}×"


# -- phase 4 -------------------------------------------------------------------------------------------------------


def _choice(selected: Selected) -> Iterator[str]:
    chosen = selected.chosen
    if chosen is None or chosen.right is None:
        yield "**Chosen**: none"
    else:
        yield f"**Chosen**: {prose(chosen.title)}, {code(shown_path(chosen.right[0]))}"
    yield ""
    yield from (f"* {prose(reason)}" for reason in selected.choice.reasons)
    for one in selected.variants:
        if not one.verdict.is_right:
            repaired = f"; attempt {one.repaired.number} is right" if one.repaired else ""
            yield f"* {prose(one.name)} is refused: {_listed(one.verdict.reasons[:1])}{repaired}"
