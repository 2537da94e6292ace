"""The language server with published files.

    python bench/server latency --corpus DIR --files 50 --seed 1      how long after each key the findings are there
    python bench/server edits --corpus DIR --count 10000 --seed 1     random edits, and what went wrong

The exit code of `edits` is 1 where something did.
"""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.corpus import KernelFile, add_corpus_argument, kernel_files, sample
from bench.server.edits import edited
from bench.server.latency import Typed, places_in, table, typed

_MOST_LINES = 1_000


def main() -> int:
    """Run one of the two, print what was found."""
    parser = argparse.ArgumentParser(
        prog="python bench/server", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, count in (("latency", None), ("edits", 10_000)):
        command = commands.add_parser(name)
        add_corpus_argument(command)
        command.add_argument("--files", type=int, default=50, help="how many files (default: 50)")
        command.add_argument("--seed", type=int, default=1, help="other files and edits for other seeds (default: 1)")
        if count is not None:
            command.add_argument("--count", type=int, default=count, help=f"how many edits (default: {count})")
    arguments = parser.parse_args()
    small = [file for file in kernel_files(arguments.corpus) if file.lines <= _MOST_LINES]
    if arguments.command == "latency":
        return _latency(small, arguments.corpus.resolve(), arguments.files, arguments.seed)
    files = sample(small, arguments.files, arguments.seed)
    return _edits(files, arguments.corpus.resolve(), arguments.count, arguments.seed)


def _latency(files: list[KernelFile], corpus: Path, count: int, seed: int) -> int:
    rng = random.Random(seed)
    found: list[Typed] = []
    for file in sample(files, len(files), seed):
        if len(found) == count:
            break
        if not (places := places_in(file, rng)):
            continue
        found.append(typed(file, places, _package(file, corpus)))
        print(f"{file.path}: {max(key.seconds for key in found[-1].keys):.2f} s", file=sys.stderr)
    for line in table(found, corpus):
        print(line)
    return 0


def _edits(files: list[KernelFile], corpus: Path, count: int, seed: int) -> int:
    result = edited(files, corpus, count, seed, lambda line: print(line, file=sys.stderr))
    print(
        f"{result.edits:,} edits in {result.bursts:,} bursts, {result.requests:,} requests among them; "
        f"{result.compared:,} texts compared with a check; {len(result.wrong)} wrong"
    )
    for line in result.wrong:
        print(line)
    return int(bool(result.wrong))


def _package(file: KernelFile, corpus: Path) -> Path:
    """The folder of the package that a file belongs to."""
    path = file.path.resolve()
    return corpus / path.relative_to(corpus).parts[0]


if __name__ == "__main__":
    sys.exit(main())
