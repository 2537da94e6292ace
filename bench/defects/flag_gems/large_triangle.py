"""The offset of a matrix in its batch is computed in 32 bits.

python bench/defects/flag_gems/large_triangle.py --corpus DIR
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from bench.defects.defect import Defect

DEFECT = Defect(
    package="flag-gems",
    version="5.0.2",
    place="flag_gems/ops/tril.py:21",
    what="`tril` addresses the wrong memory past 2^31 elements",
    inputs="64 matrices of 8,192 x 8,192, as attention scores have (8 GiB in 16 bits); looked at without memory",
)


def shown() -> Sequence[str]:
    import torch

    from bench.defects.calling import FaultKind, call
    from bench.defects.importing import module

    tril = module("flag_gems.ops.tril").tril
    scores = torch.empty(64, 8192, 8192, dtype=torch.float16, device="meta")
    return call(tril, scores).of(FaultKind.OVERFLOW_ADDRESS)


if __name__ == "__main__":
    DEFECT.main(shown)
