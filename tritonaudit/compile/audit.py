"""What the compile stage is asked for, and what it comes to: findings like any other's, and the kernels behind them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tritonaudit.compile.budget import Budget, Overrun, unchecked, violations
from tritonaudit.compile.facts import CompiledKernel
from tritonaudit.config import Config
from tritonaudit.engine import KernelFacts, judge, shown_path
from tritonaudit.finding import Audit, Outcome, Status
from tritonaudit.hardware.targets import DEFAULT_TARGETS


@dataclass(frozen=True)
class CompileRequest:
    """For which targets to compile, within which budget, in how many processes (None: as many as pay)."""

    targets: tuple[str, ...] = DEFAULT_TARGETS
    budget: Budget | None = None
    jobs: int | None = None


@dataclass(frozen=True)
class CompileAudit:
    """An audit with the compiled kernels that it is about, and the version of the Triton that compiled them."""

    audit: Audit
    kernels: tuple[CompiledKernel, ...]
    targets: tuple[str, ...]
    triton: str


def judge_kernels(kernels: Sequence[CompiledKernel], budget: Budget | None, config: Config) -> Audit:
    """The findings in compiled kernels, and the limits of the budget that could not be checked."""
    learnt: dict[Path, list[KernelFacts]] = {}
    for kernel in kernels:
        learnt.setdefault(Path(kernel.path), []).append(kernel)
        if budget is not None and (broken := violations(budget, kernel)):
            learnt[Path(kernel.path)].append(Overrun(kernel, broken))
    audit = judge(learnt, config)
    unsaid = tuple(_unchecked(kernels, budget)) if budget is not None else ()
    return replace(audit, kernels=len(kernels), outcomes=(*audit.outcomes, *unsaid))


def _unchecked(kernels: Sequence[CompiledKernel], budget: Budget) -> Iterator[Outcome]:
    for kernel in kernels:
        for limit in unchecked(budget, kernel):
            subject = f"{shown_path(Path(kernel.path))}:{kernel.span.line}"
            reason = f"nothing compiled tells whether `{kernel.name}` keeps the budget's `{limit.text}`"
            yield Outcome("budget", subject, Status.NOT_RUN, reason=reason)
