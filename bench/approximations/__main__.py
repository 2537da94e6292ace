"""`python bench/approximations`: does the engine approximate as this GPU does, bit by bit?

Every float of some octaves, in which all segments of the tables take part, random bits, and random pairs for quotients;
any NaN is as good as another. The model (`tritonaudit/simulator/numerics/approximations.py`) is an H100's. The exit
code is 1 where anything differs, and 0 where there is no GPU to compare with.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
from torch import Tensor

from bench.approximations.kernels import one_operand, two_operands
from tritonaudit.simulator.numerics import approximations

FUNCTIONS: Mapping[str, Callable[[Tensor, bool], Tensor]] = {
    "rcp": approximations.reciprocal,
    "rsqrt": approximations.reciprocal_root,
    "sqrt": approximations.root,
    "ex2": approximations.power_of_two,
}
QUOTIENTS: Mapping[str, Callable[[Tensor, Tensor, bool], Tensor]] = {
    "div.full": approximations.quotient,
    "div.approx": approximations.fast_quotient,
}
_OCTAVES = (-4.0, -2.0, -1.0, -0.5, -0.25, 0.25, 0.5, 1.0, 2.0, 64.0)
_RANDOM = 1 << 24
_BLOCK = 1024


def main() -> int:
    """Compare, and print a table."""
    if not torch.cuda.is_available():
        print("there is no GPU")
        return 0
    generator = torch.Generator().manual_seed(1)
    print(f"{torch.cuda.get_device_name()}\n\n| instruction | arguments | differing |\n|---|--:|--:|")
    wrong = 0
    for suffix, flushes in ((".f32", False), (".ftz.f32", True)):
        for head, function in FUNCTIONS.items():
            found = [_differing(f"{head}.approx{suffix}", function, [x], flushes) for x in _arguments(generator)]
            wrong += _said(f"{head}.approx{suffix}", found)
        for head, quotient in QUOTIENTS.items():
            pairs = [_random(generator), _random(generator)]
            wrong += _said(head + suffix, [_differing(head + suffix, quotient, pairs, flushes)])
    return int(wrong > 0)


def _arguments(generator: torch.Generator) -> Iterator[Tensor]:
    for first in _OCTAVES:
        start = int(torch.tensor(first).view(torch.int32))
        yield torch.arange(start, start + (1 << 23), dtype=torch.int32).view(torch.float32)
    yield _random(generator)


def _random(generator: torch.Generator) -> Tensor:
    bits = torch.randint(-(1 << 31), 1 << 31, (_RANDOM,), dtype=torch.int64, generator=generator)
    return bits.to(torch.int32).view(torch.float32)


def _differing(name: str, function: Callable[..., Tensor], operands: list[Tensor], flushes: bool) -> tuple[int, int]:
    """How many arguments there are, and how many results differ."""
    theirs = _on_gpu(name, operands)
    ours = function(*operands, flushes)
    same = (ours.view(torch.int32) == theirs.view(torch.int32)) | (ours.isnan() & theirs.isnan())
    return same.numel(), int((~same).sum())


def _on_gpu(name: str, operands: list[Tensor]) -> Tensor:
    moved = [operand.cuda() for operand in operands]
    result = torch.empty_like(moved[0])
    slots = ", ".join(f"${place}" for place in range(len(operands) + 1))
    kernel = one_operand if len(operands) == 1 else two_operands
    grid = (_programs(result.numel()),)
    kernel[grid](*moved, result, result.numel(), ASSEMBLY=f"{name} {slots};", BLOCK=_BLOCK)
    return result.cpu()


def _programs(count: int) -> int:
    """Programs for so many elements."""
    return (count + _BLOCK - 1) // _BLOCK


def _said(name: str, found: list[tuple[int, int]]) -> int:
    arguments, differing = sum(each for each, _ in found), sum(each for _, each in found)
    print(f"| {name} | {arguments} | {differing} |", flush=True)
    return differing


if __name__ == "__main__":
    sys.exit(main())
