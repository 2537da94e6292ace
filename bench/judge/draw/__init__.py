"""How many findings are true and worth reporting, on packages that nobody has looked at.

    python bench/judge draw N freeze --fresh FILE --work DIR     run the tool, draw findings, write down both
    python bench/judge draw N sheets --work DIR --to DIR         what a reader reads: code first, then the message
    python bench/judge draw N take --reader NAME FILE            keep a reader's verdicts
    python bench/judge draw N table                              what the verdicts come to

The packages of draw N of the file are unpacked, never installed. A draw is frozen once, at a commit, before anybody
reads it: what the tool said then counts, whatever it says later. Draws are kept in bench/judge/draw, without code.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from bench.judge.draw.freezing import freeze
from bench.judge.draw.frozen import Draw
from bench.judge.draw.sheets import write_sheets
from bench.judge.draw.verdicts import table, take


def main(options: Sequence[str]) -> None:
    """Run one of the four."""
    parser = argparse.ArgumentParser(
        prog="python bench/judge draw", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("number", type=int, metavar="N")
    commands = parser.add_subparsers(dest="command", required=True)
    frozen = commands.add_parser("freeze", help="run the tool on the packages of the draw, and draw findings")
    frozen.add_argument("--fresh", type=Path, required=True, metavar="FILE", help="columns draw, package, version")
    frozen.add_argument("--work", type=Path, required=True, metavar="DIR", help="where packages are unpacked")
    frozen.add_argument("--findings", type=int, default=120, metavar="N", help="to be drawn [default: 120]")
    frozen.add_argument("--seed", type=int, default=1, metavar="S")
    sheets = commands.add_parser("sheets", help="write what a reader reads")
    sheets.add_argument("--work", type=Path, required=True, metavar="DIR", help="where packages are unpacked")
    sheets.add_argument("--to", type=Path, required=True, metavar="DIR")
    taken = commands.add_parser("take", help="keep verdicts: a TSV with the columns index, verdict, reason")
    taken.add_argument("--reader", required=True, metavar="NAME")
    taken.add_argument("file", type=Path, metavar="FILE")
    commands.add_parser("table", help="print what the verdicts come to")
    asked = parser.parse_args(options)
    draw = Draw(asked.number)
    if asked.command == "freeze":
        freeze(draw, asked.fresh, asked.work, asked.findings, asked.seed)
    elif asked.command == "sheets":
        write_sheets(draw, asked.work, asked.to)
    elif asked.command == "take":
        take(draw, asked.reader, asked.file)
    else:
        print(table(draw))
