"""No load has a mask along K.

python bench/defects/conch/inner_size.py --corpus DIR
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
    place="conch/kernels/quantization/gemm.py:340",
    what="`mixed_precision_gemm` reads past the end of both operands, and adds what it finds",
    inputs="K = 96, in blocks of 64",
    rule="TAM101",
)


def shown() -> Sequence[str]:
    import torch

    from bench.defects.calling import call, far_apart
    from bench.defects.importing import module

    multiply = module("conch.ops.quantization.gemm").mixed_precision_gemm
    x = torch.randn(16, 96, dtype=torch.float16)
    packed = torch.randint(0, 2**31 - 1, (96 // 8, 64), dtype=torch.int32)
    scales = torch.ones(1, 64, dtype=torch.float16)
    called = call(multiply, x, packed, scales, None, 4, 8, 96)
    weight = torch.stack([packed >> 4 * place & 15 for place in range(8)], 1).reshape(96, 64) - 8
    return [*called.out_of_bounds, *far_apart(called.returned, x.double() @ weight.double(), 1)]


if __name__ == "__main__":
    DEFECT.main(shown)
