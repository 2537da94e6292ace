"""What farms are measured by, one command each.

    python bench/farm simulate [--subjects N] [--nodes N] [--gpus N] [--cores N] [--failures SHARE] [--seed N]
    python bench/farm kills [--subjects N] [--kills N] [--jobs N] [--seed N]
    python bench/farm calls [--calls N] [--threads N] [--budget SECONDS]
    python bench/farm many [--subjects N] [--device cpu|gpu] [--jobs N] [--large] [--timed] [--output FILE]
    python bench/farm contexts [--processes N] [--devices N ...] [--connections N ...]
    python bench/farm peers [--subjects N] [--jobs N] [--large] [--kernelbench DIR] [--gpucheck DIR]
    python bench/farm nodes [--subjects N] [--nodes N] [--killed N] [--added N] [--jobs N] [--seed N]

README.md beside this says what they came to.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.farm import calls, contexts, kills, many, nodes, peers, simulate

COMMANDS = {
    "simulate": simulate,
    "kills": kills,
    "calls": calls,
    "many": many,
    "peers": peers,
    "contexts": contexts,
    "nodes": nodes,
}


def main() -> None:
    """Run the command that is named, and leave with its exit code."""
    parser = argparse.ArgumentParser(
        prog="python bench/farm", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, module in COMMANDS.items():
        command = commands.add_parser(
            name, description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    given = parser.parse_args()
    sys.exit(given.run(given))


if __name__ == "__main__":
    main()
