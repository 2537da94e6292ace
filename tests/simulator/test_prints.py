"""What programs print, in the words of a GPU."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="torch holds the tensors")
pytest.importorskip("triton", reason="triton makes the programs")

import torch
import triton
import triton.language as tl

from tritonaudit import simulate


@triton.jit
def of_a_block(x_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.device_print("x", x)


def test_elements_with_their_places() -> None:
    x = torch.tensor([0.5, -2, float("inf"), 1e10] * 4)
    lines = simulate(of_a_block, (2,), x, 16).printed
    assert len(lines) == 32
    assert lines[0] == "pid (0, 0, 0) idx ( 0) x: 0.500000"
    assert lines[30] == "pid (1, 0, 0) idx (14) x: inf"
    assert lines[31] == "pid (1, 0, 0) idx (15) x: 10000000000.000000"


@triton.jit
def of_several(x_ptr, n):
    program = tl.program_id(1)
    if program == 1:
        tl.device_print("only here")
    i = tl.arange(0, 2)[:, None] * 2 + tl.arange(0, 2)[None, :]
    tl.device_print("both", i, n - program)


def test_each_of_several_operands() -> None:
    assert simulate(of_several, (1, 2), torch.zeros(1), 7).printed[:2] == (
        "pid (0, 1, 0) only here",
        "pid (0, 0, 0) idx (0, 0) both: (operand 0) 0",
    )
    assert simulate(of_several, (1, 2), torch.zeros(1), 7).printed[5:7] == (
        "pid (0, 0, 0) idx () both: (operand 1) 7",
        "pid (0, 1, 0) idx (0, 0) both: (operand 0) 0",
    )


@triton.jit
def of_bits(x_ptr):
    x = tl.load(x_ptr)
    tl.device_print("hex ", x, hex=True)
    tl.device_print("signed ", x)
    tl.device_print("unsigned ", x.to(tl.uint16, bitcast=True))


def test_numbers_with_and_without_a_sign() -> None:
    lines = simulate(of_bits, (1,), torch.tensor([-2], dtype=torch.int16)).printed
    assert [line.partition("idx () ")[2] for line in lines] == ["hex: 0xfffe", "signed: -2", "unsigned: 65534"]


def test_too_much_is_left_out() -> None:
    lines = simulate(of_a_block, (10_000,), torch.zeros(16), 16).printed
    assert len(lines) == 10_001
    assert lines[-1] == "…"
