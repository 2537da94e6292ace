"""The output is dense, and the kernel writes it by the stride of its input.

python bench/defects/lmdeploy/norm_of_slice.py --corpus DIR
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
    place="lmdeploy/pytorch/kernels/cuda/w8a8_triton_kernels.py:414",
    what="`rms_norm_dynamic_quant` of a slice writes past the end of its output",
    inputs="the first 64 of 96 columns; the quantised norm of DeepSeek-V2's keys is given such a slice",
    rule="TAC204",
)


def shown() -> Sequence[str]:
    import torch

    from bench.defects.calling import call
    from bench.defects.importing import module

    kernels = module("lmdeploy.pytorch.kernels.cuda.w8a8_triton_kernels")
    return call(kernels.rms_norm_dynamic_quant, torch.randn(4, 96)[:, :64], torch.ones(64), 1e-6).out_of_bounds


if __name__ == "__main__":
    DEFECT.main(shown)
