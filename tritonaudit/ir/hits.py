"""From mistakes to the words of a rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tritonaudit.finding import Confidence, Elsewhere, Fix, Severity, Span
from tritonaudit.ir.mistakes import COMPILES, Mistake, MistakeKind
from tritonaudit.rule import Hit
from tritonaudit.source.outline import span_of
from tritonaudit.target import Target, written

if TYPE_CHECKING:
    from tritonaudit.domains.facts import KernelFlow


@dataclass(frozen=True)
class Words:
    """A message and a remedy, with the names of a mistake's words in braces, and what fixes it.

    What is reported `once` in a kernel names its other places there. What is `silent` compiles, and is wrong.
    """

    message: str
    remedy: str
    severity: Severity | None = None
    confidence: Confidence | None = None
    fix: Callable[[KernelFlow, Mistake], Fix | None] | None = None
    once: bool = False
    silent: bool = False


Table = Mapping[tuple[MistakeKind, str], Words]
_MOST_PLACES = 8


def hits_of(kernel: KernelFlow, table: Table) -> Iterator[Hit]:
    """The hits of one kernel for those of its mistakes that the table has words for."""
    alike: dict[object, tuple[Words, list[Mistake]]] = {}
    for number, mistake in enumerate(kernel.mistakes):
        words = table.get((mistake.kind, mistake.what)) or table.get((mistake.kind, "*"))
        if words is not None:
            key = (id(words), mistake.releases) if words.once else number
            alike.setdefault(key, (words, []))[1].append(mistake)
    for words, (first, *others) in alike.values():
        found = hit(kernel, first, words)
        nodes: list[Any] = [other.node for other in others[:_MOST_PLACES]]
        places = [span_of(node, kernel.module.lines) for node in nodes]
        yield replace(found, related=(*found.related, *((place, "here too") for place in places)))


def also(kernel: KernelFlow, found: Iterator[Hit], table: Table) -> Iterator[Hit]:
    """The hits found otherwise, and those of the front end in lines where there is none yet; none for a vendor."""
    if kernel.for_vendor:
        return
    lines: set[int] = set()
    for one in found:
        if not isinstance(one.where, Elsewhere):
            span = one.where if isinstance(one.where, Span) else kernel.tree.span(one.where)
            lines.add(span.line)
        yield one
    for one in hits_of(kernel, table):
        if isinstance(one.where, Span) and one.where.line not in lines:
            yield one


def hit(kernel: KernelFlow, mistake: Mistake, words: Words) -> Hit:
    """One mistake in words; releases are named where it is not one of all of them."""
    node: Any = mistake.node
    message = words.message.format(**mistake.words) + _releases(mistake, kernel.target)
    helper = mistake.words.get("helper")
    if helper is not None:
        message += f", in `{helper}`"
    return Hit(
        span_of(node, kernel.module.lines),
        message,
        remedy=words.remedy.format(**mistake.words),
        severity=words.severity or _severity(mistake, words),
        confidence=_confidence(mistake, words, kernel.target),
        fix=None if words.fix is None or helper is not None else words.fix(kernel, mistake),
    )


def _severity(mistake: Mistake, words: Words) -> Severity | None:
    """A warning in an arm that a constant decides, where no launch shows the constant: it may never be compiled."""
    return None if mistake.sure or words.silent or mistake.kind in COMPILES else Severity.WARNING


def _releases(mistake: Mistake, target: Target) -> str:
    if mistake.since is None and mistake.until is None:
        return ""
    if mistake.since is None:
        assert mistake.until is not None
        text = f" before Triton {written(mistake.until)}"
    elif mistake.until is None:
        text = "" if mistake.since <= (3, 0) else f" since Triton {written(mistake.since)}"
    else:
        text = f" in Triton {written(mistake.releases[0])}"
        if len(mistake.releases) > 1:
            text += f" to {written(mistake.releases[-1])}"
    return text + (f" (target {target.text})" if text else "")


def _confidence(mistake: Mistake, words: Words, target: Target) -> Confidence | None:
    """A mistake in a few old releases alone is shown where somebody asked for them, or would not be shown by them."""
    if mistake.releases == target.versions:
        return words.confidence
    many = 2 * len(mistake.releases) >= len(target.versions)
    if many or words.silent or mistake.releases[-1] == target.versions[-1] or target.asked_in:
        return Confidence.MEDIUM if words.confidence is None else words.confidence
    return Confidence.LOW
