"""Numbers of any width from 1 to 32 bits, packed without gaps into words of 32 bits, lowest bits first, as int64."""

import torch
import triton
import triton.language as tl

from tritonaudit import Case, Subject

BLOCK = 128


@triton.jit
def unpack_kernel(
    words_ptr,
    out_ptr,
    count,
    blocks,
    row_stride,
    word_stride,
    WIDTH: tl.constexpr,
    ONES: tl.constexpr,
    SIGNED: tl.constexpr,
    BLOCK: tl.constexpr,
):
    program = tl.program_id(0).to(tl.int64)
    row = program // blocks
    i = program % blocks * BLOCK + tl.arange(0, BLOCK)
    inside = i < count
    bit = i * WIDTH
    word = bit // 32
    shift = bit % 32
    row_ptr = words_ptr + row * row_stride
    low = tl.load(row_ptr + word * word_stride, mask=inside, other=0)
    # A number whose bits end in the next word is the only one that needs it, and then there is one.
    straddles = inside & (shift + WIDTH > 32)
    high = tl.load(row_ptr + (word + 1) * word_stride, mask=straddles, other=0)
    pair = (high.to(tl.int64) << 32) | low.to(tl.uint32, bitcast=True).to(tl.int64)
    value = (pair >> shift) & ONES
    if SIGNED:
        value = tl.where(value > ONES // 2, value - ONES - 1, value)
    tl.store(out_ptr + row * count + i, value, mask=inside)


def unpack_bits(words: torch.Tensor, width: int, count: int, signed: bool) -> torch.Tensor:
    """words, (rows, words), int32: the first count numbers of each row, (rows, count), int64, from 0 to 2^width - 1, or
    in two's complement if they are signed."""
    if words.ndim != 2 or words.dtype != torch.int32:
        raise ValueError("words is int32 and has two dimensions")
    if not 1 <= width <= 32:
        raise ValueError("numbers have 1 to 32 bits")
    if count < 0 or count * width > 32 * words.shape[1]:
        raise ValueError("a row does not hold that many numbers")
    rows = words.shape[0]
    out = torch.empty((rows, count), dtype=torch.int64, device=words.device)
    blocks = triton.cdiv(count, BLOCK)
    if rows * blocks >= 2**31:
        raise ValueError("too many blocks for a grid")
    if rows * blocks:
        ones = (1 << width) - 1
        unpack_kernel[(rows * blocks,)](
            words, out, count, blocks, *words.stride(), WIDTH=width, ONES=ones, SIGNED=bool(signed), BLOCK=BLOCK
        )
    return out


def reference(words: torch.Tensor, width: int, count: int, signed: bool) -> torch.Tensor:
    wide = words.to(torch.int64)
    out = torch.zeros((words.shape[0], count), dtype=torch.int64, device=words.device)
    first = torch.arange(count, device=words.device) * width
    for k in range(width):
        at = first + k
        out |= ((wide[:, at // 32] >> (at % 32)) & 1) << k
    if signed:
        out = torch.where(out >= 2 ** (width - 1), out - 2**width, out)
    return out


def inputs(case: Case) -> tuple[torch.Tensor, int, int, bool]:
    """Random bits; with an odd seed the last two numbers of a long row are left out."""
    rows, words, width = case["rows"], case["words"], case["width"]
    generator = torch.Generator().manual_seed(case.seed)
    packed = torch.randint(-(2**31), 2**31, (rows, words), generator=generator).to(torch.int32)
    packed[:, ::5] = -(2**31)
    count = 32 * words // width
    if count > 40 and case.seed % 2:
        count -= 2
    return packed.to(case.device), width, count, bool(case["signed"])


unpacked = Subject(
    unpack_bits,
    reference=reference,
    inputs=inputs,
    name="unpack_bits",
    sizes={
        "rows": [16, 1, 5, 0],
        "words": [32, 1, 13, 40],
        "width": [4, 1, 3, 11, 17, 31, 32],
        "signed": [0, 1],
    },
    dtypes=["float32"],
)
