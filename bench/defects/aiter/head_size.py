"""`offs_d` is used where nothing sets it.

python bench/defects/aiter/head_size.py --corpus DIR
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
    place="aiter/ops/triton/_triton_kernels/unified_attention.py:738",
    what="`unified_attention` does not compile for head sizes that are no power of two",
    inputs="a head size of 96, and more than 512 keys, which are split",
    rule="TAC120",
    target=AMD,
)


def shown() -> Sequence[str]:
    import torch

    from bench.defects.calling import call
    from bench.defects.importing import module

    attention = module("aiter.ops.triton.unified_attention").unified_attention
    query = torch.randn(3, 4, 96, dtype=torch.float16)
    keys, values = torch.randn(2, 64, 16, 1, 96, dtype=torch.float16)
    starts, lengths = torch.arange(4, dtype=torch.int32), torch.full((3,), 600, dtype=torch.int32)
    blocks = torch.arange(40, dtype=torch.int32).repeat(3, 1)
    sizes = (starts, 1, lengths, 600, 0.1, True, (-1, -1), blocks, 0.0, None, None, None)
    return call(attention, query, keys, values, torch.empty_like(query), *sizes).rejected


if __name__ == "__main__":
    DEFECT.main(shown)
