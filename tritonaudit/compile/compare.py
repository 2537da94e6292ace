"""What changed since an earlier run: kernel by kernel, each config, case and target with the same one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tritonaudit.compile import phrases
from tritonaudit.compile.budget import METRICS
from tritonaudit.compile.facts import AccessKind, CompiledKernel, Variant
from tritonaudit.compile.record import NotARecord, Record, read_record
from tritonaudit.compile.settings import Setting, changed, most_alike


class NotAReport(ValueError):
    """A file that is not a report of the compile stage, and why."""


@dataclass(frozen=True)
class Change:
    """One thing that changed, in words; `harm` is positive where it became worse, greater where it matters more."""

    text: str
    harm: float


@dataclass(frozen=True)
class Figure:
    """What a program needed and needs, by the name of the metric; None where it is unknown."""

    metric: str
    before: int | None
    now: int | None


@dataclass(frozen=True)
class Difference:
    """What changed in a kernel for one target with one config, and in which cases; no target: only one run has it.

    Where its launch is configured otherwise than before, `settings` say how, and `figures` what came of it.
    """

    path: str
    line: int
    kernel: str
    changes: tuple[Change, ...]
    target: str = ""
    config: str = ""
    cases: tuple[str, ...] = ()
    settings: tuple[Setting, ...] = ()
    figures: tuple[Figure, ...] = ()

    @property
    def harm(self) -> float:
        """0 where nothing but its configuration changed."""
        return max((change.harm for change in self.changes), default=0.0)


@dataclass(frozen=True)
class Comparison:
    """The differences from an earlier run, the most harmful first. `unpaired` variants were in one of the runs only."""

    triton_before: str
    triton_now: str
    differences: tuple[Difference, ...]
    compared: int
    unpaired: int


def read_report(path: Path) -> Record:
    """What an earlier `tritonaudit compile --output-format json` wrote. Raises NotAReport."""
    try:
        data = json.loads(path.read_bytes())
    except OSError as error:
        raise NotAReport(f"cannot read {path}: {error.strerror or error}") from error
    except ValueError as error:  # not JSON, or not text
        raise NotAReport(f"{path} is not JSON: {error}") from error
    compiled = data.get("compiled") if isinstance(data, dict) else None
    if compiled is None:
        raise NotAReport(f"{path} was not written by `tritonaudit compile --output-format json`")
    try:
        return read_record(compiled)
    except NotARecord as error:
        raise NotAReport(f"{path} was written by another version of tritonaudit; write it again: {error}") from error


def compare(before: Record, now: Record) -> Comparison:
    """Pairs the variants of two runs and says what changed."""
    pairs, gone, new = _paired_kernels(before.kernels, now.kernels)
    differences = [
        *(_only(kernel, "is no longer launched", _GONE) for kernel in gone),
        *(_only(kernel, "is new", _NEW) for kernel in new),
    ]
    compared = unpaired = 0
    for old, young in pairs:
        olds, youngs = _by_key(old), _by_key(young)
        both = [(key, olds[key], youngs[key]) for key in youngs if key in olds]
        both += _configured_otherwise(olds, youngs)
        compared, unpaired = compared + len(both), unpaired + len(olds) + len(youngs) - 2 * len(both)
        differences.extend(_differences(young, both))
    differences.sort(key=lambda one: (-one.harm, one.path, one.line, one.target, one.config))
    return Comparison(before.triton, now.triton, tuple(differences), compared, unpaired)


# -- pairs -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Key:
    """What two runs know a variant by in one case; `ordinal` tells launches apart that are alike in the rest."""

    target: str
    config: str
    case: str
    signature: tuple[tuple[str, str], ...]
    ordinal: int


_Kernels = Sequence[CompiledKernel]


def _paired_kernels(
    before: _Kernels, now: _Kernels
) -> tuple[list[tuple[CompiledKernel, CompiledKernel]], _Kernels, _Kernels]:
    """Kernels of the same file and name, then those that have only moved; and those that one run lacks."""
    pairs: list[tuple[CompiledKernel, CompiledKernel]] = []
    for key in (_path_and_name, _name):
        olds, youngs = _unique(before, key), _unique(now, key)
        found = [(kernel, youngs[name]) for name, kernel in olds.items() if name in youngs]
        pairs.extend(found)
        before = [kernel for kernel in before if kernel not in [old for old, _ in found]]
        now = [kernel for kernel in now if kernel not in [young for _, young in found]]
    return pairs, before, now


def _path_and_name(kernel: CompiledKernel) -> tuple[str, str]:
    return kernel.path, kernel.name


def _name(kernel: CompiledKernel) -> tuple[str, str]:
    return "", kernel.name


def _unique(
    kernels: _Kernels, key: Callable[[CompiledKernel], tuple[str, str]]
) -> dict[tuple[str, str], CompiledKernel]:
    counts = Counter(map(key, kernels))
    return {key(kernel): kernel for kernel in kernels if counts[key(kernel)] == 1}


def _by_key(kernel: CompiledKernel) -> dict[_Key, Variant]:
    found: dict[_Key, Variant] = {}
    for variant in kernel.variants:
        for case in variant.cases or ("",):
            ordinal = 0
            while (key := _Key(variant.target, variant.config, case, variant.signature, ordinal)) in found:
                ordinal += 1
            found[key] = variant
    return found


def _configured_otherwise(
    olds: Mapping[_Key, Variant], youngs: Mapping[_Key, Variant]
) -> Iterator[tuple[_Key, Variant, Variant]]:
    """Of each case, what has another config than before with what had that which is most like it."""
    gone, new = (_alone(these, others) for these, others in ((olds, youngs), (youngs, olds)))
    for group in (group for group in new if group in gone):
        before, now = gone[group], new[group]
        for first, second in most_alike([olds[key] for key in before], [youngs[key] for key in now]):
            yield now[second], olds[before[first]], youngs[now[second]]


def _alone(these: Mapping[_Key, Variant], others: Mapping[_Key, Variant]) -> dict[tuple[object, ...], list[_Key]]:
    """The keys that the others lack, by all but the config."""
    found: dict[tuple[object, ...], list[_Key]] = {}
    for key in these:
        if key not in others:
            found.setdefault((key.target, key.case, key.signature), []).append(key)
    return found


def _only(kernel: CompiledKernel, text: str, harm: float) -> Difference:
    return Difference(kernel.path, kernel.span.line, kernel.name, (Change(text, harm),))


def _differences(kernel: CompiledKernel, pairs: Iterable[tuple[_Key, Variant, Variant]]) -> Iterator[Difference]:
    cases: dict[Difference, list[str]] = {}
    for key, old, young in pairs:
        changes, settings = tuple(_changes(old, young)), changed(old, young)
        figures = tuple(_figures(old, young)) if settings else ()
        if changes or settings:
            place = kernel.path, kernel.span.line, kernel.name
            difference = Difference(*place, changes, key.target, key.config, settings=settings, figures=figures)
            cases.setdefault(difference, []).append(key.case)
    for difference, same in cases.items():
        yield replace(difference, cases=tuple(case for case in dict.fromkeys(same) if case))


_SHOWN = ("registers", "spills", "shared", "occupancy")


def _figures(old: Variant, young: Variant) -> Iterator[Figure]:
    for metric in _SHOWN:
        yield Figure(metric, METRICS[metric].read(old), METRICS[metric].read(young))


# -- changes -----------------------------------------------------------------------------------------------------

_REJECTED = 9.0
_NARROWER = 6.0
_OTHER_MATRIX = 5.0
_GONE = 0.2
_NEW = 0.1
_WORDS = {
    "spills": ("bytes spilled", 7.0),
    "occupancy": ("warps of occupancy", -4.0),
    "registers": ("registers", 3.0),
    "accumulators": ("accumulators", 3.0),
    "local": ("bytes of local memory", 3.0),
    "shared": ("bytes of shared memory", 2.0),
    "stack": ("bytes of stack", 1.0),
}
"""What a metric is called, and how much it harms when it grows; negative where it harms when it shrinks."""

_READS = (AccessKind.LOAD, AccessKind.ASYNC_COPY, AccessKind.BULK_COPY)
_WRITES = (AccessKind.STORE,)
_ATOMICS = (AccessKind.ATOMIC,)
_BULK = 1 << 10
"""More bytes than a lane can move: a bulk copy has no width of its own, and is better than any."""


def _changes(old: Variant, young: Variant) -> Iterator[Change]:
    """What changed, the most harmful first."""
    changes = [*_compilation(old, young), *_amounts(old, young), *_matrix(old, young), *_widths(old, young)]
    yield from sorted(changes, key=lambda change: -change.harm)


def _compilation(old: Variant, young: Variant) -> Iterator[Change]:
    if young.error and not old.error:
        yield Change(f"no longer compiles: {' '.join(young.error.message.split())}", _REJECTED)
    elif old.error and not young.error:
        yield Change("compiles now", -_REJECTED)


def _amounts(old: Variant, young: Variant) -> Iterator[Change]:
    for metric, (words, weight) in _WORDS.items():
        before, now = METRICS[metric].read(old), METRICS[metric].read(young)
        if before is None or now is None or before == now:
            continue
        worse = (now > before) == (weight > 0)
        size = abs(weight) + min(abs(now - before) / max(before, now), 0.9)
        yield Change(f"{now - before:+,} {words}", size if worse else -size)


def _matrix(old: Variant, young: Variant) -> Iterator[Change]:
    before, now = (set(map(phrases.instruction, variant.matrix)) for variant in (old, young))
    if old.error or young.error or before == now:
        return
    names = [phrases.listed(sorted(found)) if found else "none" for found in (before, now)]
    yield Change(f"matrix instruction {names[0]} → {names[1]}", _OTHER_MATRIX if before else -_OTHER_MATRIX)


def _widths(old: Variant, young: Variant) -> Iterator[Change]:
    """Accesses paired in the order of their lines, or where their number changed the narrowest of each kind."""
    for noun, kinds in (("loads", _READS), ("stores", _WRITES), ("atomics", _ATOMICS)):
        befores, nows = _narrowest_by_line(old, kinds), _narrowest_by_line(young, kinds)
        if len(befores) != len(nows):
            befores, nows = befores and [min(befores)], nows and [min(nows)]
        for (before, _), (now, line) in zip(befores, nows, strict=False):
            if before != now:
                size = _NARROWER + (0.5 if max(before, now) >= 4 * min(before, now) else 0)
                text = f"{noun} {_width(before)} → {_width(now)} bytes, line {line}"
                yield Change(text, size if now < before else -size)


def _narrowest_by_line(variant: Variant, kinds: Sequence[AccessKind]) -> list[tuple[int, int]]:
    """The bytes per lane of each line's narrowest access, with the line, in the order of the text."""
    by_line: dict[tuple[str, int], int] = {}
    for access in variant.accesses:
        if access.kind in kinds:
            place = (access.path, access.span.line)
            by_line[place] = min(by_line.get(place, _BULK), access.narrowest or _BULK)
    return [(width, line) for (_, line), width in sorted(by_line.items())]


def _width(size: int) -> str:
    return "bulk" if size == _BULK else str(size)
