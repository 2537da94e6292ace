"""Which integers a subject's reference takes, and what it changes, found by asking it. Imports torch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from tritonaudit.capture.standin import Host, tensors_on
from tritonaudit.capture.time_limit import OutOfTime, computing_limit
from tritonaudit.subject.dimension import Dimension
from tritonaudit.subject.given import ANY_INTEGERS, Given, GivenTensor
from tritonaudit.subject.inputs import Arguments, as_given, call, make_inputs, seed, tensors_in
from tritonaudit.subject.kernelbench import Built
from tritonaudit.subject.model import INTEGER, Subject
from tritonaudit.subject.sweep import compile_cases
from tritonaudit.subject.varying import each_tensor

_ANSWER_SECONDS = 2.0
"""For a reference to take what it is asked about, on the CPU."""
_MOST_ASKED = 6
"""Sizes, the largest first."""


def takes_any_integers(subject: Subject) -> bool:
    """Whether the reference takes any integers where the subject does not say how large they are."""
    if subject.reference is None:
        return False
    case = replace(compile_cases(subject)[0], fill=ANY_INTEGERS, device="cpu")
    try:
        with tensors_on(Host.CPU):
            arguments = make_inputs(subject, case)
    except (Exception, SystemExit):  # its cases show it
        return False
    return _takes(subject, arguments)


def changing_as_its_model(subject: Subject) -> Subject:
    """A pair with the arguments that its `Model` changes in place, which nobody else can name, as those it `mutates`.

    It is asked on tensors without memory; where that fails there are none.
    """
    if not isinstance(subject.reference, Built) or subject.mutates:
        return subject
    case = replace(compile_cases(subject)[0], device="meta")
    try:
        with computing_limit(_ANSWER_SECONDS), tensors_on(Host.META), torch.no_grad():
            seed(case)
            positional, keywords = as_given(subject, case)
            before = _versions(positional)
            call(subject.reference, positional, keywords, gradients=False)
            after = _versions(positional)
    except (Exception, SystemExit, OutOfTime):
        return subject
    places = [place for place, versions in before.items() if versions != after[place]]
    return replace(subject, mutates=places) if places else subject


def _versions(positional: Sequence[Any]) -> dict[int, list[int]]:
    """How often the tensors of each argument were written to."""
    return {place: [tensor._version for tensor in tensors_in(value)] for place, value in enumerate(positional)}


def reaching(subject: Subject, given: Given, values: Arguments, held: Iterable[int]) -> Given:
    """With the sizes below which integers have to be: those `held`, and those of what is given.

    `values` are of the sizes given.
    """
    tensors = list(tensors_in(values))
    named = {size: name for name, size in given.sizes.items()}
    sizes = {*held, *(size for tensor in tensors for size in tensor.shape)}
    asked = [number for number, facts in enumerate(given.tensors) if _may_point(facts)]
    if not asked or subject.reference is None or not _takes(subject, values):
        return given
    found = {number: _below(subject, values, number, tensors[number], sizes, named) for number in asked}
    changed = (replace(one, below=found.get(number)) for number, one in enumerate(given.tensors))
    return replace(given, tensors=tuple(changed))


def _may_point(facts: GivenTensor) -> bool:
    return facts.dtype in INTEGER and facts.dtype != "bool" and not facts.is_ordered and not facts.is_distinct


def _below(
    subject: Subject,
    values: Arguments,
    number: int,
    tensor: torch.Tensor,
    sizes: Iterable[int],
    named: Mapping[int, str],
) -> Dimension | None:
    """The size that the reference refuses as one of these integers, where it takes the integer before it."""
    limit, largest = torch.iinfo(tensor.dtype).max, int(tensor.max()) if tensor.numel() else 0
    candidates = sorted((size for size in sizes if largest + 1 < size <= limit), reverse=True)
    if not candidates or _takes(subject, _with_last(values, number, limit)):
        return None
    for size in candidates[:_MOST_ASKED]:
        if _takes(subject, _with_last(values, number, size - 1)):
            is_refused = not _takes(subject, _with_last(values, number, size))
            return named.get(size, size) if is_refused else None
    return None


def _with_last(values: Arguments, number: int, integer: int) -> Arguments:
    """The same with this integer in the last place of the tensor of that number."""

    def one(place: int, tensor: torch.Tensor) -> torch.Tensor:
        if place != number:
            return tensor
        changed = tensor.clone(memory_format=torch.contiguous_format)
        changed.view(-1)[-1] = integer
        return changed

    changed: Arguments = each_tensor(values, one)
    return changed


def _takes(subject: Subject, arguments: Arguments) -> bool:
    """Whether the reference gives a result for them in time."""
    assert subject.reference is not None
    try:
        with computing_limit(_ANSWER_SECONDS), tensors_on(Host.CPU), torch.no_grad():
            positional, keywords = each_tensor(arguments, lambda _, tensor: tensor.detach().clone())
            call(subject.reference, positional, keywords, gradients=False)
    except (Exception, SystemExit, OutOfTime):
        return False
    return True
