"""The stride of the cache's heads is passed, and the kernel finds them by the stride of the keys' heads.

python bench/defects/conch/head_stride.py --corpus DIR
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
    place="conch/kernels/vllm/reshape_and_cache.py:104",
    what="`reshape_and_cache` writes keys and values to the places of other tokens",
    inputs="a cache whose heads lie before the tokens of a page, as vLLM's layout HND has them",
    rule="TAC204",
)


def shown() -> Sequence[str]:
    import torch

    from bench.defects.calling import call, far_apart
    from bench.defects.importing import module

    write = module("conch.ops.vllm.reshape_and_cache").reshape_and_cache
    key, value = torch.randn(3, 2, 16), torch.randn(3, 2, 16)
    keys, values = (torch.zeros(2, 2, 4, 16).transpose(1, 2) for _ in range(2))
    slots = torch.tensor([0, 1, 5])
    call(write, key, value, keys, values, slots)
    return far_apart(keys[slots // 4, slots % 4], key, 0.01)


if __name__ == "__main__":
    DEFECT.main(shown)
