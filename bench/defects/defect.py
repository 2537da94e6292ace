"""What a script of this folder says about its defect, and how it is run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from bench.corpus import add_corpus_argument, package

NVIDIA, AMD = "sm_89", "gfx942"
_WIDEST = 300


@dataclass(frozen=True)
class Defect:
    """A defect of a release: where it is, what is wrong at which inputs, and which rule tells it, if one does."""

    package: str
    version: str
    place: str
    what: str
    inputs: str
    rule: str = ""
    target: str = NVIDIA

    def main(self, shown: Callable[[], Sequence[str]]) -> None:
        """Find the package in the corpus, run `shown`, and print what it saw.

        The exit code is 1 if the defect shows, 0 if it does not, and 2 if the package is not there or cannot be
        imported.
        """
        parser = argparse.ArgumentParser(description=f"{self.package} {self.version}, {self.place}: {self.what}")
        add_corpus_argument(parser)
        sys.path.insert(0, str(self.site(parser.parse_args().corpus)))
        from bench.defects.calling import become

        become(self.target)
        try:
            evidence = shown()
        except (ImportError, FileNotFoundError) as error:
            leave(f"{self.package} cannot be imported: {error}")
        print(f"{self.package} {self.version}, {self.place}: {self.what}; with {self.inputs}:")
        print(*[f"  {line[:_WIDEST]}" for line in evidence] or ["  does not show"], sep="\n")
        sys.exit(1 if evidence else 0)

    def site(self, corpus: Path) -> Path:
        """The folder from which the package is imported. Leaves with a message where there is none."""
        folder = package(corpus, self.package)
        if folder is None:
            leave(f"{corpus} has no {self.package}")
        inner = folder / folder.name
        found = inner if inner.is_dir() else folder
        return found / "src" if (found / "src").is_dir() else found


def leave(message: str) -> NoReturn:
    """Print it, and exit with code 2."""
    print(message, file=sys.stderr)
    sys.exit(2)
