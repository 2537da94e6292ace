"""Sums and squares of a group are computed in the dtype of the input.

python bench/defects/liger_kernel/group_norm_half.py --corpus DIR
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from bench.defects.defect import Defect

DEFECT = Defect(
    package="liger-kernel",
    version="0.8.5",
    place="liger_kernel/ops/group_norm.py:70",
    what="GroupNorm in float16 returns zeros where a group's squares add up to more than 65,504",
    inputs="16 channels of 64 x 64 numbers in a group, as in the VAE of Stable Diffusion",
)


def shown() -> Sequence[str]:
    import torch
    from liger_kernel.ops.group_norm import LigerGroupNormFunction

    from bench.defects.calling import call, far_apart

    x = torch.randn(1, 32, 64 * 64, dtype=torch.float16)
    weight, bias = torch.ones(32, dtype=torch.float16), torch.zeros(32, dtype=torch.float16)
    expected = torch.nn.functional.group_norm(x.double(), 2, eps=1e-5)
    return far_apart(call(LigerGroupNormFunction.apply, x, weight, bias, 32, 2, 1e-5).returned, expected, 0.05)


if __name__ == "__main__":
    DEFECT.main(shown)
