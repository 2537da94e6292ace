"""The mean squared difference: each program leaves a partial sum, and torch adds up these few."""
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl


class Model(nn.Module):
    def forward(self, prediction, target):
        return F.mse_loss(prediction, target)


@triton.jit
def squared_difference_kernel(prediction_ptr, target_ptr, part_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    prediction = tl.load(prediction_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    target = tl.load(target_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    difference = prediction - target
    tl.store(part_ptr + pid, tl.sum(difference * difference, axis=0))


class ModelNew(nn.Module):
    def forward(self, prediction, target):
        assert prediction.shape == target.shape and prediction.dtype == target.dtype
        assert prediction.dtype in (torch.float16, torch.bfloat16, torch.float32)
        prediction, target = prediction.contiguous(), target.contiguous()
        n = prediction.numel()
        programs = triton.cdiv(n, 2048)
        parts = torch.empty(programs, device=prediction.device, dtype=torch.float32)
        if programs > 0:
            squared_difference_kernel[(programs,)](prediction, target, parts, n, BLOCK=2048)
        return (torch.sum(parts) / n if n else parts.new_tensor(float("nan"))).to(prediction.dtype)


def get_inputs():
    return [torch.randn(130, 250), torch.randn(130, 250)]


def get_init_inputs():
    return []
