"""What a gate came to, as text and as data; `tritonaudit/report/gate.schema.json` describes the data."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from tritonaudit.finding import Status
from tritonaudit.gate.checklist import GateOfSubject
from tritonaudit.gate.gate import Gated
from tritonaudit.report.escape import visible

FORMAT = 1
_WORDS = {Status.PASS: "PASS", Status.FAIL: "FAIL", Status.NOT_RUN: "NOT RUN"}
_WIDTH = max(map(len, _WORDS.values()))


def text_of(gated: Gated) -> str:
    """A line for each item, under its stage, and whether the gate holds."""
    lines = [line for one in gated.subjects for line in _subject(one, gated)]
    for problem in gated.problems:
        place = problem.path if problem.line is None else f"{problem.path}:{problem.line}"
        lines.append(f"{place}: {problem.message}")
    return "".join(f"{visible(line)}\n" for line in lines)


def data_of(gated: Gated) -> dict[str, Any]:
    """The same as data."""
    return {
        "format": FORMAT,
        "stage": gated.stage,
        "device": gated.device,
        "holds": gated.holds and not gated.problems,
        "subjects": [
            {
                "path": one.path,
                "subject": one.subject,
                "holds": one.holds,
                "items": [
                    {
                        "stage": item.stage,
                        "item": item.key,
                        "text": item.text,
                        "answer": answer.status.value,
                        "reason": answer.reason,
                    }
                    for item, answer in one.answers
                ],
            }
            for one in gated.subjects
        ],
        "errors": [{"path": one.path, "line": one.line, "message": one.message} for one in gated.problems],
    }


def _subject(one: GateOfSubject, gated: Gated) -> Iterator[str]:
    yield f"{one.subject}  {one.path}  gate of stage {gated.stage}, on {gated.device}"
    for stage, answers in groupby(one.answers, key=lambda pair: pair[0].stage):
        yield f"  stage {stage}"
        for item, answer in answers:
            yield f"    {_WORDS[answer.status]:<{_WIDTH}}  {item.text}: {answer.reason}"
    yield f"  {_conclusion(one)}"
    yield ""


def _conclusion(one: GateOfSubject) -> str:
    if one.holds:
        return "The gate holds."
    counts = ((Status.FAIL, "failed"), (Status.NOT_RUN, "not run"))
    missing = ", ".join(f"{one.count(status)} {word}" for status, word in counts if one.count(status))
    return f"The gate does not hold: {missing}."
