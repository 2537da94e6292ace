"""How far bounded accesses go in the tensors that launches pass."""

from __future__ import annotations

import pytest

from tests.queries.kernels import flows
from tritonaudit.queries.overruns import overruns

KERNEL = """
@triton.jit
def kernel(x_ptr, out_ptr, T, D, G, BLOCK: tl.constexpr):
    row, group = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.program_id(1)
    x = tl.load(x_ptr + (row * {stride} + group) * D, mask=row < {bound})
    tl.store(out_ptr + row, x, mask=row < T)

def launch(x, groups, out):
    {sizes}
    kernel[(triton.cdiv(T, 64), G)](x, out, T, D, G, BLOCK=64)
"""
BLOCKS = """
@triton.jit
def kernel(x_ptr, T, G: tl.constexpr, D: tl.constexpr, BT: tl.constexpr, BD: tl.constexpr):
    end = min(tl.program_id(0) * BT + BT, {bound})
    p_x = tl.make_block_ptr(x_ptr + tl.program_id(1) * D, (end, D), (G * D, 1), (0, 0), (BT, BD), (1, 0))
    x = tl.load(p_x, boundary_check=(0, 1))

def launch(m, d, groups):
    x = torch.empty((m, d), device="cuda")
    kernel[(triton.cdiv(m, 64), groups)](x, m, groups, d, BT=64, BD=128)
"""
UNPACKED = "T, D, G = *x.shape, groups"


def found(text: str) -> list[tuple[str, str, str]]:
    """Bound, stride and how many times too far."""
    return [(str(o.bound), str(o.stride), o.times) for flow in flows(text) for o in overruns(flow)]


@pytest.mark.parametrize(
    ("stride", "bound", "sizes", "expected"),
    [
        ("G", "T", UNPACKED, [("T", "D * G", "G")]),
        ("G", "T", "T, D = x.shape; G = groups", [("T", "D * G", "G")]),
        ("G", "T", "assert x.dim() == 2; T, D, G = x.shape[0], x.size(1), groups", [("T", "D * G", "G")]),
        ("G", "T", "T, D, G = x.shape[0], x.size(1), groups", []),  # there may be a third dimension
        ("G", "T", "T, D = x.shape[:2]; G = groups", []),
        ("G", "T // G", UNPACKED, []),
        ("1", "T", UNPACKED, []),
        ("G", "T", "T, D = x.shape; G = x.shape[1] // groups", []),  # computed from a size
        ("G", "T", "T, G, D = x.shape", []),
        ("G", "T", "x = x.view(-1, groups); T, D = x.shape; G = groups", [("T", "D * G", "D")]),
        ("G", "T", "T, D, G = out.shape[0], groups, groups", []),  # nothing tells the size of x
    ],
)
def test_a_bound_is_held_against_the_sizes_that_are_passed(
    stride: str, bound: str, sizes: str, expected: list[tuple[str, str, str]]
) -> None:
    assert found(KERNEL.format(stride=stride, bound=bound, sizes=sizes.replace("; ", "\n    "))) == expected


def test_a_block_pointer_goes_up_to_where_its_shape_is_cut_off() -> None:
    assert found(BLOCKS.format(bound="T")) == [("T", "G * D", "G")]
    assert found(BLOCKS.format(bound="T // G")) == []


def test_a_tensor_that_is_made_in_one_of_two_ways_has_no_known_shape() -> None:
    made = 'x = torch.empty((m, d), device="cuda")'
    ways = """x = torch.empty((m, d), device="cuda")
    if groups > 1:
        x = torch.empty((m, d, groups), device="cuda")"""
    assert found(BLOCKS.format(bound="T").replace(made, ways)) == []
