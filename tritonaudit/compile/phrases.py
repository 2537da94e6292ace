"""How the findings of the compile stage name variants: on which targets, with which configs, in which cases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePath

from tritonaudit.compile.facts import CompiledKernel, Variant
from tritonaudit.finding import Confidence, Span
from tritonaudit.rule import Hit

_MOST_NAMED = 2
_MOST_ASSUMED = 2
_KIB = 1024


def listed(words: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`; each word once."""
    *first, last = dict.fromkeys(words)
    return f"{', '.join(first)} and {last}" if first else last


def counted(number: int, noun: str) -> str:
    """`1 byte`, `12 bytes`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def memory(size: int) -> str:
    """A number of bytes as people say it: `212 bytes`, `96 KiB`, `98.2 KiB`."""
    if size < _KIB:
        return counted(size, "byte")
    return f"{size // _KIB} KiB" if size % _KIB == 0 else f"{size / _KIB:.1f} KiB"


def spread(numbers: Iterable[int]) -> str:
    """`212`, or `12 to 212` where they differ."""
    least, most = min(known := list(numbers)), max(known)
    return f"{most:,}" if least == most else f"{least:,} to {most:,}"


def where(variants: Sequence[Variant], kernel: CompiledKernel) -> str:
    """Which of the kernel's variants are meant: `on sm_80 and sm_90, with the config X, in 3 of 4 cases such as Y`."""
    targets = dict.fromkeys(variant.target for variant in variants)
    alike = [variant for variant in kernel.variants if variant.target in targets]
    configs = _among("config", _configs(variants), _configs(alike))
    cases = _among("case", _cases(variants), _cases(alike))
    parts = [f"on {listed(targets)}", configs and f"with {configs}", cases and f"in {cases}"]
    return ", ".join(part for part in parts if part)


def targets(variants: Iterable[Variant]) -> str:
    """`sm_80 and sm_90`."""
    return listed(variant.target for variant in variants)


def surest(hits: Iterable[Hit]) -> list[Hit]:
    """Of the hits at each place the surest: reports keep one finding of a rule there, and must not lose that one."""
    by_place: dict[object, Hit] = {}
    for hit in hits:
        before = by_place.get(hit.where)
        if before is None or _rank(hit) < _rank(before):
            by_place[hit.where] = hit
    return list(by_place.values())


def _rank(hit: Hit) -> int:
    return hit.confidence.rank if hit.confidence else 0


def instruction(name: str) -> str:
    """A matrix instruction without its shapes and types: `wgmma.mma_async`, `mma.sync`, `v_mfma_f32_32x32x8_f16`."""
    return ".".join(name.split(".")[:2])


def place(kernel: CompiledKernel, path: str, span: Span | None) -> tuple[Span, str]:
    """Where to report what is at a place, and what to add where that is not the place itself: a helper elsewhere."""
    if span is None or (path == kernel.path and span.line == kernel.span.line):  # Triton means all of the kernel
        return kernel.span, ""
    return (span, "") if path == kernel.path else (kernel.span, f" (at {PurePath(path).name}:{span.line})")


def assumed(variants: Sequence[Variant]) -> str:
    """What had to be assumed to compile them, as the end of a sentence; empty where a launch of each was captured."""
    if not variants or not all(variant.assumed for variant in variants):
        return ""
    assumptions = list(dict.fromkeys(text for variant in variants for text in variant.assumed))
    if len(assumptions) > _MOST_ASSUMED:
        others = counted(len(assumptions) - _MOST_ASSUMED, "other assumption")
        return f" (inferred: {'; '.join(assumptions[:_MOST_ASSUMED])}; and {others})"
    return f" (inferred: {'; '.join(assumptions)})"


def sure(confidence: Confidence, variants: Sequence[Variant]) -> Confidence:
    """The confidence, a step lower where all of the variants rest on assumptions."""
    if not all(variant.assumed for variant in variants):
        return confidence
    return Confidence.MEDIUM if confidence is Confidence.HIGH else Confidence.LOW


def _configs(variants: Iterable[Variant]) -> list[str]:
    return list(dict.fromkeys(variant.config for variant in variants if variant.config))


def _cases(variants: Iterable[Variant]) -> list[str]:
    """The cases of a subject; an inferred launch has none."""
    return list(dict.fromkeys(case for variant in variants if not variant.assumed for case in variant.cases if case))


def _among(noun: str, meant: Sequence[str], of: Sequence[str]) -> str:
    """`the case X`, `all 4 cases`, `3 of 4 cases such as X`; empty where there are none."""
    if not meant:
        return ""
    if len(of) == len(meant) > 1:
        return f"all {len(of)} {noun}s" if len(of) > 2 else f"both {noun}s"
    if len(meant) <= _MOST_NAMED:
        return f"the {noun} {meant[0]}" if len(meant) == 1 else f"the {noun}s {listed(meant)}"
    return f"{len(meant)} of {len(of)} {noun}s such as {meant[0]}"
