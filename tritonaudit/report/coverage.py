"""Which values of the inputs' axes some case of a subject had."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.report.checklists import Axis, Value
from tritonaudit.report.words import Words, among, words
from tritonaudit.subject.model import Case
from tritonaudit.subject.size_kind import SizeKind, kind_by_name
from tritonaudit.suites.gather import SubjectRun

_MOST_SHOWN = 3


@dataclass(frozen=True)
class Coverage:
    """Whether a value was tried, and with what, or why not."""

    is_covered: bool
    because: Words


def covered(value: Value, run: SubjectRun) -> Coverage:
    """Whether some case of the subject had the value, and something was checked in it."""
    cases = [trial.case for trial in run.trials if trial.checked]
    found = list(dict.fromkeys(_had(value, cases, run)))
    return Coverage(True, among(found, _MOST_SHOWN)) if found else Coverage(False, _why_not(value, run))


def _had(value: Value, cases: list[Case], run: SubjectRun) -> Iterator[str]:
    """With what the value was had: dimensions of the size, dtypes of the rest."""
    sizes = dict.fromkeys((name, size) for case in cases for name, size in case.sizes.items())
    match value.axis:
        case Axis.SIZE:
            yield from (name for name, size in sizes if size == value.value)
        case Axis.BATCH:
            yield from (name for name, size in sizes if size == value.value and _is_batch(name))
        case Axis.BLOCK:
            assert isinstance(value.value, tuple)
            factor, offset = value.value
            blocks = sorted(_blocks(run))
            yield from (
                f"{name}={size} of B={block}"
                for block in blocks
                for name, size in sizes
                if size == factor * block + offset
            )
        case Axis.FILL:
            yield from (case.dtype for case in cases if case.fill == value.value)
        case Axis.LAYOUT:
            yield from (case.dtype for case in cases if case.layout.value == value.value)
        case Axis.DTYPE:
            yield from (case.dtype for case in cases)


def _is_batch(name: str) -> bool:
    return kind_by_name(name) is SizeKind.BATCH


def _blocks(run: SubjectRun) -> frozenset[int]:
    return frozenset(block for trial in run.trials for block in trial.blocks)


def _why_not(value: Value, run: SubjectRun) -> Words:
    names = {name for trial in run.trials for name in trial.case.sizes}
    if not run.trials:
        return words("no case was tried")
    if value.axis is Axis.BATCH and not any(map(_is_batch, names)):
        return words("none of its dimensions is called a batch")
    if value.axis is Axis.BLOCK and not _blocks(run):
        return words("no launch shows a block size")
    return among(_reasons(value, run)) or words("none of its cases has it")


def _reasons(value: Value, run: SubjectRun) -> list[str]:
    """Why the audit left the value out."""
    if isinstance(value.value, tuple):
        factor, offset = value.value
        sizes = "|".join(str(factor * block + offset) for block in _blocks(run))
        wanted = rf"=({sizes})(?!\d)| other sizes"
    elif value.axis in (Axis.SIZE, Axis.BATCH):
        wanted = rf"={value.value}(?!\d)| other sizes"
    else:
        wanted = rf"\b{value.axis.value}[= ]{re.escape(str(value.value))}(?![\w.])"
    return list(dict.fromkeys(why for what, why in run.left_out if re.search(wanted, what)))
