"""Budgets: limits such as `spills=0,shared<=227KiB,sm_90:registers<=128`, and what a compiled kernel makes of them."""

from __future__ import annotations

import difflib
import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tritonaudit.compile.facts import CompiledKernel, Variant

_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "=": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
}
_UNITS = {"B": 1, "KB": 1_000, "KiB": 1 << 10, "MiB": 1 << 20}
_LIMIT = re.compile(
    r"(?:(?P<target>[^:<>=,]*):)?(?P<metric>[^:<>=,]*)(?P<comparison><=|>=|==|[<>=])?(?P<number>[^,A-Za-z]*)(?P<unit>.*)"
)
_EXPONENT = re.compile(r"[eE][+-]?\d+")
_EXAMPLE = "spills=0,shared<=227KiB,sm_90:registers<=128"


@dataclass(frozen=True)
class Metric:
    """What can be limited: how a variant's value is read (None: unknown), and whether it is in bytes."""

    what: str
    read: Callable[[Variant], int | None]
    is_memory: bool = False


def _resource(name: str) -> Callable[[Variant], int | None]:
    return lambda variant: getattr(variant.resources, name, None)


def width(variant: Variant) -> int | None:
    """The bytes per lane of the narrowest access, None where every access is a bulk copy or there is none."""
    return min((access.narrowest for access in variant.accesses if access.narrowest), default=None)


METRICS = {
    "registers": Metric("registers per thread", _resource("registers")),
    "spills": Metric("bytes spilled per thread, stores and loads together", _resource("spilled"), is_memory=True),
    "stack": Metric("bytes of stack per thread", _resource("stack"), is_memory=True),
    "local": Metric("bytes of local memory per thread", _resource("local"), is_memory=True),
    "shared": Metric("bytes of shared memory", _resource("shared"), is_memory=True),
    "accumulators": Metric("accumulator registers per thread", _resource("accumulators")),
    "occupancy": Metric("warps that a multiprocessor holds, estimated", _resource("occupancy")),
    "width": Metric("bytes per lane of the narrowest access", width, is_memory=True),
}


class BudgetError(ValueError):
    """A text that is no budget: what is wrong, at which character, and what to write."""


@dataclass(frozen=True)
class Limit:
    """One clause of a budget; `target` is empty where it holds for all of them."""

    metric: str
    comparison: str
    number: int
    text: str
    target: str = ""

    def holds(self, value: int) -> bool:
        return _COMPARISONS[self.comparison](value, self.number)

    def applies_to(self, variant: Variant) -> bool:
        return self.target in ("", variant.target)

    def value(self, variant: Variant) -> int | None:
        """What the variant has of it, None where that is unknown."""
        return METRICS[self.metric].read(variant)


@dataclass(frozen=True)
class Budget:
    """What compiled kernels may need; never without a limit."""

    limits: tuple[Limit, ...]


@dataclass(frozen=True)
class Violation:
    """A variant that breaks a limit, and the value that does."""

    limit: Limit
    variant: Variant
    value: int


@dataclass(frozen=True)
class Overrun:
    """A kernel with its violations, of which there are some."""

    kernel: CompiledKernel
    violations: tuple[Violation, ...]

    @property
    def name(self) -> str:
        return self.kernel.name


def parse_budget(text: str) -> Budget:
    """Reads limits joined by commas: `[TARGET:]METRIC COMPARISON NUMBER[UNIT]`. Raises BudgetError."""
    limits = []
    position = 1
    for clause in text.split(","):
        lead = len(clause) - len(clause.lstrip())
        limits.append(_limit(clause.strip(), position + lead))
        position += len(clause) + 1
    return Budget(tuple(limits))


def violations(budget: Budget, kernel: CompiledKernel) -> tuple[Violation, ...]:
    """Each variant that breaks a limit; an unknown value breaks none, `unchecked` names it."""
    return tuple(
        Violation(limit, variant, value)
        for limit in budget.limits
        for variant in kernel.compiled
        if limit.applies_to(variant)
        if (value := limit.value(variant)) is not None and not limit.holds(value)
    )


def unchecked(budget: Budget, kernel: CompiledKernel) -> tuple[Limit, ...]:
    """The limits of which no variant of the kernel can tell whether it keeps them."""
    return tuple(limit for limit in budget.limits if not any(_known(limit, kernel)))


def _known(limit: Limit, kernel: CompiledKernel) -> Iterator[bool]:
    for variant in kernel.compiled:
        yield limit.applies_to(variant) and limit.value(variant) is not None


def _limit(clause: str, position: int) -> Limit:
    if not clause:
        raise _error(position, "a limit is missing", f"write {_EXAMPLE}, for example")
    found = _LIMIT.fullmatch(clause)
    if found is None:
        raise _error(position, f"{clause!r} is not a limit", f"write {_EXAMPLE}, for example")
    target, metric = (found["target"] or "").strip(), found["metric"].strip()
    if target:
        from tritonaudit.hardware.targets import gpu_target

        try:
            gpu_target(target)
        except ValueError as error:
            raise BudgetError(f"character {position}: {error}") from error
    if metric not in METRICS:
        raise _error(position + found.start("metric"), f"there is no metric {metric!r}", _closest(metric))
    comparison, at = found["comparison"], position + found.end("metric")
    if comparison not in _COMPARISONS:
        wrong = f"{comparison!r} is not a comparison" if comparison else f"{metric!r} is not compared with a number"
        raise _error(at, wrong, f"write one of {' '.join(_COMPARISONS)}")
    number = found["number"].strip()
    if not number.isdecimal() or _EXPONENT.fullmatch(found["unit"].strip()):
        wrong = f"{number + found['unit']!r} is not a whole number"
        raise _error(position + found.start("number"), wrong, f"write {metric}{comparison}128, for example")
    size = int(number) * _factor(metric, found["unit"].strip(), position + found.start("unit"))
    return Limit(metric, comparison, size, "".join(clause.split()), target)


def _factor(metric: str, unit: str, position: int) -> int:
    if not unit:
        return 1
    if not METRICS[metric].is_memory:
        raise _error(position, f"{metric!r} has no unit", f"leave {unit!r} out")
    if unit not in _UNITS:
        meant = next((known for known in _UNITS if known.lower() == unit.lower()), None)
        hint = f"did you mean {meant!r}? Write" if meant else "write"
        raise _error(position, f"there is no unit {unit!r}", f"{hint} one of {' '.join(_UNITS)}, or none for bytes")
    return _UNITS[unit]


def _closest(metric: str) -> str:
    close = difflib.get_close_matches(metric.lower(), METRICS, 1)
    return f"did you mean {close[0]!r}?" if close else f"choose from {', '.join(METRICS)}"


def _error(position: int, wrong: str, remedy: str) -> BudgetError:
    return BudgetError(f"character {position}: {wrong}; {remedy}")
