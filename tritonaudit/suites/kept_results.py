"""Results that are kept from an earlier call, or that lie in memory of others. Imports torch: for workers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import torch

from tritonaudit.execute.blame import depends_on_stand_in, described
from tritonaudit.finding import Status
from tritonaudit.simulator.machine import NotSimulated
from tritonaudit.suites.calling import Result, is_same
from tritonaudit.suites.calls import LEFT, Call
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.outcome import Said
from tritonaudit.suites.references import References


def kept_from_earlier(calls: Sequence[Call], answers: Mapping[int, References]) -> Iterator[Said]:
    first = calls[0]
    if first.fallback is not None:
        return
    for number, one in enumerate(calls[1:], 2):
        said = f"call {number} ({one.way})"
        if one.values == LEFT and not answers.get(LEFT, References()).same:
            return
        if one.error is not None:
            if not isinstance(one.error, NotSimulated) and not depends_on_stand_in(one.error):
                yield Symptom.STALE, f"{said} fails where the first does not: calling it {described(one.error)}", True
            return
        if first.ran and not one.ran and one.elements:
            yield Symptom.STALE, f"{said} launches no kernel, as the first call did", True
    right = _which_are_right(calls, answers)
    if not right[0]:
        return
    for number, one in enumerate(calls[1:], 2):
        if right[number - 1] is not False:
            continue
        said = f"call {number} ({one.way})"
        again = _repeated(one, calls[: number - 1])
        if again is not None:
            yield Symptom.STALE, f"{said} gives the result of call {again + 1} again, whose values were others", True
        elif any(ok for other, ok in zip(calls, right, strict=True) if other.values == one.values):
            right_one = next(n for n, other in enumerate(calls) if other.values == one.values and right[n])
            text = f"{said} gives a wrong result, and call {right_one + 1} a right one for the same values"
            yield Symptom.STALE, text, True
        else:
            text = f"{said} gives a wrong result, and the first call a right one for its values"
            yield Symptom.STALE, text, one.values == LEFT


def _which_are_right(calls: Sequence[Call], answers: Mapping[int, References]) -> list[bool | None]:
    """Whether each call's results are the reference's; the same ones for the same values are judged once."""
    right: list[bool | None] = []
    for number, one in enumerate(calls):
        earlier = (n for n, other in enumerate(calls[:number]) if other.values == one.values and _are_kept(one, other))
        known = next(earlier, None)
        right.append(_is_right(one, answers) if known is None else right[known])
    return right


def _are_kept(one: Call, other: Call) -> bool:
    """Whether two calls gave the same results, to the bit."""
    return len(one.kept) == len(other.kept) and all(map(is_same, one.kept, other.kept))


def _is_right(one: Call, answers: Mapping[int, References]) -> bool | None:
    """Whether the results are the reference's; None where that is unknown.

    What a call has left need not change once more: then what is returned alone is compared.
    """
    answer = answers.get(one.values)
    if answer is None or (len(answer.same) != len(one.kept) and one.values != LEFT):
        return None
    common = min(len(answer.same), len(one.kept))
    verdicts = [answer.judgement(one.kept[number], number).status for number in range(common)]
    return Status.FAIL not in verdicts


def _repeated(one: Call, earlier: Sequence[Call]) -> int | None:
    """The earlier call, of other values, whose results these are."""
    for number, other in enumerate(earlier):
        if other.values != one.values and _are_kept(one, other):
            return number
    return None


def in_memory_of_others(calls: Sequence[Call], is_given_back: Callable[[], bool]) -> Iterator[Said]:
    """Memory that is not a result's own; `is_given_back` says whether the reference gives that of an argument, too."""
    first = calls[0]
    inputs = {given.storage: given.name for given in first.inputs if not given.is_by_intent}
    by_intent = {given.storage for given in first.inputs} - inputs.keys()
    for result in _returned(first, by_intent):
        if result.storage in inputs and result.storage in first.written:
            yield (
                Symptom.ALIASED,
                f"{result.name} is the memory of {inputs[result.storage]}, which the call writes to",
                True,
            )
        elif result.storage in inputs and not is_given_back():
            text = f"{result.name} is the memory of {inputs[result.storage]}, and the reference gives memory of its own"
            yield Symptom.ALIASED, text, True
    for number, one in enumerate(calls):
        for result, kept in foreign_results(one, calls):
            later = next((n for n in range(number + 1, len(calls)) if shares_memory(result, calls[n])), None)
            if later is not None and not is_same(result.tensor, kept):
                after = f"call {later + 1}, which returns the same memory"
                text = f"{result.name} of call {number + 1} is overwritten by {after}"
                yield Symptom.ALIASED, text, True


def _returned(one: Call, but: Collection[int]) -> Iterator[Result]:
    """What was returned, without gradients and what has one of these storages."""
    for result in one.results:
        if not result.name.startswith("gradient") and result.tensor.numel() and result.storage not in but:
            yield result


def foreign_results(one: Call, calls: Sequence[Call]) -> Iterator[tuple[Result, torch.Tensor]]:
    """What was returned and is no memory of any call's arguments, and how it was then."""
    given = {inner.storage for other in calls for inner in other.inputs}
    kept = dict(zip(map(id, one.results), one.kept, strict=False))
    yield from ((result, kept[id(result)]) for result in _returned(one, given))


def shares_memory(result: Result, later: Call) -> bool:
    return any(result.storage == other.storage for other in later.results)
