"""What a subject's reference gives for the inputs of a call: in their own types, in float64, and on inputs a bit off.

Imports torch: for processes in which user code runs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from tritonaudit.capture.launch import KernelRef
from tritonaudit.capture.record import Noted, noting
from tritonaudit.execute.blame import described
from tritonaudit.finding import Status
from tritonaudit.simulator.operator_mode import OperatorMode
from tritonaudit.subject.inputs import Arguments, call, passed_in, seed_torch, tensors_in
from tritonaudit.subject.kernelbench import in_case
from tritonaudit.subject.model import Case, Subject
from tritonaudit.suites.arithmetic import Arithmetic, Spent
from tritonaudit.suites.axes import HALF_WAY
from tritonaudit.suites.calling import copied, results_of
from tritonaudit.suites.expected import Rounded
from tritonaudit.suites.formats import flat, wide
from tritonaudit.suites.in_double import NARROWER, InDouble, InSingle, SeesDouble
from tritonaudit.suites.judgement import Judgement
from tritonaudit.suites.noise import DRAWS, HALVES, OF_8_BITS, Noise, Normal, Shared, moved_by, perturb
from tritonaudit.suites.roundings import Roundings, rounding_once
from tritonaudit.suites.ties import jumping, jumps, steadier
from tritonaudit.suites.tolerance import Yardstick

_MOST_ALONE = 4
"""Tensors of which each is off alone."""
_MOST_BESIDE = 1 << 25
"""Elements of arguments up to which a reference is computed beside the wrapper: with some hundred bytes for each."""
_SMALL = 1 << 12
"""Elements from which on each has many others of its magnitude beside it, and fewer draws are as good."""
_DRAWS_OF_MANY = 2
_TIMED = 4
_IN_PLACE_OF_NAN = ((0.0, 1.0), (100.0, 10.0), (-100.0, 10.0))
"""Mean and deviation of numbers beside which no other is the largest, nor the smallest."""
_ALIKE = 1e-9
_WITH_SIGNED_NAN = frozenset((torch.float64, *NARROWER))
_SHARED = (Shared.NOTHING, Shared.NOTHING, Shared.ROWS, Shared.COLUMNS)


@dataclass(frozen=True)
class References:
    """What the reference gives, result by result: `precise` in float64, `same` in the subject's own types.

    `perturbed` holds the precise results on inputs that are off by a rounding of float32, once for each draw, which are
    made by `draw` when first they are asked for; and `rounded` those of each result in which numbers on the way are
    rounded to the inputs' type, where that has 16 bits.
    What the reference cannot do is empty, and `reason` says why; it `has_failed` where it does not take the inputs.
    `moved_by` is the rounding where it is another one.
    Where the inputs hold NaN, `from_nan` says of each result's elements, flat, which hang on it. NaN has no sign: where
    some have their sign bit set, by which torch sorts on a GPU, `without_signs` gives what is right as well.
    """

    precise: tuple[torch.Tensor, ...] = ()
    same: tuple[torch.Tensor, ...] = ()
    draw: Callable[[], tuple[tuple[torch.Tensor, ...], ...]] = tuple
    rounded: tuple[Rounded, ...] = ()
    reason: str = ""
    from_nan: tuple[torch.Tensor, ...] | None = None
    moved_by: float | None = None
    has_failed: bool = False
    without_signs: Callable[[], References] | None = None
    _yardsticks: dict[tuple[int, float, bool], Yardstick] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @cached_property
    def perturbed(self) -> tuple[tuple[torch.Tensor, ...], ...]:
        """They are made when first they are asked for, as modes of torch have to allow."""
        return self.draw()

    @cached_property
    def _other(self) -> References | None:
        return None if self.without_signs is None else self.without_signs()

    def judgement(self, result: torch.Tensor, number: int, usual: float = 0.0) -> Judgement:
        """Of a result in the place of that number, of such a `usual` magnitude.

        What passes without perturbed results, which only allow for more, passes with them; whether narrow numbers were
        rounded again is told by those that these do not move.
        """
        found = self._judgement(result, number, usual)
        if found.status is Status.FAIL and (other := self._other) is not None and number < len(other.same):
            again = other._judgement(result, number, usual)
            return found if again.status is Status.FAIL else again
        return found

    def _judgement(self, result: torch.Tensor, number: int, usual: float) -> Judgement:
        if not _is_narrow(result):
            with torch._C.DisableTorchFunction():  # nothing here is the user's, and tensors are where they are
                found = self.yardstick(number, usual, is_drawn=False).judge(result)
            if found.status is Status.PASS:
                return found
        yardstick = self.yardstick(number, usual)
        with torch._C.DisableTorchFunction():
            return yardstick.judge(result)

    def yardstick(self, number: int, usual: float = 0.0, *, is_drawn: bool = True) -> Yardstick:
        """What results in the place of that number are judged by, of such a `usual` magnitude."""
        key = number, usual, is_drawn
        if key not in self._yardsticks:
            self._yardsticks[key] = Yardstick(
                *self.of(number),
                self.perturbed_of(number) if is_drawn else (),
                self.rounded_of(number),
                usual,
                from_nan=None if self.from_nan is None else self.from_nan[number],
                moved_by=self.moved_by,
                is_beside_jumps=self._jump,
                leaves_jumps=is_drawn,
            )
        return self._yardsticks[key]

    @cached_property
    def _jump(self) -> bool:
        """Whether any result jumps from one integer to another where the same is computed in float32."""
        return any(bool(jumping(one, same).any()) for one, same in zip(self.precise, self.same, strict=False))

    def rounded_of(self, number: int) -> Rounded:
        """Of the result of that number those with narrow numbers on the way."""
        return self.rounded[number] if number < len(self.rounded) else Rounded()

    def of(self, number: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Of the result of that number the precise one, and that in the subject's own types."""
        same = self.same[number]
        return self.precise[number] if number < len(self.precise) else same.double(), same

    def perturbed_of(self, number: int) -> list[torch.Tensor]:
        """Of the result of that number the perturbed ones."""
        return [draw[number] for draw in self.perturbed if number < len(draw)]


def references(
    subject: Subject,
    given: Arguments,
    case: Case,
    judged: Collection[KernelRef] = (),
    number: int | None = None,
    *,
    are_precise: bool = True,
) -> References:
    """What the subject's reference, which it has, gives for the arguments of a case, beside that `number` of results.

    Unless they `are_precise` it is only seen whether it takes the arguments. That it launches a kernel of somebody's is
    fair; one that launches a kernel which is `judged` agrees with it always.
    """
    return _heard(_found(subject, given, case, number, are_precise=are_precise), judged)


class Ahead:
    """What the reference gives, found while the wrapper is called elsewhere: little of it hangs on that call."""

    def __init__(self, subject: Subject, case: Case, *, are_precise: bool = True) -> None:
        self._subject, self._case, self._are_precise = subject, case, are_precise
        self._known: list[tuple[Arguments, _Found]] = []

    def find(self, *sets: Arguments) -> None:
        """Find it for each of these sets of arguments, which is not changed before it is asked for.

        Not where they are large: the wrapper may need the memory.
        """
        if self._subject.reference is not None:
            for given in filter(_is_small, sets):
                found = _found(self._subject, given, self._case, None, are_precise=self._are_precise)
                self._known.append((given, found))
                if any(map(_is_narrow, found[0].same)):  # by which these are judged in any case
                    found[0].perturbed_of(0)

    def references(self, given: Arguments, judged: Collection[KernelRef], number: int) -> References:
        """The `references` for a set of arguments, found now where they are not known yet."""
        for of, found in self._known:
            if of is given and (found[0].has_failed or len(found[0].same) == number):
                return _heard(found, judged)
        return references(self._subject, given, self._case, judged, number, are_precise=self._are_precise)


def _is_small(given: Arguments) -> bool:
    return bool(sum(tensor.numel() for tensor in tensors_in(given)) <= _MOST_BESIDE)


_Found = tuple[References, Noted]
"""What the reference gives, and what it launches."""


def _found(subject: Subject, given: Arguments, case: Case, number: int | None, *, are_precise: bool) -> _Found:
    with noting() as noted:
        return (_references if are_precise else _same)(subject, given, case, number), noted


def _heard(found: _Found, judged: Collection[KernelRef]) -> References:
    answer, noted = found
    if own := noted.launched & set(judged):
        return References(reason=f"the reference launches {_named(own)}, which is judged: it agrees with itself always")
    if noted.idle:
        return References(reason=f"the reference launches {_named(noted.idle)}, which only a GPU executes for it")
    return answer


def _same(subject: Subject, given: Arguments, case: Case, number: int | None) -> References:
    try:
        return References((), results_of_reference(subject, copied(given), case, number, of_same=False))
    except Exception as error:
        return References(reason=f"the reference {described(error)}", has_failed=True)


def _named(kernels: Collection[KernelRef]) -> str:
    return " and ".join(sorted(f"`{one.name}`" for one in kernels))


def _references(subject: Subject, given: Arguments, case: Case, number: int | None) -> References:
    found = _references_as_given(subject, given, case, number)
    if not found.same or not _has_signed_nan(given):
        return found
    return replace(found, without_signs=lambda: _references_as_given(subject, _without_signs(given), case, number))


def _references_as_given(subject: Subject, given: Arguments, case: Case, number: int | None) -> References:
    if (exact := _of_integers(subject, given, case, number)) is not None:
        known = tuple(map(wide, exact))
        return References(known, exact, lambda: (known,) * DRAWS)
    try:
        same = _in_single(subject, given, case, number)
    except Exception as error:
        return References(reason=f"the reference {described(error)}", has_failed=True)
    why = ""
    for narrower in (NARROWER | OF_8_BITS, NARROWER):  # some references take only floats of 8 bits, or their bytes
        try:
            with InDouble():
                precise = _wide_results(subject, in_double(given, narrower), case, len(same))
        except Exception as error:
            why = f"the reference in float64 {described(error)}"
            continue
        if any(one.shape != other.shape for one, other in zip(precise, same, strict=False)):  # it looks at bytes
            why = "the reference gives other shapes in float64"
            continue
        return References(
            precise,
            same,
            partial(_perturbed, subject, given, narrower, case, precise),
            _rounded(subject, given, same, narrower, case),
            from_nan=_from_nan(subject, given, precise, narrower, case) if _has_nan(given) else None,
            moved_by=moved_by((tensor.dtype for tensor in tensors_in(given)), narrower),
        )
    known = tuple(wide(tensor) for tensor in same)
    return References(known, same, reason=why, from_nan=_all_of(known) if _has_nan(given) else None)


def _perturbed(
    subject: Subject, given: Arguments, narrower: Set[torch.dtype], case: Case, precise: Sequence[torch.Tensor]
) -> tuple[tuple[torch.Tensor, ...], ...]:
    """The precise results where inputs are a rounding off, and what is computed of them; none where one fails."""
    number = len(precise)
    is_usual = case.fill == Case().fill

    def off_by(noise: Noise) -> tuple[torch.Tensor, ...]:
        return _wide_results(subject, off_by_a_rounding(given, noise, narrower), case, number)

    try:
        with InDouble():
            perturbed = [off_by(noise) for noise in _noises(given, narrower, has_equals=not is_usual)]
            if is_usual and jumps(precise, perturbed):
                alike = [off_by(Noise(draw, Shared.EQUALS)) for draw in range(DRAWS)]
                perturbed = steadier(precise, perturbed, alike)
            if not is_usual or _has_integers(given):  # what is computed of these moves by nothing else
                perturbed += [
                    _rounded_within(subject, in_double(given, narrower), case, number, Roundings(draw))
                    for draw in range(2)
                ]
            if case.fill == HALF_WAY:
                return _on_edges(subject, in_double(given, narrower), case, number, len(perturbed))
    except Exception:
        return ()
    return tuple(perturbed)


def _is_narrow(tensor: torch.Tensor) -> bool:
    """Whether it holds floating-point numbers of 16 bits or less."""
    return bool(tensor.is_floating_point() and tensor.element_size() <= 2)


def _of_integers(subject: Subject, given: Arguments, case: Case, number: int | None) -> tuple[torch.Tensor, ...] | None:
    """The results of what computes with integers and truth values only, where nothing is ever rounded; else None."""
    if any(_is_of_floats(tensor) for tensor in tensors_in(given)):
        return None
    try:
        with _SeesFloats() as seeing:
            same = results_of_reference(subject, copied(given), case, number, of_same=False)
    except Exception:  # of which it is said where it fails without being watched
        return None
    return None if seeing.has_seen or any(map(_is_of_floats, same)) else same


class _SeesFloats(OperatorMode):
    """Notes, while it is active, whether any operator has given numbers in floating point."""

    has_seen = False

    def on_operator(self, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        returned = function(*args, **kwargs)
        if not self.has_seen:
            self.has_seen = any(isinstance(one, torch.Tensor) and _is_of_floats(one) for one in tree_leaves(returned))
        return returned

    def on_function_of_functions(self, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        self.has_seen = True  # for all that is known: what is computed in it is not seen
        return function(*args, **kwargs)


def _is_of_floats(tensor: torch.Tensor) -> bool:
    return bool(tensor.is_floating_point() or tensor.is_complex())


def _in_single(subject: Subject, given: Arguments, case: Case, number: int | None) -> tuple[torch.Tensor, ...]:
    """What the reference gives in types that kernels compute in: float32 where it has float64 for its own sake."""
    with SeesDouble() as seeing:
        same = results_of_reference(subject, copied(given), case, number, of_same=False)
    is_double = any(tensor.dtype in (torch.float64, torch.complex128) for tensor in tensors_in(given))
    if is_double or not seeing.is_any:
        return same
    single = InSingle()
    try:
        with single:
            narrow = results_of_reference(subject, copied(given), case, len(same))
    except Exception:
        return same
    if not single.has_narrowed or [one.shape for one in narrow] != [one.shape for one in same]:
        return same
    return tuple(one.to(other.dtype) for one, other in zip(narrow, same, strict=True))


def _has_integers(given: Arguments) -> bool:
    return not all(map(_is_of_floats, tensors_in(given)))


def _has_nan(given: Arguments) -> bool:
    floats = (tensor.detach() for tensor in tensors_in(given) if tensor.is_floating_point())
    return any(bool(tensor.double().isnan().any()) for tensor in floats)


def _has_signed_nan(given: Arguments) -> bool:
    wide = (tensor.detach() for tensor in tensors_in(given) if tensor.dtype in _WITH_SIGNED_NAN)
    return any(bool((tensor.isnan() & tensor.signbit()).any()) for tensor in wide)


def _without_signs(given: Arguments) -> Arguments:
    """The same with NaN whose sign bits are not set."""

    def unsigned(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        return [torch.where(one.isnan(), math.nan, one) for one in tensors]

    return converted(given, unsigned, _WITH_SIGNED_NAN)


def _from_nan(
    subject: Subject, given: Arguments, precise: Sequence[torch.Tensor], narrower: Set[torch.dtype], case: Case
) -> tuple[torch.Tensor, ...]:
    """Which elements hang on NaN among the inputs: those that differ where other numbers stand in its place."""
    if not any(bool(flat(one).isnan().any()) for one in precise):
        return _all_of(precise)
    try:
        with InDouble():
            draws = [
                _wide_results(subject, converted(given, partial(_without_nan, draw=draw), narrower), case, len(precise))
                for draw in range(len(_IN_PLACE_OF_NAN))
            ]
    except Exception:
        return _all_of(precise)
    first, *others = ([flat(one).double() for one in draw] for draw in draws)
    return tuple(
        torch.stack([~torch.isclose(other[number], one, rtol=_ALIKE, atol=0) for other in others]).any(0)
        for number, one in enumerate(first)
    )


def _all_of(results: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    return tuple(torch.ones_like(flat(one), dtype=torch.bool) for one in results)


def _without_nan(tensors: Sequence[torch.Tensor], draw: int) -> list[torch.Tensor]:
    normal = Normal(draw)
    mean, deviation = _IN_PLACE_OF_NAN[draw]
    doubles = [tensor.double() for tensor in tensors]
    return [torch.where(one.isnan(), normal.like(one, one.shape) * deviation + mean, one) for one in doubles]


def arithmetic_of(subject: Subject, given: Arguments, case: Case) -> Spent:
    """What the reference computes; nothing where it fails."""
    counting = Arithmetic()
    try:
        with counting:
            results_of_reference(subject, copied(given), case)
    except Exception:
        return Spent()
    return counting.spent


def reference_seconds(subject: Subject, given: Arguments, case: Case) -> float | None:
    """How long the reference takes on arguments, warm and at best; None where there is none, or it fails."""
    if subject.reference is None:
        return None
    seconds: list[float] = []
    try:
        for _ in range(_TIMED):
            began = time.monotonic()
            results_of_reference(subject, copied(given), case)
            if torch.cuda.is_initialized():
                torch.cuda.synchronize()
            seconds.append(time.monotonic() - began)
    except Exception:
        return None
    return min(seconds)


def _noises(given: Arguments, narrower: Set[torch.dtype], *, has_equals: bool) -> Iterator[Noise]:
    for draw in range(DRAWS):
        yield Noise(draw, _SHARED[draw % len(_SHARED)] if has_equals else Shared.NOTHING)
    number = sum(tensor.dtype in narrower | {torch.float64} for tensor in tensors_in(given))
    if has_equals and number > 1:
        yield from (Noise(place, only=place) for place in range(min(number, _MOST_ALONE)))


def _rounded_within(
    subject: Subject, arguments: Arguments, case: Case, number: int, roundings: Roundings
) -> tuple[torch.Tensor, ...]:
    with roundings:
        return _wide_results(subject, arguments, case, number)


def _on_edges(
    subject: Subject,
    given: Arguments,
    case: Case,
    number: int,
    draws: int,
) -> tuple[tuple[torch.Tensor, ...], ...]:
    """So many perturbed results, on the edge of two numbers only where something is rounded before.

    Numbers half way between two are as they are given: which of the two is meant the reference says.
    """
    ways = [Roundings(draw, keeps_exact=True, sign=sign) for draw in range(2) for sign in (1, -1)]
    exact = [_rounded_within(subject, copied(given), case, number, way) for way in ways]
    return tuple(exact[draw % len(exact)] for draw in range(draws))


def narrow_type(given: Iterable[torch.dtype], results: Iterable[torch.dtype]) -> torch.dtype | None:
    """The type of 16 bits to which kernels round what they compute on the way; None where they need not.

    The inputs' coarsest, or the results' where inputs have 8 bits, in which nobody computes.
    """
    given = set(given)
    return next((one for one in HALVES if one in given or (given & OF_8_BITS and one in results)), None)


def rounded_once(
    compute: Callable[[], Sequence[torch.Tensor]], dtype: torch.dtype, results: Sequence[torch.Tensor]
) -> tuple[Rounded, ...]:
    """What is computed in float64, with numbers on the way in a narrow type, beside results in their own types.

    Results of float32 are only off by what is rounded in products: for them all else is to be wide.
    """
    draws = DRAWS if min(one.numel() for one in results) < _SMALL else _DRAWS_OF_MANY
    are_narrow = [one.dtype.itemsize <= dtype.itemsize for one in results]
    in_products = _drawn(compute, dtype, draws, products=True)
    everywhere = _drawn(compute, dtype, draws, products=False) if any(are_narrow) else []
    rounded = []
    for number, (result, is_narrow) in enumerate(zip(results, are_narrow, strict=True)):
        draws_of = [[draw[number] for draw in some] for some in (in_products, everywhere if is_narrow else [])]
        rounded.append(Rounded(*([one for one in some if one.shape == result.shape] for some in draws_of)))
    return tuple(rounded)


def _drawn(
    compute: Callable[[], Sequence[torch.Tensor]], dtype: torch.dtype, draws: int, *, products: bool
) -> list[Sequence[torch.Tensor]]:
    found: list[Sequence[torch.Tensor]] = []
    for draw in range(draws):
        with rounding_once(dtype, draw, products=products) as rounding:
            found.append(compute())
        if not rounding.has_rounded:
            return []
    return found


def _rounded(
    subject: Subject, given: Arguments, same: Sequence[torch.Tensor], narrower: Set[torch.dtype], case: Case
) -> tuple[Rounded, ...]:
    """Of each result those with narrow numbers on the way; nothing where none need be, or can be."""
    dtype = narrow_type([tensor.dtype for tensor in tensors_in(given)], [tensor.dtype for tensor in same])
    if dtype is None or not same:
        return ()
    try:
        with InDouble():
            return rounded_once(
                lambda: results_of_reference(subject, in_double(given, narrower), case, len(same)), dtype, same
            )
    except Exception:
        return ()


def in_double(arguments: Arguments, narrower: Set[torch.dtype] = NARROWER) -> Arguments:
    """Copies of the arguments, with floating-point numbers of these types, those of 16 and 32 bits, in float64."""
    return converted(arguments, lambda tensors: [tensor.double() for tensor in tensors], narrower)


def off_by_a_rounding(arguments: Arguments, noise: Noise, narrower: Set[torch.dtype] = NARROWER) -> Arguments:
    """The same, each number off by about one rounding of float32, or of float64 where that is its type."""
    return converted(arguments, partial(perturb, noise=noise), narrower | {torch.float64})


def converted(
    arguments: Arguments, convert: Callable[[Sequence[torch.Tensor]], Sequence[torch.Tensor]], types: Set[torch.dtype]
) -> Arguments:
    """Copies of the arguments, of which tensors of these types are what they are converted to, all of them at once."""
    leaves, form = tree_flatten(arguments)
    places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
    chosen = [place for place in places if leaves[place].dtype in types]
    made = {place: copied(leaves[place]) for place in places if leaves[place].dtype not in types}
    for place, other in zip(chosen, convert([leaves[place].detach() for place in chosen]), strict=True):
        made[place] = other.requires_grad_() if leaves[place].requires_grad else other
    converted: Arguments = tree_unflatten([made.get(place, leaf) for place, leaf in enumerate(leaves)], form)
    return converted


def _wide_results(subject: Subject, arguments: Arguments, case: Case, number: int) -> tuple[torch.Tensor, ...]:
    """In float64 also what the reference itself rounds to floats of 8 bits, with which torch hardly computes."""
    return tuple(map(wide, results_of_reference(subject, arguments, case, number)))


def results_of_reference(
    subject: Subject, arguments: Arguments, case: Case, number: int | None = None, *, of_same: bool = True
) -> tuple[torch.Tensor, ...]:
    """Those of one call, as many as the `number` of another of the same reference, or of the wrapper."""
    assert subject.reference is not None
    given = copied(arguments) if subject.mutates else arguments
    seed_torch(case.seed)
    function = in_case(subject.reference, case)
    returned = call(function, *arguments, gradients=subject.gradients, passed=passed_in(case))
    return tuple(tensor for _, tensor in results_of(subject, arguments, returned, given, number, of_same=of_same))
