"""The output is dense, and the kernel writes it by the strides of its input.

python bench/defects/flag_gems/softmax_of_slice.py --corpus DIR
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
    place="flag_gems/ops/scaled_softmax.py:122",
    what="`scaled_softmax_forward` of a slice writes past the end of its output",
    inputs="the first 24 of 32 keys",
    rule="TAC204",
)


def shown() -> Sequence[str]:
    import torch

    from bench.defects.calling import call
    from bench.defects.importing import module

    softmax = module("flag_gems.ops.scaled_softmax").scaled_softmax_forward
    return call(softmax, torch.randn(2, 2, 8, 32, dtype=torch.float16)[..., :24], 1.0).out_of_bounds


if __name__ == "__main__":
    DEFECT.main(shown)
