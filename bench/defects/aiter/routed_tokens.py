"""The stores of the chosen experts have no mask.

python bench/defects/aiter/routed_tokens.py --corpus DIR
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
    place="aiter/ops/triton/_triton_kernels/moe_routing_sigmoid_top1_fused.py:124",
    what="`routing_sigmoid_top1` writes experts and weights past the end",
    inputs="10 tokens, in blocks of 16",
    rule="TAM101",
    target=AMD,
)


def shown() -> Sequence[str]:
    import torch

    from bench.defects.calling import call
    from bench.defects.importing import module

    routing = module("aiter.ops.triton.moe_routing_sigmoid_top1_fused")
    # It is read from a file that is no Python, which a corpus may lack.
    routing._get_config = lambda *_: {"BLOCK_M": 16, "BLOCK_K": 256, "num_warps": 4, "num_stages": 2}
    x, weights = torch.randn(10, 256, dtype=torch.bfloat16), torch.randn(256, 16, dtype=torch.bfloat16)
    return call(routing.routing_sigmoid_top1, x, weights, 1).out_of_bounds


if __name__ == "__main__":
    DEFECT.main(shown)
