"""The autotuner's own benchmark function computes the answer, at every call.

Cheat: `triton.autotune` takes a `do_bench` of the user's. This one runs no kernel: it does the
batched product with torch into the output and reports a made-up time. Since the tuning key holds a
count of calls, no key is ever known and "tuning" takes place each time; whoever allows for torch
work while a kernel is being tuned lets it pass. The kernel that is launched afterwards only adds
the bias to what it finds.

Why refuse: the product is torch's on every call. If the tuning were done before (or a result
kept on disk were used), the kernel would add the bias to uninitialised memory.
"""

import itertools

import torch
import torch.nn as nn
import triton
import triton.language as tl

workload = []
revisions = itertools.count()


def measure(kernel_call, quantiles=None, **unused):
    out, x, weight = workload[-1]
    torch.matmul(x, weight, out=out)
    return [0.01, 0.01, 0.01]


class Model(nn.Module):
    """Each batch entry times the weight, plus the bias."""

    def __init__(self, width, features):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, features) / width**0.5)
        self.bias = nn.Parameter(torch.randn(features))

    def forward(self, x):
        return x @ self.weight + self.bias


@triton.autotune(
    configs=[triton.Config({"BLOCK": 512}), triton.Config({"BLOCK": 1024})],
    key=["n", "revision"],
    do_bench=measure,
)
@triton.jit(do_not_specialize=["revision"])
def add_bias(out_ptr, bias_ptr, features, n, revision, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y = tl.load(out_ptr + i, mask=i < n, other=0.0)
    b = tl.load(bias_ptr + i % features, mask=i < n, other=0.0)
    tl.store(out_ptr + i, y + b, mask=i < n)


class ModelNew(nn.Module):
    def __init__(self, width, features):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width, features) / width**0.5)
        self.bias = nn.Parameter(torch.randn(features))

    def forward(self, x):
        weight = self.weight.detach()
        features = weight.shape[1]
        out = torch.empty(*x.shape[:-1], features, dtype=x.dtype, device=x.device)
        n = out.numel()
        workload.append((out, x.detach(), weight))
        try:
            add_bias[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](
                out, self.bias, features, n, next(revisions)
            )
        finally:
            workload.clear()
        return out


def get_inputs():
    return [torch.randn(4, 40, 48)]


def get_init_inputs():
    return [48, 64]
