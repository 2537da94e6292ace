"""Whether the host code makes a launch in which a parameter is such a number."""

from __future__ import annotations

from tests.queries.kernels import flows
from tritonaudit.queries.admits import admits
from tritonaudit.queries.answer import Refuted, Unknown

TEXT = """
def is_power_of_2(n):
    return (n & (n - 1)) == 0

def tile_for(length):
    if length < 128:
        assert is_power_of_2(length)
        return length
    return 64

@triton.jit
def kernel(x_ptr, TILE: tl.constexpr):
    offsets = tl.program_id(0) * TILE + tl.arange(0, TILE)
    tl.store(x_ptr + offsets, 0.0)

def run(x, tile=None):
    batch, length, width = x.shape
    tile = tile_for(length) if tile is None else tile
    kernel[(batch,)](x, TILE=tile)
"""


def is_no_power(number: int) -> bool:
    return number & (number - 1) != 0


def test_a_number_that_callers_choose_says_nothing_of_the_size_that_is_passed_otherwise() -> None:
    (flow,) = flows(TEXT)
    passed = {str(site.argument("TILE")) for site in flow.launches.sites}
    assert {"tile", "x.shape[1]"} <= passed
    assert isinstance(admits(flow, "TILE", is_no_power, "tile"), Refuted)
    assert admits(flow, "TILE", is_no_power, "x.shape[1]") == Unknown(
        "no launch that was tried has such a number", True
    )


def test_any_launch_counts_where_it_is_not_said_what_is_passed() -> None:
    (flow,) = flows(TEXT)
    assert isinstance(admits(flow, "TILE", is_no_power), Refuted)
