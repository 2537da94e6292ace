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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import torch

from tritonaudit.finding import Status
from tritonaudit.suites.magnitudes import Groups
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
_STRICT, _LOOSE = 1e-5, 1e-3
_SAMPLE = 1 << 12
"""Elements among which there are different ones enough, as a rule."""
_LARGE = 1 << 17
"""Elements from which on a GPU, which other processes may share, is worth the wait for it."""
_CPU = torch.device("cpu")


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
    return Yardstick(precise, same, perturbed, usual).judge(output)


class Yardstick:
    """What `judge` takes beside the output, for several results: what follows from it alone is computed once.

    Large results are judged on the GPU that they are on, and others on the CPU.
    """

    def __init__(self, precise: Tensor, same: Tensor | None, perturbed: Sequence[Tensor], usual: float = 0.0) -> None:
        self._precise = precise
        self._same = None if same is None or same.shape != precise.shape else same
        self._perturbed = [one for one in perturbed if one.shape == precise.shape]
        self._usual = usual
        self._known: dict[Any, _Known] = {}

    def judge(self, output: Tensor) -> Judgement:
        """Whether `output` is right, as `judge` says."""
        try:
            return self._judged(output, _device(output))
        except torch.cuda.OutOfMemoryError:
            self._known.clear()
            return self._judged(output, _CPU)

    def rejects(self, candidate: Tensor) -> bool:
        """Whether a `candidate` that computes nothing fails. If it does not, a pass proves nothing."""
        return self.judge(candidate).status is Status.FAIL

    def _judged(self, output: Tensor, device: Any) -> Judgement:
        if device not in self._known:
            same = None if self._same is None else _plain(self._same, device)
            perturbed = [_plain(one, device) for one in self._perturbed]
            self._known[device] = _Known(_plain(self._precise, device), same, perturbed, self._usual)
        known, output = self._known[device], _plain(output, device)
        if unlike := _unlike(output, known.precise, known.same):
            return Judgement(Status.FAIL, unlike)
        if output.numel() == 0:
            return Judgement(Status.PASS, "there is no element", strict=True, loose=True)
        return _judge_inexact(output, known) if _is_inexact(output) else _judge_exact(output, known)


def garbage(precise: Tensor, dtype: Any, seed: int = 0) -> Iterator[tuple[str, Tensor]]:
    """Results that no right reference accepts, each with its name: zeros, the mean everywhere, elements shuffled."""
    wide = _plain(precise, _device(precise))
    wide = wide if _is_inexact(wide) else wide.double()
    kinds = {"zeros": torch.zeros_like, "the mean": _levelled, "the elements shuffled": _shuffled(seed)}
    for name, make in kinds.items():
        try:
            made = make(wide)
        except torch.cuda.OutOfMemoryError:
            made = make(wide.cpu())
        yield name, made.to(dtype)


def _levelled(wide: Tensor) -> Tensor:
    return torch.full_like(wide, wide.mean() if wide.numel() else 0.0)


def _shuffled(seed: int) -> Callable[[Tensor], Tensor]:
    def shuffled(wide: Tensor) -> Tensor:
        generator = torch.Generator(wide.device).manual_seed(seed)
        order = torch.randperm(wide.numel(), generator=generator, device=wide.device)
        return wide.flatten()[order].reshape(wide.shape)

    return shuffled


def is_exact(output: Tensor, precise: Tensor, same: Tensor | None) -> bool | None:
    """Whether a result on small integers is exact, to the bit but for the sign of zero; None if it need not be.

    It must be where PyTorch's is: sums, products and copies of integers in {-2..2} have no rounding, in any order.
    """
    device = _device(output)
    if same is None or same.shape != precise.shape or not _is_equal(_plain(same, device), _plain(precise, device)):
        return None
    return output.shape == precise.shape and _is_equal(_plain(output, device), _plain(precise, device))


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


def _device(tensor: Tensor) -> Any:
    """Where to judge it: on its GPU if it is large, else on the CPU."""
    return tensor.device if tensor.is_cuda and tensor.numel() >= _LARGE else _CPU


def _plain(tensor: Tensor, device: Any) -> Tensor:
    return tensor.detach().to(device).resolve_conj().resolve_neg()


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


def _judge_exact(output: Tensor, known: _Known) -> Judgement:
    """Where the references disagree, as a quantised number does that is on the edge of two, each of them will do."""
    is_equal = _is_equal(output, known.precise if known.same is None else known.same)
    others = [*([] if known.same is None else [known.same]), *known.perturbed]
    is_right = output == known.precise
    for one in others:
        is_right |= output == one
    wrong = is_right.numel() - int(is_right.sum())
    if not wrong:
        return Judgement(Status.PASS, "each element is equal to the reference's", strict=is_equal, loose=is_equal)
    on_edge = torch.zeros_like(is_right)
    for one in others:
        on_edge |= one != known.precise
    error = (output.double() - known.precise.double()).abs().masked_fill(is_right, 0.0)
    place = int(error.argmax())
    extent = Extent(float(error.max()), _rms(error))
    worst = _element(output, known.precise, place)
    is_near = extent.max <= 1 and output.dtype != torch.bool and wrong <= int(on_edge.sum())
    return Judgement(
        Status.WARN if is_near else Status.FAIL,
        f"{wrong} of {counted(output.numel(), 'element')} {differ(wrong)}{' by one' if is_near else ''},"
        f" {_told(worst)}",
        error=extent,
        ratio=Extent(math.inf, math.inf),
        worst=worst,
        exceeding=wrong,
        strict=is_equal,
        loose=is_equal,
        wrong=(~is_right).cpu(),
    )


# -- floating-point numbers ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Known:
    """The references, all on one device: also in float64, flat, the parts of complex numbers side by side."""

    precise: Tensor
    same: Tensor | None
    perturbed: Sequence[Tensor]
    usual: float
    _ordinary: dict[Any, _Values | None] = field(default_factory=dict)

    @cached_property
    def reference(self) -> Tensor:
        return _flat(self.precise).double()

    @cached_property
    def beside(self) -> Tensor | None:
        """What PyTorch gives."""
        return None if self.same is None else _flat(self.same).double()

    @cached_property
    def moved(self) -> Tensor:
        """How far each element moves at most when the inputs do."""
        moved = torch.zeros_like(self.reference)
        for one in self.perturbed:
            _raise(moved, _distance(_flat(one).double(), self.reference))
        return moved

    def ordinary(self, dtype: Any) -> _Values | None:
        """For finite results of a dtype; None where a reference is not finite, or beyond the dtype's numbers."""
        if dtype not in self._ordinary:
            is_finite = _most(self.reference) <= torch.finfo(dtype).max
            is_ordinary = is_finite and (self.beside is None or math.isfinite(_most(self.beside)))
            self._ordinary[dtype] = self.values(dtype, self.reference) if is_ordinary else None
        return self._ordinary[dtype]

    def values(self, dtype: Any, wanted: Tensor, apart: _Apart | None = None) -> _Values:
        """For results of a dtype of which that is wanted."""
        magnitude = _magnitude(self.precise, wanted)
        if apart is not None:
            magnitude.masked_fill_(~apart.judged, 0.0)
        return _Values(dtype, wanted, magnitude, self.beside, self.moved, self.usual, apart)


@dataclass(frozen=True, eq=False)
class _Apart:
    """Which elements are `judged`: they have an error. `astray` are those that are not finite where they should be, or
    the other way round; `confused` are NaN for infinity, or the other way round."""

    judged: Tensor
    astray: Tensor
    confused: Tensor

    @cached_property
    def places(self) -> Tensor:
        """Those of the judged elements."""
        return self.judged.nonzero().flatten()


@dataclass(frozen=True, eq=False)
class _Values:
    """What is wanted of the elements of a result, and what follows from that. All are judged if none is `apart`.

    `magnitude` is of the whole number, where that is complex, and 0 of what is not judged.
    """

    dtype: Any
    wanted: Tensor
    magnitude: Tensor
    same: Tensor | None
    moved: Tensor
    usual: float
    apart: _Apart | None

    def error(self, other: Tensor) -> Tensor:
        """How far each judged element is from what is wanted; 0 where that is not finite."""
        return self.if_judged(_distance(other, self.wanted))

    def if_judged(self, numbers: Tensor) -> Tensor:
        """The same tensor, with 0 for each element that is not judged."""
        return numbers if self.apart is None else numbers.masked_fill_(~self.apart.judged, 0.0)

    def of_judged(self, numbers: Tensor) -> Tensor:
        return numbers if self.apart is None else numbers.index_select(0, self.apart.places)

    def distinct(self, enough: int) -> int:
        """How many numbers are not the same, if fewer than `enough`: elements that are alike have errors that are."""
        return _distinct(self.of_judged(self.wanted), enough)

    @cached_property
    def budget(self) -> _Budget:
        return _budget(self)

    @cached_property
    def rms_of_budget(self) -> float:
        return _rms(self.of_judged(self.budget.passes))

    @cached_property
    def proves(self) -> Tensor:
        """The budget below what proves a fault.

        As far as inputs that are rounded once more move it: more than need be, yet as products of narrow numbers do.
        """
        backward = _BACKWARD * self.budget.moved * (torch.finfo(self.dtype).eps / 2 / _unit(self.dtype))
        if self.distinct(_FEW) < _FEW:
            backward = torch.maximum(backward, _ONE_SIDED * _unit(self.dtype) * self.magnitude)
        return torch.maximum(self.budget.passes, backward)

    @cached_property
    def tells(self) -> Tensor:
        """Which elements tell whether they were rounded again: where one rounding is far more than the noise."""
        return self.if_judged(self.budget.rounding > 2 * _NOISE * self.budget.noise)

    @cached_property
    def telling(self) -> int:
        """How many of them there are."""
        return int(self.tells.sum())

    @cached_property
    def once(self) -> Tensor:
        """What one rounding and noise explain."""
        return self.budget.rounding + _NOISE * self.budget.noise

    @cached_property
    def again_of_same(self) -> _Again | None:
        """What of PyTorch's elements is rounded more than once."""
        return None if self.same is None else _again(self.same, self.error(self.same), self)


@dataclass(frozen=True, eq=False)
class _Budget:
    """For each element what passes, half the distance between numbers there, the noise, and how far it, or most that
    are like it, move."""

    passes: Tensor
    rounding: Tensor
    noise: Tensor
    moved: Tensor


def _budget(values: _Values) -> _Budget:
    unit = _unit(values.dtype)
    groups = Groups(values.magnitude, None if values.apart is None else values.apart.places)
    rounding = groups.rounding(values.dtype)
    moved = _raise(values.if_judged(groups.typical(values.moved)), values.moved)
    floor = max(_floor(values.of_judged(values.magnitude), values.dtype), unit * values.usual)
    noise = _raise(unit * values.magnitude, moved).clamp_min_(floor).mul_(_NOISE)
    passes = _raise(_ROUNDING * rounding, noise)
    if values.same is not None:
        error = values.error(values.same)
        _raise(passes, _raise(values.if_judged(groups.typical(error)), error).mul_(_SAME))
    return _Budget(passes, rounding, noise, moved)


@dataclass(frozen=True)
class _Again:
    """Elements that are rounded more than once: their share of those that tell, how many distinct numbers they are, as
    far as `_MANY`, and by how much the share of those too far from zero is the larger."""

    share: float = 0.0
    distinct: int = 0
    bias: float = 0.0


def _again(other: Tensor, error: Tensor, values: _Values) -> _Again:
    if not values.telling:
        return _Again()
    places = (values.tells & (error > values.once)).nonzero().flatten()
    wanted = values.wanted.index_select(0, places)
    away = (other.index_select(0, places) - wanted).sign() * torch.where(wanted < 0, -1.0, 1.0)
    return _Again(len(places) / values.telling, _distinct(wanted, _MANY), float(away.sum()) / values.telling)


def _distinct(numbers: Tensor, enough: int) -> int:
    """How many numbers are not the same in float32, if fewer than `enough`, which some of them may show; else more."""
    some = numbers[:: max(1, len(numbers) // _SAMPLE)]
    found = len(some.float().unique())
    return found if found >= enough or len(some) == len(numbers) else len(numbers.float().unique())


def _judge_inexact(output: Tensor, known: _Known) -> Judgement:
    got, values = _values(output, known)
    strict = _is_close(output, known, values, _STRICT)
    loose = strict or _is_close(output, known, values, _LOOSE)
    error = values.error(got)
    ratio = _quotient(error, values.budget.passes)
    worst = int(ratio.argmax())
    of_worst = torch.stack([one[worst] for one in (error, values.budget.passes, ratio)]).tolist()
    rms = _rms(values.of_judged(error)), values.rms_of_budget, _rms(values.of_judged(ratio))
    errors, budgets, ratios = map(Extent, of_worst, rms)
    again = _again(got, error, values)
    astray, of_astray = _stray(values, ratio)
    parts = got.numel() // output.numel()
    is_any_judged = values.apart is None or len(values.apart.places) > 0
    found = Judgement(
        Status.PASS,
        "",
        error=errors,
        budget=budgets,
        ratio=ratios,
        worst=_element(output, known.precise, worst // parts) if is_any_judged else None,
        exceeding=0 if ratios.max <= _PASS_ELEMENT else int((ratio > _PASS_ELEMENT).sum()),
        rounded_again=again.share,
        bias=again.bias,
        nonfinite=None if astray is None else _element(output, known.precise, astray // parts),
        strict=strict,
        loose=loose,
        wrong=_wrong(values, ratio).reshape(*output.shape, parts).any(-1).cpu(),
    )
    status, reason = _decide(found, error, values, again)
    if found.nonfinite is not None and _SEVERITY.index(of_astray) >= _SEVERITY.index(status):
        status, reason = of_astray, f"what is not finite differs from the reference, {_told(found.nonfinite)}"
    return replace(found, status=status, reason=reason)


def _is_close(output: Tensor, known: _Known, values: _Values, bound: float) -> bool:
    """Whether rtol = atol = `bound` holds beside what PyTorch gives, or else the reference."""
    if values.apart is None and not output.is_complex():
        beside = known.reference if known.beside is None else known.beside
        return bool(((output.double().flatten() - beside).abs_() <= (bound * beside).abs_().add_(bound)).all())
    wide = torch.complex128 if output.is_complex() else torch.float64
    reference = known.precise if known.same is None else known.same
    return bool(torch.allclose(output.to(wide), reference.to(wide), rtol=bound, atol=bound, equal_nan=True))


def _wrong(values: _Values, ratio: Tensor) -> Tensor:
    """Which elements exceed what passes, or are not finite where they should be, or the other way round."""
    wrong = ratio > _PASS_ELEMENT
    return wrong if values.apart is None else wrong | (values.apart.astray & ~values.apart.judged)


def _stray(values: _Values, ratio: Tensor) -> tuple[int | None, Status]:
    """The first element that is not finite where it should be, or the other way round, and what that comes to."""
    if (apart := values.apart) is None:
        return None, Status.PASS
    astray = apart.astray & (~apart.judged | (ratio > _PASS_ELEMENT))
    for found, status in ((astray & ~apart.confused, Status.FAIL), (astray, Status.WARN)):
        if bool(found.any()):
            return int(found.nonzero()[0]), status
    return None, Status.PASS


def _decide(found: Judgement, error: Tensor, values: _Values, again: _Again) -> tuple[Status, str]:
    """The status by how far the elements are off, and the sentence that says why: the worst of what is wrong."""
    if found.worst is None:
        return Status.PASS, "no element is finite, and none should be"
    again_of_same = values.again_of_same
    of_same = "" if again_of_same is None else f" ({again_of_same.share:.1%} of PyTorch's)"
    is_element_small, is_rms_small = found.ratio.max <= _PASS_ELEMENT, _is_rms_small(found.ratio.rms, values)
    proven = Extent(0.0, 0.0) if is_element_small and is_rms_small else _proven(error, values)
    verdicts = [
        (Status.PASS, f"errors are {found.ratio.rms:.2g} times the budget, and {found.ratio.max:.2g} times at most"),
        (
            _graded(is_element_small, proven.max <= _WARN_ELEMENT),
            f"errors of {counted(found.exceeding, 'element')} are above {_PASS_ELEMENT:g} times the budget,"
            f" {_told(found.worst)}",
        ),
        (
            _graded(is_rms_small, proven.rms <= _WARN_RMS),
            f"errors are {found.ratio.rms:.3g} times the budget, {_told(found.worst)}",
        ),
        (
            _graded_again(again, again_of_same),
            f"{again.share:.1%} of the elements are rounded more than once{of_same}"
            + (f", mostly {'away from' if again.bias > 0 else 'towards'} zero" if _is_biased(again) else ""),
        ),
    ]
    return max(verdicts, key=lambda verdict: _SEVERITY.index(verdict[0]))


def _is_rms_small(rms: float, values: _Values) -> bool:
    """Whether it passes. That of few numbers may be larger by chance; they are counted only as far as that matters."""
    if not _PASS_RMS < rms < math.inf:
        return rms <= _PASS_RMS
    enough = 2 + int((_CHANCE / (rms - _PASS_RMS)) ** 2)
    return rms <= _PASS_RMS + _CHANCE / math.sqrt(values.distinct(enough))


def _proven(error: Tensor, values: _Values) -> Extent:
    """The quotients of the errors and of what proves a fault."""
    quotient = _quotient(error, values.proves)
    return Extent(float(quotient.max()), _rms(values.of_judged(quotient)))


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


def _values(output: Tensor, known: _Known) -> tuple[Tensor, _Values]:
    """A result's elements as those of the references are, and what is wanted of them."""
    dtype = _flat(output).dtype
    got = _flat(output).double()
    values = known.ordinary(dtype)
    return (got, values) if values is not None and math.isfinite(_most(got)) else _apart(got, known, dtype)


def _apart(got: Tensor, known: _Known, dtype: Any) -> tuple[Tensor, _Values]:
    """The same where some are not finite, or a reference is beyond the dtype's numbers."""
    top, reference = _top(dtype), known.reference
    rounded = _rounded(reference, dtype)
    beside = rounded if known.beside is None else known.beside
    like_reference, like_same = _is_alike(got, rounded), _is_alike(got, beside)
    if top <= torch.finfo(dtype).max:  # without an infinity, what is too large may become NaN as well
        like_reference |= got.isnan() & (reference.abs() > top)
    # what PyTorch has where it differs from the reference will do, and is then what is wanted
    wanted = torch.where(like_same & ~like_reference, beside, reference)
    wanted = torch.where(reference.isfinite(), wanted.clamp(-top, top), wanted)
    astray = ~(like_reference | like_same)
    at_the_top = astray & got.isinf() & (got.sign() == wanted.sign()) | (astray & rounded.isinf() & got.isfinite())
    got = torch.where(at_the_top, got.clamp(-top, top), got)
    confused = _is_confused(got, rounded) | _is_confused(got, beside)
    return got, known.values(dtype, wanted, _Apart(got.isfinite() & wanted.isfinite(), astray, confused))


def _distance(one: Tensor, other: Tensor) -> Tensor:
    """How far apart the elements are; 0 where that is not finite."""
    return (one - other).abs_().nan_to_num_(0.0, 0.0, 0.0)


def _quotient(error: Tensor, budget: Tensor) -> Tensor:
    """The errors in budgets: without an error 0, also where a budget is 0 or not known."""
    return (error / budget).masked_fill_(error == 0, 0.0)


def _raise(numbers: Tensor, other: Tensor) -> Tensor:
    """The first tensor, each element now the larger of the two."""
    raised: Tensor = torch.maximum(numbers, other, out=numbers)
    return raised


def _most(numbers: Tensor) -> float:
    """The largest magnitude, NaN where there is one."""
    return float(torch.stack(numbers.aminmax()).abs().max())


def _is_alike(one: Tensor, other: Tensor) -> Tensor:
    """Where both are finite, infinite with the same sign, or NaN."""
    return (one.isfinite() & other.isfinite()) | (one == other) | (one.isnan() & other.isnan())


def _is_confused(one: Tensor, other: Tensor) -> Tensor:
    return ~one.isfinite() & ~other.isfinite() & (one.isnan() ^ other.isnan())


def _flat(tensor: Tensor) -> Tensor:
    return (torch.view_as_real(tensor) if tensor.is_complex() else tensor).flatten()


def _magnitude(precise: Tensor, parts: Tensor) -> Tensor:
    """That of each number; of a complex one as far as its parts are finite."""
    if not precise.is_complex():
        return parts.abs()
    return parts.masked_fill(~parts.isfinite(), 0.0).reshape(-1, 2).norm(dim=1).repeat_interleave(2)


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


def _floor(magnitude: Tensor, dtype: Any) -> float:
    """What no error need be below: a rounding of numbers of the usual magnitude, and what a GPU may flush."""
    smallest = float(torch.finfo(dtype).smallest_normal)
    flushed = smallest / (_NOISE * _PASS_RMS) if dtype in (torch.float32, torch.bfloat16) else 0.0
    return max(_unit(dtype) * _rms(magnitude), flushed)


def _rms(numbers: Tensor) -> float:
    """The root mean square, 0 of none; the numbers are not negative."""
    if not numbers.numel():
        return 0.0
    most, norm = torch.stack([numbers.max(), torch.linalg.vector_norm(numbers)]).tolist()
    if 1e-100 < most < 1e100:  # no square is too large or too small
        return float(norm) / math.sqrt(numbers.numel())
    return most * math.sqrt(float((numbers / most).square().mean())) if 0 < most < math.inf else float(most)


def _element(output: Tensor, precise: Tensor, place: int) -> Element:
    index = tuple(int(one) for one in torch.unravel_index(torch.tensor(place), output.shape))
    return Element(index, output[index].to(_WIDE[_kind(output)]).item(), precise[index].item())


_WIDE = {"complex": torch.complex128, "floating": torch.float64, "integer": torch.int64, "boolean": torch.bool}


def _told(element: Element) -> str:
    place = ", ".join(map(str, element.index))
    return f"the worst at [{place}]: {_number(element.got)}, wanted {_number(element.wanted)}"


def _number(number: Number) -> str:
    return f"{number:.6g}" if isinstance(number, (float, complex)) else str(number)
