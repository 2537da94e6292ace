"""Executes a trial on the CPU engine, and makes what its result is compared with."""

from __future__ import annotations

import torch

import tritonaudit
from bench.tolerance.policies import Result
from bench.tolerance.trial import Inputs, Operation, Trial
from tritonaudit.suites.expected import Rounded
from tritonaudit.suites.formats import wide
from tritonaudit.suites.noise import DRAWS, Noise, perturb
from tritonaudit.suites.references import narrow_type, rounded_once


class References:
    """The references of each operation and dtype, computed once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[Inputs, Result]] = {}

    def of(self, trial: Trial) -> tuple[Inputs, Result]:
        """The inputs, and a result whose output is an empty one."""
        key = trial.operation.name, trial.dtype
        if key not in self._known:
            inputs = trial.inputs()
            self._known[key] = inputs, _expected(trial.operation, inputs)
        return self._known[key]


def _expected(operation: Operation, inputs: Inputs) -> Result:
    precise = operation.reference(*map(wide, inputs))
    perturbed = [operation.reference(*perturb(inputs, Noise(draw))) for draw in range(DRAWS)]
    same = operation.reference(*inputs)
    output = torch.zeros(precise.shape, dtype=same.dtype)
    return Result(output, precise, same, perturbed, _rounded(operation, inputs, same))


def _rounded(operation: Operation, inputs: Inputs, same: torch.Tensor) -> Rounded:
    """The references with narrow numbers on the way."""
    dtype = narrow_type([one.dtype for one in inputs], [same.dtype])
    if dtype is None:
        return Rounded()
    (rounded,) = rounded_once(lambda: (operation.reference(*map(wide, inputs)),), dtype, (same,))
    return rounded


def result_of(trial: Trial, references: References, *, as_gpu: bool) -> Result:
    """What the kernel gives; what it does not write is zero, which hides most."""
    inputs, expected = references.of(trial)
    out = torch.zeros_like(expected.output)
    launch = trial.operation.launch([one.clone() for one in inputs], out, trial.way.constants_for(trial.dtype))
    tritonaudit.simulate(launch.kernel, launch.grid, *launch.arguments, checks=False, as_gpu=as_gpu, **launch.constants)
    return Result(out, expected.precise, expected.same, expected.perturbed, expected.rounded)
