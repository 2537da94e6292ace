"""The three greatest of eight candidates of each row: the greatest of every eighth element."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def candidates_kernel(x_ptr, scratch_ptr, columns, pitch, LANES: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, LANES)
    top = tl.full((LANES,), -2147483648, tl.int32)
    for start in range(0, columns, LANES):
        c = start + lanes
        top = tl.maximum(top, tl.load(x_ptr + row * columns + c, mask=c < columns, other=-2147483648))
    tl.store(scratch_ptr + row * pitch + lanes, top)  # fault: race: the rows of the scratch buffer overlap


@triton.jit
def choose_kernel(scratch_ptr, out_ptr, pitch, KEPT: tl.constexpr, LANES: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, LANES)
    candidates = tl.load(scratch_ptr + row * pitch + lanes)
    tl.store(out_ptr + row * KEPT + lanes, tl.sort(candidates, descending=True), mask=lanes < KEPT)


def top_three(x):
    x = x.contiguous()
    rows, columns = x.shape
    out = torch.full((rows, 3), -(2**31), device=x.device, dtype=torch.int32)
    if x.numel() > 0:
        scratch = torch.empty(rows * 8, device=x.device, dtype=torch.int32)
        pitch = 3
        candidates_kernel[(rows,)](x, scratch, columns, pitch, LANES=8)
        choose_kernel[(rows,)](scratch, out, pitch, KEPT=3, LANES=8)
    return out


def reference(x):
    rows, columns = x.shape
    if x.numel() == 0:
        return torch.full((rows, 3), -(2**31), device=x.device, dtype=torch.int32)
    padded = torch.nn.functional.pad(x, (0, -columns % 8), value=-(2**31))
    return padded.reshape(rows, -1, 8).amax(dim=1).sort(dim=1, descending=True).values[:, :3]


greatest = Subject(
    top_three,
    reference=reference,
    inputs=[Tensor("rows", "columns", dtype="int32", low=-1000, high=1000)],
)
