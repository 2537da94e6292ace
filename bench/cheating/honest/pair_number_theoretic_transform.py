"""The number theoretic transform modulo 12289: a Fourier transform in whole numbers, by a launch for each stage.

It looks suspicious: a table of powers that Python computes goes to the device and stays there, ten launches of one
kernel pass two buffers back and forth, and the first one reads its input in bit-reversed order. It is fair: the table
is made of the modulus alone, each stage does all of its butterflies, and integers have one right answer.
"""
import torch
import torch.nn as nn
import triton
import triton.language as tl

MODULUS = 12289  # 3 * 2**12 + 1, and 11 generates all of its residues.


def powers(size):
    root = pow(11, (MODULUS - 1) // size, MODULUS)
    return [pow(root, k, MODULUS) for k in range(size)]


class Model(nn.Module):
    def __init__(self, bits):
        super().__init__()
        self.size = 2**bits
        table = torch.tensor(powers(self.size))
        k = torch.arange(self.size)
        self.matrix = table[(k[:, None] * k[None, :]) % self.size]

    def forward(self, x):
        values = x.long() % MODULUS
        # At most 2**12 products below 2**28: the sum fits in float64 and int64 alike.
        return (values[:, None, :] * self.matrix.to(x.device)).sum(-1) % MODULUS


@triton.jit
def stage_kernel(
    src_ptr, dst_ptr, table_ptr, pairs, size, half, modulus, BITS: tl.constexpr, FIRST: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < pairs
    row = at // (size // 2)
    pair = at % (size // 2)
    offset = pair % half
    low = (pair // half) * (2 * half) + offset
    high = low + half
    source_low, source_high = low, high
    if FIRST:
        source_low = low * 0
        source_high = high * 0
        for bit in tl.static_range(BITS):
            source_low = source_low | (((low >> bit) & 1) << (BITS - 1 - bit))
            source_high = source_high | (((high >> bit) & 1) << (BITS - 1 - bit))
    a = tl.load(src_ptr + row * size + source_low, mask=mask, other=0).to(tl.int64)
    b = tl.load(src_ptr + row * size + source_high, mask=mask, other=0).to(tl.int64)
    if FIRST:
        a = ((a % modulus) + modulus) % modulus
        b = ((b % modulus) + modulus) % modulus
    turned = b * tl.load(table_ptr + offset * (size // (2 * half)), mask=mask, other=0) % modulus
    tl.store(dst_ptr + row * size + low, (a + turned) % modulus, mask=mask)
    tl.store(dst_ptr + row * size + high, (a + modulus - turned) % modulus, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, bits):
        super().__init__()
        self.bits, self.size = bits, 2**bits
        self.tables = {}

    def forward(self, x):
        x = x.contiguous()
        batch, size = x.shape
        if size != self.size:
            raise ValueError(f"expects rows of {self.size}")
        if x.device not in self.tables:
            self.tables[x.device] = torch.tensor(powers(self.size), dtype=torch.int64, device=x.device)
        buffers = [torch.empty(x.shape, dtype=torch.int64, device=x.device) for _ in range(2)]
        pairs = x.numel() // 2
        source = x
        for stage in range(self.bits if pairs else 0):
            target = buffers[stage % 2]
            stage_kernel[(triton.cdiv(pairs, 512),)](
                source, target, self.tables[x.device], pairs, size, 2**stage, MODULUS,
                BITS=self.bits, FIRST=stage == 0, BLOCK=512,
            )  # fmt: skip
            source = target
        return source if pairs else buffers[0]


def get_inputs():
    return [torch.randint(0, MODULUS, (6, 256))]


def get_init_inputs():
    return [8]
