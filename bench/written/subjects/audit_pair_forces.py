"""Gravity among all bodies, softened: the acceleration of each, and its potential, which leaves out the body itself."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor

BLOCK = 32
SOFTENING = 0.125


@triton.jit
def load_positions(ptr, body, count, body_stride, axis_stride, WIDE: tl.constexpr):
    at = ptr + body * body_stride
    mask = body < count
    x = tl.load(at, mask=mask, other=0.0).to(WIDE)
    y = tl.load(at + axis_stride, mask=mask, other=0.0).to(WIDE)
    z = tl.load(at + axis_stride + axis_stride, mask=mask, other=0.0).to(WIDE)
    return x, y, z


@triton.jit
def force_kernel(
    position_ptr,
    mass_ptr,
    acceleration_ptr,
    potential_ptr,
    count,
    body_stride,
    axis_stride,
    mass_stride,
    SOFTENING: tl.constexpr,
    WIDE: tl.constexpr,
    BLOCK: tl.constexpr,
):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x_i, y_i, z_i = load_positions(position_ptr, i, count, body_stride, axis_stride, WIDE)
    ax = tl.zeros((BLOCK,), WIDE)
    ay = tl.zeros((BLOCK,), WIDE)
    az = tl.zeros((BLOCK,), WIDE)
    potential = tl.zeros((BLOCK,), WIDE)
    for start in range(0, count, BLOCK):
        j = tl.cast(start, tl.int64) + tl.arange(0, BLOCK)
        x_j, y_j, z_j = load_positions(position_ptr, j, count, body_stride, axis_stride, WIDE)
        # Bodies beyond the last one pull at nothing, not even at a body whose place is no number.
        inside = j[None, :] < count
        mass = tl.load(mass_ptr + j * mass_stride, mask=j < count, other=0.0).to(WIDE)
        dx = x_j[None, :] - x_i[:, None]
        dy = y_j[None, :] - y_i[:, None]
        dz = z_j[None, :] - z_i[:, None]
        squared = dx * dx + dy * dy + dz * dz
        inverse = 1.0 / tl.sqrt(squared + SOFTENING * SOFTENING)
        pull = mass[None, :] * inverse * inverse * inverse
        ax += tl.sum(tl.where(inside, pull * dx, 0.0), axis=1)
        ay += tl.sum(tl.where(inside, pull * dy, 0.0), axis=1)
        az += tl.sum(tl.where(inside, pull * dz, 0.0), axis=1)
        other = i[:, None] != j[None, :]
        potential -= tl.sum(tl.where(other & inside, mass[None, :] * inverse, 0.0), axis=1)
    mask = i < count
    tl.store(acceleration_ptr + i * 3, ax, mask=mask)
    tl.store(acceleration_ptr + i * 3 + 1, ay, mask=mask)
    tl.store(acceleration_ptr + i * 3 + 2, az, mask=mask)
    tl.store(potential_ptr + i, potential, mask=mask)


def pair_forces(position: torch.Tensor, mass: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """position, (bodies, 3), and mass, (bodies), of one dtype: accelerations, (bodies, 3), and potentials, (bodies)."""
    if position.ndim != 2 or position.shape[1] != 3 or mass.shape != position.shape[:1]:
        raise ValueError("position is (bodies, 3), and mass is (bodies)")
    if position.dtype not in (torch.float64, torch.float32) or mass.dtype != position.dtype:
        raise ValueError("both are float32, or both float64")
    if mass.device != position.device:
        raise ValueError("both lie on one device")
    count = position.shape[0]
    acceleration = torch.empty((count, 3), dtype=position.dtype, device=position.device)
    potential = torch.empty(count, dtype=position.dtype, device=position.device)
    if count:
        force_kernel[(triton.cdiv(count, BLOCK),)](
            position,
            mass,
            acceleration,
            potential,
            count,
            *position.stride(),
            mass.stride(0),
            SOFTENING=SOFTENING,
            WIDE=tl.float64 if position.dtype == torch.float64 else tl.float32,
            BLOCK=BLOCK,
        )
    return acceleration, potential


def reference(position: torch.Tensor, mass: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    difference = position[None] - position[:, None]
    inverse = 1 / torch.sqrt((difference * difference).sum(dim=2) + SOFTENING**2)
    acceleration = ((mass * inverse**3)[:, :, None] * difference).sum(dim=1)
    own = torch.eye(position.shape[0], dtype=torch.bool, device=position.device)
    return acceleration, -(mass * inverse).masked_fill(own, 0.0).sum(dim=1)


forces = Subject(
    pair_forces,
    reference=reference,
    inputs=[Tensor("bodies", 3), Tensor("bodies")],
    name="pair_forces",
    sizes={"bodies": [64, 1, 2, 45, 150, 0]},
    dtypes=["float32", "float64"],
)
