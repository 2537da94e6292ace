"""What a reader reads of mutants to say whether the engine is right of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from bench.judge.faults.mutants import source_file
from bench.judge.faults.trying import Trial

HOW = """\
Each file shows a kernel, or a function that launches one, with one change: `-` is as published, `+` as changed.
The last line says what executing both came to, on inputs of a few sizes that no block divides. Say of each whether
that is right, one line each, tabs between: index, verdict, reason. Verdicts: right, wrong, unsure.

fault, result, hang: the change can make a wrong result, or an access or a race that may do harm, for inputs that the
wrapper takes. equal: the change means nothing for what the function gives, or only for inputs that this wrapper and
its callers never pass (such as sizes that are always whole tiles): judge it for the sizes that are named.
"""
_FAULTY, _EQUAL = 100, 50


def write_sheets(trials: Sequence[Trial], to: Path, seed: int) -> None:
    """So many mutants called faulty and so many called equal, drawn by the seed."""
    to.mkdir(parents=True, exist_ok=True)
    (to / "HOW.txt").write_text(HOW, encoding="utf-8")
    chance = random.Random(seed)
    faulty = [one for one in trials if one.is_faulty]
    equal = [one for one in trials if one.outcome == "equal"]
    drawn = chance.sample(faulty, min(_FAULTY, len(faulty))) + chance.sample(equal, min(_EQUAL, len(equal)))
    chance.shuffle(drawn)
    for index, trial in enumerate(drawn):
        (to / f"{index:03}.txt").write_text(_sheet(trial), encoding="utf-8")


def _sheet(trial: Trial) -> str:
    lines = Path(trial.path).read_text(encoding="utf-8").splitlines()
    source = source_file("\n".join(lines) + "\n")
    around = [one for one in source.functions if source.line_of(one.name) <= trial.line]
    first = max((source.line_of(one.name) for one in around if one.name.value == trial.function), default=trial.line)
    last = min((source.line_of(one.name) for one in source.functions if source.line_of(one.name) > trial.line),
               default=len(lines) + 1)  # fmt: skip
    shown = [f"{number:5} {'>' if number == trial.line else ' '} {lines[number - 1]}" for number in range(first, last)]
    what = f"kernel {trial.function}" if trial.is_kernel else f"{trial.function}, which launches {trial.kernel}"
    change = [f"- {line}" for line in trial.before.splitlines()] + [f"+ {line}" for line in trial.after.splitlines()]
    said = f"{trial.outcome}: {trial.detail}" if trial.detail else trial.outcome
    head = [f"{trial.path}", what, f"{trial.operator}, at line {trial.line}", *change, ""]
    return "\n".join((*head, *shown, "", said, ""))
