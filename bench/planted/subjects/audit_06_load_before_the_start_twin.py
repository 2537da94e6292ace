"""A causal convolution of each row with a filter of 4 taps."""
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def causal_conv_kernel(x_ptr, taps_ptr, out_ptr, tokens, TAPS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    t = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for tap in tl.static_range(TAPS):
        source = t - tap
        x = tl.load(x_ptr + row * tokens + source, mask=(source >= 0) & (source < tokens), other=0.0)
        weight = tl.load(taps_ptr + tap).to(tl.float32)
        acc += tl.where(source >= 0, x.to(tl.float32) * weight, 0.0)
    tl.store(out_ptr + row * tokens + t, acc.to(out_ptr.dtype.element_ty), mask=t < tokens)


def causal_conv(x, taps):
    assert taps.shape == (4,)
    x, taps = x.contiguous(), taps.contiguous()
    rows, tokens = x.shape
    out = torch.empty_like(x)
    if out.numel() > 0:
        causal_conv_kernel[(rows, triton.cdiv(tokens, 64))](x, taps, out, tokens, TAPS=4, BLOCK=64)
    return out


def reference(x, taps):
    tokens = x.shape[1]
    out = torch.zeros_like(x)
    for tap in range(min(4, tokens)):
        out[:, tap:] += x[:, : tokens - tap] * taps[tap]
    return out


convolution = Subject(
    causal_conv, reference=reference, inputs=[Tensor("rows", "tokens"), Tensor(4)], dtypes=["float32"]
)
