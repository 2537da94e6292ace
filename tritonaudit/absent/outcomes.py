"""What was stood in for, as a report says it. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tritonaudit.finding import Outcome, Status
from tritonaudit.shown import shown_path

IMPORT = "import"
"""The check whose outcomes say so."""


def stand_ins_said(said: Iterable[tuple[Path, Iterable[str]]]) -> list[Outcome]:
    """An outcome for each sentence, once, at the first file that is loaded with such a stand-in."""
    files: dict[str, Path] = {}
    for path, sentences in said:
        for sentence in sentences:
            files.setdefault(sentence, path)
    return [Outcome(IMPORT, shown_path(path), Status.NOT_RUN, reason=sentence) for sentence, path in files.items()]
