"""Audits a kernel's file, as it is or with a fault, and reads the report."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.processes import run, tritonaudit

PARTS = "source,correctness,memory,stability,integrity"
DOES_NOT_COMPILE = "TAC301"
_VERDICTS = {0: "passes", 1: "fails", 3: "is incomplete"}
_BEYOND_THE_BUDGET = 600.0


@dataclass(frozen=True)
class Audited:
    """The verdict on a file, the rules behind its errors and warnings, the first reason, and the seconds it took."""

    verdict: str
    errors: Sequence[str]
    warnings: Sequence[str]
    reason: str
    seconds: float

    @property
    def codes(self) -> frozenset[str]:
        return frozenset(self.errors) | frozenset(self.warnings)


def audit(name: str, source: str, budget: float) -> Audited:
    """What an audit says of a file with this text, in a folder of its own and with an empty cache."""
    with tempfile.TemporaryDirectory(prefix="written-") as folder:
        file = Path(folder) / "subject" / name
        file.parent.mkdir()
        file.write_text(source)
        given = ("--only", PARTS, "--budget", str(budget), "--device", "cpu", "--output-format", "json", "--jobs", "1")
        began = time.monotonic()
        ran = run(
            tritonaudit("audit", file, *given),
            cwd=file.parent,
            limit=budget + _BEYOND_THE_BUDGET,
            variables={"TRITONAUDIT_CACHE": f"{folder}/cache"},
        )
        seconds = time.monotonic() - began
    verdict = "does not end" if ran.code is None else _VERDICTS.get(ran.code, f"ends with {ran.code}")
    try:
        report = json.loads(ran.out)
    except ValueError:
        return Audited(verdict, [], [], ran.err.decode(errors="replace").strip()[-300:], seconds)
    return Audited(verdict, _codes(report, "error"), _codes(report, "warning"), _reason(report), seconds)


def _codes(report: Mapping[str, Any], severity: str) -> list[str]:
    return sorted({finding["code"] for finding in report["findings"] if finding["severity"] == severity})


def _reason(report: Mapping[str, Any]) -> str:
    """The first error, warning, or problem, or else the first check that did not come to an end."""
    findings = sorted(report["findings"], key=lambda finding: ("error", "warning", "info").index(finding["severity"]))
    texts = [f"{one['code']} line {one.get('line', '?')}: {one['message']}" for one in findings]
    texts += [problem["message"] for problem in report["errors"]]
    for subject in report.get("ran", {}).get("subjects", []):
        undecided = (one for one in subject["checks"] if one["status"] in ("fail", "incomplete", "inconclusive"))
        texts += [f"{one['check']}: {one['reason']}" for one in undecided]
    return texts[0][:300] if texts else ""
