"""A folder of published packages, and what in it holds kernels.

The packages are not part of this project. A corpus is a folder with one folder per package, unpacked as it was
published and named `<package>-<version>`.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tritonaudit.source.decode import Undecodable, decode
from tritonaudit.source.outline import Module, Unparsable, may_hold_kernels, outline

ROOT = Path(__file__).resolve().parent.parent

WHAT_A_CORPUS_IS = (
    "A corpus is a folder of published packages that hold Triton kernels, unpacked, each in a folder of its own "
    "named <package>-<version>, for example flag-gems-5.0.2, fla-core-0.6.0, liger-kernel-0.8.5 and torchao-0.18.0."
)


@dataclass(frozen=True)
class KernelFile:
    """A file with at least one jit function; `slices` are the jit functions as texts that parse on their own."""

    path: Path
    lines: int
    slices: tuple[str, ...]


def add_corpus_argument(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Give a parser the option `--corpus`."""
    parser.add_argument("--corpus", type=_folder, required=required, metavar="DIR", help=WHAT_A_CORPUS_IS)


def packages(corpus: Path) -> list[Path]:
    """The packages' folders. Leaves with a message where there is none."""
    found = sorted(path for path in corpus.iterdir() if path.is_dir() and "-" in path.name)
    if not found:
        sys.exit(f"{corpus} holds no package.\n{WHAT_A_CORPUS_IS}")
    return found


def package(corpus: Path, name: str) -> Path | None:
    """The folder of one package, whatever its version."""
    return next((path for path in packages(corpus) if path.name.rpartition("-")[0] == name), None)


def kernel_files(corpus: Path) -> list[KernelFile]:
    """The files that hold kernels, in the order of their paths."""
    return list(_kernel_files(corpus))


def sample(files: list[KernelFile], count: int, seed: int) -> list[KernelFile]:
    """As many files, the same for the same seed."""
    return random.Random(seed).sample(files, min(count, len(files)))


def kernel_modules(folder: Path) -> Iterator[tuple[Path, Module]]:
    """The files below the folder that hold kernels, in the order of their paths."""
    for path in sorted(folder.rglob("*.py")):
        module = _module(path)
        if module is not None and module.jit:
            yield path, module


def _kernel_files(corpus: Path) -> Iterator[KernelFile]:
    for folder in packages(corpus):
        for path, module in kernel_modules(folder):
            yield KernelFile(path, len(module.lines), tuple(_slices(module)))


def _module(path: Path) -> Module | None:
    data = path.read_bytes()
    if not may_hold_kernels(data):
        return None
    try:
        return outline(str(path), decode(data))
    except (Undecodable, Unparsable):
        return None


def _slices(module: Module) -> Iterator[str]:
    for function in module.jit:
        text = "\n".join(module.lines[function.first_line - 1 : function.last_line]) + "\n"
        yield "if 1:\n" + text if text[:1] in (" ", "\t") else text


def _folder(text: str) -> Path:
    path = Path(text).resolve()
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is no folder. {WHAT_A_CORPUS_IS}")
    return path
