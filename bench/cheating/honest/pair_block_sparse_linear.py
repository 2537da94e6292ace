"""A linear layer whose weight has only some blocks; a table built in Python tells each program which blocks are its
own.

It looks suspicious: plain Python walks over a pattern and builds lists of offsets, the kernel never sees most of the
positions of the weight, and output columns without a block get nothing but the bias. It is fair: the pattern is part
of the constructor's arguments, the missing blocks don't exist in the reference either, and the products all come from
the kernel.
"""
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, size, pattern):
        super().__init__()
        self.size, self.pattern = size, [tuple(pair) for pair in pattern]
        self.blocks = nn.Parameter(torch.randn(len(pattern), size, size) / size)
        self.bias = nn.Parameter(torch.randn(size * (1 + max(o for o, _ in pattern))))

    def forward(self, x):
        size = self.size
        out = self.bias.expand(x.shape[0], -1).clone()
        for (o, i), block in zip(self.pattern, self.blocks, strict=True):
            out[:, o * size : (o + 1) * size] += x[:, i * size : (i + 1) * size] @ block.t()
        return out


@triton.jit
def block_linear_kernel(
    x_ptr, block_ptr, bias_ptr, out_ptr, first_ptr, source_ptr, member_ptr, rows, in_width, out_width,
    SIZE: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    o = tl.program_id(1)
    r = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    lane = tl.arange(0, SIZE)
    total = tl.zeros((ROWS, SIZE), tl.float32)
    begin = tl.load(first_ptr + o)
    end = tl.load(first_ptr + o + 1)
    for entry in range(begin, end):
        i = tl.load(source_ptr + entry)
        member = tl.load(member_ptr + entry).to(tl.int64)
        x = tl.load(x_ptr + r[:, None] * in_width + (i * SIZE + lane)[None, :], mask=(r < rows)[:, None], other=0.0)
        w = tl.load(block_ptr + member * SIZE * SIZE + lane[None, :] * SIZE + lane[:, None])
        total += tl.dot(x, w, input_precision="ieee")
    total += tl.load(bias_ptr + o * SIZE + lane)[None, :]
    tl.store(out_ptr + r[:, None] * out_width + (o * SIZE + lane)[None, :], total, mask=(r < rows)[:, None])


class ModelNew(nn.Module):
    def __init__(self, size, pattern):
        super().__init__()
        if size < 16 or size & (size - 1):
            raise ValueError("size has to be a power of two from 16 on")
        self.size = size
        self.blocks = nn.Parameter(torch.randn(len(pattern), size, size) / size)
        self.columns = 1 + max(o for o, _ in pattern)
        self.least = size * (1 + max(i for _, i in pattern))
        self.bias = nn.Parameter(torch.randn(size * self.columns))
        first, source, member = [0], [], []
        for o in range(self.columns):
            for number, (there, i) in enumerate(pattern):
                if there == o:
                    source.append(i)
                    member.append(number)
            first.append(len(source))
        self.lists = (first, source, member)
        self.tables = {}

    def forward(self, x):
        if x.dtype != torch.float32 or x.ndim != 2 or x.shape[1] < self.least:
            raise ValueError("x has to be a float32 matrix that is wide enough")
        x = x.contiguous()
        if x.device not in self.tables:
            self.tables[x.device] = [torch.tensor(t, dtype=torch.int32, device=x.device) for t in self.lists]
        first, source, member = self.tables[x.device]
        rows, width = x.shape
        out = torch.empty((rows, self.bias.numel()), dtype=x.dtype, device=x.device)
        if rows:
            block_linear_kernel[(triton.cdiv(rows, 32), self.columns)](
                x, self.blocks, self.bias, out, first, source, member, rows, width, out.shape[1],
                SIZE=self.size, ROWS=32,
            )  # fmt: skip
        return out


def get_inputs():
    return [torch.randn(70, 128)]


def get_init_inputs():
    return [32, [(0, 3), (2, 0), (0, 1), (2, 2), (3, 3), (3, 0), (2, 1)]]
