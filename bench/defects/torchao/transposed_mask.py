"""The mask of the transposed store has its axes the other way round.

python bench/defects/torchao/transposed_mask.py --corpus DIR
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from bench.defects.defect import Defect

DEFECT = Defect(
    package="torchao",
    version="0.18.0",
    place="torchao/prototype/float8nocompile/kernels/fp8_dynamic_tensorwise.py:154",
    what="`hp_to_fp8_row_major_t` leaves elements unwritten, or writes past the end",
    inputs="a matrix of 100 x 40",
    rule="TAM102",
)


def shown() -> Sequence[str]:
    import torch

    from bench.defects.calling import call, far_apart
    from bench.defects.importing import module

    kernels = module("torchao.prototype.float8nocompile.kernels.fp8_dynamic_tensorwise")
    x = torch.randn(100, 40)
    called = call(kernels.hp_to_fp8_row_major_t, x, torch.float8_e4m3fn, None)
    quantised = called.returned
    return [*called.out_of_bounds, *far_apart(quantised._data.float() / quantised._scale, x.t(), 0.5)]


if __name__ == "__main__":
    DEFECT.main(shown)
