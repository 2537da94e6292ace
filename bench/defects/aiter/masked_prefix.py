"""A row's maximum stays -inf where the mask drops the first block of keys, and -inf - -inf is nan.

python bench/defects/aiter/masked_prefix.py --corpus DIR
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
    place="aiter/ops/triton/_triton_kernels/extend_attention.py:205",
    what="`extend_attention_fwd` is nan where a custom mask drops the first block of the prefix",
    inputs="128 cached keys, of which the mask drops the first 64, in blocks of 64",
    rule="TAN104",
    target=AMD,
)


def shown() -> Sequence[str]:
    import torch

    from bench.defects.calling import call, far_apart
    from bench.defects.importing import module

    attention = module("aiter.ops.triton.extend_attention").extend_attention_fwd
    query, keys, values, out = torch.randn(4, 16, 1, 64, dtype=torch.float16)
    cached, cached_values = torch.randn(2, 128, 1, 64, dtype=torch.float16)
    mask = torch.ones(16, 144, dtype=torch.bool)
    mask[:, :64] = False
    ends = [torch.tensor([0, end], dtype=torch.int32) for end in (16, 128, mask.numel())]
    config = {"BLOCK_M": 16, "BLOCK_N": 64, "num_warps": 4, "num_stages": 1}
    tensors = (query, keys, values, out, cached, cached_values, *ends[:2], torch.arange(128, dtype=torch.int32))
    call(attention, *tensors, mask, False, ends[2], 16, skip_prefix_custom_mask=False, config=config)
    seen, seen_values = torch.cat([cached[64:], keys])[:, 0].double(), torch.cat([cached_values[64:], values])[:, 0]
    expected = (query[:, 0].double() @ seen.t() / 8).softmax(1) @ seen_values.double()
    return far_apart(out[:, 0], expected, 0.05)


if __name__ == "__main__":
    DEFECT.main(shown)
