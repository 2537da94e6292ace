"""Loads are left without a mask if K is even, whatever the block is.

python bench/defects/torchao/uneven_k.py --corpus DIR
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from bench.defects.defect import Defect

DEFECT = Defect(
    package="torchao",
    version="0.18.0",
    place="torchao/kernel/intmm_triton.py:311",
    what="`int_scaled_matmul` reads past the end of both operands, and adds what it finds",
    inputs="K = 72, in blocks of 32; with TORCHAO_AUTOTUNER_ENABLE=1, and the first config",
)


def shown() -> Sequence[str]:
    import torch

    from bench.defects.calling import call
    from bench.defects.importing import module

    kernels = module("torchao.kernel.intmm_triton")
    a = torch.randint(-9, 9, (64, 72), dtype=torch.int8)
    b = torch.randint(-9, 9, (72, 64), dtype=torch.int8)
    scales, out = torch.ones(64, 1).expand(64, 64), torch.empty(64, 64)
    called = call(kernels.int_scaled_matmul_kernel, a, b, scales, out, kernels.int8_mm_kernel_configs[0])
    return called.out_of_bounds


if __name__ == "__main__":
    DEFECT.main(shown)
