"""The default quantiser of activations to MXFP8 is written with block pointers.

python bench/defects/gemlite/block_pointers.py --corpus DIR
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
    place="gemlite/quant_utils.py:1049",
    what="`scale_activations_mxfp8` does not compile with Triton 3.9, which has no block pointers",
    inputs="any activation; the package asks for triton>=3.6.0",
    rule="TAC106",
)


def shown() -> Sequence[str]:
    import torch

    from bench.defects.calling import call
    from bench.defects.importing import module

    quantise = module("gemlite.quant_utils").scale_activations_mxfp8
    return call(quantise, torch.randn(32, 256, dtype=torch.float16)).rejected


if __name__ == "__main__":
    DEFECT.main(shown)
