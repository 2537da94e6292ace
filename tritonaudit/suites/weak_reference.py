"""What a reference cannot tell: results that others would pass for, and arguments that show in none.

Imports torch: for workers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import torch

from tritonaudit.finding import Status
from tritonaudit.subject.given import AMONG, AMONG_NORMAL, SPECIAL
from tritonaudit.subject.inputs import Arguments, make_inputs
from tritonaudit.subject.model import Case, Subject
from tritonaudit.suites.calling import Device, How
from tritonaudit.suites.calls import Call
from tritonaudit.suites.garbage import garbage
from tritonaudit.suites.references import References, references
from tritonaudit.suites.uncompared import changed_by_reference, unheeded


def are_weighed(first: Call, answer: References) -> bool:
    """Whether of each result it can be said what else would pass for it."""
    pairs = zip(first.results, answer.same, strict=True)
    return all(result.tensor.numel() and result.tensor.dtype == same.dtype for result, same in pairs)


def why_weak(first: Call, answers: Mapping[int, References]) -> Iterator[tuple[int, str]]:
    """What passes for the result of that number and is computed from nothing."""
    answer = answers.get(0)
    if answer is None:
        return
    for number, result in enumerate(first.results):
        name, tensor = result.name, result.tensor
        if not tensor.numel() or tensor.dtype != answer.same[number].dtype:
            continue
        if kind := next(_passing(answer, number), ""):
            yield number, f"{kind} would pass as {name}: that it passes proves nothing"


def _passing(answer: References, number: int, *, keeps: bool = False) -> Iterator[str]:
    """What passes for that result and is computed from nothing; it `keeps` what is not finite, which proves little."""
    precise, same = answer.of(number)
    is_kept = ~same.isfinite() if keeps else torch.zeros_like(same, dtype=torch.bool)
    usual = precise[~is_kept].double().mean() if bool(is_kept.any()) else 0.0
    for kind, candidate in garbage(precise.masked_fill(is_kept, usual), same.dtype):
        candidate = torch.where(is_kept, same, candidate.to(same.device))
        if same.numel() == 1 and kind != "zeros":
            continue
        if answer.judgement(candidate, number).status is not Status.FAIL:
            yield kind


def is_shown_elsewhere(device: Device, subject: Subject, case: Case, number: int) -> bool:
    """Whether NaN or infinities among the inputs, which every audit has, make a result that proves something."""
    among = AMONG_NORMAL if subject.given is None else AMONG
    for special in SPECIAL if subject.given is not None else SPECIAL[:1]:
        there = replace(case, fill=f"{special}{among}")
        try:
            with device.observing(How(is_checked=False)):
                given = make_inputs(subject, there)
            answer = references(subject, given, there)
            if number < len(answer.same) and next(_passing(answer, number, keeps=True), None) is None:
                return True
        except Exception:  # no such numbers can be had, or the reference takes none
            continue
    return False


def why_blind(
    subject: Subject, case: Case, given: Sequence[Arguments], answers: Mapping[int, References]
) -> Iterator[str]:
    """What is in arguments and shows in no comparison."""
    if 0 not in answers:
        return
    if names := list(changed_by_reference(subject, given[0], case)):
        yield f"the reference changes {' and '.join(names)}, and nothing compares what it leaves: name it in `mutates`"
    if names := list(unheeded(subject, given[0], given[1], case, answers[0].same)):
        yield f"{' and '.join(names)} may hold other numbers for the same results: nothing compares their use"
