"""`python bench/api --corpus DIR`: what TAC105 and TAC106 find in published packages, each with its own target.

The target is what the package's metadata ask for. `verdicts.tsv` holds what reading each finding came to; findings
that it does not hold are listed, and `--write` adds them to it without a verdict.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.api.verdicts import FALSE, TRUE, VERDICTS, Verdict, read, write
from bench.corpus import add_corpus_argument, packages
from tritonaudit.config import Config
from tritonaudit.engine import check
from tritonaudit.finding import Finding, Severity
from tritonaudit.requirements import asked_target
from tritonaudit.target import Target

_CODES = ("TAC105", "TAC106")


def main() -> None:
    """Check the packages, and print a table and the findings that nobody has judged."""
    parser = argparse.ArgumentParser(prog="python bench/api", description=(__doc__ or "").partition("\n")[0])
    add_corpus_argument(parser)
    parser.add_argument("--write", action="store_true", help="add findings without a verdict to verdicts.tsv")
    arguments = parser.parse_args()
    judged = {verdict.key: verdict for verdict in read(VERDICTS)}
    found = {package: _findings(package) for package in packages(arguments.corpus)}
    rows = [Verdict.of(package, finding) for package, findings in found.items() for finding in findings]
    known = [judged.get(row.key, row) for row in rows]
    _print(found, known)
    if arguments.write:
        write(VERDICTS, {**judged, **{row.key: row for row in known}}.values())


def _findings(package: Path) -> list[Finding]:
    audit = check([package], Config(package, select=_CODES))
    return [finding for finding in audit.findings if finding.confidence.value != "low"]


def _target(package: Path) -> Target:
    """What the package's metadata ask for; a source distribution has them in a folder of its own."""
    folders = [package, *sorted(path for path in package.iterdir() if path.is_dir())]
    return next((target for folder in folders if (target := asked_target(folder)) is not None), Target.parse())


def _print(found: dict[Path, list[Finding]], known: Sequence[Verdict]) -> None:
    print(f"{'package':30}{'target':22}{'errors':>8}{'warnings':>10}{'true':>6}{'false':>7}{'unread':>8}")
    for package, findings in found.items():
        target = _target(package)
        severities = Counter(finding.severity for finding in findings)
        verdicts = Counter(row.verdict for row in known if row.package == package.name)
        text = target.text if target.asked_in else f"{target.text} (default)"
        figures = (
            severities[Severity.ERROR],
            severities[Severity.WARNING],
            verdicts[TRUE],
            verdicts[FALSE],
            verdicts[""],
        )
        print(
            f"{package.name:30}{text:22}" + "".join(f"{n:{w}}" for n, w in zip(figures, (8, 10, 6, 7, 8), strict=True))
        )
    verdicts = Counter(row.verdict for row in known)
    judged = verdicts[TRUE] + verdicts[FALSE]
    share = f"{verdicts[TRUE] / judged:.0%}" if judged else "none"
    print(f"\n{len(known)} findings, {judged} judged by reading, true: {share} (wanted: 95%)")
    for row in known:
        if not row.verdict:
            print(f"not judged: {row.package}/{row.path}:{row.line} {row.code} {row.message}")


if __name__ == "__main__":
    main()
