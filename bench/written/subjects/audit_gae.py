"""Generalised advantage estimation: a recurrence over the steps, from the last to the first, of many environments."""

import torch
import triton
import triton.language as tl

from tritonaudit import Case, Subject

BLOCK = 32
PROGRAMS = 4


@triton.jit
def gae_kernel(
    reward_ptr,
    value_ptr,
    done_ptr,
    advantage_ptr,
    return_ptr,
    gamma,
    decay,
    steps,
    envs,
    blocks,
    reward_step_stride,
    reward_env_stride,
    value_step_stride,
    value_env_stride,
    done_step_stride,
    done_env_stride,
    BLOCK: tl.constexpr,
):
    for block in range(tl.program_id(0), blocks, tl.num_programs(0)):
        advantage = tl.zeros((BLOCK,), tl.float32)
        env = tl.cast(block, tl.int64) * BLOCK + tl.arange(0, BLOCK)
        inside = env < envs
        for i in range(steps):
            step = tl.cast(steps - 1 - i, tl.int64)
            done = tl.load(done_ptr + step * done_step_stride + env * done_env_stride, mask=inside, other=1) != 0
            reward = tl.load(
                reward_ptr + step * reward_step_stride + env * reward_env_stride, mask=inside, other=0.0
            ).to(tl.float32)
            value = tl.load(value_ptr + step * value_step_stride + env * value_env_stride, mask=inside, other=0.0).to(
                tl.float32
            )
            # What comes after an end, NaN included, does not count.
            following = tl.load(
                value_ptr + (step + 1) * value_step_stride + env * value_env_stride, mask=inside & ~done, other=0.0
            ).to(tl.float32)
            carried = tl.where(done, 0.0, advantage)
            advantage = reward + gamma * following - value + decay * carried
            out_at = step * envs + env
            tl.store(advantage_ptr + out_at, advantage, mask=inside)
            tl.store(return_ptr + out_at, advantage + value, mask=env < envs)


def gae(
    rewards: torch.Tensor, values: torch.Tensor, dones: torch.Tensor, gamma: float, lam: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """rewards, (steps, envs), values, (steps + 1, envs), both float32 or both float16, dones, (steps, envs), bool, or
    uint8, where all but 0 is an end: advantages and returns, (steps, envs), in float32."""
    if rewards.ndim != 2 or values.ndim != 2:
        raise ValueError("rewards and values have two dimensions")
    if rewards.dtype not in (torch.float32, torch.float16) or values.dtype != rewards.dtype:
        raise ValueError("rewards and values are both float32 or both float16")
    if dones.dtype not in (torch.bool, torch.uint8):
        raise ValueError("dones is bool or uint8")
    steps, envs = rewards.shape
    if values.shape != (steps + 1, envs) or dones.shape != (steps, envs):
        raise ValueError("shapes do not fit")
    if dones.dtype == torch.bool:
        dones = dones.view(torch.uint8)
    advantages = torch.empty((steps, envs), dtype=torch.float32, device=rewards.device)
    returns = torch.empty_like(advantages)
    blocks = triton.cdiv(envs, BLOCK)
    if blocks >= 2**30 or steps >= 2**31:
        raise ValueError("too many environments or steps")
    if steps and blocks:
        gae_kernel[(min(blocks, PROGRAMS),)](
            rewards,
            values,
            dones,
            advantages,
            returns,
            float(gamma),
            float(gamma * lam),
            steps,
            envs,
            blocks,
            *rewards.stride(),
            *values.stride(),
            *dones.stride(),
            BLOCK=BLOCK,
        )
    return advantages, returns


def reference(
    rewards: torch.Tensor, values: torch.Tensor, dones: torch.Tensor, gamma: float, lam: float
) -> tuple[torch.Tensor, torch.Tensor]:
    r, v = rewards.double(), values.double()
    end = dones != 0
    zero = torch.zeros_like(v[0])
    advantages = torch.zeros_like(r)
    carried = zero
    for t in reversed(range(r.shape[0])):
        following = torch.where(end[t], zero, v[t + 1])
        carried = r[t] + gamma * following - v[t] + gamma * lam * torch.where(end[t], zero, carried)
        advantages[t] = carried
    return advantages.float(), (advantages + v[:-1]).float()


def inputs(case: Case) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, float, float]:
    """Normal numbers and an end in every eighth place or so; in flags, an end is 1 or 2; with an odd seed, every
    environment ends at the last step, and has no value after it."""
    steps, envs = case["steps"], case["envs"]
    dtype = torch.float16 if case["half"] else torch.float32
    generator = torch.Generator().manual_seed(case.seed)
    rewards = torch.randn((steps, envs), generator=generator).to(dtype)
    values = torch.randn((steps + 1, envs), generator=generator).to(dtype)
    dones = torch.rand((steps, envs), generator=generator) < 0.125
    if case.seed % 2 and steps:
        dones[-1] = True
        values[-1] = float("nan")
    if case["flags"]:
        dones = dones.to(torch.uint8) * torch.randint(1, 3, (steps, envs), generator=generator, dtype=torch.uint8)
    return rewards.to(case.device), values.to(case.device), dones.to(case.device), 0.96875, 0.9375


estimated = Subject(
    gae,
    reference=reference,
    inputs=inputs,
    name="gae",
    sizes={"steps": [16, 1, 5, 0], "envs": [64, 1, 40, 150, 300], "half": [0, 1], "flags": [0, 1]},
    dtypes=["float32"],
)
