"""The block is clamped to 16,384 columns, and the kernel has no loop over the rest.

python bench/defects/trinix/wide_rows.py --corpus DIR
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from bench.defects.defect import Defect

DEFECT = Defect(
    package="trinix",
    version="0.1.4",
    place="trinix/kernels/geglu_kernel.py:34",
    what="GeGLU writes the first 16,384 columns only (8,192 before sm_80), and returns what lay in memory for the rest",
    inputs="a hidden size of 28,672, as Llama 70B has",
    rule="TAC143",
)


def shown() -> Sequence[str]:
    import torch
    from trinix.kernels.geglu_kernel import TritonGeGLUKernel

    from bench.defects.calling import call

    returned = call(TritonGeGLUKernel.apply, torch.ones(1, 2 * 28672)).returned
    unwritten = int((returned == 0).sum())
    return [f"{unwritten:,} of {returned.numel():,} columns are not written"] if unwritten else []


if __name__ == "__main__":
    DEFECT.main(shown)
