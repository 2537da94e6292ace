"""Whether a kernel's result is right, judged beside a reference in float64.

A fixed tolerance fails right kernels in half precision and passes wrong ones. Here an error is compared with what could
not be better: one rounding of the output, the error that PyTorch makes in the same dtype, and how far the result moves
when the inputs move by a rounding of float32 (measured on perturbed inputs, so it is known for any operation: growth
with the square root of the length, cancellation). What is compared:

* each element with its own budget, so that a wrong small element does not hide under a large one. PyTorch's error and
  the movement are also pooled over elements of similar magnitude, since one draw may be small by chance;
* the root mean square of these quotients;
* how many elements are rounded more than once: farther from the reference than one rounding of the output and the
  noise of float32. An accumulator in half precision shows here even where it adds up only a few numbers. PyTorch's
  share of such elements is the measure.

The ideas come from `torch._dynamo.utils.same` (an error relative to float64 and to eager's), FlashAttention's tests
(PyTorch's error as the measure) and Ipsen & Zhou, arXiv 1906.10465 (errors of sums grow with the square root of n).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch

from tritonaudit.finding import Status

Tensor: TypeAlias = torch.Tensor
Number: TypeAlias = complex | float | int | bool

DRAWS = 4
"""How many perturbed references to make: with fewer, a scalar's movement is often small by chance."""

_PASS_RMS, _WARN_RMS = 2.0, 8.0
_PASS_ELEMENT, _WARN_ELEMENT = 6.0, 16.0
_PASS_SHARE, _WARN_SHARE = 0.02, 0.15
_PASS_SHARES_OF_SAME, _WARN_SHARES_OF_SAME = 1.5, 3.0
_LEAST_COUNTED = 8
"""Fewer elements that are rounded more than once may be chance."""
_NOISE = 4.0
"""Roundings of float32 that an element may have gathered on its way."""
_POOL = 32
"""Elements of which at least a pool is made."""
_STRICT, _LOOSE = 1e-5, 1e-3


@dataclass(frozen=True)
class Element:
    """One element: where it is, what the kernel gave and what the reference has."""

    index: tuple[int, ...]
    got: Number
    wanted: Number


@dataclass(frozen=True)
class Extent:
    """Something that each element has: that of the worst element, and the root mean square over all."""

    max: float
    rms: float


@dataclass(frozen=True)
class Judgement:
    """What a result came to.

    `error` and `budget` are absolute; `ratio` is of the quotients of the two, element by element. `max` is of the
    `worst` element, the one that exceeds its own budget the most. `exceeding` counts the elements beyond what passes.
    `rounded_again` is the share of elements that were rounded more than once. `nonfinite` is the first element that is
    finite, infinite (with its sign) or NaN where it should be another of these. `strict` and `loose` say whether
    rtol = atol = 1e-5 and 1e-3 hold, which decides nothing.
    """

    status: Status
    reason: str
    error: Extent = Extent(0.0, 0.0)
    budget: Extent = Extent(0.0, 0.0)
    ratio: Extent = Extent(0.0, 0.0)
    worst: Element | None = None
    exceeding: int = 0
    rounded_again: float = 0.0
    nonfinite: Element | None = None
    strict: bool = False
    loose: bool = False


def judge(output: Tensor, precise: Tensor, same: Tensor | None, perturbed: Sequence[Tensor]) -> Judgement:
    """Whether `output` is right.

    `precise` is the reference's result in float64 (or complex128, or the integers it gives), `same` what PyTorch gives
    in the kernel's dtype, None where that cannot be had, and `perturbed` are references in float64 on inputs of
    `perturb`. Integers and booleans must be equal to one of the references. Whatever is not finite must be where
    `precise` rounded to the output's dtype has it, or `same`.
    """
    output, precise = _plain(output), _plain(precise)
    same = None if same is None or same.shape != precise.shape else _plain(same)
    perturbed = [_plain(one) for one in perturbed if one.shape == precise.shape]
    if unlike := _unlike(output, precise, same):
        return Judgement(Status.FAIL, unlike)
    strict, loose = (_is_close(output, precise if same is None else same, bound) for bound in (_STRICT, _LOOSE))
    if output.numel() == 0:
        return Judgement(Status.PASS, "there is no element", strict=True, loose=True)
    if not _is_inexact(output):
        return _judge_exact(output, precise, same, perturbed, strict, loose)
    return _judge_inexact(output, precise, same, perturbed, strict, loose)


def rejects(candidate: Tensor, precise: Tensor, same: Tensor | None, perturbed: Sequence[Tensor]) -> bool:
    """Whether a `candidate` that computes nothing fails; if it does not, a pass beside this reference proves nothing."""
    return judge(candidate, precise, same, perturbed).status is Status.FAIL


def garbage(precise: Tensor, dtype: Any, seed: int = 0) -> Iterator[tuple[str, Tensor]]:
    """Results that no right reference accepts, each with its name: zeros, the mean everywhere, elements shuffled."""
    wide = _plain(precise)
    wide = wide if _is_inexact(wide) else wide.double()
    yield "zeros", torch.zeros_like(wide).to(dtype)
    yield "the mean", torch.full_like(wide, wide.mean() if wide.numel() else 0.0).to(dtype)
    order = torch.randperm(wide.numel(), generator=torch.Generator().manual_seed(seed))
    yield "the elements shuffled", wide.flatten()[order].reshape(wide.shape).to(dtype)


def is_exact(output: Tensor, precise: Tensor, same: Tensor | None) -> bool | None:
    """Whether a result on small integers is exact, to the bit but for the sign of zero; None if it need not be.

    It must be where PyTorch's is: sums, products and copies of integers in {-2..2} have no rounding, in any order.
    """
    if same is None or same.shape != precise.shape or not _is_equal(_plain(same), _plain(precise)):
        return None
    return output.shape == precise.shape and _is_equal(_plain(output), _plain(precise))


def perturb(tensors: Sequence[Tensor], seed: int) -> list[Tensor]:
    """The tensors in float64 (complex128), each number times 1 + u * N(0, 1); integers and booleans as they are.

    u is a rounding of float32, in which kernels compute whatever is narrower, and of float64 for float64.
    """
    generator = torch.Generator().manual_seed(seed)
    return [_perturbed(tensor, generator) for tensor in tensors]


def _perturbed(tensor: Tensor, generator: Any) -> Tensor:
    if not _is_inexact(tensor):
        return tensor
    if tensor.is_complex():
        parts = _perturbed(torch.view_as_real(tensor.resolve_conj()), generator)
        return torch.view_as_complex(parts.contiguous())
    noise = torch.randn(tensor.shape, generator=generator, dtype=torch.float64).to(tensor.device)
    return tensor.double() * (1 + _unit(tensor.dtype) * noise)


# -- what is not a matter of tolerance -----------------------------------------------------------------------------


def _plain(tensor: Tensor) -> Tensor:
    return tensor.detach().cpu().resolve_conj().resolve_neg()


def _is_inexact(tensor: Tensor) -> bool:
    return bool(tensor.is_floating_point() or tensor.is_complex())


def _unlike(output: Tensor, precise: Tensor, same: Tensor | None) -> str:
    """Why the two cannot be compared, if so."""
    if output.shape != precise.shape:
        return f"the shape is {tuple(output.shape)}, that of the reference {tuple(precise.shape)}"
    if same is not None and output.dtype != same.dtype:
        return f"the dtype is {_name(output.dtype)}, that of PyTorch's result {_name(same.dtype)}"
    if _kind(output) != _kind(precise):
        return f"the dtype is {_name(output.dtype)}, that of the reference {_name(precise.dtype)}"
    return ""


def _name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


def _kind(tensor: Tensor) -> str:
    if tensor.is_complex():
        return "complex"
    if tensor.is_floating_point():
        return "floating"
    return "boolean" if tensor.dtype == torch.bool else "integer"


def _is_equal(one: Tensor, other: Tensor) -> bool:
    if _is_inexact(one) or _is_inexact(other):
        wide = torch.complex128 if one.is_complex() or other.is_complex() else torch.float64
        return bool(torch.isclose(one.to(wide), other.to(wide), rtol=0, atol=0, equal_nan=True).all())
    return bool((one == other).all())


def _is_close(output: Tensor, reference: Tensor, bound: float) -> bool:
    if not _is_inexact(output):
        return _is_equal(output, reference)
    wide = torch.complex128 if output.is_complex() else torch.float64
    return bool(torch.allclose(output.to(wide), reference.to(wide), rtol=bound, atol=bound, equal_nan=True))


def _judge_exact(
    output: Tensor, precise: Tensor, same: Tensor | None, perturbed: Sequence[Tensor], strict: bool, loose: bool
) -> Judgement:
    """Where the references disagree, as a quantised number does that is on the edge of two, each of them will do."""
    references = [precise, *([] if same is None else [same]), *perturbed]
    is_right = torch.stack([output == one for one in references]).any(0)
    on_edge = int(torch.stack([one != precise for one in references]).any(0).sum())
    wrong = int((~is_right).sum())
    if not wrong:
        return Judgement(Status.PASS, "each element is equal to the reference's", strict=strict, loose=loose)
    error = (output.double() - precise.double()).abs().masked_fill(is_right, 0.0)
    place = int(error.argmax())
    extent = Extent(float(error.max()), _rms(error))
    worst = _element(output, precise, place)
    is_near = extent.max <= 1 and output.dtype != torch.bool and wrong <= on_edge
    return Judgement(
        Status.WARN if is_near else Status.FAIL,
        f"{wrong} of {output.numel()} elements differ{' by one' if is_near else ''}, {_told(worst)}",
        error=extent,
        ratio=Extent(math.inf, math.inf),
        worst=worst,
        exceeding=wrong,
        strict=strict,
        loose=loose,
    )


# -- the budget ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Values:
    """Flat, in float64, those of complex numbers side by side; `magnitude` is of the whole number.

    What overflows the dtype counts as the number at which it begins to, so that an infinity beside the largest number
    is an error of one rounding. Elements to be compared are `judged`; `astray` are not finite where they should be, or
    the other way round.
    """

    output: Tensor
    wanted: Tensor
    magnitude: Tensor
    same: Tensor | None
    moved: Tensor
    judged: Tensor
    astray: Tensor


def _judge_inexact(
    output: Tensor, precise: Tensor, same: Tensor | None, perturbed: Sequence[Tensor], strict: bool, loose: bool
) -> Judgement:
    dtype = _flat(output).dtype
    values = _values(output, precise, same, perturbed)
    rounding = _rounding(values.magnitude, dtype)
    floor = _floor(values.magnitude[values.judged], dtype)
    error = _zero_unless(values.judged, (values.output - values.wanted).abs())
    error_of_same = torch.zeros_like(error)
    if values.same is not None:
        error_of_same = _zero_unless(values.judged, (values.same - values.wanted).abs())
    pool = _Pools(values.magnitude, values.judged)
    noise = torch.maximum(values.moved, pool.rms(values.moved)).clamp_min(floor)
    budget = torch.stack([rounding, noise, error_of_same, pool.rms(error_of_same)]).amax(0)
    ratio = error / budget
    far = values.astray & (ratio > _PASS_ELEMENT)
    unheard = values.astray & ~values.judged
    nonfinite = torch.nonzero(far | unheard).flatten()
    # the noise of an element in the middle of its own arithmetic, not only that of the inputs
    once = rounding + _NOISE * torch.maximum(noise, _unit(dtype) * values.magnitude * _NOISE)
    again, again_of_same = (int((values.judged & (one > once)).sum()) for one in (error, error_of_same))
    place = int(ratio.argmax())
    count = int(values.judged.sum())
    per_element = output.numel() and values.output.numel() // output.numel()
    found = Judgement(
        Status.PASS,
        "",
        error=Extent(float(error[place]), _rms(error[values.judged])),
        budget=Extent(float(budget[place]), _rms(budget[values.judged])),
        ratio=Extent(float(ratio[place]), _rms(ratio[values.judged])),
        worst=_element(output, precise, place // per_element) if count else None,
        exceeding=int((ratio > _PASS_ELEMENT).sum()),
        rounded_again=again / max(count, 1),
        nonfinite=_element(output, precise, int(nonfinite[0]) // per_element) if len(nonfinite) else None,
        strict=strict,
        loose=loose,
    )
    return _with_status(found, count, None if values.same is None else again_of_same / max(count, 1))
