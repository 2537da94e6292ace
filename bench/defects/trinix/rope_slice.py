"""The output is dense, and the kernel writes it by the strides of its input.

python bench/defects/trinix/rope_slice.py --corpus DIR
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
    place="trinix/kernels/rope_kernel.py:87",
    what="rotary embeddings of a query that is a slice are written past the end of the output",
    inputs="a query that is a third of a fused projection",
    rule="TAC204",
)


def shown() -> Sequence[str]:
    import torch
    from trinix.kernels.rope_kernel import TritonRoPEKernel

    from bench.defects.calling import call

    q, k, _ = torch.randn(1, 8, 3, 2, 16).unbind(2)
    cos, sin = torch.randn(8, 8), torch.randn(8, 8)
    return call(TritonRoPEKernel.apply, q, k, cos, sin).out_of_bounds


if __name__ == "__main__":
    DEFECT.main(shown)
