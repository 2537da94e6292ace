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
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import torch

from tritonaudit.finding import Status

Tensor: TypeAlias = torch.Tensor
Number: TypeAlias = complex | float | int | bool

DRAWS = 4
"""How many perturbed references to make: with fewer, a scalar's movement is often small by chance."""

_PASS_RMS, _WARN_RMS = 2.0, 8.0
_PASS_ELEMENT, _WARN_ELEMENT = 6.0, 16.0
_PASS_AGAIN, _WARN_AGAIN = (0.02, 1.5), (0.15, 3.0)
"""Share of elements that are rounded more than once, and times PyTorch's share."""
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
    """Whether a `candidate` that computes nothing fails. If it does not, a pass proves nothing."""
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


# -- floating-point numbers ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Values:
    """The elements in float64, flat, the parts of complex numbers side by side; `magnitude` is of the whole number.

    Elements that are `judged` have an error. `astray` are those that are not finite where they should be, or the other
    way round.
    """

    output: Tensor
    wanted: Tensor
    magnitude: Tensor
    same: Tensor
    moved: Tensor
    judged: Tensor
    astray: Tensor

    def distance(self, other: Tensor) -> Tensor:
        """How far each judged element is from the reference; 0 where that is not finite."""
        distance = (other - self.wanted).abs()
        return torch.where(self.judged & distance.isfinite(), distance, 0.0)


def _judge_inexact(
    output: Tensor, precise: Tensor, same: Tensor | None, perturbed: Sequence[Tensor], strict: bool, loose: bool
) -> Judgement:
    values = _values(output, precise, same, perturbed)
    dtype = _flat(output).dtype
    error, error_of_same = values.distance(values.output), values.distance(values.same)
    pools = _Pools(values.magnitude, values.judged)
    rounding = _rounding(values.magnitude, dtype)
    noise = torch.maximum(values.moved, pools.rms(values.moved))
    noise = torch.maximum(noise, _unit(dtype) * values.magnitude)
    noise = noise.clamp_min(_floor(values.magnitude[values.judged], dtype))
    budget = torch.stack([rounding / math.sqrt(3), noise, error_of_same, pools.rms(error_of_same)]).amax(0)
    ratio = error / budget
    once = rounding + _NOISE * noise
    count = int(values.judged.sum())
    worst = int(ratio.argmax())
    astray = torch.nonzero(values.astray & (~values.judged | (ratio > _PASS_ELEMENT))).flatten()
    parts = values.output.numel() // output.numel()
    found = Judgement(
        Status.PASS,
        "",
        error=Extent(float(error[worst]), _rms(error[values.judged])),
        budget=Extent(float(budget[worst]), _rms(budget[values.judged])),
        ratio=Extent(float(ratio[worst]), _rms(ratio[values.judged])),
        worst=_element(output, precise, worst // parts) if count else None,
        exceeding=int((ratio > _PASS_ELEMENT).sum()),
        rounded_again=float((error > once).sum()) / max(count, 1),
        nonfinite=_element(output, precise, int(astray[0]) // parts) if len(astray) else None,
        strict=strict,
        loose=loose,
    )
    again_of_same = None if same is None else float((error_of_same > once).sum()) / max(count, 1)
    status, reason = _decide(found, count, again_of_same)
    return replace(found, status=status, reason=reason)


def _decide(found: Judgement, count: int, again_of_same: float | None) -> tuple[Status, str]:
    """The status by what was measured, and the sentence that says why: the worst of what is wrong."""
    if found.nonfinite is not None:
        return Status.FAIL, f"what is not finite differs from the reference, {_told(found.nonfinite)}"
    if found.worst is None:
        return Status.PASS, "no element is finite, and none should be"
    verdicts = [
        (
            Status.PASS,
            f"errors are {found.ratio.rms:.3g} times the budget (root mean square), at most {found.ratio.max:.3g}",
        ),
        (
            _graded(found.ratio.max, _PASS_ELEMENT, _WARN_ELEMENT),
            f"{found.exceeding} of {count} elements have an error above {_PASS_ELEMENT:g} times the budget, "
            f"{_told(found.worst)}",
        ),
        (
            _graded(found.ratio.rms, _PASS_RMS, _WARN_RMS),
            f"errors are {found.ratio.rms:.3g} times the budget (root mean square), {_told(found.worst)}",
        ),
        (
            _graded_share(found.rounded_again, count, again_of_same),
            f"{found.rounded_again:.1%} of the elements are rounded more than once"
            + ("" if again_of_same is None else f", {again_of_same:.1%} of PyTorch's"),
        ),
    ]
    return max(verdicts, key=lambda verdict: _SEVERITY.index(verdict[0]))


_SEVERITY = (Status.PASS, Status.WARN, Status.FAIL)


def _graded(ratio: float, passes: float, warns: float) -> Status:
    return Status.PASS if ratio <= passes else Status.WARN if ratio <= warns else Status.FAIL


def _graded_share(share: float, count: int, of_same: float | None) -> Status:
    """Of the elements that are rounded again. If PyTorch's are not known, it may be that it cannot do better."""
    if share * count < _LEAST_COUNTED:
        return Status.PASS
    passes, warns = (max(one, factor * (of_same or 0.0)) for one, factor in (_PASS_AGAIN, _WARN_AGAIN))
    graded = _graded(share, passes, warns)
    return Status.WARN if graded is Status.FAIL and of_same is None else graded


# -- what the numbers are ------------------------------------------------------------------------------------------


def _values(output: Tensor, precise: Tensor, same: Tensor | None, perturbed: Sequence[Tensor]) -> _Values:
    dtype = _flat(output).dtype
    got, reference = _flat(output).double(), _flat(precise).double()
    rounded = _rounded(reference, dtype)
    beside = rounded if same is None else _flat(same).double()
    like_reference, like_same = _class(got) == _class(rounded), _class(got) == _class(beside)
    # what PyTorch has where it differs from the reference will do, and is then what is wanted
    wanted = torch.where(like_same & ~like_reference, beside, reference)
    top = _top(dtype)
    wanted = torch.where(reference.isfinite(), wanted.clamp(-top, top), wanted)
    astray = ~(like_reference | like_same)
    at_the_top = astray & got.isinf() & (got.sign() == wanted.sign()) | (astray & rounded.isinf() & got.isfinite())
    got = torch.where(at_the_top, got.clamp(-top, top), got)
    judged = got.isfinite() & wanted.isfinite()
    moved = [(_flat(one).double() - reference).abs() for one in perturbed]
    moved = [torch.where(one.isfinite(), one, 0.0) for one in moved]
    return _Values(
        got,
        wanted,
        _magnitude(precise, wanted).masked_fill(~judged, 0.0),
        beside,
        torch.stack([torch.zeros_like(got), *moved]).amax(0),
        judged,
        astray,
    )


def _flat(tensor: Tensor) -> Tensor:
    return (torch.view_as_real(tensor) if tensor.is_complex() else tensor).flatten()


def _magnitude(precise: Tensor, parts: Tensor) -> Tensor:
    if not precise.is_complex():
        return parts.abs()
    return parts.reshape(-1, 2).norm(dim=1).repeat_interleave(2)


def _class(numbers: Tensor) -> Tensor:
    """0 for a finite number, 1 and -1 for infinities, 2 for NaN."""
    return torch.where(numbers.isnan(), 2.0, torch.where(numbers.isinf(), numbers.sign(), 0.0))


def _rounded(numbers: Tensor, dtype: Any) -> Tensor:
    """The nearest numbers of the dtype; what has no infinity to go to becomes its largest."""
    top = _top(dtype)
    has_infinity = top > torch.finfo(dtype).max
    return (numbers if has_infinity else numbers.clamp(-top, top)).to(dtype).double()


def _top(dtype: Any) -> float:
    """What an infinity counts as where a finite number is wanted: the first power of two that the dtype does not have.

    The largest number of a dtype that has no infinity.
    """
    most = float(torch.finfo(dtype).max)
    has_infinity = bool(torch.tensor(math.inf).to(dtype).double().isinf())
    if dtype == torch.float64 or not has_infinity:
        return most
    return 2.0 ** math.frexp(most)[1]


def _unit(dtype: Any) -> float:
    """A rounding, relative, in which a kernel computes numbers of the dtype."""
    return 2.0**-53 if dtype in (torch.float64, torch.complex128) else 2.0**-24


def _rounding(magnitude: Tensor, dtype: Any) -> Tensor:
    """Half of the distance between the dtype's numbers at this magnitude; more of float64, which the reference has."""
    info = torch.finfo(dtype)
    lowest = math.frexp(info.smallest_normal)[1]
    exponent = torch.where(magnitude > 0, torch.frexp(magnitude).exponent, lowest).clamp_min(lowest)
    half = torch.ldexp(torch.full_like(magnitude, info.eps / 2), exponent - 1)
    return (half * 4 if dtype == torch.float64 else half).clamp_min(2.0**-1074)


def _floor(magnitude: Tensor, dtype: Any) -> float:
    """What no error need be below: a rounding of numbers of the usual magnitude, and what a GPU may flush."""
    smallest = float(torch.finfo(dtype).smallest_normal)
    flushed = smallest / _PASS_ELEMENT if dtype in (torch.float32, torch.bfloat16) else 0.0
    return max(_unit(dtype) * _rms(magnitude), flushed)


def _rms(numbers: Tensor) -> float:
    """The root mean square, 0 of none; the numbers are not negative."""
    most = float(numbers.max()) if numbers.numel() else 0.0
    return most * math.sqrt(float((numbers / most).square().mean())) if 0 < most < math.inf else most


class _Pools:
    """The elements in groups of similar magnitude: of the same power of two, or of several where they are few."""

    def __init__(self, magnitude: Tensor, judged: Tensor) -> None:
        exponent = torch.where(magnitude > 0, torch.frexp(magnitude).exponent, _NONE)
        self._judged = judged
        self._members = _pooled(exponent, exponent[judged])

    def rms(self, numbers: Tensor) -> Tensor:
        """For each element the root mean square of the numbers in its group."""
        found = torch.zeros_like(numbers)
        for number in range(int(self._members.max()) + 1):
            is_member = self._judged & (self._members == number)
            found[is_member] = _rms(numbers[is_member])
        return found


def _pooled(exponent: Tensor, judged: Tensor) -> Tensor:
    """The number of each element's group: from the smallest exponent up, a group ends when it has members enough."""
    values, counts = judged.unique(return_counts=True)
    bounds: list[int] = []
    waiting = 0
    for value, count in zip(values.tolist(), counts.tolist(), strict=True):
        waiting += count
        if waiting >= _POOL:
            bounds.append(value)
            waiting = 0
    # those above the last bound are too few, and join the last group
    return torch.bucketize(exponent, torch.tensor(bounds[:-1], dtype=exponent.dtype))


def _element(output: Tensor, precise: Tensor, place: int) -> Element:
    index = tuple(int(one) for one in torch.unravel_index(torch.tensor(place), output.shape))
    return Element(index, output[index].to(_WIDE[_kind(output)]).item(), precise[index].item())


_WIDE = {"complex": torch.complex128, "floating": torch.float64, "integer": torch.int64, "boolean": torch.bool}
_NONE = -5000
"""In the place of an exponent of zero."""


def _told(element: Element) -> str:
    place = ", ".join(map(str, element.index))
    return f"the worst at [{place}]: {_number(element.got)}, wanted {_number(element.wanted)}"


def _number(number: Number) -> str:
    return f"{number:.6g}" if isinstance(number, (float, complex)) else str(number)
