"""A stable sort of 32-bit keys, integers or floats, by radix: for each four bits a count, a scan and a scatter."""

import torch
import triton
import triton.language as tl

from tritonaudit import Case, Subject

BLOCK = 256
SCAN_BLOCK = 16


@triton.jit
def prepare_kernel(
    key_ptr,
    bits_ptr,
    order_ptr,
    copy_ptr,
    n,
    key_stride,
    DESCENDING: tl.constexpr,
    FLOATS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Bits that are in the order of the keys as unsigned numbers, the places of the keys, and their own bits."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    key = tl.load(key_ptr + at * key_stride, mask=mask, other=0)
    tl.store(copy_ptr + at, key.to(tl.int32, bitcast=True), mask=mask)
    if FLOATS:
        bits = tl.where(key == 0.0, 0, key.to(tl.int32, bitcast=True))
        bits = tl.where(key != key, 0x7FFFFFFF, bits)
        # From the largest negative number on down, the bits of floats grow.
        bits = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
    else:
        bits = key
    if DESCENDING:
        bits = ~bits
    bits = bits ^ -0x80000000
    tl.store(bits_ptr + at, bits, mask=mask)
    tl.store(order_ptr + at, at.to(tl.int32), mask=mask)


@triton.jit
def count_kernel(bits_ptr, count_ptr, n, shift, BLOCK: tl.constexpr):
    block = tl.program_id(0)
    at = block.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    digit = (tl.load(bits_ptr + at, mask=mask, other=0) >> shift) & 15
    digits = tl.arange(0, 16)
    hit = (digit[:, None] == digits[None, :]) & mask[:, None]
    count = tl.sum(hit.to(tl.int32), axis=0)
    tl.store(count_ptr + digits * tl.num_programs(0) + block, count)


@triton.jit
def scan_kernel(count_ptr, n, SCAN_BLOCK: tl.constexpr):
    """Each count becomes the sum of those before it."""
    before = tl.zeros((), tl.int32)
    for start in range(0, n, SCAN_BLOCK):
        at = start + tl.arange(0, SCAN_BLOCK)
        count = tl.load(count_ptr + at, mask=at < n, other=0)
        tl.store(count_ptr + at, before + tl.cumsum(count, axis=0) - count, mask=at < n)
        before += tl.sum(count, axis=0)


@triton.jit
def scatter_kernel(
    bits_ptr,
    order_ptr,
    copy_ptr,
    first_ptr,
    new_bits_ptr,
    new_order_ptr,
    new_copy_ptr,
    n,
    shift,
    BLOCK: tl.constexpr,
):
    block = tl.program_id(0)
    at = block.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    bits = tl.load(bits_ptr + at, mask=mask, other=0)
    order = tl.load(order_ptr + at, mask=mask, other=0)
    copy = tl.load(copy_ptr + at, mask=mask, other=0)
    digit = (bits >> shift) & 15
    hit = ((digit[:, None] == tl.arange(0, 16)[None, :]) & mask[:, None]).to(tl.int32)
    rank = tl.sum((tl.cumsum(hit, axis=0) - hit) * hit, axis=1)
    to = tl.load(first_ptr + digit * tl.num_programs(0) + block, mask=mask, other=0) + rank
    tl.store(new_bits_ptr + to, bits, mask=mask)
    tl.store(new_order_ptr + to, order, mask=mask)
    tl.store(new_copy_ptr + to, copy, mask=mask)


def radix_argsort(keys: torch.Tensor, descending: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """keys, (n), int32 or float32: keys in order and their places, int64, as of a stable sort, where 0.0 and -0.0 are
    equal, and NaN, of whatever sign, are equal and larger than all others."""
    if keys.ndim != 1 or keys.dtype not in (torch.int32, torch.float32):
        raise ValueError("keys has one dimension, and is int32 or float32")
    n = keys.shape[0]
    if n >= 2**30:
        raise ValueError("too many keys")
    if not n:
        return torch.empty_like(keys), torch.empty((0,), dtype=torch.int64, device=keys.device)
    blocks = triton.cdiv(n, BLOCK)
    source = torch.empty((3, n), dtype=torch.int32, device=keys.device)
    target = torch.empty((3, n), dtype=torch.int32, device=keys.device)
    counts = torch.empty((16 * blocks,), dtype=torch.int32, device=keys.device)
    prepare_kernel[(blocks,)](
        keys,
        *source,
        n,
        keys.stride(0),
        DESCENDING=bool(descending),
        FLOATS=keys.dtype == torch.float32,
        BLOCK=BLOCK,
    )
    for shift in range(0, 32, 4):
        count_kernel[(blocks,)](source[0], counts, n, shift, BLOCK=BLOCK)
        scan_kernel[(1,)](counts, 16 * blocks, SCAN_BLOCK=SCAN_BLOCK)
        scatter_kernel[(blocks,)](*source, counts, *target, n, shift, BLOCK=BLOCK)
        source, target = target, source
    return source[2].view(keys.dtype), source[1].long()


def reference(keys: torch.Tensor, descending: bool) -> tuple[torch.Tensor, torch.Tensor]:
    nan = keys != keys
    filled = torch.where(nan, float("inf"), keys + 0.0) if keys.is_floating_point() else keys
    order = torch.sort(filled, stable=True, descending=bool(descending)).indices
    order = order[torch.sort(nan[order].int(), stable=True, descending=bool(descending)).indices]
    return keys[order], order


def inputs(case: Case) -> tuple[torch.Tensor, bool]:
    """Keys from a range that may be small, so that there are many equal ones, from below 0 if it is to be signed."""
    n, most = case["n"], 10 ** case["digits"]
    generator = torch.Generator().manual_seed(case.seed)
    keys = torch.randint(-most if case["signed"] else 0, most, (n,), generator=generator)
    keys = keys.float() / 16 if case["floats"] else keys.int()
    return keys.to(case.device), bool(case["descending"])


ordered = Subject(
    radix_argsort,
    reference=reference,
    inputs=inputs,
    name="radix_argsort",
    sizes={
        "n": [256, 1, 100, 300, 600, 0],
        "digits": [4, 1, 9],
        "signed": [0, 1],
        "floats": [0, 1],
        "descending": [0, 1],
    },
    dtypes=["float32"],
)
