"""What the compile stage is asked for, and what it comes to: findings like any other's, and the kernels behind them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from tritonaudit.compile.budget import Budget, Limit, Overrun, unchecked, violations
from tritonaudit.compile.facts import CompiledKernel
from tritonaudit.config import Config
from tritonaudit.engine import KernelFacts, judge
from tritonaudit.finding import Audit, Outcome, Problem, Status
from tritonaudit.shown import shown_path


@dataclass(frozen=True)
class CompileRequest:
    """For which targets to compile (none: the default ones), within which budget, in how many processes.

    A target that is asked for must be one that the installed Triton can compile for; a default one need not be.
    `jobs` is None for as many processes as pay. Beyond one program of each kernel for each target, compiling has so
    many `seconds` for each subject, and for each kernel that none launches, or all that it takes.
    """

    targets: tuple[str, ...] = ()
    budget: Budget | None = None
    jobs: int | None = None
    seconds: float = math.inf


@dataclass(frozen=True)
class CompileAudit:
    """An audit with the compiled kernels that it is about, and the version of the Triton that compiled them."""

    audit: Audit
    kernels: tuple[CompiledKernel, ...]
    targets: tuple[str, ...]
    triton: str


def judge_kernels(
    kernels: Sequence[CompiledKernel],
    budget: Budget | None,
    config: Config,
    texts: Mapping[str, bytes] = MappingProxyType({}),
) -> Audit:
    """The findings in compiled kernels, and the limits of the budget that could not be checked.

    A limit that no kernel shows to be kept or broken is a problem. `texts` are what files held, where that is known.
    """
    learnt: dict[Path, list[KernelFacts]] = {}
    for kernel in kernels:
        learnt.setdefault(Path(kernel.path), []).append(kernel)
        if budget is not None and (broken := violations(budget, kernel)):
            learnt[Path(kernel.path)].append(Overrun(kernel, broken))
    audit = judge(learnt, config, texts)
    if budget is not None:
        idle = [limit for limit in budget.limits if all(limit in unchecked(budget, kernel) for kernel in kernels)]
        audit = replace(
            audit,
            problems=(*audit.problems, *(_idle(limit, config) for limit in idle)),
            outcomes=(*audit.outcomes, *_unchecked(kernels, budget, idle)),
        )
    return replace(audit, kernels=len(kernels))


def _idle(limit: Limit, config: Config) -> Problem:
    message = f"nothing that was compiled shows whether the budget's `{limit.text}` is kept"
    return Problem(shown_path(config.root), message)


def _unchecked(kernels: Sequence[CompiledKernel], budget: Budget, idle: Collection[Limit]) -> Iterator[Outcome]:
    for kernel in kernels:
        for limit in unchecked(budget, kernel):
            if limit in idle:
                continue
            subject = f"{shown_path(Path(kernel.path))}:{kernel.span.line}"
            reason = f"nothing compiled shows whether `{kernel.name}` keeps the budget's `{limit.text}`"
            yield Outcome("budget", subject, Status.NOT_RUN, reason=reason)
