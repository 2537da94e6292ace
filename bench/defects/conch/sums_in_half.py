"""Scores, their sum and the output are accumulated in the dtype of the query.

python bench/defects/conch/sums_in_half.py --corpus DIR
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from bench.defects.defect import Defect

DEFECT = Defect(
    package="conch-triton-kernels",
    version="1.3",
    place="conch/kernels/attention/paged_attention.py:256",
    what="`paged_attention` is off by many times what rounding its result costs",
    inputs="bfloat16, 16,384 keys in blocks of 16",
    rule="TAN101",
)


def shown() -> Sequence[str]:
    import torch

    from bench.defects.calling import call, far_apart
    from bench.defects.importing import module

    attention = module("conch.ops.attention.paged_attention").paged_attention
    query = torch.randn(1, 2, 64).bfloat16()
    keys, values = (torch.randn(1024, 16, 1, 64) / 10).bfloat16(), torch.rand(1024, 16, 1, 64).bfloat16()
    blocks, lengths = torch.arange(1024, dtype=torch.int32)[None], torch.tensor([16384], dtype=torch.int32)
    scores = query[0].double() @ keys.view(-1, 64).double().t() / 8
    expected = scores.softmax(dim=1) @ values.view(-1, 64).double()
    rounding = (expected.bfloat16().double() - expected).abs().max().item()
    return far_apart(call(attention, query, keys, values, blocks, lengths).returned[0], expected, 4 * rounding)


if __name__ == "__main__":
    DEFECT.main(shown)
