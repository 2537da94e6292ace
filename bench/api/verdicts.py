"""What reading findings came to: a table that people write."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from tritonaudit.finding import Finding

VERDICTS = Path(__file__).with_name("verdicts.tsv")
TRUE, FALSE = "true", "false"


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
