"""An operation that doubles its input, with variants that are right, wrong, and hostile."""

from __future__ import annotations

from pathlib import Path

SPEC = """\
from tritonaudit import Subject, Tensor


def twice(x):
    return 2 * x


double = Subject(twice, reference=twice, inputs=[Tensor("n")], sizes={"n": [64, 7]}, dtypes=["float32"])
"""
RIGHT = """\
import os
import sys
import time

import torch
import triton
import triton.language as tl


@triton.jit
def double_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=mask), mask=mask)


def triton_double(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    double_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out
"""
WRONG = RIGHT.replace("2 * tl.load", "1 + tl.load")
HOSTILE = {
    "v3_syntax": (RIGHT.replace("def double_kernel(", "def double_kernel((", 1), "SyntaxError"),
    "v4_import": (f"import no_such_module\n{RIGHT}", "No module named 'no_such_module'"),
    "v5_crash": (RIGHT.replace("    x = x.contiguous()", "    os.abort()"), "crash: "),
    "v6_exit": (RIGHT + "\n\nsys.exit(0)\n", "SystemExit: 0"),
    "v7_other": (RIGHT.replace("triton_double", "doubled"), "no function `triton_double` is defined in it"),
}
"""Their texts, and of what each is refused for a part."""
HANGING = RIGHT.replace("    x = x.contiguous()", "    time.sleep(600)")


def write_operation(kernels: Path, variants: dict[str, str]) -> Path:
    """The folder `double` below this one, with these variants."""
    folder = kernels / "double"
    folder.mkdir(parents=True)
    (folder / "audit_double.py").write_text(SPEC)
    for name, text in variants.items():
        (folder / f"{name}.py").write_text(text)
    return folder
