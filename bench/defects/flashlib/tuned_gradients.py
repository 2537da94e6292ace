"""The kernel adds to its output, and nothing resets it between the runs of the autotuner.

python bench/defects/flashlib/tuned_gradients.py --corpus DIR
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
    place="flashlib/primitives/logistic_regression/triton/logistic_regression.py:330",
    what="the first call of each size returns gradients that all runs of the autotuner have added to",
    inputs="one launch for each measurement; Triton's own benchmark makes dozens",
    rule="TAC201",
)


def shown() -> Sequence[str]:
    import torch

    from bench.defects.calling import call, tuning
    from bench.defects.importing import module

    kernels = module("flashlib.primitives.logistic_regression.triton.logistic_regression")
    arguments = (torch.randn(100, 4), torch.randn(4), torch.zeros(1), torch.ones(100))
    with tuning(kernels._logreg_fwd_bwd_kernel):
        first, second = (call(kernels.triton_logreg_fwd_bwd, *arguments).returned[0] for _ in range(2))
    factor = (first / second).median().item()
    return [f"the first call returns {factor:.2f} times what the second one does"] if abs(factor - 1) > 0.01 else []


if __name__ == "__main__":
    DEFECT.main(shown)
