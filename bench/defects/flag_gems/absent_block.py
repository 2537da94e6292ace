"""A row's maximum stays -inf where a whole block of indices is -1, and -inf - -inf is nan.

python bench/defects/flag_gems/absent_block.py --corpus DIR
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from bench.defects.defect import Defect

DEFECT = Defect(
    package="flag-gems",
    version="5.0.2",
    place="flag_gems/fused/sparse_attention.py:87",
    what="`sparse_attn_triton` is nan for a query whose first 64 indices are all -1",
    inputs="128 indices, of which the last 64 are keys",
    rule="TAN104",
)


def shown() -> Sequence[str]:
    import torch

    from bench.defects.calling import call, far_apart
    from bench.defects.importing import module

    attention = module("flag_gems.fused.sparse_attention").sparse_attn_triton
    query, keys = torch.randn(1, 1, 16, 64).bfloat16(), torch.randn(1, 128, 64).bfloat16()
    indices = torch.arange(128, dtype=torch.int32)[None, None].clone()
    indices[..., :64] = -1
    scores = torch.cat([query[0, 0].double() @ keys[0, 64:].double().t() / 8, torch.zeros(16, 1)], dim=1)
    expected = scores.softmax(dim=1)[:, :-1] @ keys[0, 64:].double()
    return far_apart(call(attention, query, keys, torch.zeros(16), indices, 0.125).returned[0, 0], expected, 0.1)


if __name__ == "__main__":
    DEFECT.main(shown)
