"""The mask of the scales counts within a block, and the address from the first row on.

python bench/defects/torchao/jagged_scales.py --corpus DIR
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
    place="torchao/prototype/moe_training/kernels/jagged_float8_scales.py:232",
    what="`triton_fp8_per_group_rowwise_scales` writes scales past the end, and into the next group",
    inputs="40 rows, which blocks of 32 do not divide",
    rule="TAM102",
)


def shown() -> Sequence[str]:
    import torch

    from bench.defects.calling import FaultKind, call
    from bench.defects.importing import module

    kernels = module("torchao.prototype.moe_training.kernels.jagged_float8_scales")
    x = torch.randn(40, 64, dtype=torch.bfloat16)
    called = call(kernels.triton_fp8_per_group_rowwise_scales, x, torch.tensor([32, 64], dtype=torch.int32))
    races = [line for line in called.of(FaultKind.RACE_WRITE_WRITE) if "scales_ptr" in line]
    return [*called.out_of_bounds, *races]


if __name__ == "__main__":
    DEFECT.main(shown)
