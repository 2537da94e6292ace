"""What the kernels of a file came to in an earlier check of it, for one after an edit."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tritonaudit.finding import Edit, Finding, Fix, Outcome, Related
from tritonaudit.queries.wide_products import wide_sizes
from tritonaudit.source.outline import JitFunction, Module
from tritonaudit.source.resumed import Edited, edited, shared
from tritonaudit.target import Target

if TYPE_CHECKING:
    from tritonaudit.domains.facts import KernelFlow


@dataclass(frozen=True)
class OfKernel:
    """What one kernel came to. The lines of its facts are `by` so many less than those of the text now."""

    findings: tuple[Finding, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    facts: KernelFlow | None = None
    by: int = 0


@dataclass(frozen=True)
class Earlier:
    """A check of a text: what each of its kernels came to, None where that is not known, and what it rests on."""

    path: Path
    module: Module
    target: Target
    every: bool
    kernels: tuple[OfKernel | None, ...]


@dataclass(frozen=True)
class Resumed:
    """A text as it is read now, and what is known already of its kernels, None of those that are to be analysed."""

    module: Module
    kernels: tuple[OfKernel | None, ...]
    keeps_host: bool = False


def resumed(earlier: Earlier | None, module: Module, target: Target, every: bool, shown: str) -> Resumed:
    """What an earlier check says of a text."""
    if earlier is None:
        return Resumed(module, (None,) * len(module.jit))
    edit = edited(earlier.module, module) if (earlier.target, earlier.every) == (target, every) else None
    if edit is None or _tells_others(edit):
        module = shared(earlier.module, module)
        return Resumed(module, (None,) * len(module.jit))
    kept = [
        None if known is None or number in edit.related else _moved(edit, number, known, shown)
        for number, known in enumerate(earlier.kernels)
    ]
    return Resumed(edit.after, tuple(kept), edit.after is not module)


def _tells_others(edit: Edited) -> bool:
    """Whether the kernel says something else of what others of its file are judged by: sizes in 64 bits, and names."""
    old, new = edit.before.jit[edit.number], edit.after.jit[edit.number]
    if wide_sizes(edit.before, old) != wide_sizes(edit.after, new):
        return True
    return _declared(edit.before, old) != _declared(edit.after, new)


def _declared(module: Module, kernel: JitFunction) -> frozenset[str]:
    """The names that it sets for the whole module, defines, or has in common with the module's constants."""
    named = (name for node in kernel.nodes.of(ast.Global) for name in node.names)
    defined = (node.name for node in kernel.nodes.of(ast.FunctionDef))
    stored = (node.id for node in kernel.nodes.of(ast.Name) if isinstance(node.ctx, ast.Store))
    return frozenset((*named, *defined, *(name for name in stored if name in module.constants)))


def _moved(edit: Edited, number: int, known: OfKernel, shown: str) -> OfKernel | None:
    """The same with its places in the newer text; None where one of them was edited."""
    findings = [_moved_finding(edit, finding, shown) for finding in known.findings]
    if known.outcomes or None in findings:
        return None
    by = edit.after.jit[number].first_line - edit.before.jit[number].first_line
    return OfKernel(tuple(filter(None, findings)), (), known.facts, known.by + by)


def _moved_finding(edit: Edited, finding: Finding, shown: str) -> Finding | None:
    span = edit.moved(finding.span)
    related, way = _moved_related(edit, finding.related, shown), _moved_related(edit, finding.way, shown)
    edits = None if finding.fix is None else _moved_edits(edit, finding.fix)
    if span is None or related is None or way is None or (finding.fix is not None and edits is None):
        return None
    fix = finding.fix if finding.fix is None or edits is None else replace(finding.fix, edits=edits)
    return replace(finding, span=span, related=related, way=way, fix=fix)


def _moved_related(edit: Edited, related: Sequence[Related], shown: str) -> tuple[Related, ...] | None:
    found = []
    for one in related:
        span = edit.moved(one.span) if one.path == shown else one.span
        if span is None:
            return None
        found.append(replace(one, span=span))
    return tuple(found)


def _moved_edits(edit: Edited, fix: Fix) -> tuple[Edit, ...] | None:
    spans = [edit.moved(one.span) for one in fix.edits]
    moved = tuple(replace(one, span=span) for one, span in zip(fix.edits, spans, strict=True) if span is not None)
    return moved if len(moved) == len(fix.edits) else None
