"""Small kernels over token sequences, as first kernels often look. Wrong on purpose: `tritonaudit examples/faulty`."""

import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x_ptr, out_ptr, factor, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, x * factor)


def scale(x: torch.Tensor, factor: float) -> torch.Tensor:
    """x (any shape, contiguous) times a factor."""
    out = torch.empty_like(x)
    n = x.numel()
    scale_kernel[(triton.cdiv(n, 1024),)](x, out, factor, n, BLOCK=1024)
    return out


@triton.jit
def gate_kernel(x_ptr, gate_ptr, out_ptr):
    # One program per head; a head has 96 dimensions.
    head = tl.program_id(0)
    dims = tl.arange(0, 96)
    x = tl.load(x_ptr + head * 96 + dims)
    gate = tl.load(gate_ptr + head)
    tl.store(out_ptr + head * 96 + dims, x * gate)


def gate(x: torch.Tensor, gates: torch.Tensor) -> torch.Tensor:
    """x (heads, 96), contiguous, each head times its gate (heads,)."""
    out = torch.empty_like(x)
    gate_kernel[(x.shape[0],)](x, gates, out)
    return out


@triton.jit
def lengths_kernel(tokens_ptr, lengths_ptr, n_tokens, padding):
    # One program per sequence: count the tokens until the first padding token.
    row = tl.program_id(0)
    length = 0
    for i in range(n_tokens):
        if tl.load(tokens_ptr + row * n_tokens + i) == padding:
            break
        length += 1
    tl.store(lengths_ptr + row, length)


def lengths(tokens: torch.Tensor, padding: int) -> torch.Tensor:
    """The number of tokens (sequences, n_tokens), contiguous, before the first padding in each sequence."""
    n_sequences, n_tokens = tokens.shape
    out = torch.empty(n_sequences, device=tokens.device, dtype=torch.int32)
    lengths_kernel[(n_sequences,)](tokens, out, n_tokens, padding)
    return out
