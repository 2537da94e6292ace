"""exp(2 softplus(x)) overflows, and Mish is inf / inf.

python bench/defects/trinix/mish_overflow.py --corpus DIR
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from bench.defects.defect import Defect

DEFECT = Defect(
    package="trinix",
    version="0.1.4",
    place="trinix/kernels/mish_kernel.py:34",
    what="Mish is nan above about 44",
    inputs="numbers from 0 to 60",
    rule="TAN102",
)


def shown() -> Sequence[str]:
    import torch
    from trinix.kernels.mish_kernel import TritonMishKernel

    from bench.defects.calling import call, far_apart

    x = torch.linspace(0, 60, 64)
    return far_apart(call(TritonMishKernel.apply, x).returned, torch.nn.functional.mish(x), 1e-3)


if __name__ == "__main__":
    DEFECT.main(shown)
