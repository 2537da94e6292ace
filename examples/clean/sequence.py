"""Small kernels over token sequences: every access is masked, every tile is a power of 2, no loop is left early."""

import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x_ptr, out_ptr, factor, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x * factor, mask=mask)


def scale(x: torch.Tensor, factor: float) -> torch.Tensor:
    """x (any shape) times a factor."""
    x = x.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    if n:
        scale_kernel[(triton.cdiv(n, 1024),)](x, out, factor, n, BLOCK=1024)
    return out


@triton.jit
def gate_kernel(x_ptr, gate_ptr, out_ptr, n_dims, BLOCK_DIMS: tl.constexpr):
    head = tl.program_id(0).to(tl.int64)
    dims = tl.arange(0, BLOCK_DIMS)
    mask = dims < n_dims
    x = tl.load(x_ptr + head * n_dims + dims, mask=mask)
    gate = tl.load(gate_ptr + head)
    tl.store(out_ptr + head * n_dims + dims, x * gate, mask=mask)


def gate(x: torch.Tensor, gates: torch.Tensor) -> torch.Tensor:
    """x (heads, dims), each head times its gate (heads,)."""
    x, gates = x.contiguous(), gates.contiguous()
    out = torch.empty_like(x)
    n_heads, n_dims = x.shape
    if x.numel():
        gate_kernel[(n_heads,)](x, gates, out, n_dims, BLOCK_DIMS=triton.next_power_of_2(n_dims))
    return out


@triton.jit
def lengths_kernel(tokens_ptr, lengths_ptr, n_tokens, padding, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    length = n_tokens
    for start in range(0, n_tokens, BLOCK):
        position = start + tl.arange(0, BLOCK)
        token = tl.load(tokens_ptr + row * n_tokens + position, mask=position < n_tokens, other=padding)
        length = tl.minimum(length, tl.min(tl.where(token == padding, position, n_tokens), axis=0))
    tl.store(lengths_ptr + row, length)


def lengths(tokens: torch.Tensor, padding: int) -> torch.Tensor:
    """The number of tokens (sequences, n_tokens) before the first padding in each sequence."""
    tokens = tokens.contiguous()
    n_sequences, n_tokens = tokens.shape
    out = torch.empty(n_sequences, device=tokens.device, dtype=torch.int32)
    if n_sequences:
        lengths_kernel[(n_sequences,)](tokens, out, n_tokens, padding, BLOCK=1024)
    return out
