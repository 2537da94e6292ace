"""Which lanes of an access run past the end of a tensor, and why that is known."""

from __future__ import annotations

import textwrap

import pytest

from tests.queries.kernels import flow
from tritonaudit.finding import Confidence
from tritonaudit.queries.unbounded import Unbounded, unbounded_lane

TILE = "offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
LAUNCH = """
def run(x, y, n, m):
    {before}
    kernel[{grid}](x, y, n, m, 1, {block}, True)
"""


def host(grid: str, block: str = "64", before: str = "pass") -> str:
    return LAUNCH.format(grid=grid, block=block, before=before)


def unbounded(body: str, after: str = "", before: str = "") -> dict[str, Unbounded]:
    """What is found, by the text of the access."""
    found = flow(body, before, after)
    all_of_them = ((access, unbounded_lane(found, access)) for access in found.accesses)
    return {found.tree.code(access.node): why for access, why in all_of_them if why is not None}


def test_a_lane_that_another_access_masks_is_unbounded() -> None:
    found = unbounded(TILE + "tl.load(x_ptr + offs)\ntl.store(y_ptr + offs, 1, mask=offs < n)")
    (why,) = found.values()
    assert list(found) == ["tl.load(x_ptr + offs)"]
    assert (why.index, why.confidence) == ("offs", Confidence.HIGH)
    assert why.sibling is not None


def test_a_mask_that_is_none_bounds_nothing() -> None:
    assert unbounded(TILE + "tl.load(x_ptr + offs, mask=None)\ntl.store(y_ptr + offs, 1, mask=offs < n)")


@pytest.mark.parametrize(
    "load",
    [
        "tl.load(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))",
        "tl.load((x_ptr + tl.program_id(0) * BLOCK) + tl.arange(0, BLOCK))",
        "tl.load(x_ptr + offs * stride)",
        "tl.load(x_ptr + m * stride + offs)",
        "tl.load(x_ptr + offs[:, None] * stride + tl.arange(0, 16)[None, :])",
    ],
)
def test_an_index_is_the_same_however_it_is_used(load: str) -> None:
    assert load in unbounded(TILE + f"{load}\ntl.store(y_ptr + offs, 1, mask=offs < n)")


@pytest.mark.parametrize(
    "body",
    [
        "tl.load(x_ptr + offs, mask=offs < n)\ntl.store(y_ptr + offs, 1, mask=offs < n)",
        "tl.load(x_ptr + offs, mask=unknown(offs))\ntl.store(y_ptr + offs, 1, mask=offs < n)",
        "tl.load(x_ptr + offs % n)\ntl.store(y_ptr + offs, 1, mask=offs < n)",
        "tl.load(x_ptr + tl.minimum(offs, n - 1))\ntl.store(y_ptr + offs, 1, mask=offs < n)",
        "tl.load(x_ptr + n)\ntl.store(y_ptr + offs, 1, mask=offs < n)",
        "tl.load(x_ptr + unknown(offs))\ntl.store(y_ptr + offs, 1, mask=offs < n)",
        "if FLAG:\n    tl.load(x_ptr + offs)\nelse:\n    tl.load(x_ptr + offs, mask=offs < n)",
    ],
)
def test_what_something_bounds_is_not_found(body: str) -> None:
    assert [why for why in unbounded(TILE + body).values() if why.confidence is not Confidence.LOW] == []


def test_a_test_of_the_whole_tile_stands_for_the_mask() -> None:
    body = "if tl.program_id(0) * BLOCK + BLOCK <= n:\n    tl.load(x_ptr + offs)\n"
    assert unbounded(TILE + body + "tl.store(y_ptr + offs, 1, mask=offs < n)") == {}


@pytest.mark.parametrize(
    ("grid", "block"),
    [
        ("(triton.cdiv(n, 64),)", "64"),
        ("((n + 63) // 64,)", "64"),
        ("lambda meta: (triton.cdiv(n, meta['BLOCK']),)", "size"),
        ("(triton.cdiv(n, size),)", "size"),
    ],
)
def test_a_grid_that_is_rounded_up_leaves_the_last_tile_partial(grid: str, block: str) -> None:
    found = unbounded(TILE + "tl.load(x_ptr + offs)", host(grid, block))
    (why,) = found.values()
    assert why.confidence is Confidence.MEDIUM
    assert why.host is not None


@pytest.mark.parametrize(
    ("grid", "before"),
    [
        ("(n // 64,)", "pass"),
        ("(triton.cdiv(n, 64),)", "assert n % 64 == 0"),
        ("(triton.cdiv(n, 32),)", "pass"),
        ("(n,)", "pass"),
    ],
)
def test_a_grid_of_full_tiles_is_trusted(grid: str, before: str) -> None:
    found = unbounded(TILE + "tl.load(x_ptr + offs)", host(grid, before=before))
    assert {why.confidence for why in found.values()} <= {Confidence.LOW}


@pytest.mark.parametrize(("block", "confidences"), [(1, set()), (2, {Confidence.MEDIUM})])
def test_a_tile_of_one_element_is_whole(block: int, confidences: set[Confidence]) -> None:
    configs = f"triton.Config({{'BLOCK': 1}}), triton.Config({{'BLOCK': {block}}}, num_warps=8)"
    tuned = f"@triton.autotune([{configs}], key=['n'])"
    launch = "def run(x, y, n):\n    kernel[lambda meta: (triton.cdiv(n, meta['BLOCK']),)](x, y, n, 1, 1, FLAG=1)\n"
    found = unbounded(TILE + "tl.load(x_ptr + offs)\n", launch, tuned)
    assert {why.confidence for why in found.values()} == confidences


def test_whether_a_loop_ends_in_a_partial_tile_is_for_the_launch_to_say() -> None:
    body = "for k in range(0, n, BLOCK):\n    tl.load(x_ptr + k + tl.arange(0, BLOCK))\n"
    assert {why.confidence for why in unbounded(body, host("(1,)")).values()} == {Confidence.LOW}


def test_a_bumped_pointer_is_found_as_the_index_is() -> None:
    body = """
    cols = tl.arange(0, BLOCK)
    p = x_ptr + cols
    for k in range(0, n, BLOCK):
        tl.load(p)
        tl.store(y_ptr + k + cols, 1, mask=k + cols < n)
        p += BLOCK
    """
    assert list(unbounded(textwrap.dedent(body))) == ["tl.load(p)"]


@pytest.mark.parametrize(("block", "found"), [("triton.next_power_of_2(n)", True), ("64", False), ("n", False)])
def test_a_tile_that_the_launch_rounds_up_is_larger_than_the_data(block: str, found: bool) -> None:
    assert bool(unbounded("tl.load(x_ptr + tl.arange(0, BLOCK))", host("(1,)", block))) is found


def test_one_axis_may_be_bounded_and_the_other_not() -> None:
    body = """
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    cols = tl.program_id(1) * 32 + tl.arange(0, 32)
    tl.load(x_ptr + rows[:, None] * m + cols[None, :], mask=rows[:, None] < n)
    tl.load(y_ptr + cols, mask=cols < m)
    """
    (why,) = unbounded(textwrap.dedent(body)).values()
    assert why.index == "cols"


BLOCKS = """
p = tl.make_block_ptr(x_ptr, (n,), (1,), (tl.program_id(0) * BLOCK,), (BLOCK,), (0,))
q = tl.make_block_ptr(y_ptr, (n,), (1,), (tl.program_id(0) * BLOCK,), (BLOCK,), (0,))
tl.load(p{first})
tl.store(q, 1{second})
"""


@pytest.mark.parametrize(
    ("first", "second", "count"),
    [("", ", boundary_check=(0,)", 1), (", boundary_check=(0,)", ", boundary_check=(0,)", 0), ("", "", 0)],
)
def test_a_block_pointer_is_compared_with_those_that_are_checked(first: str, second: str, count: int) -> None:
    assert len(unbounded(BLOCKS.format(first=first, second=second))) == count


def test_what_is_reported_does_not_depend_on_the_order_of_the_accesses() -> None:
    one, other = "tl.load(x_ptr + offs)\n", "tl.store(y_ptr + offs, 1, mask=offs < n)\n"
    assert list(unbounded(TILE + one + other)) == list(unbounded(TILE + other + one))


def test_a_scalar_has_no_lanes() -> None:
    found = flow("tl.load(x_ptr + tl.program_id(0))\ntl.store(y_ptr + tl.program_id(0), 1, mask=tl.program_id(0) < n)")
    assert [unbounded_lane(found, access) for access in found.accesses] == [None, None]
