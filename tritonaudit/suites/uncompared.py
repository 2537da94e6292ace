"""What no comparison with a reference sees: the use of arguments that show in no result, and what it leaves in others.

Imports torch: for processes in which user code runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from math import nan

import torch

from tritonaudit.simulator.torch_memory import storage_address
from tritonaudit.subject.inputs import Arguments
from tritonaudit.subject.model import Case, Subject
from tritonaudit.suites.calling import copied, is_same, named_tensors
from tritonaudit.suites.references import results_of_reference


def unheeded(
    subject: Subject, given: Arguments, others: Arguments, case: Case, same: Sequence[torch.Tensor]
) -> Iterator[str]:
    """Those of floating-point numbers with whose values among `others` the reference gives the `same` bits.

    With NaN in its place, what is computed with makes NaN and nothing else: what the reference never reads makes none,
    and what it decides by makes other numbers. An argument that the wrapper changes by intent may hold anything before.
    """
    if not any(result.numel() for result in same):
        return
    for number, (name, place, tensor) in enumerate(named_tensors(given)):
        if not tensor.is_floating_point() or not tensor.numel() or place in subject.mutates:
            continue
        other = next((one for _, _, one in islice(named_tensors(others), number, None)), None)
        if other is None or tensor.shape != other.shape or is_same(tensor, other):
            continue
        drawn = _results_with(subject, given, number, partial(_copy, other), case, same)
        if not drawn or not all(map(is_same, drawn, same)):
            continue
        without = _results_with(subject, given, number, _spoil, case, same)
        if without and not all(map(is_same, without, same)) and all(map(_differ_by_nan, without, same)):
            yield name


def changed_by_reference(subject: Subject, given: Arguments, case: Case) -> Iterator[str]:
    """The arguments that the reference changes, though the wrapper is not to."""
    arguments: Arguments = copied(given)
    try:
        results_of_reference(subject, arguments, case)
    except Exception:  # which other calls report
        return
    there = {name: tensor for name, _, tensor in named_tensors(arguments)}
    for name, place, before in named_tensors(given):
        if place not in subject.mutates and (name not in there or not is_same(there[name], before)):
            yield name


def gives_back(subject: Subject, given: Arguments, case: Case) -> bool:
    """Whether something that the reference returns is the memory of an argument."""
    arguments: Arguments = copied(given)
    own = {storage_address(tensor) for _, _, tensor in named_tensors(arguments)}
    try:
        results = results_of_reference(subject, arguments, case)
    except Exception:  # which other calls report
        return True
    return any(storage_address(one) in own for one in results)


def _results_with(
    subject: Subject,
    given: Arguments,
    number: int,
    change: Callable[[torch.Tensor], None],
    case: Case,
    same: Sequence[torch.Tensor],
) -> Sequence[torch.Tensor]:
    """What the reference gives where the tensor of that number is changed; nothing where it refuses that."""
    changed: Arguments = copied(given)
    try:
        with torch.no_grad():
            change([one for _, _, one in named_tensors(changed)][number])
        results = results_of_reference(subject, changed, case, len(same))
    except Exception:
        return ()
    return results if [one.shape for one in results] == [one.shape for one in same] else ()


def _copy(source: torch.Tensor, into: torch.Tensor) -> None:
    into.copy_(source)


def _spoil(tensor: torch.Tensor) -> None:
    tensor.fill_(nan)


def _differ_by_nan(result: torch.Tensor, same: torch.Tensor) -> bool:
    """Whether each element is the same, or NaN."""
    return bool(((result == same) | result.isnan() | same.isnan()).all())
