"""The hundred files: every kernel as it should be, and with four of the faults that it can have."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from bench.kernelbench.faults import FAULTS, Fault
from bench.kernelbench.kernels import KERNELS, Kernel, text_of

PER_KERNEL = 5


@dataclass(frozen=True)
class File:
    """A file to be audited: its text, and the fault that is in it, None where it is right."""

    name: str
    text: str
    fault: Fault | None


def files(kernels: int = len(KERNELS)) -> tuple[File, ...]:
    """Those of so many kernels, each time the same; every fault is in about as many files as any other."""
    made: list[File] = []
    used: Counter[str] = Counter()
    for kernel in KERNELS[:kernels]:
        right = text_of(kernel)
        made.append(File(f"{kernel.name}.py", right, None))
        for fault in _rarest(kernel, used):
            used[fault.name] += 1
            made.append(File(f"{kernel.name}_{fault.name.replace(' ', '_')}.py", fault.put(kernel, right), fault))
    return tuple(made)


def _large(file: File) -> File:
    text = file.text
    for small, large in _MILLION.items():
        text = text.replace(f"torch.randn{small}", f"torch.randn{large}")
    return replace(file, text=text)


def _rarest(kernel: Kernel, used: Counter[str]) -> list[Fault]:
    possible = [fault for fault in FAULTS if kernel.shape in fault.shapes]
    return sorted(possible, key=lambda fault: used[fault.name])[: PER_KERNEL - 1]


_MILLION = {"(37, 100)": "(1023, 1001)", "(70, 100)": "(1010, 1000)", "(100, 50)": "(1000, 1010)"}
"""No block divides any of them: a fault that is in no call as given is none of the pair's."""


def written(folder: Path, kernels: int = len(KERNELS), *, is_large: bool = False) -> dict[Path, File]:
    """The files in folders of their own, so that none is taken for the reference of another.

    Their tensors have a few thousand elements, or about a million each where they are to be large.
    """
    found: dict[Path, File] = {}
    for file in map(_large, files(kernels)) if is_large else files(kernels):
        path = folder / file.name.removesuffix(".py") / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text, encoding="utf-8")
        found[path] = file
    return found
