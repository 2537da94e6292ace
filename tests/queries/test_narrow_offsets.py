"""Which offsets are computed in 32 bits, and how large they are taken to be."""

from __future__ import annotations

import textwrap

import libcst as cst
import pytest

from tests.queries.kernels import flows
from tritonaudit.queries.narrow_offsets import Cause, NarrowOffsets
from tritonaudit.queries.typical_sizes import bits_of_name

KERNEL = """
@triton.jit
def kernel({parameters}):
    {before}
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + {start} + lanes)
"""
PARAMETERS = "x_ptr, y_ptr, table_ptr, out_ptr, seq_len, num_heads, head_dim, stride_page, BLOCK: tl.constexpr"
HOST = """
def launch(x, y, table, out):
    table = table.to(torch.{dtype})
    kernel[{grid}](x, y, table, out, {seq_len}, x.shape[1], 128, x.stride(0), BLOCK=128)
"""


def offsets(start: str, before: str = "pass", **host: str) -> NarrowOffsets:
    """The offsets of a load at `start`; with `host` as a launch has it."""
    kernel = KERNEL.format(parameters=PARAMETERS, before=before, start=start)
    launch = HOST.format(**{"dtype": "int64", "grid": "(x.shape[0],)", "seq_len": "x.shape[2]", **host}) if host else ""
    (found,) = flows(kernel + launch)
    return NarrowOffsets(found)


def causes(start: str, before: str = "pass", **host: str) -> list[Cause]:
    """Why they are thought to wrap."""
    return [found.cause for found in offsets(start, before, **host).found()]


@pytest.mark.parametrize(
    ("start", "found"),
    [
        ("tl.program_id(0) * seq_len * num_heads * head_dim", [Cause.MANY]),
        ("tl.program_id(0) * (seq_len * num_heads * head_dim)", [Cause.MANY]),
        ("(tl.program_id(0) * seq_len * num_heads * head_dim).to(tl.int64)", [Cause.LATE]),
        ("tl.program_id(0).to(tl.int64) * seq_len * num_heads * head_dim", []),
        ("tl.cast(tl.program_id(0), tl.int64) * seq_len * num_heads * head_dim", []),
        ("tl.program_id(0) * head_dim", []),
        ("tl.program_id(0) % num_heads * num_heads * head_dim", []),
        ("tl.program_id(0) * stride_page", []),
    ],
)
def test_what_is_past_32_bits_in_tensors_of_real_sizes(start: str, found: list[Cause]) -> None:
    assert causes(start) == found


def test_a_kernel_that_widens_another_offset_is_told_so() -> None:
    wide = "y = tl.load(y_ptr + tl.program_id(1).to(tl.int64) * seq_len)"
    assert causes("tl.program_id(0) * seq_len * num_heads * head_dim", wide) == [Cause.UNEVEN]


def test_a_loaded_index_has_32_bits_where_the_host_code_says_so() -> None:
    page = "page = tl.load(table_ptr + tl.program_id(0))"
    assert causes("page * stride_page", page, dtype="int32") == [Cause.LOADED]
    assert causes("page * stride_page", page, dtype="int64") == []
    assert causes("page * stride_page", page) == []
    assert causes("page.to(tl.int64) * stride_page", page, dtype="int32") == []


CACHE = """
@triton.jit
def kernel({name}, table_ptr, stride_page, BLOCK: tl.constexpr):
    page = tl.load(table_ptr + tl.program_id(0))
    x = tl.load({name} + page * stride_page + tl.arange(0, BLOCK))
"""


@pytest.mark.parametrize(
    ("name", "found"),
    [("k_cache", [Cause.CACHED]), ("KV_Buffer", [Cause.CACHED]), ("x_ptr", []), ("k_cache_scale_ptr", [])],
)
def test_a_slot_of_a_cache_is_taken_for_32_bits_where_nothing_says_more(name: str, found: list[Cause]) -> None:
    (kernel,) = flows(CACHE.format(name=name))
    assert [offset.cause for offset in NarrowOffsets(kernel).found()] == found
    (kernel,) = flows(CACHE.format(name=name).replace("table_ptr", "head_map_ptr"))
    assert NarrowOffsets(kernel).found() == []  # heads are few


def test_a_factor_cast_from_floating_point_hides_no_other() -> None:
    before = "tile = tl.floor(tl.program_id(1) / 2).to(tl.int32)"
    start = "(tl.load(table_ptr) * num_heads + tile) * head_dim"
    assert causes(start, before, dtype="int32") == [Cause.LOADED]


ROWS = """
@triton.jit
def kernel(x_ptr, out_ptr, n, stride, BLOCK: tl.constexpr):
    {body}

def launch(x, out):
    kernel[{grid}](x, out, {n}, x.stride(0), BLOCK=1024)
"""


def of_rows(body: str, grid: str = "(x.shape[0],)", n: str = "x.shape[1]") -> list[Cause]:
    """Why the offsets of a kernel with these lines are thought to wrap."""
    (found,) = flows(ROWS.format(body="\n    ".join(body.split("; ")), grid=grid, n=n))
    return [offset.cause for offset in NarrowOffsets(found).found()]


ROW = "row = tl.program_id(0); cols = tl.arange(0, BLOCK); x = tl.load(x_ptr + row * stride + cols, mask=cols < n)"
TILE = "offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK); x = tl.load(x_ptr + offs, mask=offs < n)"
LOOP = (
    "for at in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK): "
    "x = tl.load(x_ptr + at + tl.arange(0, BLOCK), mask=at + tl.arange(0, BLOCK) < n)"
)


def test_a_grid_of_all_rows_makes_one_stride_enough() -> None:
    assert of_rows(ROW) == [Cause.ROWS]
    assert of_rows(ROW, grid="(8,)") == []
    assert of_rows(ROW.replace("tl.program_id(0)", "tl.program_id(0).to(tl.int64)")) == []
    assert of_rows("x = tl.load(x_ptr + tl.program_id(0) * stride)") == []  # a row of one number


def test_a_mask_of_all_elements_tells_how_far_tiles_go() -> None:
    assert of_rows(TILE, n="x.numel()") == [Cause.ELEMENTS]
    assert of_rows(TILE, n="x.shape[1]") == []
    assert of_rows(TILE, n="ids.numel()") == []
    assert of_rows(TILE, n="x.numel()", grid="(min(triton.cdiv(x.numel(), 1024), 256),)") == []


def test_a_loop_up_to_all_elements_has_a_variable_as_wide_as_they_need() -> None:
    assert of_rows(LOOP, n="x.numel()") == []


def test_what_the_wrapper_asserts_bounds_a_size() -> None:
    row = ROW.replace("row * stride", "row * n")
    assert of_rows(row, n="top_k") == [Cause.ROWS]
    held = ROWS.format(body="\n    ".join(row.split("; ")), grid="(x.shape[0],)", n="top_k")
    for test, count in (("top_k <= 32", 0), ("top_k and top_k < 33", 0), ("not (top_k <= 32)", 1)):
        (found,) = flows(held.replace("    kernel[", f"    assert {test}\n    kernel["))
        assert len(list(NarrowOffsets(found).found())) == count


def test_rows_of_one_weight_are_few() -> None:
    text = ROWS.format(body="\n    ".join(ROW.split("; ")), grid="(x.shape[0],)", n="x.shape[1]")
    rows = text.replace("tl.program_id(0)", "tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]")
    masked = rows.replace("(x_ptr, out_ptr, n,", "(x_ptr, out_ptr, M, n,").replace(
        "mask=cols < n", "mask=(row < M) & (cols < n)"
    )
    for name, count in (("scale_kernel", 1), ("weight_norm_kernel", 0)):
        (found,) = flows(masked.replace("kernel(", f"{name}(", 1).split("def launch")[0])
        assert len(list(NarrowOffsets(found).found())) == count


WINDOW = """
@triton.jit
def kernel(x_ptr, in_stride_h, stride_h, {other}, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0) * stride_h * in_stride_h + tl.arange(0, BLOCK))
"""


@pytest.mark.parametrize(("other", "found"), [("padding_h", 0), ("out_stride_h", 1)])
def test_a_stride_beside_a_padding_is_the_step_of_a_window(other: str, found: int) -> None:
    (kernel,) = flows(WINDOW.format(other=other))
    assert len(list(NarrowOffsets(kernel).found())) == found


def test_an_index_is_widened_where_it_is_made() -> None:
    (found,) = flows(ROWS.format(body="\n    ".join(ROW.split("; ")), grid="(x.shape[0],)", n="x.shape[1]"))
    (offset,) = NarrowOffsets(found).found()
    assert offset.place is found.places[offset.index]
    assert offset.place is not offset.product.node


def test_numbers_and_grids_of_the_launch_count() -> None:
    start = "tl.program_id(0) * seq_len * num_heads * head_dim"
    assert causes(start, seq_len="x.shape[2]") == [Cause.MANY]
    assert causes(start, seq_len="512", grid="(4,)") == []


def test_the_limit_is_that_of_the_other_factors() -> None:
    known = offsets("tl.program_id(0) * seq_len * num_heads * head_dim")
    (found,) = known.found()
    assert known.limit(found) == 2  # 131,072 positions of 64 heads of 128 features, twice


@pytest.mark.parametrize(
    ("name", "bits"),
    [("num_heads", 6), ("HQ", 6), ("head_dim", 7), ("B", 5), ("seq_len", 17), ("vocab_size", 17), ("N", 13),
     ("stride_kv_page", 27), ("stride_qh", 20), ("stride_am", 13), ("whatever", 6)],
)  # fmt: skip
def test_names_tell_sizes(name: str, bits: int) -> None:
    assert bits_of_name(name) == bits


HEADS = """
@triton.jit
def kernel({parameters}):
    token = tl.program_id(0) * tokens + tl.program_id(1)
    for start in range(0, seq_len, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + token * {stride} + at, mask=at < seq_len)
"""
WIDE = """
@triton.jit
def other(x_ptr, stride{annotation}):
    row = tl.program_id(0){cast}
    x = tl.load(x_ptr + row * stride)
"""


def of_a_file(kernel: str, *, annotation: str = "", cast: str = "") -> NarrowOffsets:
    """The offsets of the first kernel of a file with another one."""
    return NarrowOffsets(flows(kernel + WIDE.format(annotation=annotation, cast=cast))[0])


@pytest.mark.parametrize("cast", [".to(tl.int64)", ".cast(tl.int64)", ".to(tl.int64) * 4 + tl.arange(0, 4)"])
def test_a_kernel_that_multiplies_by_the_same_in_64_bits_tells_of_the_other(cast: str) -> None:
    kernel = ROWS.format(body="\n    ".join(ROW.split("; ")), grid="(x.shape[0],)", n="x.shape[1]")
    (found,) = of_a_file(kernel, cast=cast).found()
    assert found.reason == Cause.ELSEWHERE.value
    assert found.elsewhere is not None
    (found,) = of_a_file(kernel).found()
    assert found.reason == Cause.ROWS.value


def test_a_stride_that_another_kernel_takes_as_64_bits_is_found_where_it_is_taken() -> None:
    kernel = HEADS.format(parameters="x_ptr, tokens, stride, seq_len, BLOCK: tl.constexpr", stride="stride")
    offsets = of_a_file(kernel, annotation=": tl.int64")
    (found,) = offsets.found()
    assert isinstance(found.place, cst.Param)
    assert found.place.name.value == "stride"
    wide = HEADS.format(parameters="x_ptr, tokens, stride: tl.int64, seq_len, BLOCK: tl.constexpr", stride="stride")
    assert of_a_file(wide, annotation=": tl.int64").found() == []


def test_a_loaded_index_of_unknown_type_is_none_for_a_stride_of_64_bits_either() -> None:
    kernel = """
    @triton.jit
    def kernel(x_ptr, table_ptr, stride, BLOCK: tl.constexpr):
        at = tl.load(table_ptr + tl.program_id(0))
        x = tl.load(x_ptr + at * stride + tl.arange(0, BLOCK))
    """
    assert of_a_file(textwrap.dedent(kernel), annotation=": tl.int64").found() == []


def test_a_stride_is_no_more_than_what_is_added_beside_it_goes_to() -> None:
    kernel = HEADS.format(parameters="x_ptr, tokens, stride_batch, seq_len, BLOCK: tl.constexpr", stride="stride_batch")
    assert [offset.cause for offset in NarrowOffsets(flows(kernel)[0]).found()] == [Cause.MANY]
    one_tile = kernel.replace("start + tl.arange", "tl.arange").replace("range(0, seq_len, BLOCK)", "range(1)")
    one_tile = one_tile.replace("tokens +", "16 +")
    assert NarrowOffsets(flows(one_tile)[0]).found() == []


def test_sequences_have_a_million_tokens_together() -> None:
    start = "(tl.program_id(0) * batch * num_heads + tl.program_id(1)) * seq_len"
    kernel = KERNEL.format(parameters=PARAMETERS + ", batch", before="pass", start=start)
    assert NarrowOffsets(flows(kernel)[0]).found() == []
    per_feature = kernel.replace("* seq_len +", "* seq_len * head_dim +")
    assert [offset.cause for offset in NarrowOffsets(flows(per_feature)[0]).found()] == [Cause.MANY]


def test_what_a_loop_written_out_runs_over_is_small() -> None:
    taps = "for tap in tl.static_range(0, seq_len): y = tl.load(y_ptr + tap)"
    assert causes("tl.program_id(0) * num_heads * head_dim * seq_len") == [Cause.MANY]
    assert causes("tl.program_id(0) * num_heads * head_dim * seq_len", taps) == []


def test_a_tensor_with_sequences_is_one_of_three_dimensions() -> None:
    host = "    batch, length, features = x.shape\n    kernel["
    kernel = ROWS.format(body="\n    ".join(TILE.split("; ")), grid="(8192,)", n="x.numel()")
    for text, expected in ((kernel, False), (kernel.replace("    kernel[", host), True)):
        offsets = NarrowOffsets(flows(text)[0])
        (found,) = offsets.found()
        assert found.end is not None
        assert offsets.counts_activations(found.end) is expected


def test_programs_share_the_rows_that_a_loop_steps_over_by_their_number() -> None:
    body = (
        "cols = tl.arange(0, BLOCK); "
        "for row in range(tl.program_id(0), n, {step}): x = tl.load(x_ptr + row * stride + cols, mask=cols < 8192)"
    )
    for step, shared in (("tl.num_programs(0)", True), ("1", False)):
        text = ROWS.format(body="\n    ".join(body.format(step=step).split("; ")), grid="(64,)", n="x.shape[0]")
        (found,) = NarrowOffsets(flows(text.replace(", n, ", ", total_tokens, "))[0]).found()
        assert found.is_shared is shared


def test_what_many_loops_set_is_looked_at_once() -> None:
    loops = "".join(f"    for i in range(n):\n        n += {number} * n\n" for number in range(60))
    head = "@triton.jit\ndef kernel(x_ptr, n, stride, BLOCK: tl.constexpr):\n"
    (found,) = flows(f"{head}{loops}    x = tl.load(x_ptr + tl.program_id(0) * n * stride + tl.arange(0, BLOCK))\n")
    assert len(NarrowOffsets(found).found()) <= 1


@pytest.mark.parametrize("count", [0, -1])
def test_a_tile_of_no_elements_is_no_number_to_reckon_with(count: int) -> None:
    before = f"rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n    cols = tl.arange(0, {count})"
    start = "rows[:, None] * seq_len * num_heads + cols[None, :] * head_dim + stride_page"
    assert causes(start, before) == [Cause.MANY]


SAMPLER = """
@triton.jit
def kernel(cu_ptr, probs_ptr, draft_ptr, out_ptr, vocab_size, PADDED_VOCAB_SIZE: tl.constexpr):
    if tl.program_id(0) == 0:
        start = 0
    else:
        start = tl.load(cu_ptr + tl.program_id(0) - 1)
    token = start + tl.program_id(1)
    vocab = tl.arange(0, PADDED_VOCAB_SIZE)
    draft = tl.load(draft_ptr + token)
    p = tl.load(probs_ptr + token * vocab_size + draft)
    row = tl.load(probs_ptr + token * vocab_size + vocab, mask=vocab < vocab_size)
    tl.store(out_ptr + token, tl.argmax(row - p, axis=0))
"""


def test_the_limit_and_the_size_that_is_named_come_to_32_bits() -> None:
    (found,) = flows(SAMPLER)
    known = NarrowOffsets(found)
    offset = known.found()[0]
    (size,) = known.sizes(offset.term)
    assert (known.limit(offset), known.size(size, offset)) == (16_384, 131_072)
