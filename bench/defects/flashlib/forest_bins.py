"""The number of bins is the length of an arange.

python bench/defects/flashlib/forest_bins.py --corpus DIR
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from bench.defects.defect import Defect

DEFECT = Defect(
    package="flashlib",
    version="0.4.0",
    place="flashlib/primitives/random_forest/triton/rf_kernels.py:60",
    what="a random forest does not compile unless `n_bins` is a power of two",
    inputs="n_bins=20",
    rule="TAC102",
)


def shown() -> Sequence[str]:
    import torch

    from bench.defects.calling import call
    from bench.defects.importing import module

    kernels = module("flashlib.primitives.random_forest.triton.rf_kernels")
    histogram = torch.randint(0, 9, (2, 3, 20, 2)).float()
    return call(kernels._find_best_splits_triton, histogram, 2).rejected


if __name__ == "__main__":
    DEFECT.main(shown)
