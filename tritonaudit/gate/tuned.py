"""Stage 3: it is measured, compared and held against the roof, and its wrapper waits for nothing."""

from __future__ import annotations

from pathlib import Path

from tritonaudit.finding import Outcome, Status
from tritonaudit.gate.checklist import Answer, failed, not_run, passed
from tritonaudit.gate.material import Material
from tritonaudit.gate.waiting import UnknownWrapper, waits
from tritonaudit.measure.checks import Check
from tritonaudit.shown import shown_path


def measured(material: Material) -> Answer:
    """Whether it was timed, and its results verified before and after that."""
    return _of_checks(material, Check.TIMED, Check.VERIFIED)


def compared(material: Material) -> Answer:
    """Whether there is a speed-up over `torch.compile` that can be relied on."""
    return _of_checks(material, Check.COMPILED)


def bandwidth(material: Material) -> Answer:
    """Whether the roof is known, and how near it comes."""
    answer = _of_checks(material, Check.ROOFLINE)
    if answer.status is not Status.PASS or material.measured is None:
        return answer
    rooflines = ((row.size or row.case.label, row.roofline) for row in material.measured.rows)
    reached = [f"{size} {one.reached:.0%}" for size, one in rooflines if one is not None and one.reached is not None]
    return passed(f"{', '.join(reached)} of the roof")


def no_wait(material: Material) -> Answer:
    """Whether the wrapper makes the host wait for the GPU once it has launched something."""
    if material.wrapper is None or not material.wrapper.path:
        return not_run("where the wrapper stands is not known")
    try:
        found = waits(material.wrapper, material.sources)
    except UnknownWrapper as error:
        return not_run(str(error))
    if found:
        return failed("; ".join(f"{shown_path(Path(one.path))}:{one.line}: `{one.text}`" for one in found))
    return passed(f"none in `{material.wrapper.name}` and what it calls")


def _of_checks(material: Material, *checks: Check) -> Answer:
    if material.measured is None:
        return not_run(material.unmeasured)
    outcomes = {outcome.check: outcome for outcome in material.measured.outcomes}
    asked = [outcomes[check.value] for check in checks]
    if wrong := [_reported(one) for one in asked if one.status is Status.FAIL]:
        return failed("; ".join(wrong))
    if missed := [_reported(one) for one in asked if one.status is not Status.PASS]:
        return not_run("; ".join(missed))
    return passed("; ".join(_reported(one) for one in asked))


def _reported(outcome: Outcome) -> str:
    return f"{outcome.check}: {', '.join(filter(None, (outcome.case, outcome.reason))) or outcome.status.value}"
