"""Audits a file with the command, and reads its report."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.processes import run, tritonaudit

_VERDICTS = {0: "passes", 1: "fails", 3: "is incomplete"}
_SEVERITIES = ("error", "warning", "info")
_UNDECIDED = ("fail", "incomplete", "inconclusive")
_LAST = 300


@dataclass(frozen=True)
class Report:
    """What an audit of a file came to: its verdict, its report as JSON, empty where there is none, and its seconds.

    `stderr` is the end of what it said on the side.
    """

    verdict: str
    json: Mapping[str, Any]
    stderr: str
    seconds: float

    @property
    def findings(self) -> Sequence[Mapping[str, Any]]:
        """The gravest first."""
        return sorted(self.json.get("findings", ()), key=lambda one: _SEVERITIES.index(one["severity"]))

    def codes(self, severity: str) -> list[str]:
        """Those of the findings of this severity."""
        return sorted({one["code"] for one in self.findings if one["severity"] == severity})

    def reasons(self) -> Iterator[str]:
        """Each finding, then each problem, then each check that did not come to an end, or else what was said."""
        if not self.json:
            yield self.stderr or self.verdict
            return
        for finding in self.findings:
            yield f"{finding['code']} line {finding.get('line', '?')}: {finding['message']}"
        yield from self.problems()
        for subject in self.json.get("ran", {}).get("subjects", []):
            for check in subject["checks"]:
                if check["status"] in _UNDECIDED:
                    yield f"{check['check']}: {check['reason']}"

    def problems(self) -> Iterator[str]:
        """What the audit could not do."""
        yield from (problem["message"] for problem in self.json.get("errors", ()))


def audited(file: Path, parts: str, budget: float, device: str, limit: float) -> Report:
    """What an audit of these parts says of a file, with an empty cache and one subject at a time.

    It is killed after `limit` seconds.
    """
    options = ("--only", parts, "--budget", f"{budget:g}", "--device", device, "--output-format", "json", "--jobs", "1")
    with tempfile.TemporaryDirectory(prefix="audited-") as cache:
        command = tritonaudit("audit", *options, file)
        ran = run(command, cwd=file.parent, limit=limit, variables={"TRITONAUDIT_CACHE": cache})
    verdict = "does not end" if ran.code is None else _VERDICTS.get(ran.code, f"ends with {ran.code}")
    try:
        report = json.loads(ran.out)
    except ValueError:
        report = {}
    return Report(verdict, report, ran.err.decode(errors="replace").strip()[-_LAST:], ran.wall)
