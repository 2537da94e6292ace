"""Whether what a call returned is right, before and after the timing. Imports torch: for worker processes."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from tritonaudit.execute.blame import described
from tritonaudit.finding import Status
from tritonaudit.subject.inputs import Arguments
from tritonaudit.subject.model import Case, Subject
from tritonaudit.suites.calling import Result
from tritonaudit.suites.references import References, references
from tritonaudit.suites.tolerance import judge


class Unverified(Exception):
    """Nothing can be said of the results; the message says why."""


def wrong(subject: Subject, case: Case, given: Arguments, results: Sequence[Result]) -> str:
    """What is wrong with the results of a call on these arguments; empty where nothing is. Raises Unverified."""
    if subject.reference is None:
        raise Unverified("the subject has no reference")
    try:
        found = references(subject, given, case)
        if not found.same:
            raise Unverified(found.reason)
        return _wrong(results, found)
    except torch.cuda.OutOfMemoryError as error:
        raise Unverified(f"the reference in float64 does not fit into the GPU's memory: {described(error)}") from error


def _wrong(results: Sequence[Result], found: References) -> str:
    if len(results) != len(found.same):
        return f"it gives {len(results)} tensors, and the reference {len(found.same)}"
    for number, result in enumerate(results):
        same = found.same[number]
        precise = found.precise[number] if number < len(found.precise) else same.double()
        perturbed = [draw[number] for draw in found.perturbed if number < len(draw)]
        judgement = judge(result.tensor, precise, same, perturbed)
        if judgement.status is Status.FAIL:
            return f"{result.name}: {judgement.reason}"
    return ""
