"""What torch.compile imports when it first compiles for a GPU: known before torch is imported."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

MODULES = (
    *("torch._dynamo", "torch._inductor.compile_fx", "torch._inductor.async_compile"),
    *("torch._inductor.codegen.triton", "torch._inductor.codegen.cuda_combined_scheduling"),
    *("torch._inductor.fx_passes.fuse_attention", "torch._inductor.fx_passes.pad_mm"),
    "torch._inductor.runtime.triton_heuristics",
)
"""With all that these import, which takes longer than compiling most references does. None touches a GPU."""
COMPILE_THREADS = "TORCHINDUCTOR_COMPILE_THREADS"


def load(name: str) -> None:
    """Import one of them, if this torch has it, in a process that others may be forked from.

    It starts no process that compiles, as some torch does, and finds a GPU without looking, as looking would use it.
    """
    asked = os.environ.get(COMPILE_THREADS)
    os.environ[COMPILE_THREADS] = "1"
    try:
        with suppress(Exception, SystemExit), _gpu_taken_for_granted():
            importlib.import_module(name)
    finally:
        del os.environ[COMPILE_THREADS]
        if asked is not None:
            os.environ[COMPILE_THREADS] = asked


@contextmanager
def _gpu_taken_for_granted() -> Iterator[None]:
    import torch

    look = torch.cuda.is_available
    torch.cuda.is_available = lambda: True
    try:
        yield
    finally:
        torch.cuda.is_available = look
