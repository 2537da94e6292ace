"""What a model's buffers hold after a call, beside those of its reference: running means and other effects of a call.

Both models are new ones, so that calls before do not matter. Imports torch: for processes in which user code runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from tritonaudit.execute.blame import described
from tritonaudit.finding import Status
from tritonaudit.subject.inputs import Arguments, call, seed_torch
from tritonaudit.subject.kernelbench import Built, buffers_in_case
from tritonaudit.subject.model import Case, Subject
from tritonaudit.suites.calling import Device, How, Result, call_subject, copied
from tritonaudit.suites.correctness import crash_words, wrong_results
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.outcome import Sighting
from tritonaudit.suites.references import References, references

_MOST_NAMED = 3


@dataclass(frozen=True)
class Effects:
    """What comparing buffers came to: what was looked for, what was seen, and why some have nothing beside them."""

    checked: frozenset[Symptom] = frozenset()
    sightings: tuple[Sighting, ...] = ()
    uncompared: str = ""


def compare_buffers(device: Device, subject: Subject, case: Case, given: Arguments) -> Effects:
    """Compare those that a call of the reference changes, if there are any; else the wrapper is not called."""
    reference = subject.reference
    if not isinstance(reference, Built):
        return Effects()
    try:
        names = _changed_by(reference, case, given)
    except Exception as error:  # the reference's own constructor, or a buffer of a kind that cannot be compared
        return Effects(uncompared=f"what the reference leaves in its buffers is not known: looking {described(error)}")
    if not names:
        return Effects()
    called = call_subject(device, subject, case, How(buffers=names))
    if called.error is not None:
        return Effects(uncompared=_uncompared(names, crash_words(called.error)))
    leaving = replace(subject, reference=_leaving(reference, case, names))
    found = references(leaving, called.given, case, {ran.launch.kernel for ran in called.ran}, len(names))
    if not found.same:
        return Effects(uncompared=_uncompared(names, found.reason))
    placed = dict(_placed(names, called.results, found))
    shown = {number: replace(one, name=f"`{names[number]}` after the call") for number, one in placed.items()}
    missing = [name for number, name in enumerate(names) if number not in placed]
    return Effects(
        frozenset((Symptom.WRONG_RESULT,)) if placed else frozenset(),
        tuple(wrong_results(subject, case, called, found, shown)),
        _uncompared(missing, "the wrapper's model changes none like them") if missing else "",
    )


def _changed_by(reference: Built, case: Case, given: Arguments) -> tuple[str, ...]:
    """The names of the buffers that a call of the reference changes."""
    positional, keywords = copied(given)
    seed_torch(case.seed)
    return tuple(call(buffers_in_case(reference, case, ()), positional, keywords, gradients=False))


def _leaving(reference: Built, case: Case, names: Sequence[str]) -> Callable[..., dict[str, torch.Tensor]]:
    """As a function what a call of the reference leaves in the buffers of these names, and in no others."""
    call_new = buffers_in_case(reference, case, names)

    def leave(*inputs: Any) -> dict[str, torch.Tensor]:
        left = call_new(*inputs)
        return {name: left[name] for name in names}

    return leave


def _placed(names: Sequence[str], results: Sequence[Result], found: References) -> Iterator[tuple[int, Result]]:
    """The results beside the references, by the numbers of these: those of the same names, else others of their kind.

    Which of several is meant names do not say then: one that is right, if there is any.
    """
    by_name = {one.name: one for one in results}
    others = [one for one in results if one.name not in names]
    for number, (name, same) in enumerate(zip(names, found.same, strict=True)):
        if name in by_name:
            yield number, by_name[name]
            continue
        alike = [one for one in others if (one.tensor.shape, one.tensor.dtype) == (same.shape, same.dtype)]
        right = (one for one in alike if found.judgement(one.tensor, number).status is Status.PASS)
        if (chosen := next(right, alike[0] if alike else None)) is not None:
            others = [one for one in others if one is not chosen]
            yield number, chosen


def _uncompared(names: Sequence[str], why: str) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:_MOST_NAMED])
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"the reference changes its buffers {shown}{more}, and nothing compares what they hold: {why}"
