"""Whether a launch may have more than one program along an axis."""

from __future__ import annotations

import pytest

from tests.queries.kernels import flows
from tritonaudit.queries.launched import may_exceed_one

KERNEL = """\
{decorators}@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, 1)


def run(x, y, n, splits, rows=1):
    {lines}
    kernel[{grid}](x, n{block})
"""


def has_several(grid: str, *lines: str, decorators: str = "") -> bool:
    block = "" if decorators else ", BLOCK=BLOCK"
    text = KERNEL.format(grid=grid, lines="\n    ".join(lines or ("pass",)), decorators=decorators, block=block)
    (kernel,) = flows("import torch\n" + text)
    (site,) = kernel.launches.sites
    return may_exceed_one(kernel.launches.host, site, site.axis(0))


MATRIX = "M, N = x.shape"
HEADS = "B, T, H, D = x.shape"


TUNED = '@triton.autotune(configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})], key=["n"])\n'
TUNED_ELSEWHERE = '@triton.autotune(configs=configs(), key=["n"])\n'
PRUNED = '@triton.autotune(configs=configs(), key=["n"], prune_configs_by={"early_config_prune": one_tile})\n'
HEURISTIC = '@triton.heuristics({"BLOCK": lambda args: triton.next_power_of_2(args["n"])})\n'


@pytest.mark.parametrize(
    ("grid", "lines", "decorators"),
    [
        ("(M,)", (MATRIX,), ""),
        ("(4,)", (), ""),
        ("(n,)", (), ""),
        ("(B * H,)", (HEADS,), ""),
        ("(triton.cdiv(N, 128),)", (MATRIX,), ""),
        ("(tiles,)", (MATRIX, "BLOCK = min(N, 32)", "tiles = triton.cdiv(N, BLOCK)"), ""),
        ('lambda META: (triton.cdiv(n, META["BLOCK"]),)', (), TUNED),
        ('lambda META: (triton.cdiv(n, META["BLOCK"]),)', (), TUNED_ELSEWHERE),
    ],
)
def test_an_axis_with_several_programs(grid: str, lines: tuple[str, ...], decorators: str) -> None:
    assert has_several(grid, *lines, decorators=decorators)


@pytest.mark.parametrize(
    ("grid", "lines", "decorators"),
    [
        ("(1, 1, 1)", (), ""),
        ("(rows,)", (), ""),
        ("(count(x),)", (), ""),
        ("(tiles,)", (MATRIX, "tiles = triton.cdiv(N, 128)", "assert tiles == 1"), ""),
        ("(tiles,)", (MATRIX, "tiles = triton.cdiv(N, 128)", "if tiles > 1:", "    raise ValueError"), ""),
        ("(triton.cdiv(N, BLOCK),)", (MATRIX, "BLOCK = triton.next_power_of_2(N)"), ""),
        ("(triton.cdiv(N, BLOCK),)", (MATRIX, "BLOCK = max(N, 16)"), ""),
        ('(triton.cdiv(n, META["BLOCK"]),)', (), HEURISTIC),
        ('(triton.cdiv(n, META["BLOCK"]),)', (), PRUNED),
        ("(min(n, count(x)),)", (), ""),
    ],
)
def test_an_axis_that_may_have_one_program(grid: str, lines: tuple[str, ...], decorators: str) -> None:
    assert not has_several(grid, *lines, decorators=decorators)
