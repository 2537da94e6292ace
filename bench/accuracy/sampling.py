"""Runs the tool over a corpus and draws a sample of what it says."""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import bench.api
import bench.language.published
from bench.accuracy.rows import Count, Row, Sample
from bench.corpus import kernel_files
from bench.processes import run, tritonaudit
from tritonaudit.config import Config
from tritonaudit.engine import check_text

LARGEST = "flag-gems"
"""The package that holds half of the kernels, often alike, so that counts are given without it too."""


def draw(corpus: Path, per_rule: int, seed: int, earlier: Sample | None = None) -> Sample:
    """The counts of every rule, and as many of its findings as asked for, the same for the same seed.

    A finding is drawn by a hash of itself, so that the others hardly matter: where a rule changes, most of what was
    judged is drawn again. The verdicts of an `earlier` sample are kept. What `bench/api` and `bench/language` judge
    is counted, but not drawn.
    """
    found = _findings(corpus)
    rows = list(_rows(corpus, found))
    elsewhere = {row.key for row, finding in zip(rows, found, strict=True) if _is_judged_elsewhere(finding)}
    kernels: Counter[str] = Counter()
    for file in kernel_files(corpus):
        kernels[_package(file.path.relative_to(corpus).parts[0])] += len(file.slices)
    chosen: list[Row] = []
    counts: list[Count] = []
    for code in sorted({row.code for row in rows}):
        of_rule = [row for row in rows if row.code == code]
        counts.append(Count(code, len(of_rule), sum(_package(row.package) != LARGEST for row in of_rule)))
        to_draw = [row for row in of_rule if row.key not in elsewhere]
        chosen.extend(sorted(to_draw, key=lambda row: _lot(seed, row))[:per_rule])
    sample = Sample(tuple(chosen), tuple(counts), kernels.total(), kernels.total() - kernels[LARGEST])
    return sample.with_verdicts_of(earlier or Sample((), (), 0, 0), rows)


def message_of(corpus: Path, row: Row) -> str:
    """What the tool says there now."""
    path = corpus / row.package / row.path
    audit = check_text(path.read_bytes(), path, Config(corpus, pedantic=True))
    found = next((finding for finding in audit.findings if finding.fingerprint == row.fingerprint), None)
    if found is None:
        return "it is no longer found"
    related = [f"line {place.span.line}: {place.message}" for place in found.related]
    return "\n".join([f"{found.kernel}: {found.message}", *related])


def line_of(corpus: Path, row: Row) -> int:
    """The line where the row's finding stands now; 0 where its text is no longer there."""
    lines = text_lines(corpus / row.package / row.path)
    near = sorted(range(1, len(lines) + 1), key=lambda number: abs(number - row.line))
    return next((number for number in near if hash_of(lines[number - 1]) == row.line_hash), 0)


def text_lines(path: Path) -> list[str]:
    """The lines of a file, none where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return []


def hash_of(line: str) -> str:
    """48 bits of a line's text."""
    return hashlib.sha256(line.strip().encode()).hexdigest()[:12]


def _lot(seed: int, row: Row) -> str:
    return hashlib.sha256(repr((seed, row.key)).encode()).hexdigest()


def _is_judged_elsewhere(finding: dict[str, Any]) -> bool:
    is_error_on_language = finding["code"] in bench.language.published.CODES and finding["severity"] == "error"
    return finding["code"] in bench.api.CODES or is_error_on_language


def _rows(corpus: Path, found: Sequence[dict[str, Any]]) -> Iterator[Row]:
    files: dict[str, list[str]] = {}
    for finding in found:
        path = finding["path"]
        package, _, inside = path.partition("/")
        if path not in files:
            files[path] = text_lines(corpus / path)
        line = finding["line"]
        text = files[path][line - 1] if line <= len(files[path]) else ""
        yield Row(package, inside, line, finding["code"], finding["confidence"], finding["fingerprint"], hash_of(text))


def _findings(corpus: Path) -> list[dict[str, Any]]:
    ran = run(tritonaudit("check", "--output-format", "json", "."), cwd=corpus)
    if ran.code not in (0, 1, 2) or not ran.out:
        sys.exit(f"tritonaudit ended with {ran.code}\n{ran.err.decode(errors='replace')}")
    report = json.loads(ran.out)
    for error in report["errors"]:
        print(f"{error['path']}: {error['message']}", file=sys.stderr)
    findings: list[dict[str, Any]] = report["findings"]
    return findings


def _package(folder: str) -> str:
    return folder.rpartition("-")[0]
