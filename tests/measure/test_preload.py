"""What torch.compile needs is imported beforehand, by a process that others can be forked from."""

from __future__ import annotations

import os
import sys

import pytest

pytest.importorskip("torch", reason="torch is what compiles")

from tests.checkout import ROOT, run

SCRIPT = """
import os, sys, threading
from tritonaudit.measure.compiler import MODULES, load
for name in MODULES:
    load(name)
import torch
assert "torch._inductor.compile_fx" in sys.modules
assert not torch.cuda.is_initialized()
assert threading.active_count() == 1
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("threads asked for:", os.environ.get("TORCHINDUCTOR_COMPILE_THREADS"))
"""


@pytest.mark.parametrize("threads", [None, "4"])
def test_it_touches_no_gpu_and_starts_neither_a_thread_nor_a_process(threads: str | None) -> None:
    variables = {} if threads is None else {"TORCHINDUCTOR_COMPILE_THREADS": threads}
    if threads is None and "TORCHINDUCTOR_COMPILE_THREADS" in os.environ:
        pytest.skip("the number of threads is chosen")
    done = run(sys.executable, "-c", SCRIPT, cwd=ROOT, variables=variables)
    assert done.stdout == f"threads asked for: {threads}\n"
