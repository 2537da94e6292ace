"""A baseline: the findings that are known already, so that new ones stand out. `baseline.schema.json` describes it."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tritonaudit.finding import Confidence, Finding

_VERSION = 1


class BaselineError(Exception):
    """A file that is no baseline."""


@dataclass(frozen=True)
class Entry:
    """Equal findings of one file: their rule, how sure it was, and how many there were."""

    code: str
    confidence: Confidence
    count: int


@dataclass(frozen=True)
class Baseline:
    """Entries by path, from the project's root, and by the fingerprint that equal findings share."""

    files: Mapping[str, Mapping[str, Entry]] = field(default_factory=dict)

    @classmethod
    def of(cls, findings: Sequence[Finding], root: Path) -> Baseline:
        """The baseline that holds these findings."""
        files: dict[str, dict[str, Entry]] = {}
        counts = Counter(_key(finding, root) for finding in findings)
        for finding in findings:
            path, fingerprint = key = _key(finding, root)
            files.setdefault(path, {})[fingerprint] = Entry(finding.code, finding.confidence, counts[key])
        return cls(files)

    @classmethod
    def read(cls, text: str) -> Baseline:
        """The baseline that a file holds. Raises BaselineError."""
        try:
            table: Any = json.loads(text)
            if table["version"] != _VERSION:
                raise BaselineError(f"its version is {table['version']!r}, and this tritonaudit reads {_VERSION}")
            return cls({path: _entries(entries) for path, entries in table["findings"].items()})
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BaselineError("not a baseline; --write-baseline writes one") from error

    def written(self) -> str:
        """What a file holds: sorted, so that its changes are easy to read."""
        findings = {
            path: {
                fingerprint: {"code": entry.code, "confidence": entry.confidence.value, "count": entry.count}
                for fingerprint, entry in entries.items()
            }
            for path, entries in self.files.items()
        }
        return json.dumps({"version": _VERSION, "findings": findings}, indent=2, sort_keys=True) + "\n"

    def marked(self, findings: Sequence[Finding], root: Path) -> tuple[Finding, ...]:
        """The findings, each with whether the baseline holds it: of equal ones the first, as many as it counts."""
        seen: Counter[tuple[str, str]] = Counter()
        marked = []
        for finding in findings:
            key = _key(finding, root)
            seen[key] += 1
            marked.append(replace(finding, in_baseline=seen[key] <= self._count(*key)))
        return tuple(marked)

    def gone(self, findings: Sequence[Finding], root: Path) -> Iterator[tuple[str, Entry]]:
        """The paths and entries that occur less often than they did, with how much less."""
        left = Counter(_key(finding, root) for finding in findings)
        for path, entries in self.files.items():
            for fingerprint, entry in entries.items():
                if (fewer := entry.count - left[path, fingerprint]) > 0:
                    yield path, replace(entry, count=fewer)

    def _count(self, path: str, fingerprint: str) -> int:
        entry = self.files.get(path, {}).get(fingerprint)
        return 0 if entry is None else entry.count


def _entries(table: dict[str, Any]) -> dict[str, Entry]:
    return {
        fingerprint: Entry(str(entry["code"]), Confidence(entry["confidence"]), int(entry["count"]))
        for fingerprint, entry in table.items()
    }


def _key(finding: Finding, root: Path) -> tuple[str, str]:
    """The path from the root, and the fingerprint without the number that tells equal findings apart."""
    path = Path(os.path.relpath(os.path.abspath(finding.path), root)).as_posix()
    return path, replace(finding, ordinal=0).fingerprint
