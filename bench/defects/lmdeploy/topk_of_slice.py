"""The temporary buffers are dense, and the kernel writes them by the stride of the scores.

python bench/defects/lmdeploy/topk_of_slice.py --corpus DIR
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from bench.defects.defect import Defect

DEFECT = Defect(
    package="lmdeploy",
    version="0.18.0",
    place="lmdeploy/pytorch/kernels/cuda/bitonic_topk.py:172",
    what="`bitonic_topk` of a slice writes past the end of its buffers, and reads what nobody has written",
    inputs="the first 600 of 1,024 columns; DeepGEMM returns its logits as such a slice",
)


def shown() -> Sequence[str]:
    import torch

    from bench.defects.calling import FaultKind, call
    from bench.defects.importing import module

    topk = module("lmdeploy.pytorch.kernels.cuda.bitonic_topk").bitonic_topk
    one, lengths = torch.ones(4, dtype=torch.int32), torch.full((4,), 600, dtype=torch.int32)
    called = call(topk, torch.randn(4, 1024)[:, :600], one, lengths, 512)
    return [*called.out_of_bounds, *called.of(FaultKind.UNDEFINED_STORED)]


if __name__ == "__main__":
    DEFECT.main(shown)
