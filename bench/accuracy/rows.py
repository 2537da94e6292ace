"""The sampled findings, one row each: where they stand and what a reader found of them, but no code."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path

VERDICTS = Path(__file__).with_name("verdicts.tsv")
TRUE, FALSE, UNSURE = "true", "false", "unsure"


@dataclass(frozen=True)
class Row:
    """A finding of a package. `verdict` is true, false or unsure once someone has read it, `reason` says why.

    `line_hash` is of the line's text without its indentation, so that a reader of another release can tell
    whether it is still the line that was judged.
    """

    package: str
    path: str
    line: int
    code: str
    confidence: str
    fingerprint: str
    line_hash: str
    verdict: str = ""
    reason: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        return (self.package, self.path, self.fingerprint)

    @property
    def place(self) -> tuple[str, str, str, int]:
        return (self.code, self.package, self.path, self.line)

    def judged_as(self, other: Row | None) -> Row:
        """The same with the verdict of another row."""
        return self if other is None else replace(self, verdict=other.verdict, reason=other.reason)


@dataclass(frozen=True)
class Count:
    """How often a rule's findings are shown: in all the corpus, and outside flag-gems, whose kernels are half of it."""

    code: str
    total: int
    outside: int


@dataclass(frozen=True)
class Sample:
    """The rows of a sample, the rules' counts, and the kernels that were audited in all and outside flag-gems."""

    rows: tuple[Row, ...]
    counts: tuple[Count, ...]
    kernels: int
    kernels_outside: int
    gone: tuple[Row, ...] = ()

    def with_verdicts_of(self, earlier: Sample, found: Iterable[Row]) -> Sample:
        """The same sample with an earlier one's verdicts.

        Of the rows judged earlier, those that are still `found` stay in it, the others are kept as `gone`.
        """
        judged = {row.key: row for row in (*earlier.gone, *earlier.rows) if row.verdict}
        wanted = {row.key for row in self.rows} | judged.keys()
        rows = [row.judged_as(judged.pop(row.key, None)) for row in found if row.key in wanted]
        return replace(self, rows=tuple(sorted(rows, key=lambda row: row.place)), gone=tuple(judged.values()))


_JUDGED = ("code", "confidence", "fingerprint", "line_hash")
_GONE = "# gone\t"
_HEADER = [field.name for field in fields(Row)]


def read(path: Path) -> Sample:
    """Read a file that `write` wrote. Leaves with a message where it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        sys.exit(f"{path}: {error.strerror}")
    lines = text.split("\n")
    comments = [line[1:].split() for line in lines if line.startswith("#") and not line.startswith(_GONE)]
    table = [line for line in lines if line and not line.startswith("#")]
    gone = [line.removeprefix(_GONE) for line in lines if line.startswith(_GONE)]
    counts = [Count(words[1], int(words[2]), int(words[3])) for words in comments if words[:1] == ["count"]]
    kernels = next((words[1:] for words in comments if words[:1] == ["kernels"]), ["0", "0"])
    rows = _rows(path, table)
    return Sample(rows, tuple(counts), int(kernels[0]), int(kernels[1]), _rows(path, [*table[:1], *gone]))


def write(path: Path, sample: Sample) -> None:
    """Write a sample; the counts stand in comments."""
    lines = [f"# kernels {sample.kernels} {sample.kernels_outside}"]
    lines += [f"# count {count.code} {count.total} {count.outside}" for count in sample.counts]
    lines += ["\t".join(_HEADER), *map(_line, sample.rows), *(f"{_GONE}{_line(row)}" for row in sample.gone)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _rows(path: Path, table: list[str]) -> tuple[Row, ...]:
    reader = csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE)
    return tuple(_row(path, entry) for entry in reader)


def _row(path: Path, entry: dict[str, str]) -> Row:
    verdict = (entry.get("verdict") or "").strip()
    if verdict not in ("", TRUE, FALSE, UNSURE):
        sys.exit(f"{path}: {verdict!r} is no verdict; use {TRUE}, {FALSE} or {UNSURE}")
    code, confidence, fingerprint, line_hash = (entry[name] for name in _JUDGED)
    reason = (entry.get("reason") or "").strip()
    line = int(entry["line"])
    return Row(entry["package"], entry["path"], line, code, confidence, fingerprint, line_hash, verdict, reason)


def _line(row: Row) -> str:
    return "\t".join(" ".join(str(cell).split()) for cell in astuple(row))
