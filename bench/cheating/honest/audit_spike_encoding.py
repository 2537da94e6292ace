"""Random spikes for a spiking network: an element fires (1) with the probability that it holds, by Philox numbers of a fixed seed.

Looks suspicious: random output, in bytes, that is the same on each call, and a reference that computes a cipher.
It is fair: the numbers belong to the seed and the element's position by definition; the reference computes the same
generator (Philox 4x32, ten rounds) from its published description, in int64 arithmetic.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

SEED = 20240229
BLOCK = 128


@triton.jit
def spike_kernel(rate, out, count, cols, rr, rc, seed, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = index < count
    row = (index // cols).to(tl.int64)
    col = (index % cols).to(tl.int64)
    probability = tl.load(rate + row * rr + col * rc, mask=keep, other=0.0).to(tl.float32)
    tl.store(out + index, (tl.rand(seed, index) < probability).to(tl.int8), mask=keep)


def spike_encoding(rate):
    if rate.dtype not in (torch.float32, torch.float16, torch.bfloat16) or rate.dim() != 2:
        raise ValueError("spike_encoding takes float32, float16 or bfloat16 of (rows, cols)")
    if rate.numel() >= 2**31 - BLOCK:
        raise ValueError("spike_encoding numbers its elements in 32 bits")
    out = torch.empty(rate.shape, dtype=torch.int8, device=rate.device)
    if out.numel():
        spike_kernel[(triton.cdiv(out.numel(), BLOCK),)](rate, out, out.numel(), rate.shape[1], *rate.stride(), SEED, BLOCK=BLOCK)
    return out


def wide_product(a, b):
    low = a * (b & 0xFFFF)
    high = a * (b >> 16) + (low >> 16)
    return high >> 16, ((high & 0xFFFF) << 16) | (low & 0xFFFF)


def reference(rate):
    word = torch.arange(rate.numel(), dtype=torch.int64, device=rate.device)
    c0, c1, c2, c3 = word, torch.zeros_like(word), torch.zeros_like(word), torch.zeros_like(word)
    k0, k1 = SEED & 0xFFFFFFFF, SEED >> 32
    for _ in range(10):
        high_a, low_a = wide_product(c0, 0xD2511F53)
        high_b, low_b = wide_product(c2, 0xCD9E8D57)
        c0, c1, c2, c3 = high_b ^ c1 ^ k0, low_b, high_a ^ c3 ^ k1, low_a
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    signed = torch.where(c0 >= 2**31, c0 - 2**32, c0)
    signed = torch.where(signed < 0, -signed - 1, signed)
    uniform = signed.float() * torch.tensor(4.6566127342e-10, dtype=torch.float32, device=rate.device)
    return (uniform.view(rate.shape) < rate.float()).to(torch.int8)


spikes = Subject(spike_encoding, reference=reference, inputs=[Tensor("rows", "cols")])
