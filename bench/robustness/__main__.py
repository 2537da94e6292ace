"""What no file may do to the tool: crash it, stop it, or change what it says of another file.

    python bench/robustness stdlib                            every function of the standard library, as if a kernel
    python bench/robustness corpus --corpus DIR               every file of published packages
    python bench/robustness mutate --corpus DIR --count 1000  kernel files spoiled in many ways, beside healthy ones

The exit code is 1 where a defect was found.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.corpus import add_corpus_argument, kernel_files
from bench.robustness.batches import (
    Defect,
    Healthy,
    check_batch,
    check_odd_tree,
    healthy_files,
    write_importing_tree,
    write_odd_tree,
)
from bench.robustness.mutations import Mutant, mutants
from bench.robustness.survey import python_files, report, survey

_BATCH = 40
_HEALTHY = 12
_CANDIDATES = 80
_LARGEST = 25_000
_LIMIT = 60.0


def main() -> int:
    """Run one of the three, print what was found."""
    parser = argparse.ArgumentParser(
        prog="python bench/robustness", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    stdlib = commands.add_parser("stdlib", help="the standard library of this Python")
    stdlib.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth file")
    add_corpus_argument(commands.add_parser("corpus", help="published packages"))
    mutate = commands.add_parser("mutate", help="mutated kernel files")
    add_corpus_argument(mutate)
    mutate.add_argument("--count", type=int, default=1000, help="how many mutants (default: 1000)")
    mutate.add_argument("--seed", type=int, default=0, help="other mutants for other seeds (default: 0)")
    mutate.add_argument("--keep", type=Path, metavar="DIR", help="copy there the files with which a defect shows")
    arguments = parser.parse_args()
    if arguments.command == "stdlib":
        folder = Path(sysconfig.get_path("stdlib"))
        return _survey(folder, python_files(folder, {"site-packages", "dist-packages"})[:: arguments.every], "every")
    if arguments.command == "corpus":
        return _survey(arguments.corpus, python_files(arguments.corpus), "kernels")
    return _mutate(arguments.corpus, arguments.count, arguments.seed, arguments.keep)


def _survey(folder: Path, files: Sequence[Path], mode: str) -> int:
    found = survey(files, mode, _tell)
    for line in report(found, lambda path: str(Path(path).relative_to(folder))):
        print(line)
    return int(bool(found.defects))


def _mutate(corpus: Path, count: int, seed: int, keep: Path | None) -> int:
    sources = [file.path for file in kernel_files(corpus) if file.path.stat().st_size <= _LARGEST]
    chosen = random.Random(seed).sample(sources, min(_CANDIDATES, len(sources)))
    made = mutants([path.read_bytes() for path in sources], count, seed)
    found: list[Defect] = []
    with tempfile.TemporaryDirectory() as root:
        candidates = healthy_files([(path.name, path.read_bytes()) for path in chosen], Path(root, "alone"), _LIMIT)
        beside = sorted(candidates, key=lambda file: not file.findings)[:_HEALTHY]
        findings = sum(len(file.findings) for file in beside)
        _tell(f"{len(beside)} healthy files with {findings} findings")
        for number, start in enumerate(range(0, count, _BATCH)):
            batch = made[start : start + _BATCH]
            found += _one_batch(Path(root, f"batch_{number}"), batch, beside, keep)
            _tell(f"{start + len(batch)} of {count} mutants, {len(found)} defects")
        found += _odd_batches(Path(root), beside)
    _print(found)
    print(f"{count} mutants of {len({mutant.kind for mutant in made})} kinds, seed {seed}: {len(found)} defects")
    return int(bool(found))


def _one_batch(folder: Path, batch: Sequence[Mutant], beside: Sequence[Healthy], keep: Path | None) -> list[Defect]:
    found = check_batch(folder, batch, beside, _LIMIT)
    for defect in found:
        _tell(f"DEFECT {folder.name} {defect.kind}: {defect.path} {defect.what}")
        if keep and defect.path:
            keep.mkdir(parents=True, exist_ok=True)
            shutil.copy(folder / defect.path, keep / f"{folder.name}_{Path(defect.path).name}")
    shutil.rmtree(folder)
    return found


def _odd_batches(root: Path, beside: Sequence[Healthy]) -> list[Defect]:
    data = next((file.data for file in beside if file.findings), b"")
    found = []
    for name, build in (("odd files", write_odd_tree), ("imports of what is no file", write_importing_tree)):
        build(root / name, data, beside)
        found += check_odd_tree(root / name, beside, _LIMIT)
    return found


def _print(found: Sequence[Defect]) -> None:
    """Each defect once, with the number of files that show it."""
    groups: dict[tuple[str, str], int] = {}
    for defect in found:
        key = (defect.kind, defect.what)
        groups[key] = groups.get(key, 0) + 1
    for (kind, what), count in sorted(groups.items()):
        print(f"DEFECT {kind} ({count} files): {what}")


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
