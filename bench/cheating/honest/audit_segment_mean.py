"""Honest: means over sequences of unequal length, empty ones (which give zero) among them, with accumulation in float32."""
import torch
import triton
import triton.language as tl

from tritonaudit import Offsets, Subject, Tensor


@triton.jit
def segment_mean_kernel(x_ptr, offsets_ptr, out_ptr, features, sxt, sxf, so, BLOCK_T: tl.constexpr, BLOCK_F: tl.constexpr):
    pid = tl.program_id(0)
    blocks = tl.cdiv(features, BLOCK_F)
    sequence = (pid // blocks).to(tl.int64)
    col = (pid % blocks).to(tl.int64) * BLOCK_F + tl.arange(0, BLOCK_F)
    begin = tl.load(offsets_ptr + sequence * so).to(tl.int64)
    end = tl.load(offsets_ptr + (sequence + 1) * so).to(tl.int64)
    acc = tl.zeros((BLOCK_F,), tl.float32)
    for start in range(begin, end, BLOCK_T):
        row = start + tl.arange(0, BLOCK_T)
        mask = (row < end)[:, None] & (col < features)[None, :]
        x = tl.load(x_ptr + row[:, None] * sxt + col[None, :] * sxf, mask=mask, other=0.0)
        acc += tl.sum(x.to(tl.float32), 0)
    length = tl.maximum(end - begin, 1).to(tl.float32)
    tl.store(out_ptr + sequence * features + col, acc / length, mask=col < features)


def segment_mean(x, offsets):
    sequences, features = offsets.numel() - 1, x.shape[1]
    out = torch.empty((sequences, features), dtype=x.dtype, device=x.device)
    if sequences and features:
        segment_mean_kernel[(sequences * triton.cdiv(features, 128),)](
            x, offsets, out, features, *x.stride(), offsets.stride(0), BLOCK_T=32, BLOCK_F=128
        )
    return out


def reference(x, offsets):
    means = x.new_zeros((offsets.numel() - 1, x.shape[1]), dtype=torch.float32)
    edges = offsets.tolist()
    for i, (begin, end) in enumerate(zip(edges, edges[1:])):
        if end > begin:
            means[i] = x[begin:end].float().mean(0)
    return means.to(x.dtype)


mean = Subject(
    segment_mean,
    reference=reference,
    inputs=[Tensor("tokens", "features"), Offsets("sequences", "tokens")],
    dtypes=["float32", "float16", "bfloat16"],
    sizes={"sequences": [64, 100], "tokens": [1024, 3001], "features": [256, 200]},
)
