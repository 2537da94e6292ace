"""How many programs the axes of a grid have at most, and whether they have more than one."""

from __future__ import annotations

import pytest

from tests.flow.kernels import flows
from tritonaudit.kernel.extents import counted_programs, long_axes
from tritonaudit.kernel.launch import LaunchFacts
from tritonaudit.kernel.programs import several_programs

KERNEL = """\
{decorators}@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, 1)


def run(x, y, n, splits, rows=1):
    {lines}
    kernel[{grid}](x, n{block})
"""


def launches(grid: str, *lines: str, decorators: str = "") -> LaunchFacts:
    block = "" if decorators else ", BLOCK=BLOCK"
    text = KERNEL.format(grid=grid, lines="\n    ".join(lines or ("pass",)), decorators=decorators, block=block)
    (kernel,) = flows(text)
    return kernel.launches


MATRIX = "M, N = x.shape"
HEADS = "B, T, H, D = x.shape"


@pytest.mark.parametrize(
    ("grid", "lines"),
    [
        ("(1, M)", (MATRIX,)),
        ("(1, 1, M)", (MATRIX,)),
        ("(1, x.shape[0])", (MATRIX,)),
        ("(1, x.size(0))", ("assert x.dim() == 2",)),
        ("(1, M)", ("M = x.size(0)", "stride = x.stride(1)")),
        ("(1, M)", ("M = x.shape[0]", "N = x.shape[-1]")),
        ("(1, M)", ("x = x.reshape(-1, n)", "M = x.shape[0]")),
        ("lambda meta: (1, M)", (MATRIX,)),
        ("(1, M + 1)", (MATRIX,)),
        ("(1, triton.cdiv(M, 4))", (MATRIX,)),
        ("(1, num_tokens)", ("num_tokens, H, D = x.shape",)),
        ("(1, T)", (HEADS,)),
        ("(1, seq_len)", ("B, H, seq_len, D = x.shape",)),
        ("(1, K)", ("K = x.numel() // n",)),
        ("(1, triton.cdiv(x.numel(), BLOCK))", (MATRIX,)),
    ],
)
def test_an_axis_of_rows_may_be_too_long(grid: str, lines: tuple[str, ...]) -> None:
    (found,) = long_axes(launches(grid, *lines))
    assert found.extent.counted


@pytest.mark.parametrize(
    ("line", "long"),
    [("use(block_tables)", 0), ("use(page_table)", 0), ("use(block_table, cu_seqlens)", 1), ("use(table)", 1)],
)
def test_rows_with_pages_of_their_own_are_the_sequences_of_a_batch(line: str, long: int) -> None:
    assert len(list(long_axes(launches("(1, num_tokens)", "num_tokens, H, D = x.shape", line)))) == long
    assert len(list(long_axes(launches("(1, B * H)", HEADS, line)))) == 1


@pytest.mark.parametrize(
    ("grid", "lines"),
    [
        ("(1, B * H)", (HEADS,)),
        ("(1, 1, H * B)", (HEADS,)),
        ("(1, B * HQ)", ("B, T, H, D, HQ = *x.shape, y.shape[2]",)),
        ("(1, N * H)", (HEADS, "N = B if y is None else len(y) - 1")),
        ("(1, x.shape[0] * x.shape[1])", (HEADS,)),
    ],
)
def test_sequences_times_heads_may_be_too_many(grid: str, lines: tuple[str, ...]) -> None:
    (found,) = long_axes(launches(grid, *lines))
    assert not found.extent.counted


@pytest.mark.parametrize(
    ("grid", "beside"),
    [
        ("(n, B * H)", False),
        ("(triton.cdiv(D, 64), B * H)", False),
        ("(T, B * H)", True),
        ("(triton.cdiv(T, 64), B * H)", True),
        ("(tiles, B * H)", True),
        ("(triton.cdiv(x.shape[1], 64), B * H)", True),
        ("(triton.cdiv(x.shape[0], 64), B * H)", False),
        ("(triton.cdiv(x.shape[3], 64), B * H)", False),
        ("(x.shape[1] // 64, B * H)", False),
    ],
)
def test_another_axis_may_split_the_sequences(grid: str, beside: bool) -> None:
    (found,) = long_axes(launches(grid, HEADS, "tiles = triton.cdiv(T, 64)"))
    assert found.beside_positions is beside


def test_a_launch_for_one_is_passed_over() -> None:
    one = launches("(1, M)", MATRIX, "if M == 1:", "    kernel[(1, M)](x, n, BLOCK=64)", "    return")
    (found,) = long_axes(one)
    assert found.launch is one.launches[1]


@pytest.mark.parametrize(
    ("grid", "lines"),
    [
        ("(M,)", (MATRIX,)),
        ("(M, 1)", (MATRIX,)),
        ("(1, N)", (MATRIX,)),
        ("(1, triton.cdiv(M, 64))", (MATRIX,)),
        ("(1, triton.cdiv(M, BLOCK))", (MATRIX,)),
        ("(1, M // 64)", (MATRIX,)),
        ("(1, B, H)", (HEADS,)),
        ("(1, batch)", ("batch, pages = x.shape",)),
        ("(1, B * n_chunks)", ("B, n_chunks, H, D = x.shape",)),
        ("(1, num_experts)", ("num_experts, N = x.shape",)),
        ("(1, splits)", ()),
        ("(1, n)", ()),
        ("(1, count(x))", ()),
        ("(1, x.numel())", ()),
        ("(1, min(M, 1024))", (MATRIX,)),
        ("(1, min(M, splits))", (MATRIX,)),
        ("(1, M)", (MATRIX, "assert M <= 65535")),
        ("(1, M)", (MATRIX, "if M > MAX_GRID_Y:", "    raise ValueError")),
        ("(1, M)", ("M = x.shape[0]", "M = M // 64")),
        ("(1, M)", (MATRIX, "short = M <= 512")),
        ("(1, N)", ("N, C = x.shape[0], x.shape[1]", "S = x.shape[2:]")),
        ("(1, N)", ("if x.dim() < 3:", "    return", "N, C = x.shape[0], x.shape[1]")),
        ("grid", ()),
    ],
)
def test_an_axis_that_is_short_or_not_known(grid: str, lines: tuple[str, ...]) -> None:
    assert not list(long_axes(launches(grid, *lines)))


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
        ('(triton.cdiv(n, META["BLOCK"]),)', (), TUNED),
        ('lambda META: (triton.cdiv(n, META["BLOCK"]),)', (), TUNED_ELSEWHERE),
    ],
)
def test_an_axis_with_several_programs(grid: str, lines: tuple[str, ...], decorators: str) -> None:
    found = several_programs(launches(grid, *lines, decorators=decorators))
    assert [axis for _, axis in found] == [0]


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
    assert not list(several_programs(launches(grid, *lines, decorators=decorators)))


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("row = tl.program_id(1)", ["row"]),
        ("token_idx = tl.program_id(axis=2).to(tl.int64)", ["token_idx"]),
        ("query_pos = tl.program_id(1)", ["query_pos"]),
        ("row = tl.program_id(0)", []),
        ("head = tl.program_id(1)", []),
        ("pid_row = tl.program_id(1)", []),
        ("row_block = tl.program_id(1)", []),
        ("row = tl.program_id(1)\n    for i in range(row, n, 8):\n        n += 1", []),
    ],
)
def test_a_name_tells_that_each_row_has_a_program(line: str, names: list[str]) -> None:
    (kernel,) = flows(f"@triton.jit\ndef kernel(x_ptr, n):\n    {line}\n    tl.store(x_ptr, 1)\n")
    assert [found.name for found in counted_programs(kernel.function, kernel.launches)] == names


def test_what_the_file_launches_is_told_by_the_launch() -> None:
    text = "@triton.jit\ndef kernel(x_ptr):\n    row = tl.program_id(1)\n    tl.store(x_ptr, row)\n\n\n"
    (kernel,) = flows(f"{text}def run(x):\n    kernel[(1, 4)](x)\n")
    assert not list(counted_programs(kernel.function, kernel.launches))
