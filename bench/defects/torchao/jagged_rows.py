"""The output is allocated row by row, and the kernel writes it with a stride of 1 along both axes.

python bench/defects/torchao/jagged_rows.py --corpus DIR
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
    place="torchao/prototype/moe_training/kernels/jagged_float8_scales.py:259",
    what="`triton_fp8_per_group_rowwise_scales` writes all rows over each other",
    inputs="any tensor; here 32 x 64 in two groups",
)


def shown() -> Sequence[str]:
    import torch

    from bench.defects.calling import FaultKind, call, far_apart
    from bench.defects.importing import module

    kernels = module("torchao.prototype.moe_training.kernels.jagged_float8_scales")
    x = torch.randn(32, 64, dtype=torch.bfloat16)
    called = call(kernels.triton_fp8_per_group_rowwise_scales, x, torch.tensor([32, 64], dtype=torch.int32))
    quantised, scales = called.returned
    found = quantised.float() / scales.view(2, 32).t().repeat_interleave(32, dim=1)
    return [*called.of(FaultKind.LANES_COLLIDE), *far_apart(found, x, 0.5)]


if __name__ == "__main__":
    DEFECT.main(shown)
