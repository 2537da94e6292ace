"""Policies of tolerance, ours among them: what each says to a result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch

from tritonaudit.finding import Status
from tritonaudit.suites.expected import Rounded
from tritonaudit.suites.judgement import Judgement
from tritonaudit.suites.tolerance import judge


@dataclass(frozen=True, eq=False)
class Result:
    """What a kernel gave, and what it may be compared with."""

    output: torch.Tensor
    precise: torch.Tensor
    same: torch.Tensor
    perturbed: Sequence[torch.Tensor]
    rounded: Rounded


Policy = Callable[[Result], Status]


def _passes(is_right: bool | torch.Tensor) -> Status:
    return Status.PASS if bool(is_right) else Status.FAIL


def judged(result: Result) -> Judgement:
    """What ours comes to."""
    return judge(result.output, result.precise, result.same, result.perturbed, rounded=result.rounded)


def _ours(result: Result) -> Status:
    return judged(result).status


def _allclose(bound: float) -> Policy:
    """rtol = atol = bound, beside PyTorch's result in the same dtype."""
    return lambda result: _passes(torch.allclose(*_of_16_bits(result), rtol=bound, atol=bound))


def _of_16_bits(result: Result) -> tuple[torch.Tensor, torch.Tensor]:
    """What the kernel and PyTorch gave, in float32 where PyTorch has no such comparison."""
    is_narrow = result.output.is_floating_point() and result.output.dtype.itemsize == 1
    return (result.output.float(), result.same.float()) if is_narrow else (result.output, result.same)


def _torch_testing(result: Result) -> Status:
    try:
        torch.testing.assert_close(*_of_16_bits(result))
    except AssertionError:
        return Status.FAIL
    return Status.PASS


def _kernelbench(result: Result) -> Status:
    """rtol = atol = 1e-4 in float32, 1e-2 in half precision."""
    return _allclose(1e-4 if result.output.dtype == torch.float32 else 1e-2)(result)


def _flash_attention(result: Result) -> Status:
    """The greatest error is at most twice PyTorch's, and 1e-5 more, as its tests allow."""
    error, of_same = (_largest(one, result.precise) for one in (result.output, result.same))
    return _passes(error <= 2 * of_same + 1e-5)


def _dynamo(result: Result) -> Status:
    """The root mean square error is at most so many times that of PyTorch and a tenth of the tolerance.

    As `torch._dynamo.utils.same` has it beside a float64 reference: 3 times, 10 times for up to 10 numbers and 4 times
    for up to 500, at a tolerance of 1e-4, or 1e-3 in half precision.
    """
    tolerance = 1e-4 if result.output.dtype == torch.float32 else 1e-3
    if _allclose(tolerance)(result) is Status.PASS:
        return Status.PASS
    count = result.output.numel()
    factor = 10.0 if count <= 10 else 4.0 if count <= 500 else 3.0
    error, of_same = (_rms(one, result.precise) for one in (result.output, result.same))
    return _passes(error <= factor * of_same + tolerance / 10)


def _largest(one: torch.Tensor, precise: torch.Tensor) -> float:
    return float((one.double() - precise).abs().max())


def _rms(one: torch.Tensor, precise: torch.Tensor) -> float:
    return float((one.double() - precise).square().mean().sqrt())


OURS = "ours"
POLICIES: Mapping[str, Policy] = {
    OURS: _ours,
    "strict, 1e-5": _allclose(1e-5),
    "loose, 1e-3": _allclose(1e-3),
    "torch.testing": _torch_testing,
    "KernelBench": _kernelbench,
    "FlashAttention": _flash_attention,
    "Dynamo-like": _dynamo,
}
