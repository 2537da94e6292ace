"""`python bench/tensor_cores`: does the engine multiply matrices as this GPU does, bit by bit?

The model (`tritonaudit/simulator/numerics/tensor_cores.py`) is an H100's. The exit code is 1 where anything differs,
and 0 where there is no GPU to compare with.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
import triton.language as tl

from bench.fidelity.comparing import difference
from bench.fidelity.tables import table
from bench.tensor_cores import kernels
from bench.tensor_cores.operands import DTYPES, Coins
from tritonaudit import simulate

_ROUNDS = 2
_FEWEST = 1 << 15
"""Results of a case, at least."""
_TYPES = {"f16": tl.float16, "bf16": tl.bfloat16, "f32": tl.float32, "f64": tl.float64, "i32": tl.int32}
_INSTRUCTION = re.compile(r"(wgmma\.mma_async|mma\.sync)[.a-z]*\.(m\d+n\d+k\d+)(?:\.row\.col)?([.\w]*)")


@dataclass(frozen=True)
class Case:
    """A kernel on operands of a type, which may be another in its product, with its sizes and options."""

    kernel: str
    element: str
    sizes: tuple[int, int, int]
    warps: int
    total: str = "f32"
    precision: str = "tf32"
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        options = ", ".join(f"{name.lower()} {value}" for name, value in self.options.items())
        return f"{self.kernel} {self.element}, {self.precision}" + (f", {options}" if options else "")


def cases() -> Iterator[Case]:
    """Every type, in instructions for one warp and for four."""
    for warps in (4, 2, 8):
        for element in ("f16", "bf16", "e4m3", "e5m2"):
            for k in (32, 128):
                yield _plain(element, (64, 64, k), warps)
        for precision in ("tf32", "tf32x3", "bf16x3", "bf16x6", "ieee"):
            yield _plain("f32", (64, 64, 64), warps, precision=precision)
        yield _plain("f16", (64, 64, 64), warps, "f16")
        yield _plain("e5m2", (64, 64, 64), warps, "f16")
        yield _plain("i8", (64, 64, 64), warps, "i32")
        yield _plain("f64", (64, 64, 32), warps, "f64")
        yield _plain("e4m3", (64, 64, 256), warps, STEP=128, LONGEST=64)
        yield _plain("e4m3", (64, 64, 128), warps, LONGEST=0)
        for element in ("f16", "f32"):
            yield _plain(element, (64, 64, 128), warps, STEP=32)
            yield Case("turned", element, (64, 32, 64), warps)
            yield Case("batched", element, (32, 32, 32), warps)
            yield Case("chained", element, (64, 64, 64), warps)
        for narrow, wide in (
            ("i8", "f16"),
            ("i8", "bf16"),
            ("e5m2", "f16"),
            ("bf16", "f32"),
            ("f16", "f32"),
            ("i8", "f32"),
        ):
            yield Case("converted", narrow, (64, 64, 64), warps, options={"TO": wide, "BOTH": True})
        for left, right in (("e4m3", "e4m3"), ("e5m2", "e4m3"), ("e2m1", "e4m3"), ("e2m1", "e2m1")):
            yield Case("scaled", left, (64, 64, 64), warps, options={"RIGHT": right})
    for sizes in ((16, 16, 16), (32, 16, 64), (1, 16, 16), (16, 1, 16), (4, 8, 32), (16, 128, 32), (128, 256, 32)):
        for element, precision in (("f16", "tf32"), ("f32", "tf32"), ("f32", "ieee")):
            yield _plain(element, sizes, 4, precision=precision)


def _plain(
    element: str, sizes: tuple[int, int, int], warps: int, total: str = "f32", precision: str = "tf32", **options: Any
) -> Case:
    return Case("plain", element, sizes, warps, total, precision, options)


def main() -> int:
    """Run, simulate, compare, print."""
    if not torch.cuda.is_available():
        print("NOT RUN: there is no GPU")
        return 0
    rows = [_row(case, seed) for seed, case in enumerate(cases())]
    print(f"Matrix products on an {torch.cuda.get_device_name()}, and in the engine\n")
    print(table(("case", "M, N, K", "warps:", "instruction", "results:", "differing:"), rows))
    return int(any(row[-1] != 0 for row in rows))


def _row(case: Case, seed: int) -> tuple[Any, ...]:
    print(case.name, file=sys.stderr, flush=True)
    start = (case.name, ", ".join(map(str, case.sizes)), case.warps)
    tensors = _operands(case, seed)
    theirs, ours = torch.empty_like(tensors[2]).cuda(), torch.empty_like(tensors[2])
    kernel, grid = getattr(kernels, case.kernel), (len(ours) // (2 if case.kernel == "batched" else 1),)
    try:
        on_gpu = [one.cuda() for one in tensors]
        compiled = kernel[grid](*on_gpu[:3], theirs, *on_gpu[3:], *_constants(case), num_warps=case.warps)
        found = theirs.cpu()
    except Exception as error:
        return (*start, f"{type(error).__name__}: {' '.join(str(error).split())[-80:]}", 0, 0)
    simulate(
        kernel, grid, *tensors[:3], ours, *tensors[3:], *_constants(case),
        num_warps=case.warps, as_gpu=True, checks=False,
    )  # fmt: skip
    return (*start, _instruction(compiled.asm["ptx"]), ours.numel(), difference(ours, found).elements)


def _operands(case: Case, seed: int) -> list[torch.Tensor]:
    m, n, k = case.sizes
    element = "e5m2" if case.kernel == "scaled" else case.element
    coins = Coins(element, "i32" if element == "i8" else case.total, case.sizes, seed)
    rounds = max(_ROUNDS, _FEWEST // (8 * m * n))
    a, b, c = coins.programs(rounds)
    if case.kernel == "converted" and case.element == "i8":
        c = c.float()
    if case.kernel != "scaled":
        return [a, b, c]
    a, b = (
        coins.bytes(len(c), *shape) if form == "e2m1" else x.float().clamp(-448, 448).to(DTYPES[form])
        for x, form, shape in ((a, case.element, (m, k // 2)), (b, case.options["RIGHT"], (k // 2, n)))
    )
    return [a, b, c, coins.scales(len(c), m, k // 32), coins.scales(len(c), n, k // 32)]


def _constants(case: Case) -> tuple[Any, ...]:
    options = case.options
    if case.kernel == "plain":
        step = options.get("STEP", case.sizes[2])
        return (*case.sizes, _TYPES[case.total], case.precision, step, options.get("LONGEST"))
    if case.kernel == "converted":
        return (*case.sizes, _TYPES[options["TO"]], case.precision, options["BOTH"])
    if case.kernel == "scaled":
        return (*case.sizes, case.element, options["RIGHT"])
    return (*case.sizes, case.precision)


def _instruction(ptx: str) -> str:
    found = sorted({f"{name} {sizes}{types}" for name, sizes, types in _INSTRUCTION.findall(ptx)})
    return ", ".join(found) or "none"


if __name__ == "__main__":
    sys.exit(main())
