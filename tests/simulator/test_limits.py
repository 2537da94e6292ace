"""Launches that no GPU takes, and those that do not end: each comes to a message."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

import triton  # noqa: E402
import triton.language as tl  # noqa: E402

from tritonaudit import simulate  # noqa: E402
from tritonaudit.simulator.live import Refused  # noqa: E402
from tritonaudit.simulator.machine import NotSimulated  # noqa: E402


@triton.jit
def one_kernel(x_ptr):
    tl.store(x_ptr, 1.0)


@triton.jit
def endless_kernel(x_ptr, n):
    at = 0
    while at < n:
        at = at ^ 1
        tl.store(x_ptr + at, 1.0)


@pytest.mark.parametrize(
    ("grid", "words"),
    [
        ((1 << 31,), "the grid has 2,147,483,648 programs along x, and a GPU takes at most 2,147,483,647"),
        ((1, 70_000), "the grid has 70,000 programs along y, and a GPU takes at most 65,535"),
        ((1, 1, 70_000), "the grid has 70,000 programs along z, and a GPU takes at most 65,535"),
    ],
)
def test_a_grid_that_no_gpu_takes_is_refused(grid: tuple[int, ...], words: str) -> None:
    with pytest.raises(Refused, match=words):
        simulate(one_kernel, grid, torch.zeros(1))


@pytest.mark.parametrize("grid", [(-1,), (1, -2), lambda meta: (-1,)])
def test_a_grid_is_not_negative(grid: Any) -> None:
    with pytest.raises(ValueError, match="has a negative size"):
        simulate(one_kernel, grid, torch.zeros(1))


def test_a_tensor_without_memory_is_no_argument() -> None:
    with pytest.raises(RuntimeError, match=r"`x_ptr` is a tensor of the layout torch\.sparse_coo"):
        simulate(one_kernel, (1,), torch.zeros(1).to_sparse())


@pytest.mark.parametrize(
    ("kernel", "grid", "arguments"), [(endless_kernel, (1,), (2,)), (one_kernel, ((1 << 31) - 1,), ())]
)
def test_what_does_not_end_is_given_up(kernel: Any, grid: tuple[int, ...], arguments: tuple[int, ...]) -> None:
    with pytest.raises(NotSimulated, match=r"it takes more than 0\.5 s"):
        simulate(kernel, grid, torch.zeros(2), *arguments, seconds=0.5)
