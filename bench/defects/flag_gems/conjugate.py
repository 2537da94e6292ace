"""The real parts of a complex tensor are taken to lie side by side; they have a stride of 2.

python bench/defects/flag_gems/conjugate.py --corpus DIR
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
    place="flag_gems/ops/resolve_conj.py:32",
    what="`resolve_conj` returns wrong numbers, and reads past the end of its input",
    inputs="a conjugate of shape 4 x 8",
)


def shown() -> Sequence[str]:
    import torch

    from bench.defects.calling import call, far_apart
    from bench.defects.importing import module

    kernels = module("flag_gems.ops.resolve_conj")
    kernels.flag_gems.device = "cuda"
    conjugate = torch.randn(4, 8, dtype=torch.complex64).conj()
    called = call(kernels.resolve_conj, conjugate)
    found, expected = torch.view_as_real(called.returned), torch.view_as_real(conjugate.resolve_conj())
    return [*called.out_of_bounds, *far_apart(found, expected, 1e-6)]


if __name__ == "__main__":
    DEFECT.main(shown)
