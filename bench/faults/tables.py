"""What the files came to, as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.faults.judged import Reported, Verdict
from bench.faults.run import Flag, Ran
from tritonaudit.execute.killed import Killed

Outcome = Ran | Killed
Outcomes = Mapping[str, Outcome]
"""What each file came to, by its name without the ending."""


def named(reported: Sequence[Reported], original: Outcomes, fixed: Outcomes) -> str:
    """Each file that was reported: what is wrong in it, and whether that, or anything, is flagged in an edition."""
    lines = [
        "| reported | at line | kind | original | fixed | what is wrong |",
        "| --- | ---: | --- | --- | --- | --- |",
    ]
    for one in reported:
        if one.file in original or one.file in fixed:
            there, here = (_found(one, outcomes) for outcomes in (original, fixed))
            lines.append(f"| {one.file} | {one.line} | {one.kind} | {there} | {here} | {one.why} |")
    return "\n".join(lines) + "\n"


def _found(reported: Reported, outcomes: Outcomes) -> str:
    flags = _flags(outcomes.get(reported.file))
    if reported.file not in outcomes:
        return "not run"
    if any((flag.line, flag.kind) == (reported.line, reported.kind) for flag in flags):
        return f"found, {len(flags)} flags"
    return f"{len(flags)} flags, the first at line {flags[0].line}" if flags else "no flag"


def others(
    edition: str, reported: Sequence[Reported], verdicts: Sequence[Verdict], outcomes: Outcomes
) -> tuple[str, str]:
    """Each flag in the files that nobody reported, with what a reader found of it; and how many are true."""
    lines = ["| file | line | kernel | tensor | kind | verdict | why |", "| --- | ---: | --- | --- | --- | --- | --- |"]
    counts = {"true": 0, "false": 0, "unjudged": 0}
    names = {one.file for one in reported}
    for file in sorted(set(outcomes) - names):
        for flag in _flags(outcomes[file]):
            found = next((one for one in verdicts if one.fits(edition, file, flag)), None)
            verdict = "unjudged" if found is None else str(found.is_true).lower()
            counts[verdict] += 1
            why = flag.detail if found is None else found.why
            cells = (file, flag.line, f"`{flag.kernel}`", flag.tensor, flag.kind, verdict, why)
            lines.append(f"| {' | '.join(map(str, cells))} |")
    flagged = sum(bool(_flags(outcomes[file])) for file in set(outcomes) - names)
    by_verdict = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
    return "\n".join(
        lines
    ) + "\n", f"{flagged} of {len(set(outcomes) - names)} others flagged; their flags: {by_verdict}"


def missing(outcomes: Outcomes) -> str:
    """The files that do not run through, and why."""
    reasons = {file: _error(outcome) for file, outcome in outcomes.items()}
    return "".join(f"* {file}: {reason}\n" for file, reason in sorted(reasons.items()) if reason)


def ran_through(outcomes: Outcomes) -> int:
    return sum(not _error(outcome) for outcome in outcomes.values())


def flagged(reported: Sequence[Reported], outcomes: Outcomes) -> int:
    """How many of the reported files have a flag."""
    return sum(bool(_flags(outcomes.get(one.file))) for one in reported)


def by_name(outcomes: Sequence[tuple[Path, Outcome]]) -> Outcomes:
    return {path.stem: outcome for path, outcome in outcomes}


def _flags(outcome: Outcome | None) -> Sequence[Flag]:
    return outcome.flags if isinstance(outcome, Ran) else ()


def _error(outcome: Outcome) -> str:
    return outcome.error if isinstance(outcome, Ran) else outcome.message
