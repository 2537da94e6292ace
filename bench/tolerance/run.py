"""Executes a trial on the CPU engine, and makes what its result is compared with."""

from __future__ import annotations

import torch

import tritonaudit
from bench.tolerance.policies import Result
from bench.tolerance.trial import Inputs, Operation, Trial
from tritonaudit.suites.noise import DRAWS, Noise, perturb


class References:
    """The references of each operation and dtype, computed once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[Inputs, Result]] = {}

    def of(self, trial: Trial) -> tuple[Inputs, Result]:
        """The inputs, and a result whose output is an empty one."""
        key = trial.operation.name, trial.dtype
        if key not in self._known:
            inputs = trial.inputs()
            self._known[key] = inputs, _expected(trial.operation, inputs, getattr(torch, trial.dtype))
        return self._known[key]


def _expected(operation: Operation, inputs: Inputs, dtype: torch.dtype) -> Result:
    wide = [one.double() if one.is_floating_point() else one for one in inputs]
    precise = operation.reference(*wide)
    perturbed = [operation.reference(*perturb(inputs, Noise(draw))) for draw in range(DRAWS)]
    output = torch.zeros(precise.shape, dtype=dtype if precise.is_floating_point() else precise.dtype)
    return Result(output, precise, operation.reference(*inputs), perturbed)


def result_of(trial: Trial, references: References, *, as_gpu: bool) -> Result:
    """What the kernel gives; what it does not write is zero, which hides most."""
    inputs, expected = references.of(trial)
    out = torch.zeros_like(expected.output)
    launch = trial.operation.launch([one.clone() for one in inputs], out, trial.way.constants_for(trial.dtype))
    tritonaudit.simulate(launch.kernel, launch.grid, *launch.arguments, checks=False, as_gpu=as_gpu, **launch.constants)
    return Result(out, expected.precise, expected.same, expected.perturbed)
