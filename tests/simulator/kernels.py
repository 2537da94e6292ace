"""Kernels that together use every operation of Triton's language, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import triton
import triton.language as tl
from triton.language.extra import libdevice

from tests.compile.programs import VERSION, Pointer


@triton.jit
def elementwise(x_ptr, y_ptr, z_ptr, out_ptr, n, N: tl.constexpr):
    lanes = tl.program_id(0).to(tl.int64) * N + tl.arange(0, N)
    inside = lanes < n
    x = tl.load(x_ptr + lanes, mask=inside)
    y = tl.load(y_ptr + lanes, mask=inside, other=1.0, cache_modifier=".cg", eviction_policy="evict_first")
    z = tl.load(z_ptr + lanes, mask=inside, other=-float("inf"), volatile=True)
    total = tl.exp(x) + tl.exp2(y) * tl.log(z) - tl.log2(x) / tl.sqrt(y)
    total += tl.sin(x) + tl.cos(y) + tl.erf(z) + tl.rsqrt(x) + tl.floor(y) + tl.ceil(z) + tl.abs(x)
    total += tl.fma(x, y, z) + tl.div_rn(x, y) + tl.sqrt_rn(z) + tl.sigmoid(x) + tl.fdiv(x, z)
    total += tl.maximum(x, y) + tl.minimum(y, z, propagate_nan=tl.PropagateNan.ALL) + tl.clamp(x, y, z)
    total = tl.where((x > y) & (y != z) | ~(z <= x), total, float("nan"))
    total = tl.where(x % y == 0.0, -total, total)
    tl.store(out_ptr + lanes, total, mask=inside, cache_modifier=".wb", eviction_policy="evict_last")


@triton.jit
def integers(a_ptr, b_ptr, u_ptr, out_ptr, scale, N: tl.constexpr):
    lanes = tl.max_contiguous(tl.multiple_of(tl.arange(0, N), 16), 16)
    a, b, u = tl.load(a_ptr + lanes), tl.load(b_ptr + lanes), tl.load(u_ptr + lanes)
    c = a // b + a % b - a * b + (a << 3) + (b >> 2) + (a ^ b) + (a | 0x7FFFFFFF) + (~b & -5)
    c += tl.maximum(a, b) + tl.minimum(a, -2147483648) + tl.abs(b) + tl.cdiv(a, 7)
    v = u // 3 + u % 5 + (u >> 1) + tl.umulhi(u, u) + tl.maximum(u, 4000000000)
    c += tl.where(u > 7, v.to(tl.int32, bitcast=True), c) + (a < b).to(tl.int32) + (u >= v).to(tl.int32)
    wide = c.to(tl.int64) * 4294967297 + u.to(tl.uint64).to(tl.int64)
    narrow = wide.to(tl.int8).to(tl.float32) * scale + u.to(tl.float32) + (a > 0).to(tl.float32)
    tl.store(out_ptr + lanes, narrow.to(tl.int32) + narrow.to(tl.uint32).to(tl.int32))


@triton.jit
def conversions(x_ptr, half_ptr, brain_ptr, narrow_ptr, double_ptr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    x = tl.load(x_ptr + lanes)
    half = x.to(tl.float16, fp_downcast_rounding="rtz")
    brain = x.to(tl.bfloat16) * 2.5 - float("inf")
    tl.store(half_ptr + lanes, half + 0.1)
    tl.store(brain_ptr + lanes, brain)
    tl.store(narrow_ptr + lanes, x.to(tl.float8e5))
    tl.store(
        double_ptr + lanes, (tl.load(narrow_ptr + lanes).to(tl.float32) + half.to(tl.float32)).to(tl.float64) * 1e300
    )
    tl.store(x_ptr + lanes, tl.full([N], 0x7FC00000, tl.int32).to(tl.float32, bitcast=True))


@triton.jit
def narrowing(x_ptr, out_ptr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    x = tl.load(x_ptr + lanes)
    narrow = x.to(tl.float8e4nv, fp_downcast_rounding="rtne")
    tl.store(out_ptr + lanes, narrow)


@triton.jit
def addresses(table_ptr, out_ptr, N: tl.constexpr):
    base = tl.load(table_ptr + tl.program_id(1)).to(tl.pointer_type(tl.float32))
    lanes = tl.arange(0, N)
    row = (out_ptr + tl.num_programs(2)).to(tl.int64)
    tl.store(out_ptr + lanes, tl.load(base + lanes), mask=row > 0)
    chosen = tl.where(lanes < 5, base + lanes, out_ptr + lanes)
    tl.store(chosen, tl.load(out_ptr))


@triton.jit
def atomics(i_ptr, u_ptr, f_ptr, h_ptr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    inside = lanes < 10
    i, u, f = i_ptr + lanes, u_ptr + lanes, f_ptr + lanes
    one = tl.full([N], 1, tl.int32)
    old = tl.atomic_add(i, one, mask=inside)
    old += tl.atomic_max(i, one) + tl.atomic_min(i, one, sem="relaxed")
    old += tl.atomic_and(i, one) + tl.atomic_or(i, one, sem="acquire", scope="cta") + tl.atomic_xor(i, one)
    old += tl.atomic_xchg(i, one, sem="release", scope="sys") + tl.atomic_cas(i, one, old)
    tl.atomic_max(u, old.to(tl.uint32))
    tl.atomic_min(u, old.to(tl.uint32))
    tl.atomic_add(f, old.to(tl.float32), mask=inside)
    tl.atomic_max(f, old.to(tl.float32))
    tl.atomic_min(f, old.to(tl.float32))
    tl.atomic_add(h_ptr + lanes, old.to(tl.float16))
    while tl.atomic_cas(i_ptr, 0, 1) == 1:
        pass
    tl.atomic_xchg(i_ptr, 0)


@triton.jit
def _first(a, i, b, j):
    take = (a > b) | ((a == b) & (i < j))
    return tl.where(take, a, b), tl.where(take, i, j)


@triton.jit
def _decay(a, b, c, d):
    return a * c, b * c + d


@triton.jit
def _product(a, b):
    return a * b


@triton.jit
def reductions(x_ptr, out_ptr, where_ptr, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    x = tl.load(x_ptr + rows[:, None] * N + columns[None, :])
    totals = tl.sum(x, 1) + tl.max(x, 1) - tl.min(x, axis=1) + tl.reduce(x, 1, _product)
    best, place = tl.max(x, 1, return_indices=True)
    found, index = tl.reduce((x, columns[None, :] + tl.zeros([M, N], tl.int32)), 1, _first)
    totals += best + found + tl.argmax(x, 1) + tl.argmin(x, 1, tie_break_left=False) + tl.sum(x)
    totals += tl.reshape(tl.sum(x, 1, keep_dims=True), (M,)) + tl.xor_sum(place, 0)
    tl.store(out_ptr + rows, totals)
    tl.store(where_ptr + rows, place + index)


@triton.jit
def scans(x_ptr, y_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    lanes = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x, y = tl.load(x_ptr + lanes), tl.load(y_ptr + lanes)
    running = tl.cumsum(x, 1) + tl.cumprod(y, 0, reverse=True) + tl.associative_scan(x, 1, _product)
    first, second = tl.associative_scan((x, y), 1, _decay, reverse=True)
    tl.store(out_ptr + lanes, running + first - second + tl.softmax(x))


@triton.jit
def shapes(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    x = tl.load(x_ptr + rows[:, None] * N + columns[None, :])
    both = tl.join(x, tl.trans(tl.reshape(tl.ravel(x), (N, M))))
    left, right = tl.split(tl.permute(both, (1, 0, 2)))
    woven = tl.interleave(left, right)
    joined = tl.cat(tl.view(woven, (2 * M * N,)), tl.flip(tl.ravel(woven), 0), can_reorder=True)
    both = tl.expand_dims(tl.broadcast_to(tl.zeros_like(x) + tl.full((M, 1), 3.0, tl.float32), (M, N)), 0)
    tl.store(out_ptr + tl.arange(0, 4 * M * N), joined)
    tl.store(out_ptr + columns, tl.sum(tl.sum(both, 0), 0))


@triton.jit
def order(x_ptr, out_ptr, count_ptr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    x = tl.load(x_ptr + lanes)
    tl.store(out_ptr + lanes, tl.sort(x, descending=True))
    tl.store(count_ptr + tl.arange(0, 16), tl.histogram(x.to(tl.int32), 16))


@triton.jit
def selection(x_ptr, index_ptr, out_ptr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    x = tl.load(x_ptr + lanes)
    picked = tl.gather(x, tl.load(index_ptr + lanes), 0)
    tl.store(out_ptr + lanes, picked)


@triton.jit
def largest(x_ptr, out_ptr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    x = tl.load(x_ptr + lanes)
    tl.store(out_ptr + tl.arange(0, 8), tl.topk(x, 8))
    counts = tl.histogram(x.to(tl.int32), 8, mask=x > 0)
    tl.store(out_ptr + tl.arange(0, 8), counts.to(tl.float32))


@triton.jit
def products(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows, columns, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + rows[:, None] * K + inner[None, :])
    b = tl.load(b_ptr + inner[:, None] * N + columns[None, :])
    c = tl.dot(a, b, input_precision="ieee")
    c = tl.dot(a, b, c, input_precision="tf32x3")
    c += tl.dot(a, b, input_precision="tf32") + tl.dot(a.to(tl.bfloat16), b.to(tl.bfloat16))
    c += tl.dot(a.to(tl.float16), b.to(tl.float16), out_dtype=tl.float16)
    c = tl.dot(a.to(tl.float8e5), b.to(tl.float8e5), acc=c, max_num_imprecise_acc=32)
    c += tl.dot(a.to(tl.int8), b.to(tl.int8), out_dtype=tl.int32)
    c += tl.sum(tl.dot(tl.broadcast_to(a[None], (2, M, K)), tl.broadcast_to(b[None], (2, K, N))), 0)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], c)


@triton.jit
def scaled_product(a_ptr, s_ptr, b_ptr, t_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows, columns, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    blocks = tl.arange(0, K // 32)
    a = tl.load(a_ptr + rows[:, None] * K + inner[None, :])
    b = tl.load(b_ptr + inner[:, None] * N + columns[None, :])
    s = tl.load(s_ptr + rows[:, None] * (K // 32) + blocks[None, :])
    t = tl.load(t_ptr + columns[:, None] * (K // 32) + blocks[None, :])
    c = tl.dot_scaled(a, s, "e5m2", b, t, "e4m3")
    c = tl.dot_scaled(a, s, "e5m2", b, None, "e4m3", acc=c)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], c)


@triton.jit
def assembly(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    x, y = tl.load(x_ptr + lanes), tl.load(y_ptr + lanes)
    doubled = tl.inline_asm_elementwise("add.f32 $0, $1, $1;", "=f,f", [x], tl.float32, is_pure=True, pack=1)
    low, high = tl.inline_asm_elementwise(
        """
        { // two results; "quoted"
        min.f32 $0, $2, $3;
        max.f32 $1, $2, $3; }
        """,
        "=f,=f,f,f",
        [doubled, y],
        (tl.float32, tl.float32),
        is_pure=False,
        pack=1,
    )
    tl.store(out_ptr + lanes, low + high)


@triton.jit
def library(x_ptr, i_ptr, out_ptr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    x, i = tl.load(x_ptr + lanes), tl.load(i_ptr + lanes)
    y = libdevice.tanh(x) + libdevice.pow(x, 2.0) + libdevice.log1p(x) + libdevice.fast_expf(x)
    y += tl.where(libdevice.isnan(x), libdevice.rint(x), libdevice.ldexp(x, i))
    tl.store(out_ptr + lanes, y + libdevice.popc(i))


@triton.jit
def messages(x_ptr, n, N: tl.constexpr):
    lanes = tl.arange(0, N)
    x = tl.load(x_ptr + lanes)
    tl.device_print("x and its program:", x, tl.program_id(0))
    tl.device_print("n", n, hex=True)
    tl.device_print('only "words" \\ here')
    tl.device_assert(x > 0, 'not positive: "x"')
    tl.device_assert(n > 0)
    tl.debug_barrier()
    tl.assume(n > 4)
    tl.store(x_ptr + lanes, x + n)


@triton.jit
def loops(x_ptr, out_ptr, n, N: tl.constexpr):
    lanes = tl.arange(0, N)
    total = tl.zeros([N], tl.float32)
    count = 0
    for start in tl.range(0, n, N, num_stages=3):
        total += tl.load(x_ptr + start + lanes, mask=start + lanes < n, other=0.0)
        count += 1
    for step in tl.static_range(3):
        total += step
    while count > 1:
        count = count // 2
        if count % 2 == 0:
            total *= 2
        else:
            total = -total
    for _ in range(10, 0, -2):
        tl.store(out_ptr, 1.0)
    for big in range(n.to(tl.int64), n.to(tl.int64) * 2):
        total += big
    if n > 5:
        tl.store(out_ptr + 1, 2.0)
    tl.store(out_ptr + lanes, total + count)


@triton.jit
def hinted_loops(x_ptr, out_ptr, n, N: tl.constexpr):
    lanes = tl.arange(0, N)
    total = tl.zeros([N], tl.float32)
    for start in tl.range(
        0, n, N, loop_unroll_factor=2, flatten=True, warp_specialize=True, disallow_acc_multi_buffer=True
    ):
        total += tl.load(x_ptr + start + lanes)
    tl.store(out_ptr + lanes, total)


@triton.jit
def unmoved_loop(x_ptr, n, N: tl.constexpr):
    for i in tl.range(0, n, disable_licm=True):
        tl.store(x_ptr + i * N + tl.arange(0, N), i * 1.0)


@triton.jit
def return_before_loop(x_ptr, n):
    if n > 3:
        for i in range(n):
            tl.store(x_ptr + i, 1.0)
        return
    i = 0
    while i < n:
        if tl.load(x_ptr + i) > 0:
            tl.store(x_ptr + i, 2.0)
        i += 1


@triton.jit
def early_return(x_ptr, out_ptr, n, N: tl.constexpr):
    start = tl.program_id(0) * N
    if start >= n:
        return
    lanes = start + tl.arange(0, N)
    x = tl.load(x_ptr + lanes)
    if n == 77:
        tl.store(out_ptr + lanes, x)
        return
    tl.store(out_ptr + lanes, x * 2)


@triton.jit(noinline=True)
def _half_sum(x, y):
    return (x + y) * 0.5, x - y


@triton.jit(noinline=True)
def _save(ptr, value):
    tl.store(ptr, value)


@triton.jit(noinline=True)
def _sign(n):
    if n > 0:
        return 1
    return -1


@triton.jit
def calls(x_ptr, out_ptr, n, N: tl.constexpr):
    lanes = tl.arange(0, N)
    x = tl.load(x_ptr + lanes)
    mean, difference = _half_sum(tl.sum(x), tl.max(x))
    _save(out_ptr, difference)
    tl.store(out_ptr + lanes, mean * _sign(n))


@triton.jit
def randomness(out_ptr, seed, N: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.store(out_ptr + lanes, tl.randn(seed, lanes) + tl.rand(seed, lanes) + tl.randint(seed, lanes).to(tl.float32))


@triton.jit
def swizzle(out_ptr, m, n, N: tl.constexpr):
    row, column = tl.swizzle2d(tl.program_id(0), tl.program_id(1), m, n, 4)
    tl.store(out_ptr + row * n + column, tl.cdiv(row, N))


@triton.jit
def block_pointers(x_ptr, out_ptr, m, n, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_block_ptr(x_ptr, (m, n), (n, 1), (tl.program_id(0) * M, 0), (M, N), (1, 0))
    target = tl.make_block_ptr(out_ptr, (m, n), (n, 1), (0, tl.program_id(0) * N), (M, N), (1, 0))
    for _ in range(0, n, N):
        x = tl.load(source, boundary_check=(0, 1), padding_option="nan")
        tl.store(target, x, boundary_check=(1,))
        source = tl.advance(source, (0, N))
        target = tl.advance(target, (M, 0))


@triton.jit
def descriptors(x_ptr, out_ptr, m, n, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_tensor_descriptor(x_ptr, [m, n], [n, 1], [M, N], padding_option="nan")
    target = tl.make_tensor_descriptor(out_ptr, [m, n], [n, 1], [M, N])
    x = source.load([tl.program_id(0) * M, 0])
    target.store([0, tl.program_id(0) * N], x + 1)
    target.atomic_add([0, 0], x)


@triton.jit
def descriptor_rows(x_ptr, out_ptr, rows_ptr, m, n, N: tl.constexpr):
    source = tl.make_tensor_descriptor(x_ptr, [m, n], [n, 1], [1, N])
    target = tl.make_tensor_descriptor(out_ptr, [m, n], [n, 1], [1, N])
    rows = tl.load(rows_ptr + tl.arange(0, 8))
    target.scatter(source.gather(rows, 16), rows, 32)


@triton.jit
def unsigned_descriptors(x_ptr, out_ptr, m, n, M: tl.constexpr, N: tl.constexpr):
    target = tl.make_tensor_descriptor(out_ptr, [m, n], [n, 1], [M, N])
    x = tl.load(x_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    target.atomic_add([0, 0], x)
    target.atomic_min([0, 0], x)
    target.atomic_max([0, 0], x)
    target.atomic_xor([0, 0], x)


@triton.jit
def _swap_if(a, b):
    if a > b:
        return b, a
    return a, b


@triton.jit
def mapping(x_ptr, y_ptr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    low, high = tl.map_elementwise(_swap_if, tl.load(x_ptr + lanes), tl.load(y_ptr + lanes))
    tl.store(x_ptr + lanes, low)
    tl.store(y_ptr + lanes, high)


@triton.jit
def _doubled_or_more(a):
    if a > 1.0:
        b = a * 2
        if b > 7.0:
            return a
    for i in range(3):
        a += i
    return a * 3


@triton.jit
def mapping_with_branches(x_ptr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.store(x_ptr + lanes, tl.map_elementwise(_doubled_or_more, tl.load(x_ptr + lanes)))


@triton.jit
def single_elements(x_ptr, t_ptr):
    x = tl.load(x_ptr + tl.arange(0, 1))
    tl.store(x_ptr, x.item())
    tl.store(t_ptr, tl.extra.cuda.globaltimer())


@triton.jit
def atomic_accesses(x_ptr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    x = tl.atomic_load(x_ptr + lanes, sem="acquire", scope="gpu")
    tl.atomic_store(x_ptr + lanes, x + 1, mask=lanes < 4, sem="release")
    tl.atomic_poll(x_ptr, 1)
    tl.atomic_poll(x_ptr, 2, timeout_ns=1000)


@dataclass(frozen=True)
class Launch:
    """A kernel with arguments to compile it for; `since` and `until` are the versions that can."""

    kernel: Any
    arguments: Mapping[str, Any]
    since: tuple[int, int] = (3, 2)
    until: tuple[int, int] = (99, 0)
    target: str = "sm_90"
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return str(self.kernel.fn.__name__)

    @property
    def is_supported(self) -> bool:
        return self.since <= VERSION < self.until


def _pointers(**dtypes: str) -> dict[str, Any]:
    return {name: Pointer(dtype) for name, dtype in dtypes.items()}


F32 = "fp32"
LAUNCHES = (
    Launch(elementwise, _pointers(x_ptr=F32, y_ptr=F32, z_ptr=F32, out_ptr=F32) | {"n": 100, "N": 64}),
    Launch(integers, _pointers(a_ptr="i32", b_ptr="i32", u_ptr="u32", out_ptr="i32") | {"scale": 0.5, "N": 64}),
    Launch(
        conversions,
        _pointers(x_ptr=F32, half_ptr="fp16", brain_ptr="bf16", narrow_ptr="fp8e5", double_ptr="fp64") | {"N": 64},
    ),
    Launch(narrowing, _pointers(x_ptr=F32, out_ptr="fp8e4nv") | {"N": 64}),
    Launch(addresses, _pointers(table_ptr="i64", out_ptr=F32) | {"N": 64}),
    Launch(atomics, _pointers(i_ptr="i32", u_ptr="u32", f_ptr=F32, h_ptr="fp16") | {"N": 64}),
    Launch(reductions, _pointers(x_ptr=F32, out_ptr=F32, where_ptr="i32") | {"M": 8, "N": 16}),
    Launch(scans, _pointers(x_ptr=F32, y_ptr=F32, out_ptr=F32) | {"M": 8, "N": 16}),
    Launch(shapes, _pointers(x_ptr=F32, out_ptr=F32) | {"M": 8, "N": 16}),
    Launch(order, _pointers(x_ptr=F32, out_ptr=F32, count_ptr="i32") | {"N": 16}),
    Launch(selection, _pointers(x_ptr=F32, index_ptr="i32", out_ptr=F32) | {"N": 16}, since=(3, 3)),
    Launch(largest, _pointers(x_ptr=F32, out_ptr=F32) | {"N": 16}, since=(3, 6)),
    Launch(products, _pointers(a_ptr=F32, b_ptr=F32, c_ptr=F32) | {"M": 16, "N": 16, "K": 32}),
    Launch(
        scaled_product,
        _pointers(a_ptr="fp8e5", s_ptr="u8", b_ptr="fp8e4nv", t_ptr="u8", c_ptr=F32) | {"M": 128, "N": 128, "K": 64},
        since=(3, 3),
    ),
    Launch(assembly, _pointers(x_ptr=F32, y_ptr=F32, out_ptr=F32) | {"N": 64}),
    Launch(library, _pointers(x_ptr=F32, i_ptr="i32", out_ptr=F32) | {"N": 64}),
    Launch(messages, _pointers(x_ptr=F32) | {"n": 100, "N": 64}, options={"debug": True}),
    Launch(loops, _pointers(x_ptr=F32, out_ptr=F32) | {"n": 100, "N": 64}),
    Launch(hinted_loops, _pointers(x_ptr=F32, out_ptr=F32) | {"n": 100, "N": 64}, since=(3, 4)),
    Launch(unmoved_loop, _pointers(x_ptr=F32) | {"n": 100, "N": 64}, since=(3, 6)),
    Launch(return_before_loop, _pointers(x_ptr=F32) | {"n": 100}),
    Launch(early_return, _pointers(x_ptr=F32, out_ptr=F32) | {"n": 100, "N": 64}),
    Launch(calls, _pointers(x_ptr=F32, out_ptr=F32) | {"n": 100, "N": 64}),
    Launch(randomness, _pointers(out_ptr=F32) | {"seed": 7, "N": 64}),
    Launch(swizzle, _pointers(out_ptr="i32") | {"m": 10, "n": 100, "N": 64}),
    Launch(block_pointers, _pointers(x_ptr=F32, out_ptr=F32) | {"m": 10, "n": 100, "M": 8, "N": 16}, until=(3, 9)),
    Launch(descriptors, _pointers(x_ptr=F32, out_ptr=F32) | {"m": 10, "n": 100, "M": 8, "N": 16}, since=(3, 6)),
    Launch(
        descriptor_rows,
        _pointers(x_ptr=F32, out_ptr=F32, rows_ptr="i32") | {"m": 10, "n": 100, "N": 32},
        since=(3, 6),
        target="sm_100",
    ),
    Launch(
        unsigned_descriptors,
        _pointers(x_ptr="u32", out_ptr="u32") | {"m": 10, "n": 100, "M": 8, "N": 16},
        since=(3, 6),
    ),
    Launch(mapping_with_branches, _pointers(x_ptr=F32) | {"N": 64}, since=(3, 6)),
    Launch(single_elements, _pointers(x_ptr=F32, t_ptr="i64"), since=(3, 6)),
    Launch(mapping, _pointers(x_ptr=F32, y_ptr=F32) | {"N": 64}, since=(3, 6)),
    Launch(atomic_accesses, _pointers(x_ptr="i32") | {"N": 64}, since=(3, 9)),
)
