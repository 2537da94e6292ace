"""Pairs as KernelBench has them, of about a million elements each."""

from __future__ import annotations

import re
from itertools import cycle, islice
from pathlib import Path

from bench.kernelbench.kernels import KERNELS, Shape, text_of

_ROWS, _COLUMNS = 1024, 1024
_TENSOR = re.compile(r"torch\.randn\([^)]*\)")


def written(folder: Path, number: int) -> list[Path]:
    """So many files, each in a folder of its own; where there are more than kernels, one has other rows each time."""
    kernels = [kernel for kernel in KERNELS if kernel.shape is not Shape.PRODUCT]
    found = []
    for place, kernel in enumerate(islice(cycle(kernels), number)):
        rows = _ROWS + 8 * (place // len(kernels))
        path = folder / f"pair_{place:03}" / f"{kernel.name}_{place:03}.py"
        path.parent.mkdir(parents=True)
        path.write_text(_TENSOR.sub(f"torch.randn({rows}, {_COLUMNS})", text_of(kernel)), encoding="utf-8")
        found.append(path)
    return found
