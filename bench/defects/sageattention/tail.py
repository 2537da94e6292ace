"""The keys past the end of a sequence take part in the softmax, with a score of 0.

python bench/defects/sageattention/tail.py --corpus DIR
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from bench.defects.defect import Defect

DEFECT = Defect(
    package="sageattention",
    version="1.0.6",
    place="sageattention/attn_qk_int8_per_block.py:16",
    what="`sageattn` counts keys that are not there, each with a score of 0",
    inputs="70 keys, in blocks of 64",
)


def shown() -> Sequence[str]:
    import torch
    from sageattention import sageattn

    from bench.defects.calling import call, far_apart

    q, k, v = (torch.randn(1, 1, 70, 64, dtype=torch.float16) for _ in range(3))
    expected = torch.nn.functional.scaled_dot_product_attention(q.double(), k.double(), v.double() + 1)
    return far_apart(call(sageattn, q, k, v + 1).returned, expected, 0.05)


if __name__ == "__main__":
    DEFECT.main(shown)
