"""An autotuner's key names a parameter that the kernel has not.

python bench/defects/torchao/tuning_key.py --corpus DIR
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
    place="torchao/prototype/moe_training/kernels/float8_rowwise.py:211",
    what="the module cannot be imported with Triton 3.9, which rejects the key `num_elements`",
    inputs="nothing more than an import (before 3.9 all sizes share one config)",
    rule="TAC202",
)


def shown() -> Sequence[str]:
    from bench.defects.importing import module

    try:
        module("torchao.prototype.moe_training.kernels.float8_rowwise")
    except ValueError as error:
        return [str(error)]
    return []


if __name__ == "__main__":
    DEFECT.main(shown)
