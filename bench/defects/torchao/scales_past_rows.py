"""The loads of the scales have no mask, and those of the operands do.

python bench/defects/torchao/scales_past_rows.py --corpus DIR
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from bench.defects.defect import Defect

DEFECT = Defect(
    package="torchao",
    version="0.18.0",
    place="torchao/prototype/blockwise_fp8_training/kernels.py:250",
    what="`triton_fp8_gemm_1x128_128x128` reads scales of rows that are not there",
    inputs="100 tokens, which blocks of 64 do not divide",
    rule="TAM101",
)


def shown() -> Sequence[str]:
    import torch
    import torch.distributed.tensor.experimental

    from bench.defects.calling import call
    from bench.defects.importing import module

    # The stand-in of a custom operator has no schema, and nothing here is sharded or traced.
    torch.distributed.tensor.experimental.register_sharding = lambda _: lambda function: function
    kernels = module("torchao.prototype.blockwise_fp8_training.kernels")
    kernels.wrap_triton = lambda kernel: kernel
    a = torch.randn(100, 128).to(torch.float8_e4m3fn)
    b = torch.randn(128, 128).to(torch.float8_e4m3fn).t()
    a_scales, b_scales = torch.ones(1, 100).t(), torch.ones(1, 1).t()
    return call(kernels.triton_fp8_gemm_1x128_128x128, a, b, a_scales, b_scales).out_of_bounds


if __name__ == "__main__":
    DEFECT.main(shown)
