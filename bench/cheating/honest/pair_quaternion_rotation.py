"""Turns a cloud of points for each item of a batch by that item's quaternion, which is normalised first."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, rotation, points):
        q = rotation.float()
        q = q / q.norm(dim=-1, keepdim=True).clamp_min(1e-12)
        axis = q[:, None, 1:].expand(-1, points.shape[1], -1)
        wide = points.float()
        twice = 2 * torch.linalg.cross(axis, wide)
        return (wide + q[:, None, :1] * twice + torch.linalg.cross(axis, twice)).to(points.dtype)


@triton.jit
def rotate_kernel(q_ptr, p_ptr, out_ptr, count, blocks, stride_qb, stride_qc, stride_pb, stride_pn, stride_pc,
                  BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    batch = (pid // blocks).to(tl.int64)
    index = (pid % blocks).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = index < count
    q_ptr += batch * stride_qb
    w = tl.load(q_ptr).to(tl.float32)
    i = tl.load(q_ptr + stride_qc).to(tl.float32)
    j = tl.load(q_ptr + 2 * stride_qc).to(tl.float32)
    k = tl.load(q_ptr + 3 * stride_qc).to(tl.float32)
    norm = tl.sqrt(w * w + i * i + j * j + k * k)
    norm = tl.maximum(norm, 1e-12, propagate_nan=tl.PropagateNan.ALL)
    w, i, j, k = w / norm, i / norm, j / norm, k / norm
    p_ptr += batch * stride_pb + index * stride_pn
    x = tl.load(p_ptr, mask=mask, other=0.0).to(tl.float32)
    y = tl.load(p_ptr + stride_pc, mask=mask, other=0.0).to(tl.float32)
    z = tl.load(p_ptr + 2 * stride_pc, mask=mask, other=0.0).to(tl.float32)
    tx = 2 * (j * z - k * y)
    ty = 2 * (k * x - i * z)
    tz = 2 * (i * y - j * x)
    out = out_ptr + (batch * count + index) * 3
    kind = out_ptr.dtype.element_ty
    tl.store(out, (x + w * tx + (j * tz - k * ty)).to(kind), mask=mask)
    tl.store(out + 1, (y + w * ty + (k * tx - i * tz)).to(kind), mask=mask)
    tl.store(out + 2, (z + w * tz + (i * ty - j * tx)).to(kind), mask=mask)


class ModelNew(nn.Module):
    def forward(self, rotation, points):
        batch, count, _ = points.shape
        out = torch.empty((batch, count, 3), dtype=points.dtype, device=points.device)
        if out.numel():
            blocks = triton.cdiv(count, 256)
            rotate_kernel[(batch * blocks,)](rotation, points, out, count, blocks, *rotation.stride(),
                                             *points.stride(), BLOCK=256)
        return out


def get_inputs():
    return [torch.randn(37, 4), torch.randn(37, 3001, 3)]


def get_init_inputs():
    return []
