"""A stride of 1 is a constant in the kernel, which has no method `to`.

python bench/defects/flashlib/one_feature.py --corpus DIR
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from bench.defects.defect import Defect

DEFECT = Defect(
    package="flashlib",
    version="0.4.0",
    place="flashlib/primitives/standard_scaler/triton/scaler.py:174",
    what="a standard scaler does not compile for one feature",
    inputs="X of shape (100, 1)",
    rule="TAC140",
)


def shown() -> Sequence[str]:
    import torch

    from bench.defects.calling import call
    from bench.defects.importing import module

    kernels = module("flashlib.primitives.standard_scaler.triton.scaler")
    return call(kernels.flash_standard_scaler_fit, torch.randn(100, 1)).rejected


if __name__ == "__main__":
    DEFECT.main(shown)
