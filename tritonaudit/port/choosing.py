"""Which of the right variants is chosen, and why: the fastest, or without times what needs least of a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tritonaudit.port.costs import Resources, Times


@dataclass(frozen=True)
class Choice:
    """The name of what is chosen, None where nothing is, and why."""

    name: str | None
    reasons: tuple[str, ...]


NONE_RIGHT = Choice(None, ("no variant is right",))


def chosen_by_time(timed: Sequence[tuple[str, Times]]) -> Choice:
    """The fastest of these, by name and in their order, or the earliest that the fastest is not surely faster than.

    One is surely faster where the 95 % intervals of their Finals do not meet. Those that lack a size, or were timed
    at other sizes than the first of those with most, are skipped.
    """
    whole = [(name, times) for name, times in timed if times.sizes and not times.missing]
    if not whole:
        return Choice(None, ("no variant that is right could be timed at all of its sizes",))
    cases = max((times.cases for _, times in whole), key=len)
    alike = [(name, times) for name, times in whole if times.cases == cases]
    fastest, best = min(alike, key=lambda one: one[1].final)
    name, times = next(one for one in alike if one[1].low <= best.high)
    passed = [other for other, _ in timed if other not in {one for one, _ in alike}]
    reasons = [_fastest_reason(name, times, fastest, best, len(alike))]
    if passed:
        reasons.append(f"not compared, since it was not timed at the same sizes: {', '.join(passed)}")
    return Choice(name, tuple(reasons))


def chosen_by_resources(compiled: Sequence[tuple[str, Resources]], target: str) -> Choice:
    """The first of those that spill least, of these have fewest narrow accesses, of these the highest occupancy.

    A register less that lets no more warps in makes nothing faster, so registers count through occupancy alone.
    """
    if not compiled:
        return Choice(None, (f"no variant that is right is known to compile for {target}",))
    name, best = min(compiled, key=lambda one: one[1].rank)
    return Choice(
        name,
        (
            "there are no times: the choice rests only on correctness and on what the compiler makes of each kernel for"
            f" {target}, and says nothing certain about speed",
            _resources_reason(name, best, compiled),
        ),
    )


def _fastest_reason(name: str, times: Times, fastest: str, best: Times, compared: int) -> str:
    interval = f"{times.final:.4g} ms, 95 % interval {times.low:.4g} to {times.high:.4g} ms"
    if compared == 1:
        return f"it is the only one that is right and was timed: its Final is {interval}"
    if name == fastest:
        return f"its Final is the lowest: {interval}"
    return (
        f"its Final, {interval}, cannot be distinguished from the lowest, that of {fastest}: {best.final:.4g} ms,"
        f" 95 % interval {best.low:.4g} to {best.high:.4g} ms; a later variant is chosen only for a gain beyond these"
    )


def _resources_reason(name: str, best: Resources, compiled: Sequence[tuple[str, Resources]]) -> str:
    others = [resources for other, resources in compiled if other != name]
    if not others:
        return "it is the only one that is right and compiles"
    second = min(others, key=lambda one: one.rank)
    if second.rank == best.rank:
        return "none is better by these figures: of equals the earliest is chosen"
    if best.spilled != second.spilled:
        return "it spills less"
    if best.narrow != second.narrow:
        return "fewer of its accesses are narrower than they could be"
    return "more of its warps fit into a multiprocessor"
