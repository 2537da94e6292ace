"""Who made the elements of results, and who did the arithmetic: kernels, operators of torch, or nobody that was seen.

Imports torch: for workers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import torch

from tritonaudit.execute.blame import depends_on_stand_in, described
from tritonaudit.finding import Status
from tritonaudit.simulator.machine import NotSimulated
from tritonaudit.subject.inputs import Arguments, tensors_in
from tritonaudit.subject.model import Case, Subject
from tritonaudit.suites.arithmetic import Spent
from tritonaudit.suites.calling import bits, is_same
from tritonaudit.suites.calls import Call, Share
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.formats import is_constant
from tritonaudit.suites.outcome import Said
from tritonaudit.suites.provenance import Computed, Origin
from tritonaudit.suites.references import References, arithmetic_of
from tritonaudit.suites.sentences import listed

_ALL_CALLS = 6
"""The second has other values than the last, and both come when all that is made only once is there."""
_LARGE_SHARE, _SHARE = 0.5, 0.2
"""Of a result's elements, made by torch alone: for certain too many, and worth a warning."""


def torch_work(calls: Sequence[Call], answers: Mapping[int, References], *, is_weak: bool) -> Iterator[Said]:
    """Elements that come from operators of torch alone, or from what nobody was seen to write."""
    first = calls[0]
    total = sum(share.elements for share in first.shares)
    if not first.ran or not total:
        return
    yield from _by_others(calls, total)
    if is_weak or not answers:
        return
    for number, result in enumerate(first.results):
        if result.tensor.numel() >= _LARGE_SHARE * total and not result.name.startswith("gradient"):
            yield from _answered(result.name, result.tensor, number, first.computed, answers[0])


def _by_others(calls: Sequence[Call], total: int) -> Iterator[Said]:
    """A large share of so many elements that no kernel has made.

    What comes of memory that nobody was seen to make may have been there before: unless it changes with the inputs.
    """
    first = calls[0]
    has_changed = _changes(calls, [one for one in first.shares if not one.is_foreign])
    unseen = "by what is neither a launch nor an operator of torch"
    if has_changed:
        unseen = "of memory that nobody was seen to write, and that changes with the values of the inputs"
    for origin, by, is_certain in (
        (Origin.TORCH, "", True),
        (Origin.UNSEEN, "in a thread of the call's" if first.started else unseen, has_changed or first.started),
        (Origin.ALTERED, "where nobody was seen to write over what had been put there", True),
    ):
        parts = [one for one in first.shares if one.counts[origin]]
        if origin is Origin.UNSEEN and not has_changed:
            parts = [one for one in parts if one.is_foreign]
        share = sum(part.counts[origin] for part in parts) / total
        if share >= _SHARE:
            operators = sorted({operator for part in parts for operator in part.operators})
            said = by or f"by {listed(operators)} of torch"
            text = f"{share:.0%} of the elements of {' and '.join(part.name for part in parts)} are made {said}"
            yield Symptom.TORCH_WORK, text, bool(is_certain) and (share >= _LARGE_SHARE or origin is Origin.ALTERED)


def _changes(calls: Sequence[Call], shares: Sequence[Share]) -> bool:
    """Whether elements that nobody was seen to make are others with other values of the inputs."""
    first = calls[0]
    other = next((one for one in calls[1:] if one.values != first.values and len(one.kept) == len(first.kept)), None)
    if other is None:
        return False
    kept = {
        result.name: (here, there)
        for result, here, there in zip(first.results, first.kept, other.kept, strict=True)
        if here.shape == there.shape and here.dtype == there.dtype
    }
    return any(
        int((bits(here) != bits(there)).sum()) > share.elements - share.counts[Origin.UNSEEN]
        for share in shares
        if share.name in kept
        for here, there in (kept[share.name],)
    )


def counted_as_work(spent: Spent, first: Call) -> Spent:
    """What counts as work: operations on integers where a call gives nothing but integers."""
    dtypes = [result.tensor.dtype for result in first.results]
    is_of_integers = not any(dtype.is_floating_point or dtype.is_complex for dtype in dtypes)
    return spent.of_integers() if is_of_integers else spent.of_floats()


def torch_arithmetic(subject: Subject, made: Spent, wanted: Spent) -> Iterator[Said]:
    """Operators of torch that compute as much in the call as much of the reference takes."""
    allowed = subject.torch_share
    ways = ("", made.forward, wanted.forward), ("the backward pass of ", made.backward, wanted.backward)
    for way, spent, whole in ways:
        share = min(spent / whole, 1.0) if whole else 0.0
        is_certain = share > _LARGE_SHARE if allowed is None else share > allowed
        if is_certain or (allowed is None and share >= _SHARE):
            text = f"operators of torch do {share:.0%} of the arithmetic that {way}the reference takes"
            yield Symptom.TORCH_WORK, text, is_certain


def unknown_arithmetic(subject: Subject, made: Spent, wanted: Spent) -> Iterator[str]:
    """Why nobody can tell how much operators of torch compute: all that the known ones leave may be theirs."""
    allowed = _LARGE_SHARE if subject.torch_share is None else subject.torch_share
    whole, most = wanted.forward + wanted.backward, made.forward + made.backward + made.at_most
    is_open = math.isinf(made.at_most) and allowed < 1
    if made.unknown and (is_open or (whole and min(most / whole, 1.0) > allowed)):
        text = f"what {listed(sorted(made.unknown))} computes, which may be what the kernels are there for"
        yield f"{text}, is not known: where that is fair, give the subject a `torch_share`"


def unseen_writers(calls: Sequence[Call]) -> Iterator[Said]:
    """What is in memory that nobody was seen to put there."""
    first = calls[0]
    for share in first.shares:
        if share.elements and share.overwritten >= _SHARE * share.elements:
            text = (
                f"{share.overwritten / share.elements:.0%} of the elements of {share.name} are no longer what was left"
                " there by the last launch or operator of torch that was seen to write them"
            )
            yield Symptom.TORCH_WORK, text, True
    if any(one.altered for one in calls):
        text = "what a launch left differs for the next one, and nothing was seen to write it in between"
        yield Symptom.TORCH_WORK, text, True
    if any(one.undefined for one in calls):
        text = "the host reads what lies in memory that nobody has written, as if others had left the results there"
        yield Symptom.TORCH_WORK, text, True
    if len(calls) >= _ALL_CALLS and calls[_ALL_CALLS - 1].error is None:
        written = frozenset[int]().union(*(one.written for one in calls))
        known = {one.digest for one in calls[1].unaccounted}
        last = calls[_ALL_CALLS - 1]
        changed = [one for one in last.unaccounted if one.digest not in known and one.address not in written]
        whole = sum(result.tensor.numel() * result.tensor.element_size() for result in first.results)
        if whole and sum(one.size for one in changed) >= _SHARE * whole:
            text = "memory is read that nothing was seen to write, and that changes with the values of the inputs"
            yield Symptom.TORCH_WORK, text, True


def numbers_passed(calls: Sequence[Call]) -> Iterator[Said]:
    """Numbers that the host has computed of the inputs, and that launches do no more than write down."""
    first = calls[0]
    others = (one for one in calls[1:] if one.values != first.values and len(one.kept) == len(first.kept))
    if (other := next(others, None)) is None:
        return
    total = first.elements
    for result, here, there in zip(first.results, first.kept, other.kept, strict=True):
        is_large = here.numel() >= _LARGE_SHARE * total and not result.name.startswith("gradient")
        if (
            is_large
            and not is_same(here, there)
            and _is_reported(first, other, here)
            and _is_reported(other, first, there)
        ):
            text = f"all that is in {result.name} are numbers passed to launches, which the host has computed"
            yield Symptom.TORCH_WORK, text, True


def _is_reported(one: Call, other: Call, tensor: torch.Tensor) -> bool:
    """Whether each element is, rounded to its type, a number that launches are given, and not those of the other."""
    passed = _passed_in(one) - _passed_in(other)
    if not passed or not tensor.numel() or not tensor.is_floating_point():
        return False
    with torch._C.DisableTorchFunction():
        numbers = torch.tensor(sorted(passed), dtype=torch.float64, device=tensor.device).to(tensor.dtype).double()
        return bool(torch.isin(tensor.double(), numbers).all())


def _passed_in(one: Call) -> set[float]:
    """The numbers that its launches are given."""
    given = (value for ran in one.ran for _, value in ran.launch.arguments)
    return {float(value) for value in given if isinstance(value, (int, float)) and not isinstance(value, bool)}


def _answered(
    name: str, tensor: torch.Tensor, number: int, computed: Sequence[Computed], answer: References
) -> Iterator[Said]:
    """An operator of torch whose result is the call's, whatever the kernels do with it then."""
    for one in computed:
        if one.moved or one.result.numel() != tensor.numel() or is_constant(one.result):
            continue
        candidate = one.result.to(tensor.dtype).reshape(tensor.shape)
        if is_same(candidate, tensor):
            yield Symptom.TORCH_WORK, f"{name} is, bit for bit, what `{one.operator}` of torch gives in the call", True
        elif answer.judgement(candidate, number).status is Status.PASS:
            text = f"what `{one.operator}` of torch gives in the call is right as {name}, before any kernel touches it"
            yield Symptom.TORCH_WORK, text, False


def only_moved(subject: Subject, case: Case, first: Call, given: Arguments) -> Iterator[Said]:
    """Most of what a call gives is what torch has moved into place, where the reference does nothing but move.

    A copy of an argument as it is moves nothing.
    """
    moved = [one for one in first.computed if one.moved]
    if (
        not moved
        or not first.ran
        or subject.reference is None
        or arithmetic_of(subject, given, case).of_floats() != Spent()
    ):
        return
    whole, arguments = first.elements, list(tensors_in(given))
    for result in first.results:
        tensor = result.tensor
        if tensor.numel() < _LARGE_SHARE * whole or result.name.startswith("gradient") or is_constant(tensor):
            continue
        if any(_holds(one, tensor) for one in arguments):
            continue
        if by := next((one.operator for one in moved if _holds(one.result, tensor)), ""):
            text = f"{result.name} is, bit for bit, what `{by}` of torch has moved into place before the kernels"
            yield Symptom.TORCH_WORK, text, True


def _holds(one: torch.Tensor, tensor: torch.Tensor) -> bool:
    """Whether it has the same elements in the same order, whatever its shape."""
    return one.numel() == tensor.numel() and is_same(one.detach().flatten().to(tensor.dtype), tensor.flatten())


def why_untold(calls: Sequence[Call]) -> Iterator[str]:
    """Why it is open what a later call gives, where the first one was executed."""
    for one in calls[1:]:
        if isinstance(one.error, NotSimulated) or (one.error is not None and depends_on_stand_in(one.error)):
            yield f"a later call: {described(one.error)}"
            return
