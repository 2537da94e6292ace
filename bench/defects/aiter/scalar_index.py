"""A number is indexed as if it were a block.

python bench/defects/aiter/scalar_index.py --corpus DIR
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
    place="aiter/ops/triton/_triton_kernels/pa_decode.py:114",
    what="`paged_attention_decode` does not compile with Triton 3.9",
    inputs="one query head for each key head",
    rule="TAC123",
    target=AMD,
)


def shown() -> Sequence[str]:
    import torch
    import triton.language as tl

    from bench.defects.calling import call
    from bench.defects.importing import module

    decode = module("aiter.ops.triton.pa_decode").paged_attention_decode
    query = torch.randn(1, 1, 64, dtype=torch.float16)
    keys, values = torch.randn(2, 4, 1, 16, 64, dtype=torch.float16)
    lengths, blocks = torch.tensor([50], dtype=torch.int32), torch.arange(4, dtype=torch.int32)[None]
    scales = torch.ones(1), torch.ones(1)
    out = torch.empty_like(query)
    return call(decode, out, query, keys, values, lengths, blocks, 0.125, 50, tl.float16, *scales).rejected


if __name__ == "__main__":
    DEFECT.main(shown)
