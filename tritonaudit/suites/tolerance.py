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
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import torch

from tritonaudit.finding import Status
from tritonaudit.suites.sentences import counted, differ

Tensor: TypeAlias = torch.Tensor
Number: TypeAlias = complex | float | int | bool

DRAWS = 4
"""How many perturbed references to make: with fewer, a scalar's movement is often small by chance."""

_PASS_RMS, _WARN_RMS = 3.0, 8.0
_PASS_ELEMENT, _WARN_ELEMENT = 16.0, 32.0
_CHANCE = 4.0
"""By how much more one element alone may be off than the mean of many."""
_ROUNDING, _NOISE, _SAME, _BACKWARD = 1 / 4, 4.0, 1 / 2, 1 / 32
"""What of each kind of error goes into the budget."""
_ONE_SIDED = 256.0
"""Roundings that prove nothing where all elements are alike: in a sum of equal numbers they all go one way."""
_PASS_AGAIN, _WARN_AGAIN, _WARN_BIAS = 0.02, 0.45, 0.1
_AGAIN_OF_SAME, _BIAS_OF_SAME = 1.5, 3.0
_FEW, _MANY = 8, 64
"""Distinct numbers that must be rounded more than once to be more than chance, and to prove something."""
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
    rtol = atol = 1e-5 and 1e-3 hold, which decides nothing. `wrong` marks the exceeding elements and those that are not
    finite where they should be, or the other way round; None where the two cannot be compared.
    """

    status: Status
    reason: str
    error: Extent = Extent(0.0, 0.0)
    budget: Extent = Extent(0.0, 0.0)
    ratio: Extent = Extent(0.0, 0.0)
    worst: Element | None = None
    exceeding: int = 0
    rounded_again: float = 0.0
    bias: float = 0.0
    nonfinite: Element | None = None
    strict: bool = False
    loose: bool = False
    wrong: Tensor | None = field(default=None, compare=False, repr=False)


def judge(
    output: Tensor, precise: Tensor, same: Tensor | None, perturbed: Sequence[Tensor], *, usual: float = 0.0
) -> Judgement:
    """Whether `output` is right.

    `precise` is the reference's result in float64 (or complex128, or the integers it gives), `same` what PyTorch gives
    in the kernel's dtype, None where that cannot be had, and `perturbed` are references in float64 on inputs of
    `perturb`. Integers and booleans must be equal to one of the references. Whatever is not finite must be where
    `precise` rounded to the output's dtype has it, or `same`; NaN for infinity, or the other way round, is warned of.

    `usual` is the magnitude that the result has on ordinary inputs, where these are not: a rounding of float32 beside
    it is no error, as in `2 * sigmoid(2 * x) - 1` for tanh(1e-6). Without it, this output's own is taken.
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
    return _judge_inexact(output, precise, same, perturbed, usual, strict, loose)


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
    generator = torch.Generator().manual_seed(seed // 2)
    return [_perturbed(tensor, generator, -1 if seed % 2 else 1) for tensor in tensors]


def _perturbed(tensor: Tensor, generator: Any, direction: int) -> Tensor:
    if not _is_inexact(tensor):
        return tensor
    if tensor.is_complex():
        parts = _perturbed(torch.view_as_real(tensor.resolve_conj()), generator, direction)
        return torch.view_as_complex(parts.contiguous())
    noise = torch.randn(tensor.shape, generator=generator, dtype=torch.float64).to(tensor.device)
    return tensor.double() * (1 + direction * _unit(tensor.dtype) * noise)


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
        f"{wrong} of {counted(output.numel(), 'element')} {differ(wrong)}{' by one' if is_near else ''},"
        f" {_told(worst)}",
        error=extent,
        ratio=Extent(math.inf, math.inf),
        worst=worst,
        exceeding=wrong,
        strict=strict,
        loose=loose,
        wrong=~is_right,
    )


# -- floating-point numbers ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Values:
    """The elements in float64, flat, the parts of complex numbers side by side; `magnitude` is of the whole number.

    Elements that are `judged` have an error. `astray` are those that are not finite where they should be, or the other
    way round; `confused` are NaN for infinity, or the other way round. `same` is what PyTorch gives, else `wanted`.
    """

    output: Tensor
    wanted: Tensor
    magnitude: Tensor
    same: Tensor
    moved: Tensor
    judged: Tensor
    astray: Tensor
    confused: Tensor

    @cached_property
    def distinct(self) -> int:
        """How many numbers there are that are not the same: elements that are alike have errors that are."""
        return len(self.wanted[self.judged].float().unique())

    def excess(self, other: Tensor) -> Tensor:
        """How much farther from zero than wanted each judged element is; 0 where that is not finite."""
        excess = (other - self.wanted) * torch.where(self.wanted < 0, -1.0, 1.0)
        return torch.where(self.judged & excess.isfinite(), excess, 0.0)


@dataclass(frozen=True, eq=False)
class _Budget:
    """For each element: `once` is what one rounding and noise explain, `proves` is below what proves a fault.

    Where one rounding is far more than the noise, it `tells` whether there was another.
    """

    passes: Tensor
    proves: Tensor
    once: Tensor
    tells: Tensor


def _budget(values: _Values, dtype: Any, usual: float) -> _Budget:
    pools = _Pools(values.magnitude, values.judged)
    rounding = _rounding(values.magnitude, dtype)
    moved = torch.maximum(values.moved, pools.typical(values.moved))
    noise = torch.maximum(moved, _unit(dtype) * values.magnitude)
    noise = _NOISE * noise.clamp_min(max(_floor(values.magnitude[values.judged], dtype), _unit(dtype) * usual))
    error_of_same = values.excess(values.same).abs()
    error_of_same = torch.maximum(error_of_same, pools.typical(error_of_same))
    passes = torch.stack([_ROUNDING * rounding, noise, _SAME * error_of_same]).amax(0)
    # as far as inputs that are rounded once more move it: more than need be, and yet as products of narrow numbers do
    backward = _BACKWARD * moved * (torch.finfo(dtype).eps / 2 / _unit(dtype))
    if values.distinct < _FEW:
        backward = torch.maximum(backward, _ONE_SIDED * _unit(dtype) * values.magnitude)
    return _Budget(
        passes,
        torch.maximum(passes, backward),
        rounding + _NOISE * noise,
        values.judged & (rounding > 2 * _NOISE * noise),
    )


@dataclass(frozen=True)
class _Again:
    """Elements that are rounded more than once: their share of those that tell, how many distinct numbers they are,
    and by how much the share of those too far from zero is the larger."""

    share: float = 0.0
    distinct: int = 0
    bias: float = 0.0


def _again(excess: Tensor, budget: _Budget, wanted: Tensor) -> _Again:
    is_again = budget.tells & (excess.abs() > budget.once)
    count = int(budget.tells.sum())
    if not count:
        return _Again()
    bias = float(excess.sign()[is_again].sum()) / count
    return _Again(int(is_again.sum()) / count, len(wanted[is_again].float().unique()), bias)


def _judge_inexact(
    output: Tensor,
    precise: Tensor,
    same: Tensor | None,
    perturbed: Sequence[Tensor],
    usual: float,
    strict: bool,
    loose: bool,
) -> Judgement:
    values = _values(output, precise, same, perturbed)
    budget = _budget(values, _flat(output).dtype, usual)
    excess = values.excess(values.output)
    error, judged = excess.abs(), values.judged
    ratio, proven = error / budget.passes, error / budget.proves
    worst = int(ratio.argmax())
    astray, of_astray = _stray(values, ratio)
    parts = values.output.numel() // output.numel()
    again = _again(excess, budget, values.wanted)
    again_of_same = None if same is None else _again(values.excess(values.same), budget, values.wanted)
    found = Judgement(
        Status.PASS,
        "",
        error=Extent(float(error[worst]), _rms(error[judged])),
        budget=Extent(float(budget.passes[worst]), _rms(budget.passes[judged])),
        ratio=Extent(float(ratio[worst]), _rms(ratio[judged])),
        worst=_element(output, precise, worst // parts) if judged.any() else None,
        exceeding=int((ratio > _PASS_ELEMENT).sum()),
        rounded_again=again.share,
        bias=again.bias,
        nonfinite=None if astray is None else _element(output, precise, astray // parts),
        strict=strict,
        loose=loose,
        wrong=((ratio > _PASS_ELEMENT) | (values.astray & ~values.judged)).reshape(*output.shape, parts).any(-1),
    )
    proof = Extent(float(proven.max()), _rms(proven[judged]))
    status, reason = _decide(found, proof, values.distinct, again, again_of_same)
    if found.nonfinite is not None and _SEVERITY.index(of_astray) >= _SEVERITY.index(status):
        status, reason = of_astray, f"what is not finite differs from the reference, {_told(found.nonfinite)}"
    return replace(found, status=status, reason=reason)


def _stray(values: _Values, ratio: Tensor) -> tuple[int | None, Status]:
    """The first element that is not finite where it should be, or the other way round, and what that comes to."""
    astray = values.astray & (~values.judged | (ratio > _PASS_ELEMENT))
    for found, status in ((astray & ~values.confused, Status.FAIL), (astray, Status.WARN)):
        if bool(found.any()):
            return int(found.nonzero()[0]), status
    return None, Status.PASS


def _decide(
    found: Judgement, proven: Extent, distinct: int, again: _Again, again_of_same: _Again | None
) -> tuple[Status, str]:
    """The status by how far the elements are off, and the sentence that says why: the worst of what is wrong."""
    if found.worst is None:
        return Status.PASS, "no element is finite, and none should be"
    passes_rms = _PASS_RMS + _CHANCE / math.sqrt(distinct)
    of_same = "" if again_of_same is None else f" ({again_of_same.share:.1%} of PyTorch's)"
    verdicts = [
        (Status.PASS, f"errors are {found.ratio.rms:.2g} times the budget, and {found.ratio.max:.2g} times at most"),
        (
            _graded(found.ratio.max <= _PASS_ELEMENT, proven.max <= _WARN_ELEMENT),
            f"errors of {counted(found.exceeding, 'element')} are above {_PASS_ELEMENT:g} times the budget,"
            f" {_told(found.worst)}",
        ),
        (
            _graded(found.ratio.rms <= passes_rms, proven.rms <= _WARN_RMS),
            f"errors are {found.ratio.rms:.3g} times the budget, {_told(found.worst)}",
        ),
        (
            _graded_again(again, again_of_same),
            f"{again.share:.1%} of the elements are rounded more than once{of_same}"
            + (f", mostly {'away from' if again.bias > 0 else 'towards'} zero" if _is_biased(again) else ""),
        ),
    ]
    return max(verdicts, key=lambda verdict: _SEVERITY.index(verdict[0]))


_SEVERITY = (Status.PASS, Status.WARN, Status.FAIL)


def _graded(passes: bool, warns: bool) -> Status:
    return Status.PASS if passes else Status.WARN if warns else Status.FAIL


def _graded_again(again: _Again, of_same: _Again | None) -> Status:
    """If it is not known how often PyTorch's are rounded, it may be that it cannot do better."""
    other = of_same or _Again()
    is_biased = _is_biased(again) and abs(again.bias) > _BIAS_OF_SAME * abs(other.bias)
    passes = again.distinct < _FEW or again.share <= max(_PASS_AGAIN, _AGAIN_OF_SAME * other.share)
    is_often = again.share > max(_WARN_AGAIN, 2 * _AGAIN_OF_SAME * other.share)
    return _graded(passes and not is_biased, of_same is None or again.distinct < _MANY or not (is_often or is_biased))


def _is_biased(again: _Again) -> bool:
    """Whether most of a good many err to the same side, which no rounding does."""
    return again.distinct >= _MANY and abs(again.bias) > max(_WARN_BIAS, again.share / 2)


# -- what the numbers are ------------------------------------------------------------------------------------------


def _values(output: Tensor, precise: Tensor, same: Tensor | None, perturbed: Sequence[Tensor]) -> _Values:
    dtype = _flat(output).dtype
    top = _top(dtype)
    got, reference = _flat(output).double(), _flat(precise).double()
    rounded = _rounded(reference, dtype)
    beside = rounded if same is None else _flat(same).double()
    like_reference, like_same = _class(got) == _class(rounded), _class(got) == _class(beside)
    if top <= torch.finfo(dtype).max:  # without an infinity, what is too large may become NaN as well
        like_reference |= got.isnan() & (reference.abs() > top)
    # what PyTorch has where it differs from the reference will do, and is then what is wanted
    wanted = torch.where(like_same & ~like_reference, beside, reference)
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
        wanted if same is None else beside,
        torch.stack([torch.zeros_like(got), *moved]).amax(0),
        judged,
        astray,
        _is_confused(got, rounded) | _is_confused(got, beside),
    )


def _is_confused(one: Tensor, other: Tensor) -> Tensor:
    return ~one.isfinite() & ~other.isfinite() & (one.isnan() ^ other.isnan())


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
    flushed = smallest / (_NOISE * _PASS_RMS) if dtype in (torch.float32, torch.bfloat16) else 0.0
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

    def typical(self, numbers: Tensor) -> Tensor:
        """For each element the largest number of its group but for a tenth of them, where something may jump."""
        found = torch.zeros_like(numbers)
        for number in range(int(self._members.max()) + 1):
            is_member = self._judged & (self._members == number)
            if count := int(is_member.sum()):
                found[is_member] = numbers[is_member].kthvalue(count - count // 10).values
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
