"""The number of residual streams is the length of an arange.

python bench/defects/liger_kernel/three_streams.py --corpus DIR
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
    place="liger_kernel/ops/mhc.py:1089",
    what="`LigerMHC` does not compile unless the number of streams is a power of two",
    inputs="3 streams, of the 2 to 16 that its documentation recommends",
    rule="TAC102",
)


def shown() -> Sequence[str]:
    import torch
    from liger_kernel.ops.mhc import LigerMHCPostResFunction

    from bench.defects.calling import call

    x, out = torch.randn(4, 3, 32), torch.randn(4, 32)
    return call(LigerMHCPostResFunction.apply, x, out, torch.randn(4, 3), torch.randn(4, 3, 3)).rejected


if __name__ == "__main__":
    DEFECT.main(shown)
