"""A stride of 1 is a constant in the kernel, which has no method `to`.

python bench/defects/flag_gems/one_column.py --corpus DIR
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
    place="flag_gems/ops/vstack.py:56",
    what="`vstack` does not compile for tensors of one column",
    inputs="4 x 1 and 3 x 1",
    rule="TAC140",
)


def shown() -> Sequence[str]:
    import torch

    from bench.defects.calling import call
    from bench.defects.importing import module

    vstack = module("flag_gems.ops.vstack").vstack
    return call(vstack, [torch.randn(4, 1), torch.randn(3, 1)]).rejected


if __name__ == "__main__":
    DEFECT.main(shown)
