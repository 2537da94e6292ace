"""Loads of the weight and of its scales have no mask along the columns.

python bench/defects/conch/columns.py --corpus DIR
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from bench.defects.defect import Defect

DEFECT = Defect(
    package="conch-triton-kernels",
    version="1.3",
    place="conch/kernels/quantization/gemm.py:359",
    what="`mixed_precision_gemm` reads scales and weights past the end",
    inputs="72 columns, in blocks of 64",
    rule="TAM101",
)


def shown() -> Sequence[str]:
    import torch

    from bench.defects.calling import call
    from bench.defects.importing import module

    multiply = module("conch.ops.quantization.gemm").mixed_precision_gemm
    x = torch.randn(16, 128, dtype=torch.float16)
    packed = torch.randint(0, 2**31 - 1, (128 // 8, 72), dtype=torch.int32)
    scales = torch.ones(1, 72, dtype=torch.float16)
    called = call(multiply, x, packed, scales, None, 4, 8, 128)
    return called.out_of_bounds


if __name__ == "__main__":
    DEFECT.main(shown)
