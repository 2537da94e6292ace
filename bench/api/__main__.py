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

from bench.api import CODES
from bench.corpus import add_corpus_argument, packages
from bench.verdicts import FALSE, TRUE, Verdict, findings, held, print_share
from tritonaudit.finding import Finding, Severity
from tritonaudit.requirements import asked_target
from tritonaudit.target import Target

_VERDICTS = Path(__file__).with_name("verdicts.tsv")


def main() -> None:
    """Check the packages, and print a table and the findings that nobody has judged."""
    parser = argparse.ArgumentParser(prog="python bench/api", description=(__doc__ or "").partition("\n")[0])
    add_corpus_argument(parser)
    parser.add_argument("--write", action="store_true", help="add findings without a verdict to verdicts.tsv")
    arguments = parser.parse_args()
    found = {package: findings(package, CODES) for package in packages(arguments.corpus)}
    rows = held(found, _VERDICTS, add=arguments.write)
    _print(found, rows)
    print_share(rows)


def _target(package: Path) -> Target:
    """What the package's metadata ask for; a source distribution has them in a folder of its own."""
    folders = [package, *sorted(path for path in package.iterdir() if path.is_dir())]
    return next((target for folder in folders if (target := asked_target(folder)) is not None), Target.parse())


def _print(found: dict[Path, list[Finding]], rows: Sequence[Verdict]) -> None:
    print(f"{'package':30}{'target':22}{'errors':>8}{'warnings':>10}{'true':>6}{'false':>7}{'unread':>8}")
    for package, members in found.items():
        target = _target(package)
        severities = Counter(finding.severity for finding in members)
        verdicts = Counter(row.verdict for row in rows if row.package == package.name)
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


if __name__ == "__main__":
    main()
