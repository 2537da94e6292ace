"""A kernel reads a number of the module that is no constexpr.

python bench/defects/flashnn/plain_global.py --corpus DIR
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from bench.defects.defect import Defect

DEFECT = Defect(
    package="flashnn",
    version="0.1.1",
    place="flashnn/triton_kernels/paged_attn_v2.py:279",
    what="`triton_paged_attention_v2` does not compile",
    inputs="any sequence",
    rule="TAC121",
)


def shown() -> Sequence[str]:
    import torch

    from bench.defects.calling import call
    from bench.defects.importing import module

    attention = module("flashnn.triton_kernels.paged_attn_v2").triton_paged_attention_v2
    query = torch.randn(1, 2, 64, dtype=torch.float16)
    keys, values = torch.randn(2, 4, 2, 16, 64, dtype=torch.float16)
    heads, blocks = torch.arange(2, dtype=torch.int32), torch.arange(4, dtype=torch.int32)[None]
    lengths = torch.tensor([50], dtype=torch.int32)
    return call(attention, torch.empty_like(query), query, keys, values, heads, 0.125, blocks, lengths, 50).rejected


if __name__ == "__main__":
    DEFECT.main(shown)
