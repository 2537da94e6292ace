"""A Metropolis sweep of the Ising model in place: the black fields of a periodic board flip first, then the white ones.

Looks suspicious: integers changed in place by two launches, neighbours read that other programs of the same buffer could
write, a table of acceptances kept between calls, and almost all fields of a cold board unchanged.
It is fair: a field's neighbours are of the other colour, so that no launch reads what it writes; the table holds constants
of the model only. Random numbers are an input. Odd boards, where the colouring fails, are refused.
"""

import math

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

COUPLING = 0.44
BLOCK = 128
TABLES = {}


@triton.jit
def sweep_kernel(spins, chance, table, count, rows, cols, colour, sr, sc, cr, cc, BLOCK: tl.constexpr):
    half = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    keep = half < count
    row = half // (cols // 2)
    col = half % (cols // 2) * 2 + (row + colour) % 2
    up = (row + rows - 1) % rows
    down = (row + 1) % rows
    left = (col + cols - 1) % cols
    right = (col + 1) % cols
    own = tl.load(spins + row * sr + col * sc, mask=keep, other=0)
    around = tl.load(spins + up * sr + col * sc, mask=keep, other=0)
    around += tl.load(spins + down * sr + col * sc, mask=keep, other=0)
    around += tl.load(spins + row * sr + left * sc, mask=keep, other=0)
    around += tl.load(spins + row * sr + right * sc, mask=keep, other=0)
    agree = (2 * own - 1) * (2 * around - 4)
    accept = tl.load(chance + row * cr + col * cc, mask=keep, other=1.0).to(tl.float32) < tl.load(table + agree + 4, mask=keep, other=0.0)
    tl.store(spins + row * sr + col * sc, tl.where(accept, 1 - own, own), mask=keep)


def acceptances(device):
    if device not in TABLES:
        TABLES[device] = torch.tensor([math.exp(-2.0 * COUPLING * agree) for agree in range(-4, 5)], dtype=torch.float32, device=device)
    return TABLES[device]


def checkerboard_sweep(spins, chance):
    if spins.dtype != torch.int64 or chance.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("checkerboard_sweep takes int64 spins (0 or 1) and float32, float16 or bfloat16 chances")
    if spins.dim() != 2 or chance.shape != spins.shape or spins.device != chance.device:
        raise ValueError("checkerboard_sweep takes two tensors of (rows, cols) on one device")
    rows, cols = spins.shape
    if rows % 2 or cols % 2:
        raise ValueError("checkerboard_sweep takes a board of even sides")
    if any(size > 1 and stride == 0 for size, stride in zip(spins.shape, spins.stride())):
        raise ValueError("checkerboard_sweep writes the spins, which must not be expanded")
    count = rows * cols // 2
    if count:
        table = acceptances(spins.device)
        for colour in (0, 1):
            sweep_kernel[(triton.cdiv(count, BLOCK),)](
                spins, chance, table, count, rows, cols, colour, *spins.stride(), *chance.stride(), BLOCK=BLOCK
            )
    return spins


def reference(spins, chance):
    rows, cols = spins.shape
    odd = (torch.arange(rows, device=spins.device)[:, None] + torch.arange(cols, device=spins.device)) % 2
    table = torch.tensor([math.exp(-2.0 * COUPLING * agree) for agree in range(-4, 5)], dtype=torch.float32, device=spins.device)
    for colour in (0, 1):
        around = spins.roll(1, 0) + spins.roll(-1, 0) + spins.roll(1, 1) + spins.roll(-1, 1)
        accept = (chance.float() < table[(2 * spins - 1) * (2 * around - 4) + 4]) & (odd == colour)
        spins.copy_(torch.where(accept, 1 - spins, spins))
    return spins


swept = Subject(
    checkerboard_sweep,
    reference=reference,
    inputs=[Tensor("rows", "cols", dtype="int64", low=0, high=2), Tensor("rows", "cols")],
    mutates=["spins"],
    sizes={"rows": [2, 6, 16, 34], "cols": [2, 4, 18, 32]},
)
