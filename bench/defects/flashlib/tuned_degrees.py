"""The kernel adds to its output, and nothing resets it between the runs of the autotuner.

python bench/defects/flashlib/tuned_degrees.py --corpus DIR
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
    place="flashlib/kernels/distance/triton/affinity.py:25",
    what="the first call of each size returns degrees that all runs of the autotuner have added to",
    inputs="one launch for each measurement; Triton's own benchmark makes dozens",
    rule="TAC201",
)


def shown() -> Sequence[str]:
    import torch

    from bench.defects.calling import call, tuning
    from bench.defects.importing import module

    kernels = module("flashlib.kernels.distance.triton.affinity")
    arguments = (torch.randn(100, 4), 0.5)
    with tuning(kernels._pairwise_affinity_degree_kernel):
        first, second = (call(kernels.triton_affinity_with_degree, *arguments).returned[1] for _ in range(2))
    factor = (first / second).median().item()
    return [f"the first call returns {factor:.2f} times what the second one does"] if abs(factor - 1) > 0.01 else []


if __name__ == "__main__":
    DEFECT.main(shown)
