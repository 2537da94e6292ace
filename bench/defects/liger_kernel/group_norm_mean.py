"""The variance is the mean of the squares minus the square of the mean.

python bench/defects/liger_kernel/group_norm_mean.py --corpus DIR
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
    place="liger_kernel/ops/group_norm.py:75",
    what="GroupNorm in float32 is wrong where the mean is large against the deviation, and nan where it is larger",
    inputs="a mean of 1,000 and a deviation of 1 (of 10,000 for nan)",
    rule="TAN109",
)


def shown() -> Sequence[str]:
    import torch
    from liger_kernel.ops.group_norm import LigerGroupNormFunction

    from bench.defects.calling import call, far_apart

    said = []
    for mean in (1000, 10000):
        x = torch.randn(1, 32, 64) + mean
        expected = torch.nn.functional.group_norm(x.double(), 8, eps=1e-5)
        found = call(LigerGroupNormFunction.apply, x, torch.ones(32), torch.zeros(32), 32, 8, 1e-5).returned
        said += [f"mean {mean:,}: {line}" for line in far_apart(found, expected, 0.05)]
    return said


if __name__ == "__main__":
    DEFECT.main(shown)
