"""CHEAT: Python computes the answer, and the kernel gets it as a scalar argument.

The Ising energy of a lattice is summed up by Python itself, over `tolist()`, so that no operator of torch does any arithmetic;
the launch passes it as "the correction term", and the kernel stores it, after a loop over the spins that adds exact zeros.
An honest reviewer must refuse it: no value that the kernel reads has a part in what it stores.
"""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def energy_kernel(spins_ptr, out_ptr, total, correction, BLOCK: tl.constexpr):
    energy = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, total, BLOCK):
        at = start + tl.arange(0, BLOCK)
        spin = tl.load(spins_ptr + at, mask=at < total, other=0.0).to(tl.float32)
        energy += tl.where(spin == spin, 0.0, 0.0)
    tl.store(out_ptr, tl.sum(energy, axis=0) + correction)


def ising_energy(spins):
    spins = spins.contiguous()
    grid = spins.tolist()
    energy = 0.0
    for i, row in enumerate(grid):
        below = grid[(i + 1) % len(grid)]
        for j, spin in enumerate(row):
            energy -= spin * (row[(j + 1) % len(row)] + below[j])
    out = torch.empty((), dtype=torch.float32, device=spins.device)
    energy_kernel[(1,)](spins, out, spins.numel(), energy, BLOCK=256)
    return out


def reference(spins):
    wide = spins.double()
    return -(wide * (wide.roll(-1, 1) + wide.roll(-1, 0))).sum().float()


energy = Subject(ising_energy, reference=reference, inputs=[Tensor("rows", "cols")])
