"""One step of a selective state space model in decoding, as Mamba takes it: the state decays, takes the input in, and
is read; it is changed in place.

Each program has some channels of one batch entry; all of their states lie in one tile."""

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def softplus(x):
    small = tl.exp(x)
    one = 1.0 + small
    # log(1 + small), without what the sum loses by rounding.
    log1p = tl.where(one == 1.0, small, tl.log(one) * (small / tl.where(one == 1.0, 1.0, one - 1.0)))
    return tl.where(x > 20.0, x, log1p)


@triton.autotune(
    configs=[triton.Config({"BLOCK": 8}, num_warps=2), triton.Config({"BLOCK": 32}, num_warps=4)],
    key=["dim", "states"],
    restore_value=["state_ptr"],
)
@triton.jit
def selective_update_kernel(
    state_ptr,
    x_ptr,
    dt_ptr,
    dt_bias_ptr,
    a_ptr,
    b_ptr,
    c_ptr,
    skip_ptr,
    z_ptr,
    out_ptr,
    dim,
    states,
    state_batch_stride,
    state_dim_stride,
    state_stride,
    x_batch_stride,
    x_dim_stride,
    dt_batch_stride,
    dt_dim_stride,
    dt_bias_stride,
    a_dim_stride,
    a_state_stride,
    b_batch_stride,
    b_state_stride,
    c_batch_stride,
    c_state_stride,
    skip_stride,
    z_batch_stride,
    z_dim_stride,
    BLOCK_N: tl.constexpr,
    BLOCK: tl.constexpr,
):
    blocks = tl.cdiv(dim, BLOCK)
    program = tl.program_id(0).to(tl.int64)
    batch = program // blocks
    d = program % blocks * BLOCK + tl.arange(0, BLOCK)
    n = tl.arange(0, BLOCK_N).to(tl.int64)
    d_mask = d < dim
    n_mask = n < states
    mask = d_mask[:, None] & n_mask[None, :]

    x = tl.load(x_ptr + batch * x_batch_stride + d * x_dim_stride, mask=d_mask, other=0.0).to(tl.float32)
    dt = tl.load(dt_ptr + batch * dt_batch_stride + d * dt_dim_stride, mask=d_mask, other=0.0).to(tl.float32)
    dt = softplus(dt + tl.load(dt_bias_ptr + d * dt_bias_stride, mask=d_mask, other=0.0).to(tl.float32))
    a_ptrs = a_ptr + d[:, None] * a_dim_stride + n[None, :] * a_state_stride
    a = tl.load(a_ptrs, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(b_ptr + batch * b_batch_stride + n * b_state_stride, mask=n_mask, other=0.0).to(tl.float32)
    c = tl.load(c_ptr + batch * c_batch_stride + n * c_state_stride, mask=n_mask, other=0.0).to(tl.float32)
    state_ptrs = state_ptr + batch * state_batch_stride + d[:, None] * state_dim_stride + n[None, :] * state_stride
    state = tl.load(state_ptrs, mask=mask, other=0.0)

    state = state * tl.exp(-tl.exp(a) * dt[:, None]) + (dt * x)[:, None] * b[None, :]
    tl.store(state_ptrs, state, mask=mask)
    y = tl.sum(tl.where(mask, state * c[None, :], 0.0), axis=1)

    y += x * tl.load(skip_ptr + d * skip_stride, mask=d_mask, other=0.0).to(tl.float32)
    z = tl.load(z_ptr + batch * z_batch_stride + d * z_dim_stride, mask=d_mask, other=0.0).to(tl.float32)
    y *= z / (1.0 + tl.exp(-z))
    tl.store(out_ptr + batch * dim + d, y.to(out_ptr.dtype.element_ty), mask=d_mask)


def selective_update(
    state: torch.Tensor,
    x: torch.Tensor,
    dt: torch.Tensor,
    dt_bias: torch.Tensor,
    a_log: torch.Tensor,
    b: torch.Tensor,
    c: torch.Tensor,
    skip: torch.Tensor,
    z: torch.Tensor,
) -> torch.Tensor:
    """state, (batch, dim, states), float32, which changes; x, dt and z, (batch, dim); b and c, (batch, states); a_log,
    (dim, states); dt_bias and skip, (dim): the output, (batch, dim)."""
    batch, dim, states = state.shape
    if state.dtype != torch.float32:
        raise ValueError("the state is float32")
    if any(size > 1 and stride == 0 for size, stride in zip(state.shape, state.stride(), strict=True)):
        raise ValueError("elements of the state overlap")
    out = torch.empty((batch, dim), dtype=x.dtype, device=x.device)
    if out.numel() == 0:
        return out
    selective_update_kernel[lambda meta: (batch * triton.cdiv(dim, meta["BLOCK"]),)](
        state,
        x,
        dt,
        dt_bias,
        a_log,
        b,
        c,
        skip,
        z,
        out,
        dim,
        states,
        *state.stride(),
        *x.stride(),
        *dt.stride(),
        dt_bias.stride(0),
        *a_log.stride(),
        *b.stride(),
        *c.stride(),
        skip.stride(0),
        *z.stride(),
        BLOCK_N=triton.next_power_of_2(states),
    )
    return out


def reference(
    state: torch.Tensor,
    x: torch.Tensor,
    dt: torch.Tensor,
    dt_bias: torch.Tensor,
    a_log: torch.Tensor,
    b: torch.Tensor,
    c: torch.Tensor,
    skip: torch.Tensor,
    z: torch.Tensor,
) -> torch.Tensor:
    wide = state.dtype
    step = F.softplus(dt.to(wide) + dt_bias.to(wide))
    decay = torch.exp(-torch.exp(a_log.to(wide)) * step[..., None])
    state.copy_(state * decay + (step * x.to(wide))[..., None] * b.to(wide)[:, None, :])
    y = (state * c.to(wide)[:, None, :]).sum(dim=-1) + x.to(wide) * skip.to(wide)
    return (y * F.silu(z.to(wide))).to(x.dtype)


update = Subject(
    selective_update,
    reference=reference,
    inputs=[
        Tensor("batch", "dim", "states", dtype="float32"),
        Tensor("batch", "dim"),
        Tensor("batch", "dim"),
        Tensor("dim"),
        Tensor("dim", "states"),
        Tensor("batch", "states"),
        Tensor("batch", "states"),
        Tensor("dim"),
        Tensor("batch", "dim"),
    ],
    mutates=[0],
    name="selective_update",
    sizes={"batch": [2, 1, 3, 5, 0], "dim": [32, 1, 7, 40, 100], "states": [16, 1, 10, 33, 64]},
)
