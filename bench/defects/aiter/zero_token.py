"""A token of zeros has a scale of 0, of which the reciprocal is infinite.

python bench/defects/aiter/zero_token.py --corpus DIR
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from bench.defects.defect import AMD, Defect

DEFECT = Defect(
    package="amd-aiter",
    version="0.1.7.post2.dev18",
    place="aiter/ops/triton/_triton_kernels/quant.py:74",
    what="`dynamic_per_token_quant_fp8_i8` makes nan of a token of zeros",
    inputs="two tokens, of which the second is zero",
    rule="TAN106",
    target=AMD,
)


def shown() -> Sequence[str]:
    import torch

    from bench.defects.calling import call, far_apart
    from bench.defects.importing import module

    quantise = module("aiter.ops.triton.quant").dynamic_per_token_quant_fp8_i8
    x = torch.randn(2, 64)
    x[1] = 0
    quantised, scales = call(quantise, torch.empty(2, 64, dtype=torch.float8_e4m3fnuz), x, torch.empty(2)).returned
    return far_apart(quantised.float() * scales[:, None], x, 0.5)


if __name__ == "__main__":
    DEFECT.main(shown)
