"""A kernel that is simulated and launched on a GPU in one process: neither side sees the other's compiler."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch", reason="torch holds the tensors")
pytest.importorskip("triton", reason="triton makes the programs")

import torch
import triton
import triton.language as tl

from tritonaudit import simulate


@triton.jit
def doubled(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i) * 2)


def _of_a_gpu(*_: Any, **__: Any) -> None:
    """As if the kernel had been launched on a GPU: Triton keeps the compiler with the kernel."""
    raise AssertionError("nothing is compiled for a GPU")


@pytest.fixture
def launched() -> Any:
    before = dict(vars(doubled))
    doubled.compile = _of_a_gpu
    yield doubled
    vars(doubled).clear()
    vars(doubled).update(before)


def test_simulating_compiles_nothing_for_the_gpu_and_leaves_its_compiler(launched: Any) -> None:
    for size, dtype in ((16, torch.float32), (32, torch.float32), (16, torch.int32)):
        x, out = torch.arange(size).to(dtype), torch.zeros(size, dtype=dtype)
        simulate(launched, (1,), x, out, size)
        assert torch.equal(out, 2 * x)
        assert launched.compile is _of_a_gpu
