"""Without running statistics the wrapper passes the input for them, and the kernel updates what it is passed.

python bench/defects/flag_gems/norm_of_input.py --corpus DIR
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
    place="flag_gems/ops/batch_norm.py:125",
    what="`batch_norm` without running statistics overwrites the first elements of its input",
    inputs="training, and `track_running_stats=False`: 4 x 8 x 16 numbers",
    rule="TAC141",
)


def shown() -> Sequence[str]:
    import torch

    from bench.defects.calling import call, far_apart
    from bench.defects.importing import module

    batch_norm = module("flag_gems.ops.batch_norm").batch_norm
    x = torch.randn(4, 8, 16)
    given, weight, bias = x.clone(), torch.ones(8), torch.zeros(8)
    call(batch_norm, x, weight, bias, training=True)
    return far_apart(x, given, 1e-6)


if __name__ == "__main__":
    DEFECT.main(shown)
