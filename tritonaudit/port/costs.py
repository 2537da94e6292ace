"""What choosing among right variants goes by: the times of a GPU, or else what the compiler makes of their kernels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tritonaudit.capture.launch import KernelRef
from tritonaudit.compile.audit import CompileRequest
from tritonaudit.compile.facts import CompiledKernel, Variant
from tritonaudit.compile.stage import compile_paths
from tritonaudit.config import Config
from tritonaudit.finding import Status
from tritonaudit.measure.facts import Role, Row
from tritonaudit.shown import shown_path
from tritonaudit.subject.model import TIMED


@dataclass(frozen=True)
class SizeTime:
    """How long a variant takes at a size, in milliseconds: the median of its runs and its 95 % interval.

    `pytorch` is PyTorch's median in the same measurement, None where it has none.
    """

    size: str
    case: str
    median: float
    low: float
    high: float
    pytorch: float | None = None


@dataclass(frozen=True)
class Times:
    """The times of a variant at its named sizes; `missing` says which size has none, and why."""

    sizes: tuple[SizeTime, ...]
    missing: tuple[tuple[str, str], ...] = ()

    @property
    def final(self) -> float:
        """The mean over the sizes."""
        return _mean(one.median for one in self.sizes)

    @property
    def low(self) -> float:
        return _mean(one.low for one in self.sizes)

    @property
    def high(self) -> float:
        return _mean(one.high for one in self.sizes)

    @property
    def speedup(self) -> float | None:
        """How many times as long PyTorch takes, in the mean over the sizes."""
        theirs = [one.pytorch for one in self.sizes if one.pytorch is not None]
        return _mean(theirs) / self.final if self.final and len(theirs) == len(self.sizes) else None

    @property
    def cases(self) -> tuple[str, ...]:
        """What was timed: times of other cases are not compared with these."""
        return tuple(one.case for one in self.sizes)


@dataclass(frozen=True)
class Resources:
    """What the compiler makes of a variant for a target: of its kernels' launches the worst, of their configs the best.

    `spilled` is bytes per thread, `narrow` counts accesses that could be wider, `occupancy` is the part of the warps
    that a multiprocessor can hold, `registers` are per thread. None: unknown.
    """

    spilled: int | None
    narrow: int
    occupancy: float | None
    registers: int | None

    @property
    def rank(self) -> tuple[bool, int, int, float]:
        """Less is better: spilling, then narrow accesses, then low occupancy, through which registers count."""
        return self.spilled is None, self.spilled or 0, self.narrow, -(self.occupancy or 0.0)


def times_of(rows: Sequence[Row]) -> Times:
    """The times at the named sizes, in the first dtype that was timed."""
    sizes: list[SizeTime] = []
    missing: list[tuple[str, str]] = []
    for name in TIMED:
        row = next((row for row in rows if row.size == name), None)
        if row is None:
            continue
        subject, pytorch = row.of(Role.SUBJECT), row.of(Role.PYTORCH)
        if row.status is Status.FAIL or subject is None or subject.device is None:
            missing.append((name, row.reason or "there is no time"))
            continue
        sample = subject.device
        theirs = pytorch.device.median if pytorch is not None and pytorch.device is not None else None
        sizes.append(SizeTime(name, row.case.label, sample.median, sample.low, sample.high, theirs))
    return Times(tuple(sizes), tuple(missing))


@dataclass(frozen=True)
class Compilable:
    """A variant that is right: its file, what its subject is called, and the kernels that it launches."""

    path: Path
    subject: str
    launched: tuple[KernelRef, ...]


def compiled(variants: Sequence[Compilable], target: str, config: Config, jobs: int) -> tuple[Resources | str, ...]:
    """What the compiler makes of the kernels that each launches; or why that is not known, or they cannot be run."""
    audit = compile_paths([one.path for one in variants], config, CompileRequest((target,), jobs=jobs))
    problems = {problem.path: problem.message for problem in audit.audit.problems}
    return tuple(_made(one, audit.kernels, target, problems.get(shown_path(one.path), "")) for one in variants)


def _made(one: Compilable, kernels: Sequence[CompiledKernel], target: str, problem: str) -> Resources | str:
    wanted = {(kernel.path, kernel.name) for kernel in one.launched}
    own = [_own(kernel, one.subject) for kernel in kernels if (kernel.path, kernel.name) in wanted]
    if not own:
        return f"none of it was compiled: {problem or 'no launch of it could be captured'}"
    found = [_resources(kernel, target) for kernel in own]
    refused = next((resources for resources in found if isinstance(resources, str)), None)
    return refused or _worst(resources for resources in found if isinstance(resources, Resources))


def _own(kernel: CompiledKernel, subject: str) -> CompiledKernel:
    """The kernel as this subject launches it, which others may launch, too: then cases begin with subjects' names."""
    own = tuple(one for one in kernel.variants if any(case.startswith(f"{subject}: ") for case in one.cases))
    return replace(kernel, variants=own) if own else kernel


def _resources(kernel: CompiledKernel, target: str) -> Resources | str:
    variants = [one for one in kernel.variants if not one.is_least] or list(kernel.variants)
    launches: dict[tuple[object, ...], list[Variant]] = {}
    for one in variants:
        launches.setdefault((one.signature, one.cases), []).append(one)
    narrow = max((len(one.narrow) for one in variants), default=0)
    best: list[Resources] = []
    for configs in launches.values():
        fitting = [Resources(*_of(one, narrow)) for one in configs if _fits(one)]
        if not fitting:
            return f"`{kernel.name}` {_refusal(configs, target)}"
        best.append(min(fitting, key=lambda one: one.rank))
    return _worst(best)


def _of(variant: Variant, narrow: int) -> tuple[int | None, int, float | None, int | None]:
    resources = variant.resources
    assert resources is not None
    has_room = resources.occupancy is not None and resources.occupancy_of
    occupancy = resources.occupancy / resources.occupancy_of if has_room else None  # type: ignore[operator]
    return resources.spilled, narrow, occupancy, resources.registers


def _fits(variant: Variant) -> bool:
    resources, limit = variant.resources, variant.shared_limit
    return resources is not None and (limit is None or resources.shared <= limit)


def _refusal(configs: Sequence[Variant], target: str) -> str:
    error = next((one.error for one in configs if one.error is not None), None)
    if error is not None:
        return f"does not compile for {target}: {error.message}"
    return f"needs more shared memory than {target} has"


def _worst(found: Iterable[Resources]) -> Resources:
    """In each figure the worst."""
    every = list(found)
    return Resources(
        _largest([one.spilled for one in every]),
        max(one.narrow for one in every),
        _least([one.occupancy for one in every]),
        _largest([one.registers for one in every]),
    )


def _largest(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return max(known) if len(known) == len(values) else None


def _least(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return min(known) if len(known) == len(values) else None


def _mean(values: Iterable[float] | Iterator[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0
