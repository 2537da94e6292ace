"""A gated linear unit: (x @ value.T) * sigmoid(x @ gate.T + bias), both products in one launch, by tiles in groups."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

CONFIGS = [
    triton.Config({"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32, "GROUP": 4}, num_warps=4, num_stages=2),
    triton.Config({"BLOCK_M": 16, "BLOCK_N": 64, "BLOCK_K": 64, "GROUP": 4}, num_warps=4, num_stages=3),
    triton.Config({"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "GROUP": 8}, num_warps=4, num_stages=3),
]


@triton.autotune(configs=CONFIGS, key=["m", "n", "k"])
@triton.jit
def glu_kernel(
    x_ptr,
    value_ptr,
    gate_ptr,
    bias_ptr,
    y_ptr,
    m,
    n,
    k,
    x_row_stride,
    x_k_stride,
    value_row_stride,
    value_k_stride,
    gate_row_stride,
    gate_k_stride,
    bias_stride,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr,
):
    # Programs that follow each other share columns within GROUP rows of tiles.
    tiles_m = tl.cdiv(m, BLOCK_M)
    tiles_n = tl.cdiv(n, BLOCK_N)
    in_group = GROUP * tiles_n
    first = tl.program_id(0) // in_group * GROUP
    height = tl.minimum(tiles_m - first, GROUP)
    within = tl.program_id(0) % in_group
    tile_m = first + within % height
    tile_n = within // height

    row = tile_m.to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    col = tile_n.to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    row_mask = row < m
    col_mask = col < n
    value = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    gate = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, k, BLOCK_K):
        inner = tl.cast(start, tl.int64) + tl.arange(0, BLOCK_K)
        inner_mask = inner < k
        x_at = row[:, None] * x_row_stride + inner[None, :] * x_k_stride
        x = tl.load(x_ptr + x_at, mask=row_mask[:, None] & inner_mask[None, :], other=0.0)
        weight_mask = inner_mask[:, None] & col_mask[None, :]
        value_at = inner[:, None] * value_k_stride + col[None, :] * value_row_stride
        gate_at = inner[:, None] * gate_k_stride + col[None, :] * gate_row_stride
        v = tl.load(value_ptr + value_at, mask=weight_mask, other=0.0)
        g = tl.load(gate_ptr + gate_at, mask=weight_mask, other=0.0)
        value = tl.dot(x, v, value, input_precision="ieee")
        gate = tl.dot(x, g, gate, input_precision="ieee")
    bias = tl.load(bias_ptr + col * bias_stride, mask=col_mask, other=0.0).to(tl.float32)
    y = value * tl.sigmoid(gate + bias[None, :])
    tl.store(y_ptr + row[:, None] * n + col[None, :], y, mask=row_mask[:, None] & col_mask[None, :])


def glu_linear(x: torch.Tensor, value: torch.Tensor, gate: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """x, (m, k), value and gate, (n, k), and bias, (n), all of one dtype: (m, n)."""
    if x.ndim != 2 or value.ndim != 2 or gate.shape != value.shape or value.shape[1] != x.shape[1]:
        raise ValueError("x is (m, k), value and gate are (n, k)")
    if bias.shape != value.shape[:1]:
        raise ValueError("bias is (n)")
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("x is float32, float16 or bfloat16")
    if any(other.dtype != x.dtype or other.device != x.device for other in (value, gate, bias)):
        raise ValueError("all four have one dtype, and lie on one device")
    (m, k), n = x.shape, value.shape[0]
    y = torch.empty((m, n), dtype=x.dtype, device=x.device)
    if y.numel():
        glu_kernel[lambda meta: (triton.cdiv(m, meta["BLOCK_M"]) * triton.cdiv(n, meta["BLOCK_N"]),)](
            x,
            value,
            gate,
            bias,
            y,
            m,
            n,
            k,
            *x.stride(),
            *value.stride(),
            *gate.stride(),
            bias.stride(0),
        )
    return y


def reference(x: torch.Tensor, value: torch.Tensor, gate: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    wide = torch.promote_types(x.dtype, torch.float32)
    x, value, gate, bias, dtype = x.to(wide), value.to(wide), gate.to(wide), bias.to(wide), x.dtype
    return ((x @ value.T) * torch.sigmoid(x @ gate.T + bias)).to(dtype)


glu = Subject(
    glu_linear,
    reference=reference,
    inputs=[Tensor("m", "k"), Tensor("n", "k"), Tensor("n", "k"), Tensor("n")],
    name="glu_linear",
    sizes={"m": [64, 1, 45, 170, 0], "n": [64, 1, 100], "k": [64, 1, 75, 0]},
)
