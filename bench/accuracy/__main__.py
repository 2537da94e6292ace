"""How many of the findings on real kernels are true.

    python bench/accuracy sample --corpus DIR --per-rule 25 --seed N --out FILE   draw findings to be judged
    python bench/accuracy show --corpus DIR FILE                                  read those that nobody has judged
    python bench/accuracy report [FILE]                                           precision and frequency by rule

A verdict is written into the column `verdict` of the file: true, false or unsure; `reason` says why.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.accuracy.rows import FALSE, TRUE, UNSURE, VERDICTS, Row, Sample, read, write
from bench.accuracy.sampling import LARGEST, draw, line_of, message_of, text_lines
from bench.corpus import add_corpus_argument

_CONTEXT = 12


def main() -> None:
    """Run one of the three."""
    parser = argparse.ArgumentParser(
        prog="python bench/accuracy", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    sample = commands.add_parser("sample", help="draw findings to be judged; verdicts given before are kept")
    add_corpus_argument(sample)
    sample.add_argument("--per-rule", type=int, default=25, help="findings of each rule (default: 25)")
    sample.add_argument("--seed", type=int, default=0, help="other findings for other seeds (default: 0)")
    sample.add_argument("--out", type=Path, default=VERDICTS, metavar="FILE", help="default: verdicts.tsv")
    show = commands.add_parser("show", help="print each finding that has no verdict, with its code")
    add_corpus_argument(show)
    show.add_argument("--context", type=int, default=_CONTEXT, help=f"lines around it (default: {_CONTEXT})")
    show.add_argument("file", type=Path, nargs="?", default=VERDICTS, metavar="FILE")
    report = commands.add_parser("report", help="print what the verdicts come to")
    report.add_argument("file", type=Path, nargs="?", default=VERDICTS, metavar="FILE")
    arguments = parser.parse_args()
    if arguments.command == "sample":
        _sample(arguments.corpus, arguments.per_rule, arguments.seed, arguments.out)
    elif arguments.command == "show":
        _show(arguments.corpus, read(arguments.file).rows, arguments.context)
    else:
        _report(read(arguments.file))


def _sample(corpus: Path, per_rule: int, seed: int, out: Path) -> None:
    sample = draw(corpus, per_rule, seed, read(out) if out.exists() else None)
    write(out, sample)
    unjudged = sum(not row.verdict for row in sample.rows)
    print(f"{len(sample.rows)} findings in {out}, {unjudged} of them not judged")


def _show(corpus: Path, rows: Sequence[Row], context: int) -> None:
    for row in rows:
        if row.verdict:
            continue
        print(f"\n== {row.code} {row.confidence} {row.package}/{row.path}:{row.line} {row.fingerprint}")
        marked = line_of(corpus, row)
        if not marked:
            print("the line is not there: another release?")
            continue
        print(message_of(corpus, row))
        lines = text_lines(corpus / row.package / row.path)
        first = max(marked - context, 1)
        for number, line in enumerate(lines[first - 1 : marked + context], first):
            print(f"{'>' if number == marked else ' '}{number:5} {line}")


def _report(sample: Sample) -> None:
    print(f"{sample.kernels} kernels, {sample.kernels_outside} outside {LARGEST}\n")
    print(f"{'rule':8}{'findings':>9}{'outside':>9}{'judged':>8}{'true':>6}{'false':>7}{'unsure':>8}{'precision':>11}"
          f"{'per ten kernels outside':>25}")  # fmt: skip
    for count in sample.counts:
        verdicts = [row.verdict for row in sample.rows if row.code == count.code and row.verdict]
        per_ten = 10 * count.outside / sample.kernels_outside if sample.kernels_outside else 0.0
        print(f"{count.code:8}{count.total:9}{count.outside:9}{_judged(verdicts)}{per_ten:25.3f}")
    verdicts = [row.verdict for row in sample.rows if row.verdict]
    outside = sum(count.outside for count in sample.counts)
    total = sum(count.total for count in sample.counts)
    per_ten = 10 * outside / sample.kernels_outside if sample.kernels_outside else 0.0
    print(f"{'all':8}{total:9}{outside:9}{_judged(verdicts)}{per_ten:25.3f}")


def _judged(verdicts: Sequence[str]) -> str:
    """The columns of the verdicts; a finding that a reader is unsure of counts neither way."""
    true, false, unsure = (verdicts.count(kind) for kind in (TRUE, FALSE, UNSURE))
    precision = f"{true / (true + false):.0%}" if true + false else "-"
    return f"{len(verdicts):8}{true:6}{false:7}{unsure:8}{precision:>11}"


if __name__ == "__main__":
    main()
