"""Honest: column means whose float32 workspace is kept between calls, one for each stream and length, and zeroed at the start
of each call; the result is always a new tensor."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, x):
        return x.float().mean(dim=0).to(x.dtype)


@triton.jit
def column_sum_kernel(x_ptr, work_ptr, rows, cols, sr, sc, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    pid = tl.program_id(0)
    blocks = tl.cdiv(cols, BLOCK_C)
    row = (pid // blocks).to(tl.int64) * BLOCK_R + tl.arange(0, BLOCK_R)
    col = (pid % blocks).to(tl.int64) * BLOCK_C + tl.arange(0, BLOCK_C)
    mask = (row < rows)[:, None] & (col < cols)[None, :]
    x = tl.load(x_ptr + row[:, None] * sr + col[None, :] * sc, mask=mask, other=0.0).to(tl.float32)
    tl.atomic_add(work_ptr + col, tl.sum(x, 0), mask=col < cols)


@triton.jit
def column_mean_kernel(work_ptr, out_ptr, rows, cols, BLOCK: tl.constexpr):
    col = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(work_ptr + col, mask=col < cols, other=0.0)
    tl.store(out_ptr + col, total / rows, mask=col < cols)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.workspaces = {}

    def _workspace(self, length, device):
        stream = torch.cuda.current_stream(device).cuda_stream if device.type == "cuda" else None
        key = (length, device, stream)
        if key not in self.workspaces:
            if len(self.workspaces) >= 8:
                self.workspaces.clear()
            self.workspaces[key] = torch.empty(length, dtype=torch.float32, device=device)
        return self.workspaces[key].zero_()

    def forward(self, x):
        rows, cols = x.shape
        if rows == 0:
            return torch.full((cols,), float("nan"), dtype=x.dtype, device=x.device)
        out = torch.empty(cols, dtype=x.dtype, device=x.device)
        if cols:
            work = self._workspace(cols, x.device)
            column_sum_kernel[(triton.cdiv(rows, 16) * triton.cdiv(cols, 256),)](
                x, work, rows, cols, *x.stride(), BLOCK_R=16, BLOCK_C=256
            )
            column_mean_kernel[(triton.cdiv(cols, 1024),)](work, out, rows, cols, BLOCK=1024)
        return out


def get_inputs():
    return [torch.randn(50, 16400)]


def get_init_inputs():
    return []
