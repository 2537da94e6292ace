"""What reading the findings in published packages came to: tables that people write, held against what is found."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from tritonaudit.config import Config
from tritonaudit.engine import check
from tritonaudit.finding import Confidence, Finding

TRUE, FALSE, UNCLEAR = "true", "false", "unclear"
WANTED = 0.95
"""The share of findings that must be true."""


@dataclass(frozen=True)
class Verdict:
    """One finding and whether it is true; `verdict` is empty until somebody has read it, `reason` says why."""

    package: str
    path: str
    line: int
    code: str
    kernel: str
    message: str
    verdict: str = ""
    reason: str = ""

    @staticmethod
    def of(package: Path, finding: Finding) -> Verdict:
        path = Path(finding.path).resolve().relative_to(package).as_posix()
        return Verdict(package.name, path, finding.span.line, finding.code, finding.kernel or "", finding.message)

    @property
    def key(self) -> tuple[str, str, str, str, str]:
        """What stays the same when the finding moves: not its line."""
        return (self.package, self.path, self.code, self.kernel, self.message)


def findings(package: Path, codes: Iterable[str]) -> list[Finding]:
    """What these rules find in a package, for the target that its metadata ask for."""
    audit = check([package], Config(package, select=tuple(codes)))
    return [finding for finding in audit.findings if finding.confidence is not Confidence.LOW]


def held(found: Mapping[Path, Sequence[Finding]], table: Path, *, add: bool) -> list[Verdict]:
    """Each finding with the verdict that the table has for it; `add` writes those into the table that it lacks."""
    judged = {verdict.key: verdict for verdict in read(table)}
    rows = [Verdict.of(package, finding) for package, members in found.items() for finding in members]
    rows = [judged.get(row.key, row) for row in rows]
    if add:
        write(table, {**judged, **{row.key: row for row in rows}}.values())
    return rows


def share(rows: Sequence[Verdict]) -> float | None:
    """The share of the findings that are true among those that were read; what is unclear counts as not true."""
    verdicts = Counter(row.verdict for row in rows)
    read_ones = len(rows) - verdicts[""]
    return verdicts[TRUE] / read_ones if read_ones else None


def print_share(rows: Sequence[Verdict]) -> None:
    """How many are judged and true, and those that nobody has judged."""
    left = [row for row in rows if not row.verdict]
    part = share(rows)
    text = "none" if part is None else f"{part:.0%}"
    print(f"\n{len(rows)} findings, {len(rows) - len(left)} judged by reading, true: {text} (wanted: {WANTED:.0%})")
    for row in left:
        print(f"not judged: {row.package}/{row.path}:{row.line} {row.code} {row.message}")


def read(path: Path) -> list[Verdict]:
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t"))[1:]
    return [Verdict(a, b, int(line), c, d, e, f, g) for a, b, line, c, d, e, f, g in rows]


def write(path: Path, verdicts: Iterable[Verdict]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(field.name for field in fields(Verdict))
        writer.writerows(sorted(map(astuple, verdicts)))
