"""Kernels whose compilation is known, for the tests of this folder."""

import linecache

import triton
import triton.language as tl


def source_line(number: int) -> str:
    """The text of this file in that line."""
    return linecache.getline(__file__, number)


@triton.jit
def copy(src, dst, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(src + offsets, mask=inside)
    tl.store(dst + offsets, x, mask=inside)


@triton.jit
def copy_unmasked(src, dst, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(src + offsets)
    tl.store(dst + offsets, x)


@triton.jit
def copy_rows(src, dst, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(src + row * stride + columns)
    tl.store(dst + row * BLOCK + columns, x)


@triton.jit
def copy_lanes(src, dst, stride, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(src + lanes * stride)
    tl.store(dst + lanes, x)


@triton.jit
def softmax(src, dst, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    inside = columns < n
    x = tl.load(src + row * stride + columns, mask=inside, other=-float("inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, 0))
    tl.store(dst + row * stride + columns, e / tl.sum(e, 0), mask=inside)


@triton.jit
def layer_norm(src, dst, weight, bias, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(src + row * stride + columns, mask=columns < n, other=0.0).to(tl.float32)
        total += x
        squares += x * x
    mean = tl.sum(total, 0) / n
    variance = tl.sum(squares, 0) / n - mean * mean
    scale = 1 / tl.sqrt(variance + eps)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = columns < n
        x = tl.load(src + row * stride + columns, mask=inside, other=0.0).to(tl.float32)
        w = tl.load(weight + columns, mask=inside)
        b = tl.load(bias + columns, mask=inside)
        tl.store(dst + row * stride + columns, (x - mean) * scale * w + b, mask=inside)


@triton.jit
def matmul(
    a, b, c, m, n, k, stride_am, stride_bk, stride_cm, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr
):
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    columns = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)
    inner = tl.arange(0, TILE_K)
    a_tile = a + (rows % m)[:, None] * stride_am + inner[None, :]
    b_tile = b + inner[:, None] * stride_bk + (columns % n)[None, :]
    total = tl.zeros([TILE_M, TILE_N], tl.float32)
    for start in range(0, k, TILE_K):
        left = tl.load(a_tile, mask=inner[None, :] < k - start, other=0.0)
        right = tl.load(b_tile, mask=inner[:, None] < k - start, other=0.0)
        total = tl.dot(left, right, total)
        a_tile += TILE_K
        b_tile += TILE_K * stride_bk
    inside = (rows < m)[:, None] & (columns < n)[None, :]
    tl.store(c + rows[:, None] * stride_cm + columns[None, :], total.to(c.dtype.element_ty), mask=inside)


@triton.jit
def histogram(src, counts, n, bins, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    value = tl.load(src + offsets, mask=inside, other=0)
    tl.atomic_add(counts + value % bins, 1.0, mask=inside)


@triton.jit
def transpose(src, dst, stride_src, stride_dst, TILE: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)
    tile = tl.load(src + rows[:, None] * stride_src + columns[None, :])
    tl.store(dst + columns[None, :] * stride_dst + rows[:, None], tile)


@triton.jit
def copy_block_pointer(src, dst, rows, columns, stride, TILE: tl.constexpr):
    row = tl.program_id(0) * TILE
    source = tl.make_block_ptr(src, (rows, columns), (stride, 1), (row, 0), (TILE, TILE), (1, 0))
    target = tl.make_block_ptr(dst, (rows, columns), (stride, 1), (row, 0), (TILE, TILE), (1, 0))
    tile = tl.load(source, boundary_check=(0, 1))
    tl.store(target, tile, boundary_check=(0, 1))


@triton.jit
def copy_descriptor(src, dst, rows, columns, stride, TILE: tl.constexpr):
    corner = [tl.program_id(0) * TILE, tl.program_id(1) * TILE]
    source = tl.make_tensor_descriptor(src, shape=[rows, columns], strides=[stride, 1], block_shape=[TILE, TILE])
    target = tl.make_tensor_descriptor(dst, shape=[rows, columns], strides=[stride, 1], block_shape=[TILE, TILE])
    tile = source.load(corner)
    target.store(corner, tile)


@triton.jit
def load_row(base, row, stride, columns, inside):
    return tl.load(base + row * stride + columns, mask=inside)


@triton.jit
def copy_by_helper(src, dst, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    inside = columns < n
    x = load_row(src, row, stride, columns, inside)
    tl.store(dst + row * stride + columns, x, mask=inside)


@triton.jit
def square(a, b, c, TILE: tl.constexpr):
    lanes = tl.arange(0, TILE)
    tile = lanes[:, None] * TILE + lanes[None, :]
    tl.store(c + tile, tl.dot(tl.load(a + tile), tl.load(b + tile)))


@triton.jit
def unknown_instruction(src, dst, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(src + lanes)
    y = tl.inline_asm_elementwise("frobnicate.b32 $0, $1;", "=r,r", [x], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(dst + lanes, y)


@triton.jit
def impossible_constraint(src, dst, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(src + lanes)
    y = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=Q,r", [x], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(dst + lanes, y)


@triton.jit
def cast(src, dst, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(src + offsets)
    tl.store(dst + offsets, x.to(dst.dtype.element_ty))


@triton.jit
def add_assembly(src, dst, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(src + lanes)
    y = tl.inline_asm_elementwise(
        """
        {
        .reg .b32 t;
        add.s32 t, $1, 1;
        add.s32 t, t, 2;
        add.s32 $0, t, 3;
        }
        """,
        "=r,r",
        [x],
        dtype=tl.int32,
        is_pure=True,
        pack=1,
    )
    z = tl.load(src + lanes + BLOCK)
    tl.store(dst + lanes, y + z)


@triton.jit
def copy_either(src, other, dst, flag, stride, step, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    if flag == row:  # noqa: SIM108
        source = src + row * stride
    else:
        source = other + row * step
    x = tl.load(source + tl.arange(0, BLOCK))
    tl.store(dst + row * BLOCK + tl.arange(0, BLOCK), x)


@triton.jit
def sum_rows(src, dst, n, stride, BLOCK: tl.constexpr):
    total = tl.zeros([BLOCK], tl.float32)
    source = src + tl.arange(0, BLOCK)
    row = tl.program_id(0)
    while row < n:
        total += tl.load(source)
        source += stride
        row += tl.num_programs(0)
    tl.store(dst + tl.arange(0, BLOCK), total)


@triton.jit
def copy_strided_tile(src, dst, rows, columns, TILE: tl.constexpr):
    lanes = tl.arange(0, TILE)
    tile = tl.load(src + lanes[:, None] * rows + lanes[None, :] * columns)
    tl.store(dst + lanes[:, None] * TILE + lanes[None, :], tile)
