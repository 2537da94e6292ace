"""The published packages whose kernels are executed: installed, with their wrappers written down as subjects.

Nothing is captured or corrected by hand: `tritonaudit init` infers the inputs of each wrapper from its text.
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

REQUIRED = ("einops", "numpy", "packaging", "pyyaml", "sqlalchemy", "tqdm", "transformers", "datasets", "scipy")
"""What packages import when they are loaded, and is not installed with them."""


@dataclass(frozen=True)
class Package:
    """A package, where it is installed, and the folder of its subjects."""

    name: str
    site: Path
    specs: Path

    def spec_files(self, most: int) -> Sequence[Path]:
        """At most so many of its files with subjects, evenly spread."""
        found = sorted(self.specs.glob("audit_*.py"))
        step = max(1, -(-len(found) // most))
        return found[::step]


def prepared(manifest: Path, work: Path, wanted: Collection[str] | None = None) -> Iterator[Package]:
    """Each package of the manifest, or of those wanted, that can be installed, as it is ready; what is there stays."""
    required = work / "required"
    if not required.is_dir():
        _install([*REQUIRED], required, has_dependencies=True)
    for name in (name for name in listed(manifest) if wanted is None or name in wanted):
        package = Package(name, work / "sites" / name, work / "specs" / name)
        if not package.site.is_dir() and not _install(
            ["==".join(name.rsplit("-", 1))], package.site, has_dependencies=False
        ):
            print(f"{name}: NOT RUN: it cannot be installed", file=sys.stderr, flush=True)
            continue
        if not package.specs.is_dir():
            _init(package, required)
        yield package


def unpacked(corpus: Path, work: Path) -> Iterator[Package]:
    """Each package that lies in a folder of the corpus, and needs nothing beside it, as it is ready."""
    for site in sorted(path.resolve() for path in corpus.iterdir() if path.is_dir()):
        package = Package(site.name, site, work / "specs" / site.name)
        if not package.specs.is_dir():
            _init(package, work / "required")
        yield package


def listed(manifest: Path) -> Sequence[str]:
    """`<package>-<version>` of each line."""
    with manifest.open(encoding="utf-8", newline="") as file:
        return [f"{row['package']}-{row['version']}" for row in csv.DictReader(file, delimiter="\t")]


def _install(names: Sequence[str], folder: Path, *, has_dependencies: bool) -> bool:
    options = ["--quiet", "--target", str(folder), *([] if has_dependencies else ["--no-deps"])]
    return subprocess.run([sys.executable, "-m", "pip", "install", *options, *names], check=False).returncode == 0


def _init(package: Package, required: Path) -> None:
    package.specs.mkdir(parents=True)
    holding = [path for path in sorted(package.site.rglob("*.py")) if b"jit" in path.read_bytes()]
    command = [sys.executable, "-m", "tritonaudit", "init", "--output-dir", str(package.specs), *map(str, holding)]
    variables = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(package.site), str(required), *filter(None, sys.path))),
    }
    subprocess.run(command, check=False, capture_output=True, env=variables)
