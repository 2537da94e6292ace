"""For a worker, which the module of a test does not reach: are the kernels of the bench of mutations right?"""

from __future__ import annotations

import torch

from bench.mutation.calling import call, subject_of
from bench.mutation.kernels import Kernel, awkward_cases
from tritonaudit.subject.model import Case

_TOLERANCES = {"float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}
"""Of the largest value that is expected."""
_REFUSALS = ("there are no classes", "the table is empty")
"""What wrappers say where there is no result."""


def wrong_cases(name: str) -> tuple[str, ...]:
    """The cases in which the kernel is wrong, with what is wrong; none where it is right."""
    kernel = Kernel(name)
    subject = subject_of(kernel.spec)
    wrong = ((case, _wrong(kernel, case)) for case in (kernel.plain, *awkward_cases(subject)))
    return tuple(f"{case.label}: {why}" for case, why in wrong if why)


def _wrong(kernel: Kernel, case: Case) -> str:
    try:
        called = call(subject_of(kernel.spec), case, is_checked=True, is_wide=True)
    except (ValueError, IndexError) as refusal:
        return "" if str(refusal) in _REFUSALS else str(refusal)
    if called.faults:
        return str(called.faults[0])
    pairs = zip(called.outputs, called.expected, strict=True)
    return "" if all(_are_close(one, other, _TOLERANCES[case.dtype]) for one, other in pairs) else "differs"


def _are_close(one: torch.Tensor, other: torch.Tensor, tolerance: float) -> bool:
    if one.shape != other.shape:
        return False
    scale = other.double().abs().max().clamp(min=1) if other.numel() else 1
    return bool(((one.double() - other.double()).abs() <= tolerance * scale).all())
