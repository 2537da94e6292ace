"""The kernel fills blocks of 256 entries, and the buffer has one for each batch.

python bench/defects/flag_gems/kron_indices.py --corpus DIR
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
    place="flag_gems/ops/kron.py:209",
    what="`kron` of two 4-dimensional tensors writes past the end of its index buffer",
    inputs="12 batches",
    rule="TAM101",
)


def shown() -> Sequence[str]:
    import torch

    from bench.defects.calling import call
    from bench.defects.importing import module

    kron = module("flag_gems.ops.kron").kron
    return call(kron, torch.randn(2, 3, 4, 4), torch.randn(1, 2, 4, 4)).out_of_bounds


if __name__ == "__main__":
    DEFECT.main(shown)
