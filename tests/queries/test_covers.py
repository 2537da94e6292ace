"""Grids that do not reach the end of what the kernel's masks speak of, shown by numbers."""

from __future__ import annotations

import textwrap

import pytest

from tests.queries.kernels import flow, flows
from tritonaudit.domains.facts import KernelFlow
from tritonaudit.queries.answer import Proven, Refuted, Unknown
from tritonaudit.queries.covers import Answer, Short, covers, tilings

BODY = """\
offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
x = tl.load(x_ptr + offsets, mask=offsets < n)
tl.store(y_ptr + offsets, x, mask=offsets < n)
"""
WITH_A_NUMBER = BODY.replace("BLOCK", "128")
OF_TWO_AXES = """\
rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
mask = (rows[:, None] < n) & (cols[None, :] < m)
tl.store(y_ptr + rows[:, None] * m + cols[None, :], 1, mask=mask)
"""


def answers(kernel: KernelFlow) -> list[Answer]:
    """The answer for each launch and axis."""
    split = list(tilings(kernel.accesses))
    sites = kernel.launches.sites
    return [covers(kernel.launches.host, site, tiling, split) for site in sites for tiling in split]


def launched(grid: str, *lines: str, body: str = BODY, parameters: str = "x, y, n, m", given: str = "128") -> str:
    host = "\n".join(f"    {line}" for line in lines or ("pass",))
    return f"def run({parameters}):\n{host}\n    kernel[{grid}](x, y, n, m, 1, BLOCK={given}, FLAG=x.flag)\n"


def asked(grid: str, *lines: str, body: str = BODY) -> list[Answer]:
    return answers(flow(body, after=launched(grid, *lines)))


def short(found: list[Answer]) -> Refuted[Short]:
    """The one refutation among the answers."""
    (refuted,) = [answer for answer in found if isinstance(answer, Refuted)]
    return refuted


@pytest.mark.parametrize(
    "grid",
    ["(n // 128,)", 'lambda meta: (n // meta["BLOCK"],)', "lambda meta: [n // meta['BLOCK']]", "(n >> 7,)"],
)
@pytest.mark.parametrize("body", [BODY, WITH_A_NUMBER])
def test_rounded_down(grid: str, body: str) -> None:
    found = short(asked(grid, body=body))
    assert found.sizes == {"n": 129}
    assert (found.shown.programs, found.shown.covered, found.shown.bound, found.shown.step) == (1, 128, 129, 128)


@pytest.mark.parametrize("block", ["256", "size"])
@pytest.mark.parametrize("body", [BODY, WITH_A_NUMBER])
def test_by_a_larger_block_than_a_program_does(block: str, body: str) -> None:
    found = short(asked(f"(triton.cdiv(n, {block}),)", "size = 256", body=body))
    assert (found.shown.programs, found.shown.covered, found.shown.bound) == (2, 256, 257)


def test_of_the_size_of_another_axis() -> None:
    found = short(asked("(triton.cdiv(n, 128), triton.cdiv(n, 128))", body=OF_TWO_AXES))
    assert found.shown.tiling.axis == 1
    assert found.shown.bound == found.sizes["m"]


@pytest.mark.parametrize(
    ("grid", "lines"),
    [
        ("(triton.cdiv(n, 128), triton.cdiv(m, 128))", ()),
        ("(triton.cdiv(n, 128), triton.cdiv(n, 128))", ("assert n == m",)),
        ("(triton.cdiv(n, 128), triton.cdiv(n, 128))", ("if n != m:", "    raise ValueError")),
    ],
)
def test_both_axes(grid: str, lines: tuple[str, ...]) -> None:
    assert asked(grid, *lines, body=OF_TWO_AXES) == [Proven(), Proven()]


@pytest.mark.parametrize(
    ("grid", "lines"),
    [
        ("(triton.cdiv(n, 128),)", ()),
        ("((n + 127) // 128,)", ()),
        ("((n + size - 1) // size,)", ("size = 128",)),
        ("(-(-n // 128),)", ()),
        ("(math.ceil(n / 128),)", ("import math",)),
        ("(n // 128 + 1,)", ()),
        ("(triton.cdiv(n, 64),)", ()),
        ("(max(triton.cdiv(n, 128), 1),)", ()),
        ("(triton.next_power_of_2(triton.cdiv(n, 128)),)", ()),
        ("(n // 128,)", ("assert n % 128 == 0",)),
        ("(n // 128,)", ("assert not n % 128, n",)),
        ("(n // 128,)", ("if n % 128:", "    return None")),
        ("(n // 128,)", ("if n % 128 != 0 or n > m:", "    raise ValueError(n)")),
        ("(n // 128,)", ("n = 4096",)),
        ("(n // 128,)", ("n = triton.cdiv(m, 128) * 128",)),
    ],
)
def test_grids_that_reach_the_end(grid: str, lines: tuple[str, ...]) -> None:
    assert asked(grid, *lines) == [Proven()]


@pytest.mark.parametrize(
    ("grid", "lines"),
    [
        ("(n // 128,)", ("n = pad(n)",)),
        ("(n // 128,)", ("if not fits(n):", "    raise ValueError")),
        ("(triton.cdiv(n, m),)", ()),
        ("(m // 128,)", ()),
        ("(count(n),)", ()),
        ("(x.numel() // 128,)", ()),
        ("m", ()),
    ],
)
def test_grids_of_which_too_little_is_known(grid: str, lines: tuple[str, ...]) -> None:
    (answer,) = asked(grid, *lines)
    assert isinstance(answer, Unknown)


def test_what_every_caller_passes_counts() -> None:
    kernel = launched("(n // 128,)")
    rounds = "def outer(x, y, n):\n    run(x, y, triton.cdiv(n, 128) * 128, 1)\n"
    passes = "def plain(x, y, n):\n    return run(x, y, n, m=2)\n"
    assert answers(flow(BODY, after=kernel + rounds)) == [Proven()]
    assert short(answers(flow(BODY, after=kernel + rounds + passes))).sizes == {"n": 129}


def test_the_configs_of_an_autotuner() -> None:
    def tuned(block: str) -> list[Answer]:
        decorator = "@triton.autotune(configs=[triton.Config({'BLOCK': b}) for b in (64, 128)], key=['n'])"
        parameters = "x_ptr, y_ptr, n, m, stride, BLOCK: tl.constexpr, FLAG: tl.constexpr"
        kernel = f"{decorator}\n@triton.jit\ndef kernel({parameters}):\n" + textwrap.indent(BODY, "    ")
        host = f"    kernel[lambda meta: (triton.cdiv(n, {block}),)](x, y, n, 1, 1, FLAG=1)\n"
        return answers(flows(f"{kernel}\n\ndef run(x, y, n):\n{host}")[0])

    assert tuned("meta['BLOCK']") == [Proven()]
    assert short(tuned("128")).shown.step == 64


def test_a_kernel_that_loops_over_the_rest() -> None:
    body = """\
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        tl.store(y_ptr + offsets, 1, mask=offsets < n)
    """
    assert not asked("(n // 128,)", body=body)


def test_a_program_that_does_several_tiles() -> None:
    body = """\
    start = tl.program_id(0) * 2 * BLOCK
    for part in tl.static_range(2):
        offsets = start + part * BLOCK + tl.arange(0, BLOCK)
        tl.store(y_ptr + offsets, 1, mask=offsets < n)
    first = start + tl.arange(0, BLOCK)
    tl.store(y_ptr + first, 1, mask=first < n)
    """
    assert not any(isinstance(answer, Refuted) for answer in asked("(triton.cdiv(n, 256),)", body=body))


def test_a_kernel_without_a_mask_may_be_for_whole_tiles() -> None:
    body = "offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\ntl.store(y_ptr + offsets, 1)"
    assert not asked("(n // 128,)", body=body)


@pytest.mark.parametrize(
    ("test", "found"),
    [("full * 128 == n", 0), ("n == 128 * full", 0), ("full == n", 1), ("m", 1), ("m == full * 128", 1)],
)
def test_a_test_that_the_tiles_are_whole_around_the_launch(test: str, found: int) -> None:
    launch = f"def run(x, y, n, m, full):\n    if {test}:\n        kernel[(n // 128,)](x, y, n, m, 1, BLOCK=128)\n"
    given = answers(flow(BODY, after=launch))
    assert sum(isinstance(answer, Refuted) for answer in given) == found
