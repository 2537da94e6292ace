"""What the kernels of a file came to in an earlier check of it, for one after an edit."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tritonaudit.finding import Edit, Finding, Fix, Outcome, Related
from tritonaudit.queries.wide_products import wide_sizes
from tritonaudit.source.outline import JitFunction, Module
from tritonaudit.source.resumed import Edited, edited
from tritonaudit.target import Target

if TYPE_CHECKING:
    from tritonaudit.domains.facts import KernelFlow


_NAMES_A_LINE = re.compile(r"\bline \d")


@dataclass(frozen=True)
class OfKernel:
    """What one kernel came to."""

    findings: tuple[Finding, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    facts: KernelFlow | None = None


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
    """A text as it is read now, and what is known already of its kernels, None of those that are to be analysed.

    `replaced` are the functions that are other nodes now, by what they were; None where the whole tree is another.
    """

    module: Module
    kernels: tuple[OfKernel | None, ...]
    replaced: Mapping[ast.AST, ast.FunctionDef] | None = None


def resumed(earlier: Earlier | None, module: Module, target: Target, every: bool, shown: str) -> Resumed:
    """What an earlier check says of a text. The module that it was of becomes this one, where it can."""
    edit = None if earlier is None else edited(earlier.module, module)
    unknown = (None,) * len(module.jit)
    if earlier is None or edit is None:
        return Resumed(module, unknown)
    holds = (earlier.target, earlier.every) == (target, every) and edit.function is None and not _affects_others(edit)
    kept = tuple(
        None if known is None or number in edit.related else _moved(edit, known, shown)
        for number, known in enumerate(earlier.kernels)
    )
    replaced = edit.follow()
    if holds and earlier.module.says_the_same():
        return Resumed(earlier.module, kept, replaced)
    earlier.module.forget_what_it_said()
    return Resumed(earlier.module, unknown, replaced)


def _affects_others(edit: Edited) -> bool:
    """Whether the kernel says something else of what others of its file are judged by: sizes in 64 bits, and names."""
    if edit.kernel is None:
        return False
    old, new = edit.module.jit[edit.kernel], edit.newer.jit[edit.kernel]
    if wide_sizes(edit.module, old) != wide_sizes(edit.newer, new):
        return True
    return _declared(edit.module, old) != _declared(edit.newer, new)


def _declared(module: Module, kernel: JitFunction) -> frozenset[str]:
    """The names that it sets for the whole module, defines, or has in common with the module's constants."""
    named = (name for node in kernel.nodes.of(ast.Global) for name in node.names)
    defined = (node.name for node in kernel.nodes.of(ast.FunctionDef))
    stored = (node.id for node in kernel.nodes.of(ast.Name) if isinstance(node.ctx, ast.Store))
    return frozenset((*named, *defined, *(name for name in stored if name in module.constants)))


def _moved(edit: Edited, known: OfKernel, shown: str) -> OfKernel | None:
    """The same with its places in the newer text; None where one of them was edited."""
    findings = [_moved_finding(edit, finding, shown) for finding in known.findings]
    if known.outcomes or None in findings:
        return None
    return OfKernel(tuple(filter(None, findings)), (), known.facts)


def _moved_finding(edit: Edited, finding: Finding, shown: str) -> Finding | None:
    span = edit.moved(finding.span)
    related, way = _moved_related(edit, finding.related, shown), _moved_related(edit, finding.way, shown)
    edits = None if finding.fix is None else _moved_edits(edit, finding.fix)
    if span is None or related is None or way is None or (finding.fix is not None and edits is None):
        return None
    if edit.by and _NAMES_A_LINE.search(finding.message):
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
