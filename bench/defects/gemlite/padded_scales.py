"""Scales are allocated for rows rounded up to 16, and stored without a mask for blocks of up to 128.

python bench/defects/gemlite/padded_scales.py --corpus DIR
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from bench.defects.defect import Defect

DEFECT = Defect(
    package="gemlite",
    version="0.6.0.post2",
    place="gemlite/quant_utils.py:1443",
    what="`scale_activations_nvfp4_triton` writes scales past the end; it is not the default of its release",
    inputs="129 rows, with the autotuner's second config, of 128 rows",
    rule="TAM101",
)


def shown() -> Sequence[str]:
    import torch

    from bench.defects.calling import call
    from bench.defects.importing import module

    quantise = module("gemlite.quant_utils").scale_activations_nvfp4_triton
    return call(quantise, torch.randn(129, 64, dtype=torch.float16), chosen_config=1).out_of_bounds


if __name__ == "__main__":
    DEFECT.main(shown)
