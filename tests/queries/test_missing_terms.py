"""Terms that an address lacks."""

from __future__ import annotations

import pytest

from tests.queries.kernels import flow
from tritonaudit.queries.missing_terms import missing_term

LOOP = "lanes = tl.arange(0, BLOCK)\nfor k in range(0, n, BLOCK):\n    tl.load({}, mask={})\n"
BLOCKS = """
pid = tl.program_id(0)
p = tl.make_block_ptr(x_ptr, (n,), (1,), ({},), (BLOCK,), (0,))
q = tl.make_block_ptr(y_ptr, (n,), (1,), ({},), (BLOCK,), (0,))
tl.store(q, tl.load(p))
"""


def missing(body: str) -> list[str]:
    """What is said of the accesses that lack a term."""
    found = flow(body)
    return [lack.remedy for access in found.accesses if (lack := missing_term(found, access)) is not None]


def test_a_start_needs_the_stride_of_its_lanes() -> None:
    assert missing(LOOP.format("x_ptr + k + lanes * stride", "k + lanes < n")) == ["multiply `k` by `stride`, too"]


@pytest.mark.parametrize(
    ("pointer", "mask"),
    [
        ("x_ptr + (k + lanes) * stride", "k + lanes < n"),
        ("x_ptr + k + lanes", "k + lanes < n"),
        ("x_ptr + k + lanes * stride", "lanes < n"),
        ("x_ptr + k * m + lanes * stride", "k + lanes < n"),
        ("x_ptr + k + (k + lanes) * stride", "k + lanes < n"),
    ],
)
def test_a_start_that_is_scaled_or_is_no_part_of_the_index(pointer: str, mask: str) -> None:
    assert missing(LOOP.format(pointer, mask)) == []


def test_a_store_at_the_first_tile_of_what_is_loaded_by_tiles() -> None:
    at = "BLOCK * tl.program_id(0)"
    assert missing(BLOCKS.format("pid * BLOCK", "0")) == [f"put `{at}` in the place of the offset 0"]
    assert missing(BLOCKS.format("pid * BLOCK", "pid * BLOCK")) == []
    assert missing(BLOCKS.format("0", "pid * BLOCK")) == []
    assert missing(BLOCKS.format("0", "0")) == []


HEADS = """
row, head = tl.program_id(0), tl.program_id(1)
lanes = tl.arange(0, BLOCK)
tl.load(x_ptr + row * n * m + head * m + lanes)
tl.load({} + row * n * m + head * m + lanes)
"""


def test_rows_of_heads_of_which_the_first_is_taken() -> None:
    lacking = "tl.load(stride + row * n * m + lanes)"
    assert missing(HEADS.format("y_ptr") + lacking) == ["add `tl.program_id(1) * m`"]
    assert missing(HEADS.format("x_ptr") + lacking) == []  # one tensor shows too little
    assert missing(HEADS.format("y_ptr") + lacking.replace("lanes", "lanes + head // 2")) == []


@pytest.mark.parametrize(
    ("passed", "latent"),
    [
        ("x.stride(-1)", True),
        ("x.stride(1)", True),
        ("x.stride(0)", False),
        ("n", False),
    ],
)
def test_the_last_stride_is_mostly_1(passed: str, latent: bool) -> None:
    body = """\
        rows = tl.arange(0, BLOCK)
        for k in range(0, n, BLOCK):
            tl.load(x_ptr + k + rows * stride, mask=rows < n - k)
        """
    launch = (
        f"def run(x, y, n):\n    m, n = x.shape\n    kernel[(1,)](x, y, n, x.stride(0), {passed}, BLOCK=64, FLAG=1)\n"
    )
    found = flow(body, after=launch)
    (fault,) = [missing for access in found.accesses if (missing := missing_term(found, access)) is not None]
    assert fault.latent is latent
