"""Dropout by a seed that is an argument: a tensor of one number, as captured graphs need it."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def dropout_kernel(x_ptr, seed_ptr, out_ptr, n, p, scale, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    kept = tl.rand(tl.load(seed_ptr), offsets) >= p
    y = tl.where(kept, x * scale, 0.0)
    tl.store(out_ptr + offsets, y.to(out_ptr.dtype.element_ty), mask=mask)


def dropout(x, seed, p=0.25):
    assert x.dtype in (torch.float16, torch.bfloat16, torch.float32)
    assert seed.shape == (1,) and seed.dtype == torch.int64 and 0.0 <= p < 1.0
    x = x.contiguous()
    out = torch.empty_like(x)
    if x.numel() > 0:
        dropout_kernel[(triton.cdiv(x.numel(), 1024),)](x, seed, out, x.numel(), p, 1.0 / (1.0 - p), BLOCK=1024)
    return out


def product_of_words(a, b):
    """The high and low words of the product of two 32-bit numbers, held in int64."""
    low = a * (b & 0xFFFF)
    high = a * (b >> 16)
    total = (low >> 16) + high
    return total >> 16, ((total & 0xFFFF) << 16) | (low & 0xFFFF)


def uniform(seed, n, device):
    """What `tl.rand` gives: Philox 4x32 with ten rounds."""
    offsets = torch.arange(n, device=device, dtype=torch.int64)
    c0, c1 = offsets & 0xFFFFFFFF, offsets >> 32
    c2, c3 = torch.zeros_like(c0), torch.zeros_like(c0)
    k0, k1 = seed & 0xFFFFFFFF, (seed >> 32) & 0xFFFFFFFF
    for _ in range(10):
        high_b, low_b = product_of_words(c2, 0xCD9E8D57)
        high_a, low_a = product_of_words(c0, 0xD2511F53)
        c0, c1, c2, c3 = high_b ^ c1 ^ k0, low_b, high_a ^ c3 ^ k1, low_a
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    folded = torch.where(c0 >= 2**31, 2**32 - 1 - c0, c0)
    return folded.to(torch.float32) * 4.6566127342e-10


def reference(x, seed, p=0.25):
    kept = uniform(seed, x.numel(), x.device).reshape(x.shape) >= p
    return torch.where(kept, x * (1.0 / (1.0 - p)), 0.0).to(x.dtype)


drop = Subject(
    dropout,
    reference=reference,
    inputs=[Tensor("rows", "columns"), Tensor(1, dtype="int64", low=0, high=1_000_000)],
)
