"""Numbers of four bits (sign, two of exponent, one of fraction), two a byte; 32 of a row share a power of two."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

GROUP = 32
GROUPS = 4


@triton.jit
def quantise_kernel(
    x_ptr,
    packed_ptr,
    scale_ptr,
    width,
    packed_width,
    groups,
    blocks,
    row_stride,
    col_stride,
    GROUP: tl.constexpr,
    GROUPS: tl.constexpr,
):
    program = tl.program_id(0).to(tl.int64)
    row = program // blocks
    group = program % blocks * GROUPS + tl.arange(0, GROUPS)
    col = group[:, None] * GROUP + tl.arange(0, GROUP)[None, :]
    x = tl.load(x_ptr + row * row_stride + col * col_stride, mask=col < width, other=0.0).to(tl.float32)
    bits = x.to(tl.int32, bitcast=True)
    magnitude_bits = bits & 0x7FFFFFFF
    # As integers, magnitudes have the same order, and NaN is above all.
    exponent = tl.max(magnitude_bits, axis=1) >> 23
    # 4, the power of two in the highest number, 6, has the exponent 2.
    scale = tl.where(exponent == 255, 255, tl.maximum(exponent - 2, 0))
    inverse = tl.where(scale == 255, 0, (254 - scale) << 23).to(tl.float32, bitcast=True)
    broken = (scale == 255)[:, None]
    magnitude = magnitude_bits.to(tl.float32, bitcast=True) * inverse[:, None]
    # Halves go to the neighbour with an even code.
    code = (magnitude > 0.25).to(tl.int32) + (magnitude >= 0.75).to(tl.int32)
    code += (magnitude > 1.25).to(tl.int32) + (magnitude >= 1.75).to(tl.int32)
    code += (magnitude > 2.5).to(tl.int32) + (magnitude >= 3.5).to(tl.int32) + (magnitude > 5.0).to(tl.int32)
    negative = bits < 0
    code = tl.where(negative, code + 8, code)
    code = tl.where(broken, 0, code)
    low, high = tl.split(tl.reshape(code, (GROUPS, GROUP // 2, 2)))
    byte_at = group[:, None] * (GROUP // 2) + tl.arange(0, GROUP // 2)[None, :]
    packed_row_ptr = packed_ptr + row * packed_width
    tl.store(packed_row_ptr + byte_at, (low | (high << 4)).to(tl.uint8), mask=byte_at < packed_width)
    tl.store(scale_ptr + row * groups + group, scale.to(tl.uint8), mask=group < groups)


def mxfp4_quantise(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """x, (rows, cols): (rows, cols / 2, rounded up), uint8, the first of two numbers in the low bits, and (rows,
    cols / 32, rounded up), uint8, the exponents of the scales, plus 127. A group with NaN or infinity has the exponent
    255 and zeros."""
    if x.ndim != 2:
        raise ValueError("x has two dimensions")
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("x is float32, float16 or bfloat16")
    rows, cols = x.shape
    groups = triton.cdiv(cols, GROUP)
    packed_width = triton.cdiv(cols, 2)
    packed = torch.empty((rows, packed_width), dtype=torch.uint8, device=x.device)
    scales = torch.empty((rows, groups), dtype=torch.uint8, device=x.device)
    blocks = triton.cdiv(groups, GROUPS)
    programs = rows * blocks
    if programs >= 2**31:
        raise ValueError("too many blocks for a grid")
    if programs:
        quantise_kernel[(programs,)](
            x, packed, scales, cols, packed_width, groups, blocks, *x.stride(), GROUP=GROUP, GROUPS=GROUPS
        )
    return packed, scales


def reference(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    rows, cols = x.shape
    groups = (cols + 31) // 32
    wide = torch.zeros((rows, groups * 32), dtype=torch.float64, device=x.device)
    wide[:, :cols] = x
    wide = wide.reshape(rows, groups, 32)
    whole = torch.isfinite(wide).all(2)
    wide = torch.where(whole[:, :, None], wide, 0.0)
    # frexp gives the exponent of a fraction from 1/2 to 1, one more than that of the leading bit.
    peak = wide.abs().amax(2)
    exponent = torch.where(peak > 0, torch.frexp(peak).exponent - 1 - 2, -127).clamp(min=-127)
    scaled = torch.ldexp(wide.abs(), -exponent[:, :, None])
    best = torch.full_like(scaled, float("inf"))
    code = torch.zeros_like(scaled, dtype=torch.int64)
    numbers = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]
    for k in [0, 2, 4, 6, 1, 3, 5, 7]:
        distance = (scaled - numbers[k]).abs()
        closer = distance < best
        best = torch.where(closer, distance, best)
        code = torch.where(closer, k, code)
    code = torch.where(torch.signbit(wide), code + 8, code)
    code = torch.where(whole[:, :, None], code, 0).reshape(rows, groups * 32)
    packed = (code[:, 0::2] + 16 * code[:, 1::2])[:, : (cols + 1) // 2]
    scales = torch.where(whole, exponent + 127, 255)
    return packed.to(torch.uint8), scales.to(torch.uint8)


quantised = Subject(
    mxfp4_quantise,
    reference=reference,
    inputs=[Tensor("rows", "cols")],
    name="mxfp4_quantise",
    sizes={"rows": [8, 1, 3, 0], "cols": [128, 1, 31, 50, 200, 0]},
    dtypes=["float32", "float16", "bfloat16"],
)
