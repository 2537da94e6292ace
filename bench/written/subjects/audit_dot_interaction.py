"""The dot products of all pairs of a sample's features, as recommenders take them, behind a copy of the first feature.

Persistent programs go from sample to sample and load its features by a tensor descriptor.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from tritonaudit import Subject, Tensor

PROGRAMS = 64
BLOCK_D = 32


@triton.jit
def interaction_kernel(
    x_desc,
    out_ptr,
    batch,
    features,
    dim,
    BLOCK_F: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    width = dim + features * (features - 1) // 2
    i = tl.arange(0, BLOCK_F)[:, None]
    j = tl.arange(0, BLOCK_F)[None, :]
    pair_at = dim + i * (i - 1) // 2 + j
    for sample in range(tl.program_id(0), batch, tl.num_programs(0)):
        out = out_ptr + tl.cast(sample, tl.int64) * width
        pairs = tl.zeros((BLOCK_F, BLOCK_F), tl.float32)
        for start in range(0, dim, BLOCK_D):
            x = x_desc.load([sample, 0, start]).reshape(BLOCK_F, BLOCK_D)
            pairs = tl.dot(x, x.T, pairs, input_precision="ieee")
            dense = tl.sum(tl.where(i == 0, x.to(tl.float32), 0.0), axis=0)
            col = start + tl.arange(0, BLOCK_D)
            tl.store(out + col, dense, mask=col < dim)
        tl.store(out + pair_at, pairs, mask=(j < i) & (i < features))


def dot_interaction(x: torch.Tensor) -> torch.Tensor:
    """x, (batch, features, dim), 1 to 64 features: (batch, dim + features * (features - 1) / 2), which is x[:, 0], and
    then x[:, i] . x[:, j] for (i, j) = (1, 0), (2, 0), (2, 1), (3, 0) and so on."""
    if x.ndim != 3 or not 1 <= x.shape[1] <= 64:
        raise ValueError("x is (batch, features, dim), with 1 to 64 features")
    if x.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise ValueError("x is float32, float16 or bfloat16")
    batch, features, dim = x.shape
    if batch >= 2**31 or dim >= 2**30:
        raise ValueError("too large")
    width = dim + features * (features - 1) // 2
    if dim == 0:
        return torch.zeros((batch, width), dtype=x.dtype, device=x.device)
    out = torch.empty((batch, width), dtype=x.dtype, device=x.device)
    if batch == 0:
        return out
    # Rows of a descriptor begin at multiples of 16 bytes.
    step = 16 // x.element_size()
    pitch = triton.cdiv(dim, step) * step
    if pitch != dim or not x.is_contiguous() or x.data_ptr() % 16:
        padded = torch.zeros((batch, features, pitch), dtype=x.dtype, device=x.device)
        padded[:, :, :dim] = x
        x = padded
    block_f = max(16, triton.next_power_of_2(features))
    desc = TensorDescriptor(x, list(x.shape), [features * pitch, pitch, 1], [1, block_f, BLOCK_D])
    interaction_kernel[(min(batch, PROGRAMS),)](desc, out, batch, features, dim, BLOCK_F=block_f, BLOCK_D=BLOCK_D)
    return out


def reference(x: torch.Tensor) -> torch.Tensor:
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    i, j = torch.tril_indices(x.shape[1], x.shape[1], offset=-1, device=x.device)
    return torch.cat([wide[:, 0], (wide @ wide.mT)[:, i, j]], dim=1).to(x.dtype)


interaction = Subject(
    dot_interaction,
    reference=reference,
    inputs=[Tensor("batch", "features", "dim")],
    name="dot_interaction",
    sizes={"batch": [16, 1, 150, 0], "features": [16, 1, 5, 40], "dim": [64, 1, 50, 0]},
)
