"""Whether a kernel's result is right, judged beside a reference in float64.

A fixed tolerance fails right kernels in half precision and passes wrong ones. Here an error is compared with what could
not be better, which `budgets.py` measures. What is compared:

* each element with its own budget, so that a wrong small element does not hide under a large one;
* the root mean square of these quotients;
* how many elements are rounded more than once: farther from the reference than one rounding of the output and the
  noise of float32. An accumulator in half precision shows here even where it adds up only a few numbers. PyTorch's
  share of such elements is the measure, and that of tensor cores.

Kernels in half precision may round each number on the way to the inputs' type. Only what enters products of matrices
must be so; what else is leaves errors as large as those of sums in half precision, from which nothing tells them by the
result. Both are warned of, and fail where the errors are larger than such roundings explain.

The ideas come from `torch._dynamo.utils.same` (an error relative to float64 and to eager's), FlashAttention's tests
(PyTorch's error as the measure) and Ipsen & Zhou, arXiv 1906.10465 (errors of sums grow with the square root of n).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import torch

from tritonaudit.finding import Status
from tritonaudit.suites.budgets import FEW, MANY, PASS_RMS, Again, Budget, Budgets, root_mean_square
from tritonaudit.suites.expected import Expected, Rounded, distinct
from tritonaudit.suites.formats import is_inexact, nearest, on
from tritonaudit.suites.judgement import Extent, Judgement, described, element, kind
from tritonaudit.suites.sentences import counted, differ
from tritonaudit.suites.ties import jumping

Tensor: TypeAlias = torch.Tensor

_WARN_RMS = 8.0
_PASS_ELEMENT, _WARN_ELEMENT = 16.0, 32.0
_CHANCE = 4.0
"""By how much more one element alone may be off than the mean of many."""
_PASS_AGAIN, _WARN_AGAIN, _WARN_BIAS = 0.02, 0.45, 0.1
_AGAIN_OF_SAME, _BIAS_OF_SAME = 1.5, 3.0
_AGAIN_IN_PRODUCTS = 1.25
"""Less than of PyTorch's, as several draws are known, and what they round."""
_MOST_BY_CHANCE = 0.5
"""Of the numbers of float32 that a reference gives so many at most have 16 bits: zeros and the like."""
_STRICT, _LOOSE = 1e-5, 1e-3
_BY_CHANCE = 1 / 4
"""Of the elements that are others in float32 at most so many are others in a kernel alone, where roundings decide."""
_LARGE = 1 << 17
"""Elements from which on a GPU, which other processes may share, is worth the wait for it."""
_CPU = torch.device("cpu")
_NOT_ROUNDED = Rounded()


def judge(
    output: Tensor,
    precise: Tensor,
    same: Tensor | None,
    perturbed: Sequence[Tensor],
    *,
    rounded: Rounded = _NOT_ROUNDED,
    usual: float = 0.0,
) -> Judgement:
    """Whether `output` is right.

    `precise` is the reference's result in float64 (or complex128, or the integers it gives), `same` what PyTorch gives
    in the kernel's dtype, None where that cannot be had, and `perturbed` are references in float64 on inputs of
    `perturb`. Integers and booleans must be equal to one of the references. Whatever is not finite must be where
    `precise` rounded to the output's dtype has it, or `same`; NaN for infinity, or the other way round, is warned of.
    What is finite where none of these is, is not judged: of that the reference says nothing. Nor is what is off where
    `same` is not finite and `precise` is: PyTorch cannot compute it in that dtype either.

    `rounded` are references that round numbers on the way once to the inputs' dtype, where that is narrow: what comes
    near one of them is right as far as only what enters products is rounded, and may be, where all is.

    `usual` is the magnitude that the result has on ordinary inputs, where these are not: a rounding of float32 beside
    it is no error, as in `2 * sigmoid(2 * x) - 1` for tanh(1e-6). Without it, this output's own is taken.
    """
    return Yardstick(precise, same, perturbed, rounded, usual).judge(output)


class Yardstick:
    """What `judge` takes beside the output, for several results: what follows from it alone is computed once.

    Large results are judged on the GPU that they are on, and others on the CPU.
    """

    def __init__(
        self,
        precise: Tensor,
        same: Tensor | None,
        perturbed: Sequence[Tensor],
        rounded: Rounded = _NOT_ROUNDED,
        usual: float = 0.0,
        *,
        from_nan: Tensor | None = None,
        moved_by: float | None = None,
        is_beside_jumps: bool = False,
        leaves_jumps: bool = True,
    ) -> None:
        self._precise = precise
        self._is_beside_jumps, self._leaves_jumps = is_beside_jumps, leaves_jumps
        self._from_nan = from_nan
        self._moved_by = moved_by
        self._same = None if same is None or same.shape != precise.shape else same
        self._perturbed = [one for one in perturbed if one.shape == precise.shape]
        self._rounded = rounded
        self._usual = usual
        self._budgets: dict[Any, Budgets] = {}

    def judge(self, output: Tensor) -> Judgement:
        """Whether `output` is right, as `judge` says."""
        try:
            return self._judged(output, judging_device(output))
        except torch.cuda.OutOfMemoryError:
            self._budgets.clear()
            return self._judged(output, _CPU)

    def _judged(self, output: Tensor, device: Any) -> Judgement:
        if device not in self._budgets:
            same = None if self._same is None else on(self._same, device)
            perturbed = [on(one, device) for one in self._perturbed]
            rounded = self._rounded.each(partial(on, device=device))
            precise = on(self._precise, device)
            from_nan = None if self._from_nan is None else on(self._from_nan, device)
            known = precise, same, perturbed, rounded, self._usual, from_nan, self._moved_by
            expected = Expected(*known)
            self._budgets[device] = Budgets(expected)
        budgets, output = self._budgets[device], on(output, device)
        expected = budgets.expected
        if unlike := _unlike(output, expected.precise, expected.same):
            return Judgement(Status.FAIL, unlike)
        if output.numel() == 0:
            return Judgement(Status.PASS, "there is no element", strict=True, loose=True)
        if not is_inexact(output):
            undecided = partial(_undecided, is_beside_jumps=self._is_beside_jumps) if self._leaves_jumps else None
            return _judge_exact(output, expected, undecided=undecided)
        return _judge_powers(output, expected) if _are_powers(output) else _judge_inexact(output, budgets)


# -- what is not a matter of tolerance -----------------------------------------------------------------------------


def judging_device(tensor: Tensor) -> Any:
    """Where to judge it: on its GPU if it is large, else on the CPU."""
    return tensor.device if tensor.is_cuda and tensor.numel() >= _LARGE else _CPU


def _unlike(output: Tensor, precise: Tensor, same: Tensor | None) -> str:
    """Why the two cannot be compared, if so."""
    if output.shape != precise.shape:
        return f"the shape is {tuple(output.shape)}, that of the reference {tuple(precise.shape)}"
    if same is not None and output.dtype != same.dtype:
        return f"the dtype is {_name(output.dtype)}, that of PyTorch's result {_name(same.dtype)}"
    if kind(output) != kind(precise):
        return f"the dtype is {_name(output.dtype)}, that of the reference {_name(precise.dtype)}"
    return ""


def _name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


def _is_equal(one: Tensor, other: Tensor) -> bool:
    if is_inexact(one) or is_inexact(other):
        wide = torch.complex128 if one.is_complex() or other.is_complex() else torch.float64
        return bool(torch.isclose(one.to(wide), other.to(wide), rtol=0, atol=0, equal_nan=True).all())
    return bool((one == other).all())


def _are_powers(tensor: Tensor) -> bool:
    """Whether its dtype has powers of two alone, which no error is small beside."""
    return bool(torch.finfo(tensor.dtype).eps >= 1)


def _judge_powers(output: Tensor, expected: Expected) -> Judgement:
    """Their exponents, which are integers: the one of NaN is the largest."""

    def exponents(tensor: Tensor) -> Tensor:
        return tensor.to(output.dtype).view(torch.uint8).long()

    same = None if expected.same is None else exponents(expected.same)
    others = [exponents(one) for one in expected.perturbed]
    of_exponents = Expected(exponents(expected.precise), same, others, _NOT_ROUNDED, 0.0)
    return _judge_exact(exponents(output), of_exponents, shown=(output, expected.precise))


def _judge_exact(
    output: Tensor,
    expected: Expected,
    shown: tuple[Tensor, Tensor] | None = None,
    *,
    undecided: Callable[[Tensor, Expected], Tensor] | None = None,
) -> Judgement:
    """Where the references disagree, as a quantised number does that is on the edge of two, each of them will do.

    Where that in float32 is farther away than that, as the index of the least of numbers is that are alike but for
    roundings, the kernel's may be yet another one: there nothing is judged.
    """
    is_equal = _is_equal(output, expected.precise if expected.same is None else expected.same)
    others = [*([] if expected.same is None else [expected.same]), *expected.perturbed]
    is_right = output == expected.precise
    for one in others:
        is_right |= output == one
    left_open = torch.zeros_like(is_right) if undecided is None else undecided(is_right, expected)
    is_right |= left_open
    if not (wrong := is_right.numel() - int(is_right.sum())):
        reason = "each element is equal to the reference's"
        if left := int(left_open.sum()):
            beside = "in which the reference differs from itself in float32"
            reason = f"{counted(left, 'element')} {_are(left)} not judged, {beside}"
        status = Status.INCONCLUSIVE if 2 * left > is_right.numel() else Status.PASS
        return Judgement(status, reason, unasked=left, strict=is_equal, loose=is_equal)
    on_edge = torch.zeros_like(is_right)
    for one in others:
        on_edge |= one != expected.precise
    error = (output.double() - expected.precise.double()).abs().masked_fill(is_right, 0.0)
    place = int(error.argmax())
    extent = Extent(float(error.max()), root_mean_square(error))
    worst = element(*(shown or (output, expected.precise)), place)
    is_near = extent.max <= 1 and output.dtype != torch.bool and wrong <= int(on_edge.sum())
    return Judgement(
        Status.WARN if is_near else Status.FAIL,
        f"{wrong} of {counted(output.numel(), 'element')} {differ(wrong)}{' by one' if is_near else ''}, "
        f"{described(worst)}",
        error=extent,
        ratio=Extent(math.inf, math.inf),
        worst=worst,
        exceeding=wrong,
        strict=is_equal,
        loose=is_equal,
        wrong=(~is_right).cpu(),
    )


def _undecided(is_right: Tensor, expected: Expected, *, is_beside_jumps: bool) -> Tensor:
    """Of the elements that are not right those in which the reference jumps where it is computed in float32.

    Where there are such, or beside another result that has some: all others too, if they are few beside those in which
    the reference in float32 is another. So many may be others in the kernel alone, by chance.
    """
    apart = jumping(expected.precise, expected.same)
    undecided = apart & ~is_right
    if expected.same is None or not (is_beside_jumps or bool(apart.any())):
        return undecided
    left = int((~is_right & ~apart).sum())
    is_by_chance = left <= _BY_CHANCE * int((expected.same != expected.precise).sum())
    return ~is_right if is_by_chance else undecided


# -- floating-point numbers ------------------------------------------------------------------------------------------


def _judge_inexact(output: Tensor, budgets: Budgets) -> Judgement:
    expected = budgets.expected
    got, budget, error, ratio, beyond = _measured(output, budgets)
    values = budget.values
    strict = _is_close(output, expected, budget, _STRICT)
    loose = strict or _is_close(output, expected, budget, _LOOSE)
    worst = int(ratio.argmax())
    of_worst = torch.stack([one[worst] for one in (error, budget.passes, ratio)]).tolist()
    rms = (root_mean_square(values.of_judged(error)), budget.rms, root_mean_square(values.of_judged(ratio)))
    errors, allowed, ratios = map(Extent, of_worst, rms)
    again = budget.again(got, error)
    astray, of_astray = _stray(budget, ratio)
    parts = got.numel() // output.numel()
    unasked = 0 if values.apart is None else int(_of_elements(values.apart.unasked, output).sum())
    is_any_judged = values.apart is None or len(values.apart.places) > 0
    found = Judgement(
        Status.PASS,
        "",
        error=errors,
        budget=allowed,
        ratio=ratios,
        worst=element(output, expected.precise, worst // parts) if is_any_judged else None,
        exceeding=0 if ratios.max <= _PASS_ELEMENT else int((ratio > _PASS_ELEMENT).sum()),
        rounded_again=again.share,
        bias=again.bias,
        nonfinite=None if astray is None else element(output, expected.precise, astray // parts),
        unasked=unasked,
        beyond=beyond,
        strict=strict,
        loose=loose,
        narrowed=_narrowed(got, budget),
        wrong=_of_elements(_wrong(budget, ratio), output).cpu(),
    )
    status, reason = _decide(found, error, budget, again)
    if found.narrowed:
        whose = f"{output.numel():,} elements of {_name(output.dtype)}"
        status, reason = Status.FAIL, f"all {whose} are numbers of {found.narrowed}, and the reference's are not"
    if found.nonfinite is not None and _SEVERITY.index(of_astray) >= _SEVERITY.index(status):
        status, reason = of_astray, f"what is not finite differs from the reference, {described(found.nonfinite)}"
    elif unasked and is_any_judged:
        reason += f"; {_not_judged(found, ' more')}, and not judged"
    return replace(found, status=status, reason=reason)


def _measured(output: Tensor, budgets: Budgets) -> tuple[Tensor, Budget, Tensor, Tensor, int]:
    """The elements, what is known of them, their errors, these in budgets, and how many were left out.

    Those that are beyond PyTorch are left out, all of them, where any is off.
    """
    got, budget = budgets.of(output)
    error = budget.values.error(got)
    ratio = _quotient(error, budget.passes)
    if (beyond := budget.values.beyond) is None:
        return got, budget, error, ratio, 0
    of_beyond = ratio[beyond]
    if float(of_beyond.max()) <= _PASS_ELEMENT and root_mean_square(of_beyond) <= PASS_RMS:
        return got, budget, error, ratio, 0
    got, budget = budgets.of(output, beyond)
    error = budget.values.error(got)
    return got, budget, error, _quotient(error, budget.passes), int(_of_elements(beyond, output).sum())


def _narrowed(got: Tensor, budget: Budget) -> str:
    """The type of 16 bits to which a result of float32 was rounded, though what it is judged by was not.

    That is more than products of narrow numbers explain, whose sums are of float32: no chance makes so many such.
    """
    values = budget.values
    rounded = values.expected.rounded
    if values.dtype != torch.float32 or not (rounded.in_products or rounded.everywhere):
        return ""
    wanted = nearest(values.of_judged(values.wanted), torch.float32)
    beside = wanted if values.expected.beside is None else values.of_judged(values.expected.beside)
    if distinct(wanted, MANY) < MANY:
        return ""
    for dtype in (torch.bfloat16, torch.float16):
        is_held = (nearest(one, dtype) == one for one in (values.of_judged(got), wanted, beside))
        of_result, *of_others = (float(one.double().mean()) for one in is_held)
        if of_result == 1.0 and max(of_others) < _MOST_BY_CHANCE:
            return _name(dtype)
    return ""


def _of_elements(marked: Tensor, output: Tensor) -> Tensor:
    """Which elements are marked, of which complex ones have two parts."""
    return marked.reshape(*output.shape, marked.numel() // output.numel()).any(-1)


def _not_judged(found: Judgement, more: str = "") -> str:
    """What of a result is not held against it, and why."""
    finite = found.unasked - found.beyond
    reported = (
        [f"{counted(finite, 'element')}{more} {_are(finite)} finite where the reference is not"] if finite else []
    )
    if found.beyond:
        reported.append(
            f"{counted(found.beyond, 'element')}{more} {_are(found.beyond)} off where PyTorch's own is not finite"
        )
    return ", and ".join(reported)


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _is_close(output: Tensor, expected: Expected, budget: Budget, bound: float) -> bool:
    """Whether rtol = atol = `bound` holds beside what PyTorch gives, or else the reference."""
    if budget.values.apart is None and not output.is_complex():
        beside = expected.reference if expected.beside is None else expected.beside
        return bool(((output.double().flatten() - beside).abs_() <= (bound * beside).abs_().add_(bound)).all())
    wide = torch.complex128 if output.is_complex() else torch.float64
    reference = expected.precise if expected.same is None else expected.same
    is_close = torch.isclose(output.to(wide), reference.to(wide), rtol=bound, atol=bound, equal_nan=True)
    if budget.values.apart is not None:
        is_close |= _of_elements(budget.values.apart.unasked, output)
    return bool(is_close.all())


def _wrong(budget: Budget, ratio: Tensor) -> Tensor:
    """Which elements exceed what passes, or are not finite where they should be, or the other way round."""
    wrong = ratio > _PASS_ELEMENT
    return wrong if budget.values.apart is None else wrong | (budget.values.apart.astray & ~budget.values.apart.judged)


def _stray(budget: Budget, ratio: Tensor) -> tuple[int | None, Status]:
    """The first element that is not finite where it should be, or the other way round, and what that comes to."""
    if (apart := budget.values.apart) is None:
        return None, Status.PASS
    astray = apart.astray & (~apart.judged | (ratio > _PASS_ELEMENT))
    for found, status in ((astray & ~apart.confused, Status.FAIL), (astray, Status.WARN)):
        if bool(found.any()):
            return int(found.nonzero()[0]), status
    return None, Status.PASS


def _decide(found: Judgement, error: Tensor, budget: Budget, again: Again) -> tuple[Status, str]:
    """The status by how far the elements are off, and the sentence that says why: the worst of what is wrong."""
    if found.worst is None and found.unasked:
        return Status.INCONCLUSIVE, f"nothing is compared: {_not_judged(found)}"
    if found.worst is None:
        return Status.PASS, "no element is finite, and none should be"
    again_of_same = budget.again_of_same
    of_same = "" if again_of_same is None else f" ({again_of_same.share:.1%} of PyTorch's)"
    is_element_small, is_rms_small = found.ratio.max <= _PASS_ELEMENT, _is_rms_small(found.ratio.rms, budget)
    proven = explained = Extent(0.0, 0.0)
    if not (is_element_small and is_rms_small):
        proven, explained = (_extent(error, limit, budget) for limit in (budget.proves, budget.explains))
    verdicts = [
        (Status.PASS, f"errors are {found.ratio.rms:.2g} times the budget, and {found.ratio.max:.2g} times at most"),
        (
            Status.INCONCLUSIVE if 2 * found.beyond > len(error) else Status.PASS,
            f"little is compared: {_not_judged(found)}",
        ),
        (
            _graded(is_element_small, proven.max <= _WARN_ELEMENT or explained.max <= _PASS_ELEMENT),
            f"errors of {counted(found.exceeding, 'element')} are above {_PASS_ELEMENT:g} times the budget,"
            f" {described(found.worst)}",
        ),
        (
            _graded(is_rms_small, proven.rms <= _WARN_RMS or _is_rms_small(explained.rms, budget)),
            f"errors are {found.ratio.rms:.3g} times the budget, {described(found.worst)}",
        ),
        (
            _graded_again(again, budget),
            f"{again.share:.1%} of the elements are rounded more than once{of_same}"
            + (f", mostly {'away from' if again.bias > 0 else 'towards'} zero" if _is_biased(again) else ""),
        ),
    ]
    return max(verdicts, key=lambda verdict: _SEVERITY.index(verdict[0]))


def _is_rms_small(rms: float, budget: Budget) -> bool:
    """Whether it passes. That of few numbers may be larger by chance; they are counted only as far as that matters."""
    if not PASS_RMS < rms < math.inf:
        return rms <= PASS_RMS
    enough = 2 + int((_CHANCE / (rms - PASS_RMS)) ** 2)
    return rms <= PASS_RMS + _CHANCE / math.sqrt(budget.values.distinct(enough))


def _extent(error: Tensor, limit: Tensor, budget: Budget) -> Extent:
    """The quotients of the errors and of another limit."""
    quotient = _quotient(error, limit)
    return Extent(float(quotient.max()), root_mean_square(budget.values.of_judged(quotient)))


_SEVERITY = (Status.PASS, Status.INCONCLUSIVE, Status.WARN, Status.FAIL)


def _graded(passes: bool, warns: bool) -> Status:
    return Status.PASS if passes else Status.WARN if warns else Status.FAIL


def _graded_again(again: Again, budget: Budget) -> Status:
    """If it is not known how often PyTorch's are rounded, it may be that it cannot do better."""
    if again.distinct < FEW:
        return Status.PASS
    of_same, in_products = budget.again_of_same or Again(), budget.again_in_products
    usual = max(_AGAIN_OF_SAME * of_same.share, _AGAIN_IN_PRODUCTS * in_products.share)
    is_biased = _is_biased(again) and abs(again.bias) > _BIAS_OF_SAME * max(abs(of_same.bias), abs(in_products.bias))
    if again.share <= max(_pass_again(budget.values.dtype), usual) and not is_biased:
        return Status.PASS
    is_often = again.share > max(_WARN_AGAIN, 2 * usual, _AGAIN_OF_SAME * budget.again_everywhere.share)
    is_known = budget.again_of_same is not None and again.distinct >= MANY
    return Status.FAIL if is_known and (is_often or is_biased) else Status.WARN


def _pass_again(dtype: Any) -> float:
    """The share that passes: below that of what is rounded to 16 bits before, half of which of the ties goes wrong."""
    return min(_PASS_AGAIN, float(torch.finfo(torch.float16).eps / torch.finfo(dtype).eps / 4))


def _is_biased(again: Again) -> bool:
    """Whether most of a good many err to the same side, which no rounding does."""
    return again.distinct >= MANY and abs(again.bias) > max(_WARN_BIAS, again.share / 2)


def _quotient(error: Tensor, budget: Tensor) -> Tensor:
    """The errors in budgets: without an error 0, also where a budget is 0 or not known."""
    return (error / budget).masked_fill_(error == 0, 0.0)
