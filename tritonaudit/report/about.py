"""What a report says of the audit that it is about: how it was asked for, and when."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

from tritonaudit.finding import Stage


def today() -> str:
    """The date in UTC as 2026-01-31; that of SOURCE_DATE_EPOCH where it is set, so that reports can be reproduced."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = datetime.fromtimestamp(int(seconds), timezone.utc) if seconds.isdigit() else datetime.now(timezone.utc)
    return moment.date().isoformat()


@dataclass(frozen=True)
class About:
    """The command that makes the report, the stages that were done, the codes of the rules that were on, the date.

    `rules` is None where every rule was on. A brief report for people has no summary. Paths count from `here`, a folder
    below the root of the `checkout`, where there is one.
    """

    command: str = ""
    stages: frozenset[Stage] = frozenset((Stage.SOURCE,))
    rules: frozenset[str] | None = None
    date: str = field(default_factory=today)
    is_brief: bool = False
    checkout: Path | None = None
    here: str = ""
