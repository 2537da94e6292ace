"""The buffer has one number for each program, and each stores two.

python bench/defects/flag_gems/complex_dot.py --corpus DIR
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
    place="flag_gems/ops/vdot.py:96",
    what="`vdot` of complex vectors writes past the end of its partial sums, and sums up what it reads there",
    inputs="3,000 complex numbers",
    rule="TAM102",
)


def shown() -> Sequence[str]:
    import torch

    from bench.defects.calling import call, far_apart
    from bench.defects.importing import module

    vdot = module("flag_gems.ops.vdot").vdot
    x, y = torch.randn(2, 3000, dtype=torch.complex64)
    called = call(vdot, x, y)
    found, expected = torch.view_as_real(called.returned), torch.view_as_real(torch.vdot(x, y))
    return [*called.out_of_bounds, *far_apart(found, expected, 1e-2)]


if __name__ == "__main__":
    DEFECT.main(shown)
