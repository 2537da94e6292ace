"""What to do, in the order of what it brings."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.report.advice import Step, advice
from tritonaudit.report.evidence import Evidence
from tritonaudit.report.markdown.text import inline


def recommendations(evidence: Evidence) -> Iterator[str]:
    steps = advice(evidence)
    yield from (f"{number}. {_shown(step)}" for number, step in enumerate(steps, 1))
    if not steps:
        yield "None."


def _shown(step: Step) -> str:
    text = inline(step.text)
    return f"**[{step.level}]** {text}" if step.level else text
