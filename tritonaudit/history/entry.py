"""What is kept of an audit: `tritonaudit/report/history.schema.json` describes it."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from tritonaudit import __version__
from tritonaudit.compile.installed import triton_version
from tritonaudit.finding import Audit, Finding
from tritonaudit.hardware.roofline import TARGET
from tritonaudit.report.section import Section

Data = dict[str, Any]
"""An entry, or a part of one, as JSON has it."""

FORMAT = 1


def entry_of(
    audit: Audit,
    sections: Sequence[Section],
    commit: Mapping[str, Any] | None,
    note: str | None,
    asked: Mapping[str, Any] | None = None,
) -> Data:
    """The entry of an audit that ends now, from its findings and what its stages show besides.

    `asked` says what it was asked for, as `asked_of` has it.
    """
    shown = {section.key: section.data() for section in sections}
    ran, measured = shown.get("ran"), shown.get("measured")
    return {
        "format": FORMAT,
        "masked": False,
        "note": note,
        "when": _now(),
        "commit": commit,
        "environment": _environment(ran, measured),
        "asked": None if asked is None else dict(asked),
        "target": TARGET,
        "subjects": _subjects(ran, measured),
        "findings": [_finding(finding) for finding in audit.findings],
        "problems": [{"path": problem.path, "message": problem.message} for problem in audit.problems],
    }


def _now() -> str:
    """The time in UTC; that of SOURCE_DATE_EPOCH where it is set, so that entries can be reproduced."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = datetime.fromtimestamp(int(seconds), timezone.utc) if seconds.isdigit() else datetime.now(timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _environment(ran: Data | None, measured: Data | None) -> Data:
    gpu = measured["gpu"] if measured else None
    return {
        "tritonaudit": __version__,
        "python": platform.python_version(),
        "torch": _version("torch"),
        "triton": triton_version() or None,
        "device": gpu["name"] if gpu else (ran["device"] if ran else None),
        "driver": gpu["driver"] if gpu else None,
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _subjects(ran: Data | None, measured: Data | None) -> list[Data]:
    """Every subject that a stage knows, in the order of the first that does."""
    tried = {(one["path"], one["subject"]): one for one in (ran or {}).get("subjects", ())}
    timed = {(one["path"], one["subject"]): one for one in (measured or {}).get("subjects", ())}
    return [_subject(key, tried.get(key, {}), timed.get(key, {})) for key in dict.fromkeys((*tried, *timed))]


def _subject(key: tuple[str, str], tried: Data, timed: Data) -> Data:
    path, name = key
    return {
        "subject": name,
        "path": path,
        "verdict": tried.get("verdict"),
        "coverage": tried.get("coverage"),
        "cases": tried.get("cases", 0),
        "checks": [*tried.get("checks", ()), *timed.get("checks", ())],
        "error": _error(trial["closeness"] for trial in tried.get("trials", ())),
        "sizes": timed.get("rows", []),
    }


def _error(closeness: Iterable[Data | None]) -> Data | None:
    ratios = [one["ratio"] for one in closeness if one is not None]
    if not ratios:
        return None
    return {"worst_ratio": None if None in ratios else max(ratios), "compared": len(ratios)}


def _finding(finding: Finding) -> Data:
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "path": finding.path,
        "line": finding.span.line,
        "kernel": finding.kernel,
        "fingerprint": finding.fingerprint,
        "message": finding.message,
    }
