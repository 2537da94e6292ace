"""Which offsets are computed in 32 bits though the project uses 64 for similar ones, and which are limits."""

from __future__ import annotations

import libcst as cst
import pytest

from tests.queries.kernels import flows
from tritonaudit.queries.narrow_offsets import Cause, NarrowOffset, narrow_offsets

KERNEL = """
@triton.jit
def kernel({parameters}):
    {before}
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + {start} + lanes, mask=lanes < n)
"""
PARAMETERS = "x_ptr, y_ptr, table_ptr, out_ptr, n, a, b, c, stride, BLOCK: tl.constexpr"
HOST = """
def launch(x, y, table, out):
    table = table.to(torch.{dtype})
    kernel[{grid}](x, y, table, out, x.shape[3], {a}, x.shape[1], 128, x.stride(0), BLOCK=128)
"""


def offsets(start: str, before: str = "pass", **host: str) -> list[NarrowOffset]:
    """The offsets of a load at `start`; with `host` as a launch has it."""
    kernel = KERNEL.format(parameters=PARAMETERS, before=before, start=start)
    launch = HOST.format(**{"dtype": "int64", "grid": "(x.shape[0],)", "a": "x.shape[2]", **host}) if host else ""
    return narrow_offsets(flows("import torch\n" + kernel + launch)[0])


def causes(start: str, before: str = "pass", **host: str) -> list[Cause]:
    """What tells that they may wrap."""
    return [found.cause for found in offsets(start, before, **host)]


@pytest.mark.parametrize(
    ("start", "found"),
    [
        ("tl.program_id(0) * a * b * c", [Cause.LIMIT]),
        ("tl.program_id(0) * (a * b * c)", [Cause.LIMIT]),
        ("(tl.program_id(0) * a * b * c).to(tl.int64)", [Cause.LATE]),
        ("tl.program_id(0).to(tl.int64) * a * b * c", []),
        ("tl.cast(tl.program_id(0), tl.int64) * a * b * c", []),
        ("tl.program_id(0) % a * b", []),  # one of few parts of a row
    ],
)
def test_a_cast_behind_the_product_is_too_late(start: str, found: list[Cause]) -> None:
    assert causes(start) == found


def test_a_limit_is_plain_where_a_tensor_has_many_dimensions() -> None:
    assert [found.is_wide for found in offsets("tl.program_id(0) * a * b * c")] == [True]
    assert [found.is_wide for found in offsets("tl.program_id(0) * a")] == [False]


def test_names_make_and_silence_nothing() -> None:
    plain = KERNEL.format(parameters=PARAMETERS, before="pass", start="tl.program_id(0) * a * b * c")
    for name in ("num_heads", "stride_meta", "vocab_size", "BLOCKS", "whatever"):
        (found,) = narrow_offsets(flows(plain.replace("a * b", f"{name} * b").replace("n, a,", f"n, {name},"))[0])
        assert (found.cause, found.is_wide) == (Cause.LIMIT, True)


def test_an_index_that_is_widened_for_one_address_is_reported_of_in_another() -> None:
    wide = "y = tl.load(y_ptr + tl.program_id({axis}).to(tl.int64) * a)"
    assert causes("tl.program_id(0) * a * b", wide.format(axis=0)) == [Cause.UNEVEN]
    assert causes("tl.program_id(0) * a * b", wide.format(axis=1)) == []  # its author knows which are large


def test_a_stride_of_64_bits_widens_no_index() -> None:
    kernel = KERNEL.format(
        parameters=PARAMETERS.replace("stride,", "stride: tl.int64,"),
        before="y = tl.load(y_ptr + tl.program_id(0) * stride)",
        start="tl.program_id(0) * a * b",
    )
    assert narrow_offsets(flows(kernel)[0]) == []


def test_a_loaded_index_has_32_bits_where_the_host_code_says_so() -> None:
    page = "page = tl.load(table_ptr + tl.program_id(0))"
    assert causes("page * stride", page, dtype="int32") == [Cause.LOADED]
    assert causes("page * stride", page, dtype="int64") == []
    assert causes("page * stride", page) == []
    assert causes("page.to(tl.int64) * stride", page, dtype="int32") == []


def test_a_factor_cast_from_floating_point_hides_no_other() -> None:
    before = "tile = tl.floor(tl.program_id(1) / 2).to(tl.int32)"
    assert causes("(tl.load(table_ptr) * a + tile) * b", before, dtype="int32") == [Cause.LOADED]


@pytest.mark.parametrize(
    ("host", "found"),
    [
        ({"a": "x.shape[2]"}, [Cause.LIMIT]),
        ({"a": "512", "grid": "(4,)"}, []),
        ({"a": "min(x.shape[2], 512)", "grid": "(min(x.shape[0], 4),)"}, []),
    ],
)
def test_what_every_launch_keeps_small_is_no_limit(host: dict[str, str], found: list[Cause]) -> None:
    assert causes("tl.program_id(0) * a * c", **host) == found


ROWS = """
@triton.jit
def kernel(x_ptr, out_ptr, n, stride, BLOCK: tl.constexpr):
    {body}

def launch(x, out, top_k):
    {before}
    kernel[{grid}](x, out, {n}, x.stride(0), BLOCK=1024)
"""


def of_rows(
    body: str, grid: str = "(x.shape[0],)", n: str = "x.shape[1]", before: str = "pass"
) -> list[tuple[Cause, bool]]:
    """The offsets of a kernel with these lines, and whether they are plain."""
    text = ROWS.format(body="\n    ".join(body.split("; ")), grid=grid, n=n, before=before)
    return [(offset.cause, offset.is_wide) for offset in narrow_offsets(flows(text)[0])]


ROW = "row = tl.program_id(0); cols = tl.arange(0, BLOCK); x = tl.load(x_ptr + row * stride + cols, mask=cols < n)"
TILE = "offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK); x = tl.load(x_ptr + offs, mask=offs < n)"
LOOP = (
    "for at in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK): "
    "x = tl.load(x_ptr + at + tl.arange(0, BLOCK), mask=at + tl.arange(0, BLOCK) < n)"
)


def test_rows_of_any_length_are_a_limit_that_is_far() -> None:
    assert of_rows(ROW) == [(Cause.LIMIT, False)]
    assert of_rows(ROW.replace("tl.program_id(0)", "tl.program_id(0).to(tl.int64)")) == []
    assert of_rows("x = tl.load(x_ptr + tl.program_id(0) * stride)") == []  # a row of one number


def test_the_elements_of_a_tensor_with_sequences_are_many() -> None:
    sequences = "batch, length, features = x.shape"
    assert of_rows(TILE, n="x.numel()", before=sequences) == [(Cause.LIMIT, True)]
    assert of_rows(TILE, n="batch * length * features", before=sequences) == [(Cause.LIMIT, True)]
    assert of_rows(TILE, n="x.numel()") == [(Cause.LIMIT, False)]
    assert of_rows(TILE, n="x.numel()", grid="(min(triton.cdiv(x.numel(), 1024), 256),)") == []


def test_a_loop_up_to_all_elements_has_a_variable_as_wide_as_they_need() -> None:
    assert of_rows(LOOP, n="x.numel()") == []


@pytest.mark.parametrize(
    ("test", "found"), [("top_k <= 32", 0), ("top_k < 33 and x is not None", 0), ("not (top_k <= 32)", 1)]
)
def test_what_the_wrapper_asserts_bounds_a_size(test: str, found: int) -> None:
    body = ROW.replace("row * stride", "row * n")
    assert len(of_rows(body, n="top_k", grid="(min(x.shape[0], 1 << 20),)", before=f"assert {test}")) == found


def test_an_index_is_widened_where_it_is_made() -> None:
    text = ROWS.format(body="\n    ".join(ROW.split("; ")), grid="(x.shape[0],)", n="x.shape[1]", before="pass")
    (kernel,) = flows(text)
    (offset,) = narrow_offsets(kernel)
    assert offset.place is kernel.places[offset.index]
    assert offset.place is not offset.product.node


HEADS = """
@triton.jit
def kernel({parameters}):
    token = tl.program_id(0) * tokens + tl.program_id(1)
    for start in range(0, length, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + token * stride + at, mask=at < length)
"""
WIDE = """
@triton.jit
def other(x_ptr, {size}{annotation}):
    row = tl.program_id(0){cast}
    x = tl.load(x_ptr + row * {size})
"""


def of_a_file(kernel: str, *, annotation: str = "", cast: str = "", size: str = "stride") -> list[NarrowOffset]:
    """The offsets of the first kernel of a file with another one."""
    return narrow_offsets(flows(kernel + WIDE.format(annotation=annotation, cast=cast, size=size))[0])


@pytest.mark.parametrize("cast", [".to(tl.int64)", ".cast(tl.int64)", ".to(tl.int64) * 4 + tl.arange(0, 4)"])
def test_a_kernel_that_multiplies_by_the_same_in_64_bits_tells_of_the_other(cast: str) -> None:
    kernel = ROWS.format(body="\n    ".join(ROW.split("; ")), grid="(x.shape[0],)", n="x.shape[1]", before="pass")
    (found,) = of_a_file(kernel, cast=cast)
    assert found.cause is Cause.ELSEWHERE
    (found,) = of_a_file(kernel)
    assert found.cause is Cause.LIMIT
    (found,) = of_a_file(kernel, cast=cast, size="other_stride")
    assert found.cause is Cause.LIMIT


def test_a_stride_that_another_kernel_takes_as_64_bits_is_found_where_it_is_taken() -> None:
    kernel = HEADS.format(parameters="x_ptr, tokens, stride, length, BLOCK: tl.constexpr")
    (found,) = of_a_file(kernel, annotation=": tl.int64")
    assert isinstance(found.place, cst.Param)
    assert found.place.name.value == "stride"
    wide = HEADS.format(parameters="x_ptr, tokens, stride: tl.int64, length, BLOCK: tl.constexpr")
    assert of_a_file(wide, annotation=": tl.int64") == []


def test_rows_of_one_tile_are_as_long_as_a_launch_says() -> None:
    kernel = HEADS.format(parameters="x_ptr, tokens, stride, length, BLOCK: tl.constexpr")
    assert [found.cause for found in narrow_offsets(flows(kernel)[0])] == [Cause.LIMIT]
    one_tile = kernel.replace("start + tl.arange", "tl.arange").replace("range(0, length, BLOCK)", "range(1)")
    assert narrow_offsets(flows(one_tile.replace(", mask=at < length", ""))[0]) == []


def test_what_a_loop_written_out_runs_over_is_small() -> None:
    taps = "for tap in tl.static_range(0, a): y = tl.load(y_ptr + tap)"
    assert [found.is_wide for found in offsets("tl.program_id(0) * b * c * a")] == [True]
    assert [found.is_wide for found in offsets("tl.program_id(0) * b * c * a", taps)] == [False]


def test_programs_share_the_rows_that_a_loop_steps_over_by_their_number() -> None:
    body = (
        "cols = tl.arange(0, BLOCK); "
        "for row in range(tl.program_id(0), n, {step}): x = tl.load(x_ptr + row * stride + cols, mask=cols < 8192)"
    )
    assert of_rows(body.format(step="tl.num_programs(0)"), grid="(64,)", n="x.shape[0]") == [(Cause.LIMIT, True)]
    assert of_rows(body.format(step="1"), grid="(64,)", n="x.shape[0]") == [(Cause.LIMIT, False)]


def test_what_many_loops_set_is_looked_at_once() -> None:
    loops = "".join(f"    for i in range(n):\n        n += {number} * n\n" for number in range(60))
    head = "@triton.jit\ndef kernel(x_ptr, n, stride, BLOCK: tl.constexpr):\n"
    (found,) = flows(f"{head}{loops}    x = tl.load(x_ptr + tl.program_id(0) * n * stride + tl.arange(0, BLOCK))\n")
    assert len(narrow_offsets(found)) <= 1


@pytest.mark.parametrize("count", [0, -1])
def test_a_tile_of_no_elements_is_no_number_to_reckon_with(count: int) -> None:
    before = f"rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n    cols = tl.arange(0, {count})"
    assert causes("rows[:, None] * a * b + cols[None, :] * c + stride", before) == [Cause.LIMIT]
