"""Elements are chosen bit by bit as torch chooses them one by one."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="torch holds the tensors")

import torch

from tritonaudit.simulator.numerics.elements import chosen

ROWS = 300
TYPES = [torch.bool, torch.int8, torch.int16, torch.int32, torch.int64]
TYPES += [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.float8_e5m2, torch.float8_e4m3fn]


def bits(elements: torch.Tensor) -> torch.Tensor:
    return elements.contiguous().view(torch.uint8)


def drawn(shape: tuple[int, ...], dtype: torch.dtype, seed: int) -> torch.Tensor:
    """Elements of all bits, NaN among them."""
    size = (*shape[:-1], shape[-1] * dtype.itemsize)
    found = torch.randint(0, 256, size, dtype=torch.uint8, generator=torch.Generator().manual_seed(seed))
    return found % 2 == 1 if dtype is torch.bool else found.view(dtype)


@pytest.mark.parametrize("shapes", [((4, 8),) * 3, ((ROWS, 64),) * 3, ((ROWS, 64), (1, 64), (ROWS, 1))])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_as_one_by_one(dtype: torch.dtype, shapes: tuple[tuple[int, ...], ...]) -> None:
    where, one, other = drawn(shapes[0], torch.bool, 0), drawn(shapes[1], dtype, 1), drawn(shapes[2], dtype, 2)
    given, beside = one.expand(shapes[0]), other.expand(shapes[0])
    places = where.nonzero(as_tuple=True)
    expected = bits(beside).clone().reshape(*shapes[0], -1)
    expected[places] = bits(given).reshape(*shapes[0], -1)[places]
    assert torch.equal(bits(chosen(where, one, other)).reshape(expected.shape), expected)


def test_one_for_all_lanes() -> None:
    where, one = drawn((ROWS, 64), torch.bool, 0), drawn((ROWS, 64), torch.int32, 1)
    assert torch.equal(chosen(where, one, torch.tensor(7, dtype=torch.int32)), one.where(where, 7))


def test_lanes_of_all_programs() -> None:
    where, one = drawn((ROWS, 1), torch.bool, 0).expand(ROWS, 64), drawn((1, 64), torch.int32, 1)
    assert torch.equal(chosen(where, one, torch.tensor(7, dtype=torch.int32)), one.where(where, 7))
