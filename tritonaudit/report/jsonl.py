"""One line of JSON for each file that is audited: beside this module, `line.schema.json` describes it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tritonaudit.finding import Audit
from tritonaudit.report.json import as_data
from tritonaudit.report.section import Section
from tritonaudit.report.status import Exit, exit_of

if TYPE_CHECKING:
    from tritonaudit.config import Config

_WORDS = {Exit.ERROR: "error", Exit.FOUND: "fail", Exit.INCOMPLETE: "incomplete"}
_WORST_FIRST = ("error", "fail", "incomplete", "warn", "pass")
NO_SUBJECT = "no subject"


def line_of(path: str, digest: str, audit: Audit, sections: tuple[Section, ...], config: Config) -> dict[str, Any]:
    """What the line of a file holds: its verdict, and all that the JSON of an audit of this file has."""
    parts = {section.key: section.data() for section in sections}
    subjects = [one["verdict"] for one in parts.get("ran", {}).get("subjects", ())]
    word = _WORDS.get(exit_of(audit, config))
    verdicts = [*subjects, *([word] if word else [])]
    verdict = min(verdicts, key=_WORST_FIRST.index, default=NO_SUBJECT)
    return {"path": path, "digest": digest, "verdict": verdict, **as_data(audit), **parts}


def written(line: dict[str, Any]) -> str:
    """The line, in ASCII so that no reader's encoding can spoil it."""
    return json.dumps(line, ensure_ascii=True) + "\n"
