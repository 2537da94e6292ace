"""The hyperbolic tangent of GeGLU is inf / inf for gates above about 10.

python bench/defects/trinix/geglu_overflow.py --corpus DIR
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
    place="trinix/kernels/geglu_kernel.py:44",
    what="GeGLU is nan where the gate is above about 10",
    inputs="gates from -12 to 12",
    rule="TAN102",
)


def shown() -> Sequence[str]:
    import torch
    from trinix.kernels.geglu_kernel import TritonGeGLUKernel

    from bench.defects.calling import call, far_apart

    x = torch.linspace(-12, 12, 64).repeat(1, 2)
    value, gate = x.chunk(2, dim=-1)
    expected = value * torch.nn.functional.gelu(gate, approximate="tanh")
    return far_apart(call(TritonGeGLUKernel.apply, x).returned, expected, 1e-3)


if __name__ == "__main__":
    DEFECT.main(shown)
