"""The best path through a chain of states, by Viterbi, as taggers with a conditional random field decode."""

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def no_nan(x):
    return tl.where(x == x, x, float("-inf"))


@triton.jit
def viterbi_kernel(
    emission_ptr,
    transition_ptr,
    lengths_ptr,
    back_ptr,
    score_ptr,
    path_ptr,
    steps,
    states,
    emission_batch_stride,
    emission_step_stride,
    emission_state_stride,
    transition_from_stride,
    transition_to_stride,
    lengths_stride,
    BLOCK: tl.constexpr,
    BLOCK_STEPS: tl.constexpr,
):
    batch = tl.program_id(0).to(tl.int64)
    length = tl.minimum(tl.load(lengths_ptr + batch * lengths_stride).to(tl.int64), steps).to(tl.int32)
    state = tl.arange(0, BLOCK)
    mask = state < states
    source = state[:, None].to(tl.int64)
    target = state[None, :].to(tl.int64)
    transition_at = source * transition_from_stride + target * transition_to_stride
    transition_mask = mask[:, None] & mask[None, :]
    transition = tl.load(transition_ptr + transition_at, mask=transition_mask, other=float("-inf")).to(tl.float32)
    emission_at = emission_ptr + batch * emission_batch_stride + state.to(tl.int64) * emission_state_stride
    back_at = back_ptr + batch * steps * states
    path_at = path_ptr + batch * steps

    start_mask = state < tl.where(length > 0, states, 0)
    alpha = no_nan(tl.load(emission_at, mask=start_mask, other=float("-inf")).to(tl.float32))
    for step in range(1, length):
        along = no_nan(alpha[:, None] + transition)
        best = tl.max(along, axis=0)
        # Of equally good ones, the lowest.
        came_from = tl.min(tl.where(along == best[None, :], state[:, None], BLOCK), axis=0)
        now = tl.cast(step, tl.int64)
        emission = tl.load(emission_at + now * emission_step_stride, mask=mask, other=float("-inf")).to(tl.float32)
        alpha = no_nan(best + emission)
        tl.store(back_at + now * states + state, came_from.to(tl.uint8), mask=mask)

    score = tl.max(alpha, axis=0)
    tl.store(score_ptr + batch, tl.where(length > 0, score, 0.0))
    current = tl.min(tl.where(alpha == score, state, BLOCK), axis=0)
    for first in range(0, steps, BLOCK_STEPS):
        place = tl.cast(first, tl.int64) + tl.arange(0, BLOCK_STEPS)
        tl.store(path_at + place, tl.full((BLOCK_STEPS,), -1, tl.int64), mask=(place < steps) & (place >= length))
    # What other threads stored is read now.
    tl.debug_barrier()
    if length > 0:
        tl.store(path_at + length - 1, current.to(tl.int64))
    for behind in range(1, length):
        now = tl.cast(length - behind, tl.int64)
        current = tl.load(back_at + now * states + current).to(tl.int32)
        tl.store(path_at + now - 1, current.to(tl.int64))


def viterbi(
    emission: torch.Tensor, transition: torch.Tensor, lengths: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """emission, (batch, steps, states), transition, (from, to), of one dtype, lengths, (batch): the score of the best
    path of each, (batch), float32, and its states, (batch, steps), int64, -1 behind its end.

    Up to 64 states. A sum that is NaN counts as -inf; of equally good states the lowest is taken. Sums are float32. A
    length beyond steps counts as steps, and one below 1 as 0, with a score of 0."""
    if emission.ndim != 3 or not 1 <= emission.shape[2] <= 64:
        raise ValueError("emission is (batch, steps, states), with 1 to 64 states")
    batch, steps, states = emission.shape
    if transition.shape != (states, states) or lengths.shape != (batch,):
        raise ValueError("transition is (states, states), and lengths is (batch)")
    if emission.dtype not in (torch.float32, torch.float16, torch.bfloat16) or transition.dtype != emission.dtype:
        raise ValueError("emission and transition are both float32, both float16 or both bfloat16")
    if lengths.dtype not in (torch.int32, torch.int64):
        raise ValueError("lengths is int32 or int64")
    if emission.device != transition.device or emission.device != lengths.device or steps >= 2**30:
        raise ValueError("all lie on one device, and steps is below 2^30")
    score = torch.empty(batch, dtype=torch.float32, device=emission.device)
    path = torch.empty((batch, steps), dtype=torch.int64, device=emission.device)
    back = torch.empty((batch, steps, states), dtype=torch.uint8, device=emission.device)
    if batch:
        viterbi_kernel[(batch,)](
            emission,
            transition,
            lengths,
            back,
            score,
            path,
            steps,
            states,
            *emission.stride(),
            *transition.stride(),
            lengths.stride(0),
            BLOCK=max(16, triton.next_power_of_2(states)),
            BLOCK_STEPS=64,
        )
    return score, path


def reference(
    emission: torch.Tensor, transition: torch.Tensor, lengths: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    batch, steps, states = emission.shape
    emission, transition = emission.to(torch.float32), transition.to(torch.float32)

    def no_nan(x):
        return torch.where(x == x, x, float("-inf"))

    def best_of(x):
        """The largest along dimension 1, and where it is first."""
        best = x.amax(dim=1)
        order = torch.arange(states, device=x.device).view(1, states, *[1] * (x.ndim - 2))
        return best, torch.where(x == best.unsqueeze(1), order, states).amin(dim=1)

    length = lengths.clamp(0, steps)
    score = torch.zeros(batch, dtype=torch.float32, device=emission.device)
    path = torch.full((batch, steps), -1, device=emission.device)
    if not path.numel():
        return score, path
    alpha, back = no_nan(emission[:, 0]), [torch.zeros((batch, states), dtype=torch.int64, device=emission.device)]
    for step in range(1, steps):
        best, came_from = best_of(no_nan(alpha[:, :, None] + transition))
        going = (step < length)[:, None]
        alpha = torch.where(going, no_nan(best + emission[:, step]), alpha)
        back.append(came_from)
    best, current = best_of(alpha)
    score = torch.where(length > 0, best, 0.0)
    for step in reversed(range(steps)):
        here = step < length
        path[:, step] = torch.where(here, current, -1)
        current = torch.where(here, back[step].gather(1, current[:, None])[:, 0], current)
    return score, path


decoded = Subject(
    viterbi,
    reference=reference,
    inputs=[
        Tensor("batch", "steps", "states"),
        Tensor("states", "states"),
        Tensor("batch", dtype="int64", low=-1, high="2 * steps"),
    ],
    name="viterbi",
    sizes={"batch": [16, 1, 5, 0], "steps": [16, 1, 2, 37], "states": [16, 1, 5, 40]},
)
