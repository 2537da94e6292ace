"""One explicit step of the Gray-Scott reaction-diffusion system on a torus, for a batch of two concentration fields."""
import time

import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def __init__(self, feed, kill, diffuse_u, diffuse_v):
        super().__init__()
        self.feed, self.kill, self.diffuse_u, self.diffuse_v = feed, kill, diffuse_u, diffuse_v

    @staticmethod
    def laplacian(field):
        near = field.roll(1, -1) + field.roll(-1, -1) + field.roll(1, -2) + field.roll(-1, -2)
        far = (field.roll((1, 1), (-2, -1)) + field.roll((1, -1), (-2, -1))
               + field.roll((-1, 1), (-2, -1)) + field.roll((-1, -1), (-2, -1)))
        return 0.2 * near + 0.05 * far - field

    def forward(self, u, v):
        wide_u, wide_v = u.float(), v.float()
        reaction = wide_u * wide_v * wide_v
        new_u = wide_u + self.diffuse_u * self.laplacian(wide_u) - reaction + self.feed * (1 - wide_u)
        new_v = wide_v + self.diffuse_v * self.laplacian(wide_v) + reaction - (self.feed + self.kill) * wide_v
        return new_u.to(u.dtype), new_v.to(v.dtype)


@triton.jit
def laplacian_at(ptr, base, up, row, down, left, col, right, mask, centre):
    near = tl.load(ptr + base + row + left, mask=mask, other=0.0).to(tl.float32)
    near += tl.load(ptr + base + row + right, mask=mask, other=0.0).to(tl.float32)
    near += tl.load(ptr + base + up + col, mask=mask, other=0.0).to(tl.float32)
    near += tl.load(ptr + base + down + col, mask=mask, other=0.0).to(tl.float32)
    far = tl.load(ptr + base + up + left, mask=mask, other=0.0).to(tl.float32)
    far += tl.load(ptr + base + up + right, mask=mask, other=0.0).to(tl.float32)
    far += tl.load(ptr + base + down + left, mask=mask, other=0.0).to(tl.float32)
    far += tl.load(ptr + base + down + right, mask=mask, other=0.0).to(tl.float32)
    return 0.2 * near + 0.05 * far - centre


def wall_clock(call, quantiles=(0.5,)):
    """The seconds that a call takes, by the wall clock, so that the tuner needs no CUDA events: the second of two calls."""
    for _ in range(2):  # the first call compiles
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        start = time.perf_counter()
        call()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        seconds = time.perf_counter() - start
    return [seconds] * len(quantiles)


@triton.autotune(configs=[triton.Config({"BLOCK": 256}, num_warps=4), triton.Config({"BLOCK": 1024}, num_warps=8)],
                 key=["height", "width"], do_bench=wall_clock)
@triton.jit
def gray_scott_kernel(u_ptr, v_ptr, new_u_ptr, new_v_ptr, total, height, width, feed, kill, diffuse_u, diffuse_v,
                      BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < total
    col = offsets % width
    line = offsets // width
    row = line % height
    base = (line - row) * width
    left = (col + width - 1) % width
    right = (col + 1) % width
    up = ((row + height - 1) % height) * width
    down = ((row + 1) % height) * width
    here = row * width
    u = tl.load(u_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    v = tl.load(v_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    lap_u = laplacian_at(u_ptr, base, up, here, down, left, col, right, mask, u)
    lap_v = laplacian_at(v_ptr, base, up, here, down, left, col, right, mask, v)
    reaction = u * v * v
    new_u = u + diffuse_u * lap_u - reaction + feed * (1 - u)
    new_v = v + diffuse_v * lap_v + reaction - (feed + kill) * v
    tl.store(new_u_ptr + offsets, new_u.to(new_u_ptr.dtype.element_ty), mask=mask)
    tl.store(new_v_ptr + offsets, new_v.to(new_v_ptr.dtype.element_ty), mask=mask)


class ModelNew(nn.Module):
    def __init__(self, feed, kill, diffuse_u, diffuse_v):
        super().__init__()
        self.feed, self.kill, self.diffuse_u, self.diffuse_v = feed, kill, diffuse_u, diffuse_v

    def forward(self, u, v):
        u, v = u.contiguous(), v.contiguous()
        new_u, new_v = torch.empty_like(u), torch.empty_like(v)
        total = u.numel()
        if total:
            gray_scott_kernel[lambda meta: (triton.cdiv(total, meta["BLOCK"]),)](
                u, v, new_u, new_v, total, u.shape[-2], u.shape[-1],
                self.feed, self.kill, self.diffuse_u, self.diffuse_v)
        return new_u, new_v


def get_inputs():
    return [torch.rand(4, 128, 161), torch.rand(4, 128, 161)]


def get_init_inputs():
    return [0.055, 0.062, 1.0, 0.5]
