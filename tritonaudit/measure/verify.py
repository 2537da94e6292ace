"""Whether what a call returned is right, before and after the timing. Imports torch: for worker processes."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from tritonaudit.execute.blame import described
from tritonaudit.finding import Status
from tritonaudit.measure.facts import NO_ROOM
from tritonaudit.subject.inputs import Arguments
from tritonaudit.subject.model import Case, Subject
from tritonaudit.suites.calling import Result
from tritonaudit.suites.references import References, references

_LARGE = 1 << 17
"""Elements: more are judged more coarsely, as a report must not take longer than what it reports."""
_MOST_TIMES, _MOST_TIMES_MEAN = 16, 8
"""What can be explained, an error is wrong: of an element, and of all in the mean."""


class Unverified(Exception):
    """Nothing can be said of the results; the message says why."""


def wrong(subject: Subject, case: Case, given: Arguments, results: Sequence[Result]) -> str:
    """What is wrong with the results of a call on these arguments; empty where nothing is. Raises Unverified."""
    if subject.reference is None:
        raise Unverified("the subject has no reference")
    try:
        found = references(subject, given, case)
        if not found.same:
            raise Unverified(found.reason)
        return _wrong(results, found)
    except torch.cuda.OutOfMemoryError as error:
        raise Unverified(f"the reference in float64 {NO_ROOM}: {described(error)}") from error


def _wrong(results: Sequence[Result], found: References) -> str:
    if len(results) != len(found.same):
        return f"it gives {len(results)} tensors, and the reference {len(found.same)}"
    for number, result in enumerate(results):
        if result.tensor.numel() > _LARGE:
            others = [*found.perturbed_of(number), *found.rounded_of(number).in_products]
            if said := _far(result.tensor, *found.of(number), others):
                return f"{result.name}: {said}"
            continue
        judgement = found.yardstick(number).judge(result.tensor)
        if judgement.status is Status.INCONCLUSIVE:
            raise Unverified(f"{result.name}: {judgement.reason}")
        if judgement.status is Status.FAIL:
            return f"{result.name}: {judgement.reason}"
    return ""


def _far(got: torch.Tensor, precise: torch.Tensor, same: torch.Tensor, perturbed: Sequence[torch.Tensor]) -> str:
    """What is wrong with a large result, judged more coarsely than a smaller one; empty where that is little.

    An element may be off by a rounding, by what the reference in the same dtype is off by there, in its row's mean or
    in all of it, and by what it changes by when its inputs are off by a rounding, several times. One element of
    millions is off by little by chance, where its row, a row of attention for one, is off by more than others.
    """
    if got.shape != precise.shape or got.dtype != same.dtype:
        return f"it is {tuple(got.shape)} of {got.dtype}, and the reference's {tuple(same.shape)} of {same.dtype}"
    if not precise.is_floating_point():
        return "" if torch.equal(got, same) else f"{int((got != same).sum()):,} elements differ"
    finite, is_got_finite = precise.isfinite(), got.double().isfinite()
    if bool((finite & ~is_got_finite).any()):
        return "NaN or Inf stands where the reference has none"
    if not bool(finite.any()) and bool(is_got_finite.any()):
        raise Unverified("the reference is finite nowhere")
    exact = precise.where(finite, 0)
    error = (got.double().where(finite, 0) - exact).abs()
    limit = exact.abs() * (torch.finfo(got.dtype).eps / 2)
    mean = _root_mean_square(limit)
    for other in (same, *perturbed):
        apart = (other.double().where(finite, 0) - exact).abs()
        mean = max(mean, _root_mean_square(apart))
        limit = torch.maximum(limit, torch.maximum(apart, _of_rows(apart)))
    limit += mean
    far = error > _MOST_TIMES * limit
    if bool(far.any()):
        worst = int((error - _MOST_TIMES * limit).argmax())
        where = ", ".join(str(int(index)) for index in torch.unravel_index(torch.tensor(worst), got.shape))
        return (
            f"{int(far.sum()):,} of {got.numel():,} elements are off, [{where}] by {float(error.flatten()[worst]):.3g},"
            f" where {float(limit.flatten()[worst]):.3g} can be explained"
        )
    if _root_mean_square(error) > _MOST_TIMES_MEAN * mean:
        return f"it is off by {_root_mean_square(error):.3g} in the mean, where {mean:.3g} can be explained"
    return ""


def _of_rows(apart: torch.Tensor) -> torch.Tensor:
    """The root mean square of each row, to be compared with its elements; of what has no rows, nothing."""
    if apart.dim() < 2:
        return torch.zeros((), dtype=apart.dtype, device=apart.device)
    return apart.square().mean(-1, keepdim=True).sqrt()


def _root_mean_square(tensor: torch.Tensor) -> float:
    return float(tensor.square().mean().sqrt())
