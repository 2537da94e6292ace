"""Packs bools into bytes, eight along each row, the first of them lowest; the last byte of a row is filled up with
zeros. Any strides."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def pack_bits_kernel(flags_ptr, out_ptr, n_cols, n_bytes, stride_row, stride_col, BLOCK: tl.constexpr):
    tiles = tl.cdiv(n_bytes, BLOCK)
    row = (tl.program_id(0) // tiles).to(tl.int64)
    byte = (tl.program_id(0) % tiles).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    bit = tl.arange(0, 8)
    col = byte[:, None] * 8 + bit[None, :]
    flag = tl.load(flags_ptr + row * stride_row + col * stride_col, mask=col < n_cols, other=0)
    packed = tl.sum((flag != 0).to(tl.int32) << bit[None, :], axis=1)
    tl.store(out_ptr + row * n_bytes + byte, packed.to(tl.uint8), mask=byte < n_bytes)


def pack_bits(flags):
    assert flags.ndim == 2 and flags.dtype == torch.bool
    rows, cols = flags.shape
    packed = torch.empty((rows, triton.cdiv(cols, 8)), device=flags.device, dtype=torch.uint8)
    if packed.numel():
        flags = flags.view(torch.uint8)
        grid = (rows * triton.cdiv(packed.shape[1], 128),)
        pack_bits_kernel[grid](flags, packed, cols, packed.shape[1], *flags.stride(), BLOCK=128)
    return packed


def reference(flags):
    bits = F.pad(flags.to(torch.uint8), (0, -flags.shape[1] % 8))
    bits = bits.reshape(flags.shape[0], bits.shape[1] // 8, 8)
    weights = 2 ** torch.arange(8, device=flags.device)
    return (bits * weights).sum(-1).to(torch.uint8)


packing = Subject(pack_bits, reference=reference, inputs=[Tensor("rows", "cols", dtype="bool")])
