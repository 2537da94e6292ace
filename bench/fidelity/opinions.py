"""Where TRITON_INTERPRET=1 computes something else than a GPU, and what the engine computes there.

    python -m bench.fidelity.opinions SIDE OUT

runs every case on one side (`gpu`, `interpreter`, `engine`), and writes what it stores, or why there is nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import torch

from bench.agreement.sides import run
from bench.fidelity import tables
from bench.fidelity.comparing import difference

_N = 4096
_SIDES = {"gpu": "cuda", "interpreter": "cpu", "engine": "cpu"}

Result: TypeAlias = "torch.Tensor | str"


@dataclass(frozen=True)
class Case:
    """A kernel of `bench.fidelity.kernels` on normally distributed numbers of a type, and the type that it stores."""

    kernel: str
    element: torch.dtype
    stored: torch.dtype

    @property
    def name(self) -> str:
        element, stored = (str(one).removeprefix("torch.") for one in (self.element, self.stored))
        return f"{self.kernel}, {element}" + ("" if element == stored else f" to {stored}")


CASES = (
    Case("add", torch.bfloat16, torch.bfloat16),
    Case("multiply", torch.bfloat16, torch.bfloat16),
    Case("subtract_thrice", torch.bfloat16, torch.bfloat16),
    Case("narrow", torch.float32, torch.bfloat16),
    Case("product", torch.bfloat16, torch.float32),
    Case("product", torch.bfloat16, torch.bfloat16),
    Case("both", torch.float32, torch.int32),
    Case("either", torch.float32, torch.int32),
    Case("masked_by_both", torch.bfloat16, torch.bfloat16),
)


def table(scratch: Path) -> str:
    """The table, from one process for each side."""
    said = {side: _said(side, scratch / f"{side}.pt") for side in _SIDES}
    rows = []
    for case in CASES:
        gpu, *others = (said[side][case.name] for side in _SIDES)
        rows.append((case.name, _N, *(_compared(gpu, other) for other in others)))
    head = ("kernel", "elements:", "TRITON_INTERPRET=1 differs from the GPU", "the engine differs from the GPU")
    return tables.table(head, rows)


def results(side: str) -> dict[str, Result]:
    """What each case stores on a side, by its name."""
    from bench.fidelity import kernels
    from tritonaudit.simulator.api import simulate

    def launch(kernel: Any, *args: Any) -> None:
        if side == "engine":
            simulate(kernel, (1,), *args)
        else:
            kernel[(1,)](*args)

    return {case.name: _result(case, getattr(kernels, case.kernel), launch, _SIDES[side]) for case in CASES}


def _result(case: Case, kernel: Any, launch: Callable[..., None], device: str) -> Result:
    coins = torch.Generator().manual_seed(0)
    x, y = (torch.randn(_N, generator=coins).to(case.element).to(device) for _ in range(2))
    out = torch.zeros(_N, dtype=case.stored, device=device)
    try:
        launch(kernel, x, y, out, _N)
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"
    return out.cpu()


def _said(side: str, output: Path) -> dict[str, Result]:
    variables = {"TRITON_INTERPRET": "1"} if side == "interpreter" else {}
    run([sys.executable, "-m", "bench.fidelity.opinions", side, str(output)], variables)
    said: dict[str, Result] = torch.load(output, weights_only=False)
    return said


def _compared(gpu: Result, other: Result) -> str:
    if isinstance(gpu, str) or isinstance(other, str):
        return other if isinstance(other, str) else f"the GPU: {gpu}"
    found = difference(other, gpu)
    if not found.elements:
        return "nowhere"
    return f"in {found.elements}" + (f", by up to {found.worst:g}" if found.worst <= _NEAR else "")


_NEAR = 1 << 20  # what is farther away is another number, or none


if __name__ == "__main__":
    side, output = sys.argv[1:]
    assert os.environ.get("TRITON_INTERPRET", "0") == str(int(side == "interpreter"))
    torch.save(results(side), output)
