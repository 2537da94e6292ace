"""Tiles that are spread over too few threads."""

from __future__ import annotations

import pytest

from tests.queries.kernels import flow
from tritonaudit.queries.tile_needs import large_tiles

ROW = "lanes = tl.arange(0, BLOCK)\nx = tl.load(x_ptr + lanes)\ntl.store(y_ptr + lanes, x)"
TILE = """\
rows, columns = tl.arange(0, BLOCK), tl.arange(0, 256)
x = tl.load(x_ptr + rows[:, None] * 256 + columns[None, :])
"""
COPY = TILE + "tl.store(y_ptr + rows[:, None] * 256 + columns[None, :], x)"
PRODUCT = TILE + "out = tl.dot(x, tl.trans(x))"


def per_thread(body: str, launch: str = "BLOCK=256", decorators: str = "", host: str = "pass") -> list[int]:
    """The elements per thread of what no thread can hold."""
    after = f"def run(x, y, n, m, block, warps):\n    {host}\n    kernel[(1,)](x, y, n, m, 1, {launch}, FLAG=x.flag)"
    before = decorators and f"{decorators}\n"
    return [tile.per_thread for tile in large_tiles(flow(body, before, after))]


@pytest.mark.parametrize(
    ("body", "launch", "expected"),
    [
        (ROW, "BLOCK=65536", 512),
        (ROW, "BLOCK=32768, num_warps=2", 512),
        (COPY, "BLOCK=256", 512),
        (COPY, "BLOCK=128, num_warps=2", 512),
        (PRODUCT, "BLOCK=256", 512),
        (PRODUCT, "BLOCK=256, num_warps=8", 256),
    ],
)
def test_more_than_a_thread_holds(body: str, launch: str, expected: int) -> None:
    assert per_thread(body, launch) == [expected]


@pytest.mark.parametrize(
    ("body", "launch"),
    [
        (ROW, "BLOCK=32768"),
        (ROW, "BLOCK=65536, num_warps=8"),
        (ROW, "BLOCK=65536, num_warps=warps"),
        (ROW, "BLOCK=65536, num_ctas=2"),
        (ROW, "BLOCK=65536, waves_per_eu=2"),
        (ROW, "BLOCK=65536, kpack=x.kpack"),
        (ROW, "BLOCK=65536, **x.options"),
        (ROW, "BLOCK=block"),
        (COPY, "BLOCK=128"),
        (COPY, "BLOCK=256, num_warps=8"),
        (TILE + "tl.store(y_ptr + rows, tl.sum(x, 1))", "BLOCK=256"),
        (COPY.replace("tl.store", "if FLAG:\n    tl.store"), "BLOCK=256"),
        (PRODUCT, "BLOCK=128"),
        (TILE + "if FLAG:\n    out = tl.dot(x, tl.trans(x))", "BLOCK=256"),
        (TILE + "out = tl.dot(x, tl.trans(x), out_dtype=tl.float16)", "BLOCK=256"),
    ],
)
def test_what_fits_or_is_not_known(body: str, launch: str) -> None:
    assert per_thread(body, launch) == []


def test_a_name_of_the_wrapper_is_looked_up() -> None:
    assert per_thread(ROW, "BLOCK=size", host="size = 65536") == [512]
    assert per_thread(ROW, "BLOCK=size", host="size = 65536 if n else 1") == []


def test_each_config_for_itself() -> None:
    configs = "triton.Config({'BLOCK': 65536}), triton.Config({'BLOCK': 65536}, num_warps=32)"
    tuned = f"@triton.autotune(configs=[{configs}], key=['n'])"
    assert tuned_per_thread(tuned) == [(512, True)]
    assert tuned_per_thread("@triton.autotune(configs=[triton.Config({'BLOCK': 65536})], key=['n'])") == [(512, False)]


@pytest.mark.parametrize(
    "decorators",
    [
        "@triton.autotune(configs=[triton.Config({'BLOCK': 65536}, num_warps=w) for w in (4, 8)], key=['n'])",
        "@other\n@triton.autotune(configs=[triton.Config({'BLOCK': 65536})], key=['n'])",
    ],
)
def test_what_decorators_make_of_it_is_not_known(decorators: str) -> None:
    assert tuned_per_thread(decorators) == []


def test_a_heuristic_may_choose_the_warps() -> None:
    assert per_thread(ROW, "BLOCK=65536", "@triton.heuristics({'num_warps': lambda args: 8})") == []


def tuned_per_thread(decorators: str) -> list[tuple[int, bool]]:
    """The same of a kernel with these decorators, and whether there are other configs."""
    after = "def run(x, y, n, m):\n    kernel[(1,)](x, y, n, m, 1, FLAG=x.flag)\n"
    found = large_tiles(flow(ROW, decorators, after))
    return [(tile.per_thread, tile.setting.is_one_of_many) for tile in found]
