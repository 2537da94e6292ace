"""The errors of the rules on the language in published packages, and what judging each of them came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from bench.corpus import packages
from bench.language.scores import REJECTIONS
from bench.verdicts import FALSE, TRUE, UNCLEAR, WANTED, Verdict, findings, held, print_share, share
from tritonaudit.finding import Severity

CODES = (REJECTIONS - {"TAC105", "TAC106"}) | {"TAC140"} | {f"TAC{number}" for number in range(128, 136)}
"""All on the language but the names of Triton's, which have a bench of their own."""

_VERDICTS = Path(__file__).with_name("verdicts.tsv")
_COLUMNS = (TRUE, FALSE, UNCLEAR, "")


def judge(corpus: Path, *, add: bool) -> bool:
    """Check every package with its own target and print a table; whether enough of the errors are true."""
    found = {
        package: [finding for finding in findings(package, CODES) if finding.severity is Severity.ERROR]
        for package in packages(corpus)
    }
    rows = held(found, _VERDICTS, add=add)
    _print(rows)
    print_share(rows)
    part = share(rows)
    return part is None or (part >= WANTED and all(row.verdict for row in rows))


def _print(rows: Sequence[Verdict]) -> None:
    print("| code | true | false | unclear | not judged |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for code in sorted({row.code for row in rows}):
        verdicts = Counter(row.verdict for row in rows if row.code == code)
        print(f"| {code} | " + " | ".join(str(verdicts[column]) for column in _COLUMNS) + " |")
