"""Freezes a draw: what the tool says, at a commit, of packages that nobody has looked at."""

from __future__ import annotations

import csv
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from bench.accuracy.sampling import hash_of, text_lines
from bench.corpus import ROOT, kernel_modules
from bench.judge.draw.archives import unpacked
from bench.judge.draw.frozen import Draw, Drawn, Frozen, write
from tritonaudit.config import Config
from tritonaudit.engine import check
from tritonaudit.finding import Confidence, Finding
from tritonaudit.report.causes import reported_once

_LEAST_OF_A_SEVERITY = 20


def freeze(draw: Draw, fresh: Path, work: Path, count: int, seed: int) -> None:
    """Run the tool on the draw's packages and write down what it says; a draw that is frozen stays as it is."""
    if draw.findings_file.exists():
        sys.exit(f"{draw.findings_file}: draw {draw.number} is frozen")
    commit = _commit()
    frozen: list[Frozen] = []
    found: list[Drawn] = []
    for package, version in _listed(fresh, draw.number):
        row, findings = _looked_at(commit, package, version, work)
        frozen.append(row)
        found += findings
        print(f"{package} {version}: {row.reason or f'{row.kernels} kernels, {len(findings)} findings'}", flush=True)
    write(draw.packages_file, Frozen, frozen)
    write(draw.findings_file, Drawn, sample(found, count, seed))


def sample(found: Sequence[Drawn], count: int, seed: int) -> list[Drawn]:
    """So many findings by seed, numbered: at least twenty of each severity as far as there are, then any.

    Those that only `--pedantic` tells come after all others.
    """
    shuffled = random.Random(seed).sample(found, len(found))
    shuffled.sort(key=lambda one: one.confidence == Confidence.LOW.value)
    first = {
        place
        for severity in dict.fromkeys(one.severity for one in shuffled)
        for place in [at for at, one in enumerate(shuffled) if one.severity == severity][:_LEAST_OF_A_SEVERITY]
    }
    others = [place for place in range(len(shuffled)) if place not in first]
    chosen = [*first, *others[: max(0, count - len(first))]]
    random.Random(seed).shuffle(chosen)
    return [replace(shuffled[place], index=index) for index, place in enumerate(chosen)]


def _commit() -> str:
    """The commit of the checkout. Leaves where the tool has changes that are in none."""
    changed = _git("status", "--porcelain", "tritonaudit", "bench/judge/draw")
    if changed:
        sys.exit(f"a draw is frozen at a commit, and these have changes:\n{changed}")
    return _git("rev-parse", "HEAD")


def _git(*command: str) -> str:
    return subprocess.run(["git", *command], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def _listed(fresh: Path, number: int) -> Iterator[tuple[str, str]]:
    with fresh.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if int(row["draw"]) == number:
                yield row["package"], row["version"]


def _looked_at(commit: str, package: str, version: str, work: Path) -> tuple[Frozen, list[Drawn]]:
    folder = work / f"{package}-{version}"
    sha256, reason = unpacked(package, version, folder)
    if reason:
        return Frozen(commit, package, version, sha256, 0, 0, 0, 0, 0, reason), []
    findings = reported_once(check([folder], Config(folder, pedantic=True))).findings
    shown = [one for one in findings if one.confidence is not Confidence.LOW]
    severities = Counter(one.severity.value for one in shown)
    kernels = sum(len(module.jit) for _, module in kernel_modules(folder))
    counts = (*(severities[kind] for kind in ("error", "warning", "info")), len(findings) - len(shown))
    return Frozen(commit, package, version, sha256, kernels, *counts), [_drawn(one, folder) for one in findings]


def _drawn(finding: Finding, folder: Path) -> Drawn:
    path = Path(finding.path).resolve().relative_to(folder.resolve())
    lines = text_lines(folder / path)
    text = lines[finding.span.line - 1] if finding.span.line <= len(lines) else ""
    return Drawn(
        0,
        finding.code,
        finding.severity.value,
        finding.confidence.value,
        folder.name,
        str(path),
        finding.span.line,
        finding.kernel or "",
        finding.fingerprint,
        hash_of(text),
        " | ".join([finding.message, *(f"line {one.span.line}: {one.message}" for one in finding.related)]),
    )
