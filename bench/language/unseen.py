"""What the source stage says of generated kernels, beside what the releases say that compile them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from bench.language.generated import Generated, generated
from bench.language.releases import Question, verdicts
from bench.language.scores import Judged, predictions
from tritonaudit.finding import Finding

RELEASES = ("3.2.0", "3.4.0", "3.6.0", "3.8.0", "3.9.0")
"""Those that a file of cases holds, too."""


def judged_generated(count: int, seed: int, folder: Path, kept: Path) -> list[Judged]:
    """Every kernel under every release. What the front end takes and we refuse is compiled to the end."""
    kernels = generated(count, seed)
    said = verdicts([one.question for one in kernels], folder, RELEASES, kept)
    reported = {(one.name, release): predictions(one.text, release) for one in kernels for release in RELEASES}
    _ask_backends(kernels, said, reported, folder, kept)
    return [
        Judged(one.kind, f"{one.name} {one.faults}", release, bool(words), reported[one.name, release], words, one.text)
        for one in kernels
        for release in RELEASES
        for words in (said[release][one.question.key],)
    ]


def _ask_backends(
    kernels: list[Generated],
    said: dict[str, dict[str, str]],
    reported: Mapping[tuple[str, str], tuple[Finding, ...]],
    folder: Path,
    kept: Path,
) -> None:
    """Adds what backends say of kernels that no front end refuses, where an error of ours may be theirs."""
    for release, answers in said.items():
        asked: dict[str, Question] = {
            one.question.key: replace(one.question, whole=True)
            for one in kernels
            if not answers[one.question.key] and reported[one.name, release]
        }
        found = verdicts(list(asked.values()), folder, (release,), kept)[release]
        answers.update({key: found[question.key] for key, question in asked.items()})
