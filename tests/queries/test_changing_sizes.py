"""Which parameters are given a size that changes from call to call, though Triton compiles for it."""

from __future__ import annotations

import pytest

from tests.queries.kernels import flows
from tritonaudit.kernel.tuning import tuners
from tritonaudit.queries.changing_sizes import Changing, recompiling, sequence_counts

KERNEL = """\
{decorator}
def kernel(x_ptr, out_ptr, {parameter}, dim, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    {body}


def run(x, weight, out, offsets, size, seed):
    {lines}
    kernel[(1,)](x, out, {given}, 64, BLOCK=64)
"""
HEADS_LAST = "B, T, H, D = x.shape"
MATRIX = "M, N = x.shape"
ROUND = "tl.store(out_ptr + (pid + S - 1) % S, tl.load(x_ptr + pid))"
PLACE = "tl.store(out_ptr + pid % S * dim + pid // S, tl.load(x_ptr + pid))"
TILES = "here = pid * BLOCK + lanes\n    tl.store(out_ptr + here, tl.load(x_ptr + here, mask=here < S), mask=here < S)"
BLOCKS = """\
block = tl.make_block_ptr(x_ptr, (S, 64), (64, 1), (pid * 16, 0), (16, 64), (1, 0))
    tl.store(block, tl.load(block) * 2)"""
TURNS = "for row in range(pid, S, tl.num_programs(0)):\n        tl.store(out_ptr + row, tl.load(x_ptr + row))"
PARTS = "for row in range(pid * S, pid * S + S):\n        tl.store(out_ptr + row, tl.load(x_ptr + row))"
ROUNDS = "for row in range(S):\n        tl.store(out_ptr + row, tl.load(x_ptr + row))"
NOTHING = "tl.store(out_ptr + lanes, tl.load(x_ptr + lanes))"


def found(
    given: str,
    *lines: str,
    body: str = TILES,
    parameter: str = "S: tl.constexpr",
    decorator: str = "@triton.jit",
) -> list[Changing]:
    shown = "\n    ".join(lines or ("pass",))
    text = KERNEL.format(given=given, lines=shown, body=body, parameter=parameter, decorator=decorator)
    return [each.changes for each in recompiling(flows(text)[0])]


# -- what the host code passes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "lines"),
    [
        ("T", (HEADS_LAST,)),
        ("x.shape[-2]", ()),
        ("B * T", (HEADS_LAST,)),
        ("T * H", (HEADS_LAST,)),
        ("triton.cdiv(T, 64)", (HEADS_LAST,)),
        ("math.ceil(T / programs)", (HEADS_LAST, "import math", "programs = 8")),
        ("max(T, 16)", (HEADS_LAST,)),
        ("T + 1", (HEADS_LAST,)),
        ("int(T)", (HEADS_LAST,)),
        ("M", (MATRIX,)),
        ("hits", ("hits, heads = x.shape",)),
        ("M", ("x = x.reshape(-1, size)", "M = x.shape[0]")),
        ("x.numel()", ()),
        ("x.numel() // x.shape[-1]", ()),
        ("n", (HEADS_LAST, "n = T if size else B * T")),
    ],
)
def test_a_size_of_the_data_changes(given: str, lines: tuple[str, ...]) -> None:
    assert found(given, *lines) == [Changing.DATA]


@pytest.mark.parametrize(
    ("given", "lines"),
    [
        ("D", (HEADS_LAST,)),
        ("T", ("B, H, D, T = x.shape",)),
        ("N", (MATRIX,)),
        ("x.shape[-1]", ()),
        ("size", ()),
        ("16", ()),
        ("triton.next_power_of_2(T)", (HEADS_LAST,)),
        ("triton.cdiv(T, 2048)", (HEADS_LAST,)),
        ("triton.cdiv(triton.cdiv(T, 64), 32)", (HEADS_LAST,)),
        ("min(T, 64)", (HEADS_LAST,)),
        ("T % 16", (HEADS_LAST,)),
        ("T == 1", (HEADS_LAST,)),
        ("M", ("M, K = weight.shape",)),
        ("weight.numel()", ()),
        ("x.numel() // size", ()),
        ("x.numel() // M", (MATRIX,)),
        ("T", (HEADS_LAST, "T = triton.next_power_of_2(T)")),
    ],
)
def test_a_fixed_or_a_rounded_size_does_not(given: str, lines: tuple[str, ...]) -> None:
    assert found(given, *lines) == []


def test_the_first_size_of_weights_is_no_first_size_of_what_is_written() -> None:
    product = "a, b = x.shape", "c, b = weight.shape", "out = torch.empty((a, c))", "x, offsets = weight, x"
    assert found("c", *product) == []
    assert found("a", *product[:3]) == [Changing.DATA]


# -- what the kernel does with it ----------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [TILES, BLOCKS, ROUND])
def test_tiles_are_bounded_by_a_length_and_indices_are_wrapped_round_it(body: str) -> None:
    assert found("T", HEADS_LAST, body=body) == [Changing.DATA]


@pytest.mark.parametrize("body", [PLACE, TURNS, PARTS, ROUNDS])
def test_a_program_finds_its_place_among_heads_and_may_go_through_them(body: str) -> None:
    assert found("T", HEADS_LAST, body=body) == []


@pytest.mark.parametrize("body", [TILES, TURNS])
def test_programs_and_their_rounds_go_over_rows(body: str) -> None:
    assert found("M", MATRIX, body=body) == [Changing.DATA]


@pytest.mark.parametrize(("body", "given"), [(PARTS, "M // size"), (ROUNDS, "triton.cdiv(T, 64)")])
def test_a_part_of_them_is_one_program_s(body: str, given: str) -> None:
    assert found(given, MATRIX if "M" in given else HEADS_LAST, body=body) == [Changing.DATA]


def test_a_length_may_be_read_from_memory_for_some() -> None:
    body = (
        f"many = S\n    if dim > 1:\n        many = tl.load(out_ptr).to(tl.int32)\n    {TILES.replace('< S', '< many')}"
    )
    assert found("T", HEADS_LAST, body=body) == [Changing.DATA]


def test_a_helper_may_do_it() -> None:
    helper = "@triton.jit\ndef scaled(x_ptr, many: tl.constexpr, lanes):\n    {}\n\n\n@triton.jit"
    inside = "return tl.load(x_ptr + lanes, mask=lanes < many)"
    body = "tl.store(out_ptr + lanes, scaled(x_ptr, S, pid * BLOCK + lanes))"
    text = KERNEL.format(
        given="T", lines=HEADS_LAST, body=body, parameter="S: tl.constexpr", decorator=helper.format(inside)
    )
    assert [each.changes for flow in flows(text) for each in recompiling(flow)] == [Changing.DATA]


@pytest.mark.parametrize(
    "body",
    [
        "y = tl.arange(0, S)",
        "y = tl.zeros((S, 2), tl.float32)",
        "twice = S * 2\n    y = tl.arange(0, twice)",
        "y = tl.make_block_ptr(x_ptr, (4, 4), (4, 1), (0, 0), (S, 4), (1, 0))",
        "half: tl.constexpr = S // 2",
        "for y in tl.static_range(S):\n        pass",
        "y = elsewhere(x_ptr, S)",
    ],
)
def test_a_constant_that_a_shape_needs_is_not_found(body: str) -> None:
    assert found("M", MATRIX, body=f"{TILES}\n    {body}") == []


# -- batches, steps and what nothing reads -------------------------------------------------------------------------


def test_a_batch_is_distinguished() -> None:
    assert found("B", HEADS_LAST, body=PLACE) == [Changing.BATCH]
    assert found("len(offsets) - 1", body=PLACE) == [Changing.BATCH]


def test_a_batch_that_nothing_reads_is_one_whatever_it_is_called() -> None:
    assert found("B", HEADS_LAST, body=NOTHING) == [Changing.BATCH]
    assert found("heads", "heads, T, H, D = x.shape", body=NOTHING) == [Changing.BATCH]
    assert found("T", HEADS_LAST, body=NOTHING) == []


def test_random_numbers_are_drawn_with_a_seed() -> None:
    drawn = "tl.store(out_ptr + lanes, tl.rand(S, lanes))"
    assert found("seed", body=drawn) == [Changing.STEP]
    assert found("size", body=drawn) == [Changing.STEP]
    assert found("1234", body=drawn) == []
    assert found("seed", body=PLACE) == []


def test_a_plain_argument_is_found_only_where_it_is_a_quotient_that_nothing_reads() -> None:
    assert found("T // 128", HEADS_LAST, parameter="S") == []
    assert found("T", HEADS_LAST, parameter="S", body=NOTHING) == []
    assert found("H // 2", HEADS_LAST, parameter="S", body=NOTHING) == []
    assert found("T // 128", HEADS_LAST, parameter="S", body=NOTHING) == [Changing.DATA]
    apart = '@triton.jit(do_not_specialize=["S"])'
    assert found("T // 128", HEADS_LAST, parameter="S", body=NOTHING, decorator=apart) == []


def test_a_constant_of_the_key_is_tuned_for_each_value_on_purpose() -> None:
    decorator = '@triton.autotune(configs=[triton.Config({"A": 1})], key=["S"])\n@triton.jit'
    assert found("T", HEADS_LAST, decorator=decorator) == []


# -- keys ----------------------------------------------------------------------------------------------------------


def keyed(passed: str, *lines: str) -> list[str]:
    decorator = '@triton.autotune(configs=[], key=["S"])\n@triton.jit'
    shown = "\n    ".join((*lines, f"count = {passed}"))
    text = KERNEL.format(given="count", lines=shown, body=NOTHING, parameter="S", decorator=decorator)
    (flow,) = flows(text)
    ((autotune, _),) = tuners(flow.module, flow.function)
    return [each.name for each in sequence_counts(flow, autotune)]


@pytest.mark.parametrize("length", ["offsets.numel()", "len(offsets)", "offsets.shape[0]", "offsets.size(0)"])
def test_the_number_of_sequences_is_one_less_than_that_of_offsets(length: str) -> None:
    assert keyed(f"{length} - 1") == ["S"]
    assert keyed(f"many - one + 1 - {length} + {length} - 1", f"many = {length}", "one = 1") == ["S"]
    assert keyed(length) == []


@pytest.mark.parametrize(
    "passed",
    ["x.shape[1] - 1", "offsets.numel() - 2", "triton.next_power_of_2(len(offsets) - 1)", "x.shape[0] - x.shape[1]"],
)
def test_other_sizes_are_left_alone(passed: str) -> None:
    assert keyed(passed) == []


def test_the_rows_of_a_matrix_are_no_offsets() -> None:
    assert keyed("M - 1", MATRIX) == []


# -- edits that mean nothing ---------------------------------------------------------------------------------------

HALVED = """\
@triton.jit
def kernel(x_ptr, out_ptr, seq_len: tl.constexpr, dim, BLOCK: tl.constexpr):
    tokens = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tokens * dim, mask=tokens < seq_len)
    tl.store(out_ptr + tokens * dim, x * 0.5, mask=tokens < seq_len)
"""
WRAPPER = """\
def halved(x, out):
    batch, seq_len, dim = x.shape
    kernel[(triton.cdiv(seq_len, 64),)](x, out, seq_len, dim, BLOCK=64)
"""
SPLIT = """\
def halved(x, out):
    batch, seq_len, dim = x.shape
    return launched(x, out, dim, seq_len)


def launched(x, out, dim, seq_len):
    kernel[(triton.cdiv(seq_len, 64),)](x, out, seq_len, dim, BLOCK=64)
"""
KEYWORDS = """\
def halved(x, out):
    many = x.size(1)
    kernel[(triton.cdiv(many, 64),)](dim=x.size(2), seq_len=many, BLOCK=64, out_ptr=out, x_ptr=x)
"""


@pytest.mark.parametrize(
    "text",
    [
        HALVED + WRAPPER,
        (HALVED + WRAPPER).replace("seq_len", "v1").replace("batch", "v2").replace("halved", "f0"),
        (HALVED + WRAPPER).replace("seq_len", "heads"),
        HALVED + SPLIT,
        HALVED + KEYWORDS.replace("x.size(1)", "x.shape[-2]"),
        HALVED.replace("tokens < seq_len", "seq_len > tokens") + WRAPPER,
        HALVED.replace("    x = ", "    most = seq_len\n    few = tokens < most\n    x = ").replace(
            "tokens < s", "0 < s"
        )
        + WRAPPER,
    ],
)
def test_a_kernel_and_its_edited_twin_get_the_same(text: str) -> None:
    (flow,) = flows(text)
    ((changing),) = recompiling(flow)
    assert (changing.changes, changing.node.lineno, changing.unused) == (
        Changing.DATA,
        flow.function.first_line + 1,
        False,
    )
