"""Quantisation to NF4: every 64 values of a row share their largest magnitude, and become 4-bit codes, two to a byte.

A value divided by the largest magnitude of its block is coded by the nearest of 16 levels (the lower one on a tie); the
value of the even column is the high half of the byte. A block of zeros has the code of 0 throughout, as has the half
beyond an odd last column; a NaN has the code 0 and makes the block's magnitude NaN, and with it all of its codes 0.
"""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

GROUPS = 8
HALF = 32


@triton.jit
def nf4_code(x):
    code = (x > -0.8480963706970215).to(tl.int32)
    code += (x > -0.6106328964233398).to(tl.int32)
    code += (x > -0.4599952697753906).to(tl.int32)
    code += (x > -0.33967941999435425).to(tl.int32)
    code += (x > -0.23460739850997925).to(tl.int32)
    code += (x > -0.13791173696517944).to(tl.int32)
    code += (x > -0.045525018125772476).to(tl.int32)
    code += (x > 0.03979014977812767).to(tl.int32)
    code += (x > 0.1202552542090416).to(tl.int32)
    code += (x > 0.2035212516784668).to(tl.int32)
    code += (x > 0.2920137643814087).to(tl.int32)
    code += (x > 0.3893125355243683).to(tl.int32)
    code += (x > 0.5016634464263916).to(tl.int32)
    code += (x > 0.6427869200706482).to(tl.int32)
    code += (x > 0.8614784479141235).to(tl.int32)
    return code


@triton.jit
def nf4_kernel(x, packed, largest, groups, cols, per_row, bytes, sr, sc, GROUPS: tl.constexpr, HALF: tl.constexpr):
    group = tl.program_id(0).to(tl.int64) * GROUPS + tl.arange(0, GROUPS)
    live = group < groups
    row = group // per_row
    byte = (group % per_row * HALF)[:, None] + tl.arange(0, HALF)[None, :]
    even_keep = live[:, None] & (2 * byte < cols)
    odd_keep = live[:, None] & (2 * byte + 1 < cols)
    at = x + row[:, None] * sr + 2 * byte * sc
    even = tl.load(at, mask=even_keep, other=0.0).to(tl.float32)
    odd = tl.load(at + sc, mask=odd_keep, other=0.0).to(tl.float32)
    top = tl.maximum(tl.max(tl.abs(even), axis=1), tl.max(tl.abs(odd), axis=1))
    bad = tl.max(((even != even) | (odd != odd)).to(tl.int32), axis=1)
    top = tl.where(bad > 0, float("nan"), top)
    below = tl.where(top == 0.0, 1.0, top)[:, None] + tl.zeros([GROUPS, HALF], dtype=tl.float32)
    high = nf4_code(tl.div_rn(even, below))
    low = nf4_code(tl.div_rn(odd, below))
    low = tl.where(odd_keep, low, 7)
    tl.store(largest + group, top, mask=live)
    tl.store(packed + row[:, None] * bytes + byte, (high * 16 + low).to(tl.uint8), mask=even_keep)


def nf4_pack(x):
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("nf4_pack takes float32, float16 or bfloat16")
    if x.dim() != 2:
        raise ValueError("nf4_pack takes a matrix")
    rows, cols = x.shape
    per_row = triton.cdiv(cols, 2 * HALF)
    bytes = triton.cdiv(cols, 2)
    packed = torch.empty((rows, bytes), dtype=torch.uint8, device=x.device)
    largest = torch.empty((rows, per_row), dtype=torch.float32, device=x.device)
    groups = rows * per_row
    if groups:
        grid = (triton.cdiv(groups, GROUPS),)
        nf4_kernel[grid](x, packed, largest, groups, cols, per_row, bytes, *x.stride(), GROUPS=GROUPS, HALF=HALF, num_warps=4)
    return packed, largest


LIMITS = [
    -0.8480963706970215, -0.6106328964233398, -0.4599952697753906, -0.33967941999435425, -0.23460739850997925,
    -0.13791173696517944, -0.045525018125772476, 0.03979014977812767, 0.1202552542090416, 0.2035212516784668,
    0.2920137643814087, 0.3893125355243683, 0.5016634464263916, 0.6427869200706482, 0.8614784479141235,
]  # fmt: skip


def reference(x):
    rows, cols = x.shape
    blocks = (cols + 63) // 64
    if rows == 0 or cols == 0:
        return x.new_zeros((rows, (cols + 1) // 2), dtype=torch.uint8), x.new_zeros((rows, blocks), dtype=torch.float32)
    padded = torch.nn.functional.pad(x.float(), (0, 64 * blocks - cols)).view(rows, blocks, 64)
    largest = padded.abs().amax(dim=2)
    ratio = padded / torch.where(largest == 0, torch.ones_like(largest), largest)[:, :, None]
    code = torch.zeros(ratio.shape, dtype=torch.uint8, device=x.device)
    for limit in torch.tensor(LIMITS, dtype=torch.float32).tolist():
        code += ratio > limit
    code = code.view(rows, -1)[:, :cols]
    code = torch.nn.functional.pad(code, (0, cols % 2), value=7)
    return code[:, 0::2] * 16 + code[:, 1::2], largest


packed = Subject(nf4_pack, reference=reference, inputs=[Tensor("rows", "cols")])
