"""A block of zeros has a scale of 0, by which it is divided.

python bench/defects/torchao/zero_block.py --corpus DIR
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
    place="torchao/kernel/blockwise_quantization.py:163",
    what="`fp8_blockwise_act_quant` makes nan of a block of zeros",
    inputs="an activation of which one row is zero, as padding is",
    rule="TAN106",
)


def shown() -> Sequence[str]:
    import torch

    from bench.defects.calling import call, far_apart
    from bench.defects.importing import module

    quantise = module("torchao.kernel.blockwise_quantization").fp8_blockwise_act_quant
    x = torch.randn(2, 128)
    x[1] = 0
    quantised, scales = call(quantise, x).returned
    return far_apart(quantised.float() * scales, x, 0.5)


if __name__ == "__main__":
    DEFECT.main(shown)
