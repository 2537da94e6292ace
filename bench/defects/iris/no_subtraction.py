"""The public `atomic_sub` calls what no release of Triton has.

python bench/defects/iris/no_subtraction.py --corpus DIR
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from bench.defects.defect import Defect

DEFECT = Defect(
    package="tokenspeed-iris",
    version="0.0.0.post20261013",
    place="iris/mem/triton/ops.py:634",
    what="a kernel that calls `iris.atomic_sub` does not compile",
    inputs="any call, as its documentation shows it",
    rule="TAC105",
)


def shown() -> Sequence[str]:
    import torch

    from bench.defects.calling import call
    from bench.defects.importing import module
    from bench.defects.iris import _kernel

    _kernel.atomic_sub = module("iris.mem.triton.ops").atomic_sub
    return call(lambda: _kernel.subtract[(1,)](torch.zeros(4), torch.zeros(2, dtype=torch.int64))).rejected


if __name__ == "__main__":
    DEFECT.main(shown)
