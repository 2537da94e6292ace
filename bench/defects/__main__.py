"""Runs every script of this folder on the packages of a corpus, and prints which defects show.

    python bench/defects --corpus DIR

Each script runs in a process of its own, on the CPU engine; what it says of its defect, and the command that shows it
alone, stand in README.md.
"""

from __future__ import annotations

import argparse
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.corpus import add_corpus_argument, packages
from bench.defects.defect import Defect
from bench.processes import Ran, run

_FOLDER = Path(__file__).resolve().parent
_LIMIT = 600
_CAME_TO = {0: "does not show", 1: "shows"}


def main() -> None:
    """Run the scripts, and print a row for each."""
    parser = argparse.ArgumentParser(
        prog="python bench/defects", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_corpus_argument(parser)
    corpus = parser.parse_args().corpus
    packages(corpus)
    print("| package | place | what is wrong | with | rule | today |", "|---|---|---|---|---|---|", sep="\n")
    for script in scripts():
        defect = defect_of(script)
        ran = run([sys.executable, script, "--corpus", corpus], limit=_LIMIT)
        cells = (f"{defect.package} {defect.version}", f"`{defect.place}`", defect.what, defect.inputs)
        print(f"| {' | '.join(cells)} | {defect.rule or 'none'} | {_came_to(ran)} |", flush=True)


def scripts() -> list[Path]:
    """The scripts, by package and name."""
    return sorted(_FOLDER.glob("*/[!_]*.py"))


def defect_of(script: Path) -> Defect:
    """What a script says of its defect; nothing is run."""
    spec = spec_from_file_location(f"bench.defects.{script.parent.name}.{script.stem}", script)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    found = module.DEFECT
    assert isinstance(found, Defect)
    return found


def _came_to(ran: Ran) -> str:
    if ran.code in _CAME_TO:
        return _CAME_TO[ran.code]
    said = ran.err.decode(errors="replace").strip().splitlines() or ["it took too long"]
    return f"not run: {said[-1]}"


if __name__ == "__main__":
    main()
