"""A kernel reads numbers of the module that are no constexprs.

python bench/defects/sglang/plain_global.py --corpus DIR
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from bench.defects.defect import Defect

DEFECT = Defect(
    package="sglang",
    version="0.5.23",
    place="sglang/srt/layers/multi_gate.py:59",
    what="`multi_gate_triton_kernel` does not compile",
    inputs="any tokens; Bailing's mixture of experts with a gate for each modality calls it",
    rule="TAC121",
)


def shown() -> Sequence[str]:
    import sys
    from types import SimpleNamespace

    import torch

    from bench.defects.calling import call
    from bench.defects.importing import module

    # Of the scheduler the module imports an enumeration, and the scheduler the whole server.
    sys.modules["sglang.srt.managers.schedule_batch"] = SimpleNamespace(Modality=None)
    gate = module("sglang.srt.layers.multi_gate").multi_gate_triton_kernel
    weights = torch.randn(3, 8, 64, dtype=torch.bfloat16)
    indices = torch.arange(64, dtype=torch.int32), torch.zeros(1, dtype=torch.int32)
    return call(gate, torch.randn(64, 64, dtype=torch.bfloat16), indices, *weights, *torch.zeros(3, 8)).rejected


if __name__ == "__main__":
    DEFECT.main(shown)
