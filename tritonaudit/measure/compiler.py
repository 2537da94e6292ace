"""What torch.compile imports when it first compiles for a GPU: known before torch is imported."""

from __future__ import annotations

import importlib
import os

MODULES = (
    *("torch._dynamo", "torch._inductor.compile_fx", "torch._inductor.async_compile"),
    *("torch._inductor.codegen.triton", "torch._inductor.codegen.cuda_combined_scheduling"),
    *("torch._inductor.fx_passes.fuse_attention", "torch._inductor.fx_passes.pad_mm"),
    "torch._inductor.runtime.triton_heuristics",
)
"""With all that these import, which takes longer than compiling most references does. None touches a GPU."""
COMPILE_THREADS = "TORCHINDUCTOR_COMPILE_THREADS"


def load(name: str) -> None:
    """Import one of them in a process that others may be forked from: it starts none that compile, as some torch does.

    Raises whatever importing it raises.
    """
    asked = os.environ.get(COMPILE_THREADS)
    os.environ[COMPILE_THREADS] = "1"
    try:
        importlib.import_module(name)
    finally:
        del os.environ[COMPILE_THREADS]
        if asked is not None:
            os.environ[COMPILE_THREADS] = asked
