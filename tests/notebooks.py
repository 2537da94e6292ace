"""Notebooks made for tests: as Jupyter writes them, byte for byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

KERNEL = """\
import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x_ptr, out_ptr, factor, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = (offsets < n_elements) and (offsets >= 0)
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, x * factor, mask=mask)"""
WRAPPER = """\
%%time
!pip install triton
def scale(x: torch.Tensor, factor: float) -> torch.Tensor:
    out = torch.empty_like(x)
    files = !ls
    n_elements = x.numel()
    grid = (triton.cdiv(n_elements, 1024),)
    scale_kernel[grid](x, out, factor, n_elements, BLOCK_SIZE=1024)
    return out
scale?"""


def code(text: str, **more: Any) -> dict[str, Any]:
    """A code cell, each line of its text on one of its own."""
    return {
        "cell_type": "code", "execution_count": 3, "metadata": {"tags": ["ü"]}, "outputs": [],
        "source": text.splitlines(keepends=True), **more,
    }  # fmt: skip


def markdown(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text.splitlines(keepends=True)}


def notebook(*cells: dict[str, Any], language: str = "python", **how: Any) -> str:
    """What the file holds."""
    metadata = {
        "kernelspec": {"display_name": "K", "language": language, "name": "k"},
        "language_info": {"name": language},
    }
    whole = {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, **{"indent": 1, "ensure_ascii": False, **how}) + "\n"


def scaling(folder: Path) -> Path:
    """A notebook whose kernel, in its third cell, reads past the end in a launch of its fourth."""
    path = folder / "scale.ipynb"
    path.write_text(
        notebook(markdown("# Größe\ntext"), code("%matplotlib inline\nimport os"), code(KERNEL), code(WRAPPER))
    )
    return path
