"""A program's number is indexed as if it were a block.

python bench/defects/torchao/scalar_index.py --corpus DIR
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
    place="torchao/prototype/blockwise_fp8_training/kernels.py:915",
    what="`triton_fp8_blockwise_weight_quant_transposed_rhs` does not compile with Triton 3.9",
    inputs="any weight",
    rule="TAC123",
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
    return call(kernels.triton_fp8_blockwise_weight_quant_transposed_rhs, torch.randn(128, 128)).rejected


if __name__ == "__main__":
    DEFECT.main(shown)
