"""Triton's interpreter is asked for its opinion on a launch, and where it cannot have one that is said."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch holds the tensors")
pytest.importorskip("triton", reason="triton makes the programs")

import numpy
import torch
import triton
import triton.language as tl

from tests.compile.programs import VERSION
from tritonaudit import simulate
from tritonaudit.simulator.cross_check import CrossCheck

LOOPS_FAIL = VERSION < (3, 9) and tuple(map(int, numpy.__version__.split(".")[:2])) >= (2, 4)


@triton.jit
def softmax(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    row = tl.program_id(0)
    x = tl.load(x_ptr + row * n + lanes, mask=lanes < n, other=-float("inf"))
    e = tl.exp(x - tl.max(x, 0))
    tl.store(out_ptr + row * n + lanes, e / tl.sum(e, 0), mask=lanes < n)


@triton.jit
def shifted(x_ptr, y_ptr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.store(x_ptr + lanes, tl.load(x_ptr + lanes) + 1)
    tl.store(y_ptr + lanes, tl.load(y_ptr + lanes) + 2)


@triton.jit
def steps(x_ptr, n):
    total = 0.0
    for i in range(n):
        total += tl.load(x_ptr + i)
    tl.store(x_ptr, total)


@triton.jit
def joined(x_ptr, out_ptr, n, N: tl.constexpr):
    lanes = tl.arange(0, N)
    mask = lanes < n and lanes > 1
    tl.store(out_ptr + lanes, tl.load(x_ptr + lanes, mask=mask, other=0.0))


@triton.jit
def multiplied(a_ptr, b_ptr, c_ptr, N: tl.constexpr):
    lanes = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(c_ptr + lanes, tl.dot(tl.load(a_ptr + lanes), tl.load(b_ptr + lanes)))


@triton.jit
def contracted(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    x, y = tl.load(x_ptr + lanes), tl.load(y_ptr + lanes)
    tl.store(out_ptr + lanes, x * y - tl.full([N], 1.0, tl.float32))


IS_INTERPRETED: tl.constexpr = tl.constexpr(os.environ.get("TRITON_INTERPRET") == "1")


@triton.jit
def noting(out_ptr, counts_ptr):
    tl.store(out_ptr, 7.0)
    tl.store(counts_ptr + 1, 1 if IS_INTERPRETED else 2)


@triton.jit
def unmasked(x_ptr, out_ptr, N: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, N), tl.load(x_ptr + tl.arange(0, N)))


def opinion(kernel: Any, grid: tuple[int, ...], *args: Any, **kwargs: Any) -> CrossCheck:
    found = simulate(kernel, grid, *args, cross_check=True, **kwargs).cross_check
    assert found is not None
    return found


def normal(*sizes: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(5)).to(dtype)


def test_both_agree_on_a_softmax() -> None:
    x, out = normal(8, 100), torch.zeros(8, 100)
    assert opinion(softmax, (8,), x, out, 100, BLOCK=128).agrees
    assert torch.allclose(out, torch.softmax(x, 1))


def test_arguments_that_share_memory_do_so_there_too() -> None:
    x = torch.arange(64.0)
    assert opinion(shifted, (1,), x[:32], x[16:48], N=16).agrees
    assert x.tolist() == [1.0 + n for n in range(16)] + [2.0 + n for n in range(16, 32)] + [*range(32, 64)]


def test_a_product_that_is_rounded_there_alone_is_no_difference() -> None:
    x = 1 + normal(64) * 1e-4
    out = torch.zeros(64)
    assert opinion(contracted, (1,), x, 1 / x, out, N=64).agrees
    assert out.any()


def test_where_they_differ_is_said() -> None:
    out, counts = torch.zeros(1), torch.zeros(3, dtype=torch.int32)
    found = opinion(noting, (1,), out, counts)
    assert not found.agrees
    (one,) = found.differences
    assert (one.tensor, one.place, one.ours, one.theirs, one.count) == ("counts_ptr", (1,), 2, 1, 1)
    assert counts.tolist() == [0, 2, 0]


def test_what_the_interpreter_raises_is_said() -> None:
    found = opinion(steps, (1,), normal(10), 10)
    if LOOPS_FAIL:
        assert "NumPy 2.4" in found.reason
    else:
        assert found.agrees


def test_a_kernel_that_cannot_be_found_in_its_file() -> None:
    @triton.jit
    def local(out_ptr):
        tl.store(out_ptr, 1.0)

    assert "local" in opinion(local, (1,), torch.zeros(1)).reason


def reasons() -> list[tuple[str, Any, tuple[Any, ...], dict[str, Any]]]:
    bf16 = [normal(32, 32, dtype=torch.bfloat16) for _ in range(2)]
    return [
        ("`and`", joined, (normal(8), torch.zeros(8), 4), {"N": 8}),
        ("bfloat16", multiplied, (*bf16, torch.zeros(32, 32)), {"N": 32}),
        ("faults", unmasked, (normal(7), torch.zeros(8)), {"N": 8}),
        ("not all", unmasked, (normal(8), torch.zeros(8)), {"N": 8, "order": []}),
        ("without memory", unmasked, (torch.empty(8, device="meta"), torch.zeros(8)), {"N": 8}),
    ]


@pytest.mark.parametrize(("word", "kernel", "args", "kwargs"), reasons())
def test_what_the_interpreter_is_known_to_get_wrong_it_is_not_asked(
    word: str, kernel: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    found = opinion(kernel, (1,), *args, **kwargs)
    assert word in found.reason
    assert not found.agrees


def test_nobody_is_asked_unasked() -> None:
    assert simulate(unmasked, (1,), normal(8), torch.zeros(8), N=8).cross_check is None


SCRIPT = """
import torch, triton, triton.language as tl
from tritonaudit import simulate
from tritonaudit.capture.device import device_for
from tritonaudit.capture.driver import stand_in_driver

stand_in_driver(device_for("sm_89"))

@triton.autotune([triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})], key=["n"])
@triton.heuristics({"IS_EVEN": lambda arguments: arguments["n"] % arguments["BLOCK"] == 0})
@triton.jit
def scale(x_ptr, out_ptr, n, factor, IS_EVEN: tl.constexpr, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lanes) if IS_EVEN else tl.load(x_ptr + lanes, mask=lanes < n)
    tl.store(out_ptr + lanes, x * factor, mask=lanes < n)

if __name__ == "__main__":
    x, out = torch.arange(1000.0), torch.empty(1000)
    found = simulate(scale, lambda meta: (triton.cdiv(1000, meta["BLOCK"]),), x, out, 1000, 2.5, cross_check=True)
    assert out.equal(x * 2.5)
    print(found.cross_check)
"""


def test_an_autotuned_kernel_of_a_script(tmp_path: Path) -> None:
    script = tmp_path / "scale.py"
    script.write_text(SCRIPT)
    path = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    ran = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}
    )
    assert ran.stdout.strip() == str(CrossCheck()), ran.stderr
