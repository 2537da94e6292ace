"""The core of an audit: what of a subject has to be tried before a suite may pass, whatever time there is.

A fault that kernels commonly have shows in one of these trials; what comes after them looks for rarer ones. Imports
neither torch nor triton.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice, product

from tritonaudit.subject.given import ANY_INTEGERS, REACHING, RUNS, SCALED, special_of
from tritonaudit.subject.model import OF_GRADIENTS, Case, Subject
from tritonaudit.subject.size_kind import SizeKind, size_kind
from tritonaudit.suites.axes import HALF_WAY, Axes, Axis, AxisValue, Value, axes_of, is_huge
from tritonaudit.suites.cases import Plan, case_with, cases_in_order
from tritonaudit.suites.facts import WATCHED, Symptom
from tritonaudit.suites.fresh import fresh_cases, fresh_in_core, fresh_seeds
from tritonaudit.suites.given_too import unsettled
from tritonaudit.suites.journal import CoreTrial, Trial
from tritonaudit.suites.outcome import CaseOutcome
from tritonaudit.suites.stability import stability_cases, why_none
from tritonaudit.suites.suite import Suite

CALL, REPEAT, INTEGRITY, STABILITY, MEMORY = "call", "repeat", "integrity", "stability", "memory"
CONFIG, CONFIGS, MULTIPROCESSORS = "config", "configs", "multiprocessors"
"""What the checks of trials are called; that of a hardship has its name after a colon, that of a config its number."""
FEW_MULTIPROCESSORS = 2
"""So few that programs which share the work among as many of them have several parts of it each."""

_USUAL_BLOCK = 1024
_MOST_NAMED = 6
"""Of the sizes that a subject names for a dimension."""
_MOST_TURNS, _LARGEST_TURN = 6, 1 << 13
"""Of the sizes of a dimension at which the code does something else: so many, and what is quick."""
_MOST_SMALLER = 2
"""Dimensions that make room for the largest sizes of the others."""
_COARSE = ("bfloat16", "float16")
"""In which long sums lose most, the coarsest first."""
_NAN = "nan"
"""At the least size of a dimension what a lane beyond it adds shows: elsewhere NaN hides it."""
_DECISIVE_FILLS = ("nan", "inf", "zeros", HALF_WAY, ANY_INTEGERS, REACHING, RUNS)
"""What random numbers never come to."""
_NEEDED = {
    CALL: frozenset((Symptom.WRONG_RESULT,)),
    REPEAT: frozenset((Symptom.NONDETERMINISTIC,)),
    MEMORY: frozenset((Symptom.OUT_OF_BOUNDS,)),
    STABILITY: frozenset((Symptom.UNSTABLE,)),
    INTEGRITY: frozenset(
        (
            Symptom.NO_KERNEL,
            Symptom.TORCH_WORK,
            Symptom.STALE,
            Symptom.ALIASED,
            Symptom.NO_TENSOR,
            Symptom.THREAD,
            Symptom.PATCHED,
        )
    ),
}


@dataclass(frozen=True)
class CoreCase:
    """A case of the core, with what it is there for, in a report's words."""

    what: str
    case: Case


def called_cases(
    subject: Subject, axes: Axes, plan: Plan, taken: Case | None = None, seed: int = 0
) -> tuple[CoreCase, ...]:
    """The cases that have to be called, the most decisive first.

    After one ordinary case come sizes that no block divides and those around the largest block, special values, NaN at
    the least size of each dimension, the other dtypes, one size of each dimension that counts heads and the like, the
    other layouts, and those of what a backward pass begins with: each beside ordinary values of all else, so that a
    refusal of one hides no other; and the largest sizes that the subject names, together, once more in the coarsest
    dtype, in which long sums lose most. The last have numbers, and sizes, that the `seed` draws. Where the wrapper
    refuses the ordinary case, and has `taken` another, they are beside the values of that.
    """
    found: dict[str, CoreCase] = {}
    for what, case in _called(subject, axes, plan, taken):
        found.setdefault(case.label, CoreCase(what, case))
    for case in islice(fresh_cases(subject, axes, taken or plan.cases[0], seed), fresh_in_core(axes)):
        found.setdefault(case.label, CoreCase("drawn afresh", case))
    return tuple(found.values())


def with_other_parameters(subject: Subject, beside: Case, seed: int) -> Iterator[CoreCase]:
    """Ordinary cases of models that are not new, where new ones have parameters that can be taken for granted."""
    from tritonaudit.subject.kernelbench import parameters_of

    for parameters, fresh in zip(parameters_of(subject), fresh_seeds(beside, seed), strict=False):
        yield CoreCase("parameters that a new model does not have", replace(fresh, parameters=parameters))


def _called(subject: Subject, axes: Axes, plan: Plan, taken: Case | None) -> Iterator[tuple[str, Case]]:
    yield from (("an ordinary case", case) for case in plan.cases[:1])
    yield from (("a case that it takes", case) for case in (taken,) if case is not None)
    yield from _with(subject, axes, "odd sizes", {axis: axis.odd for axis in axes.sizes if axis.odd is not None})
    beside = {} if taken is None else _values(axes, taken)
    for axis in axes.sizes:
        for size in _sizes(subject, axis):
            yield from _with(subject, axes, str(AxisValue(axis.name, size)), {**beside, axis: size})
    largest = {**beside, **_largest(subject, axes, beside)}
    yield from _with(subject, axes, "the largest sizes", largest)
    dtypes = [beside.get(axes.dtype, axes.dtype.ordinary), *axes.dtype.values]
    for fill in filter(_is_decisive, map(str, axes.fill.values)):
        holder = next((dtype for dtype in dtypes if axes.holds(dtype, fill)), axes.dtype.ordinary)
        among = largest if fill == RUNS else beside  # in short rows there are no long runs
        yield from _with(subject, axes, str(AxisValue("fill", fill)), {**among, axes.fill: fill, axes.dtype: holder})
    for dtype in [dtype for dtype in dtypes if _NAN in axes.fill.values and axes.holds(dtype, _NAN)][:1]:
        for axis in axes.sizes:
            for least in sorted(size for size in _sizes(subject, axis) if size < int(axis.ordinary))[:1]:
                what = f"fill {_NAN} with {AxisValue(axis.name, least)}"
                yield from _with(subject, axes, what, {**beside, axis: least, axes.fill: _NAN, axes.dtype: dtype})
    for axis in (axes.dtype, axes.layout):
        for value in axis.values[1:]:
            yield from _with(subject, axes, str(AxisValue(axis.name, value)), {**beside, axis: value})
    for coarsest in [dtype for dtype in _COARSE if dtype in axes.dtype.values][:1]:
        yield from _with(subject, axes, f"the largest sizes in {coarsest}", {**largest, axes.dtype: coarsest})
    if subject.gradients:
        usual = plan.cases[0] if taken is None else taken
        yield from ((f"{layout.value} gradients", replace(usual, gradient=layout)) for layout in OF_GRADIENTS)


def _values(axes: Axes, case: Case) -> dict[Axis, Value]:
    """The sizes and the dtype of a case, by their axes."""
    sizes = {**axes.given, **case.sizes}
    return {**{axis: sizes[axis.name] for axis in axes.sizes}, axes.dtype: case.dtype}


def _is_decisive(fill: str) -> bool:
    """Whether it is special, puts NaN or zeros among others, or goes as far as what is given may."""
    special = special_of(fill)
    return fill in _DECISIVE_FILLS or fill.startswith(SCALED) or (special is not None and not math.isinf(special[0]))


def _with(subject: Subject, axes: Axes, what: str, chosen: dict[Axis, Value]) -> Iterator[tuple[str, Case]]:
    case = case_with(subject, axes, chosen) if chosen else None
    if case is not None:
        yield what, case


def _sizes(subject: Subject, axis: Axis) -> Sequence[int]:
    """Of a dimension the sizes that are most likely to go wrong."""
    others = [int(size) for size in axis.values[1:] if size]
    if axis.name in subject.sizes:
        edges = [size for size in (min(others, default=0), max(others, default=0)) if size]
        return tuple(dict.fromkeys((*edges, *others)))[:_MOST_NAMED]
    if size_kind(subject, axis.name) is not SizeKind.LARGE:
        return others[:1]
    turns = [size for size in axis.turns if size <= _LARGEST_TURN]
    return tuple(dict.fromkeys((*others[:4], *(size for size in others if size == 1), *turns[:_MOST_TURNS])))


def _largest(subject: Subject, axes: Axes, beside: Mapping[Axis, Value]) -> dict[Axis, Value]:
    """The largest of the sizes that the subject names together: there may be several parts of work for each program.

    Where that is too much as few of them as possible are smaller, up to two; nothing where that is too much, too.
    """
    named = [axis for axis in axes.sizes if axis.name in subject.sizes]
    sizes = {axis: int(beside.get(axis, axis.ordinary)) for axis in axes.sizes}
    sizes |= {axis: max(int(size) for size in axis.values if not is_huge(size)) for axis in named}
    for count in range(min(_MOST_SMALLER, len(named)) + 1):
        tried = (
            {**sizes, **dict(zip(chosen, less, strict=True))}
            for chosen in combinations(named, count)
            for less in product(*(_below(axis, sizes[axis]) for axis in chosen))
        )
        fitting = [one for one in tried if axes.limits.allow({axis.name: size for axis, size in one.items()})]
        if fitting:
            largest = max(fitting, key=lambda one: math.prod(one.values()))
            return dict(largest)
    return {}


def _below(axis: Axis, size: int) -> Sequence[int]:
    return [int(less) for less in axis.values if 0 < int(less) < size]


def core_trials(
    subject: Subject, first: Case, cases: Sequence[CoreCase], blocks: Sequence[int], *, is_watched: bool
) -> tuple[CoreTrial, ...]:
    """The core: integrity, cases that are called, one of them in other orders, hardships, and memory if it is watched.

    Integrity is that of the `first` case of all. `blocks` are the sizes of the blocks that launches used.
    """
    repeated = [one.case for one in cases[:2]][-1:] or [first]
    return (
        _trial(Suite.INTEGRITY, INTEGRITY, first.label, first),
        *(_trial(Suite.CORRECTNESS, CALL, one.what, one.case) for one in cases),
        _trial(Suite.CORRECTNESS, REPEAT, "other orders of programs", repeated[0]),
        *hardship_trials(subject, blocks),
        *(memory_trials(cases, CALL) if is_watched else ()),
    )


def expected_trials(subject: Subject) -> int:
    """About how many trials the core is, before launches have shown the blocks that they use."""
    blocks = (_USUAL_BLOCK,)
    first = next(cases_in_order(subject, blocks))
    cases = called_cases(subject, axes_of(subject, blocks), Plan((first,), (), ()))
    return len({one.trial for one in core_trials(subject, first, cases, blocks, is_watched=False)})


def memory_trials(cases: Sequence[CoreCase], check: str) -> Iterator[CoreTrial]:
    """What has to be tried of memory: that of ordinary numbers, since where accesses go hardly hangs on these."""
    for one in cases:
        if one.case.fill == Case().fill:
            yield CoreTrial(Suite.MEMORY.value, one.what, Trial(check, one.case.label), _NEEDED[MEMORY])


def hardship_trials(subject: Subject, blocks: Sequence[int]) -> Iterator[CoreTrial]:
    """Each hardship once."""
    for name, case in core_hardships(subject, blocks):
        yield CoreTrial(Suite.STABILITY.value, name, Trial(f"{STABILITY}: {name}", case.label), _NEEDED[STABILITY])


def inapplicable(subject: Subject) -> tuple[tuple[str, str], ...]:
    """The suites that do not apply to a subject, each with the reason."""
    why = why_none(subject)
    return ((Suite.STABILITY.value, why),) if why else ()


def core_hardships(subject: Subject, blocks: Sequence[int]) -> Iterator[tuple[str, Case]]:
    """The first case of each hardship."""
    had: set[str] = set()
    for name, case in stability_cases(subject, blocks):
        if name not in had:
            had.add(name)
            yield name, case


def configs_trial(case: Case) -> CoreTrial:
    """Stands for the configs of an autotuner until all of them have come round: nothing does it."""
    return _trial(Suite.CORRECTNESS, CALL, "every config of the autotuner", case, CONFIGS)


def config_trial(number: int, case: Case) -> CoreTrial:
    """A further config of an autotuner, which may choose any of them."""
    return _trial(Suite.CORRECTNESS, CALL, f"config {number} of the autotuner", case, f"{CONFIG} {number}")


def way_trial(case: Case) -> CoreTrial:
    """Integrity where other kernels, or operators, are called than in the case that it was asked of first."""
    what, needed = f"what {case.label} is computed by", frozenset((Symptom.NO_KERNEL, Symptom.TORCH_WORK))
    return CoreTrial(Suite.INTEGRITY.value, what, Trial(INTEGRITY, case.label), needed)


def few_multiprocessors_trial(case: Case) -> CoreTrial:
    """A case on a GPU of few multiprocessors, whose number a wrapper asks for."""
    check = f"{MULTIPROCESSORS} {FEW_MULTIPROCESSORS}"
    return _trial(Suite.CORRECTNESS, CALL, f"{FEW_MULTIPROCESSORS} multiprocessors", case, check)


def as_given_trials(outcomes: Mapping[Trial, CaseOutcome]) -> Iterator[CoreTrial]:
    """What was seen at other sizes than given alone is looked for as given before it is taken for harmless."""
    for one in unsettled(outcomes):
        check, label = one.trial.check, one.trial.case
        what = f"{label if check in (CALL, MEMORY) else f'{check} of {label}'} at the sizes given"
        in_memory = one.symptoms & WATCHED - {Symptom.HANG}
        for suite, symptoms in ((Suite.MEMORY, in_memory), (_suite_of(check), one.symptoms - in_memory)):
            if symptoms:
                yield CoreTrial(suite.value, what, one.trial, symptoms, decides=True)


def _suite_of(check: str) -> Suite:
    name = check.partition(":")[0]
    return {INTEGRITY: Suite.INTEGRITY, STABILITY: Suite.STABILITY, MEMORY: Suite.MEMORY}.get(name, Suite.CORRECTNESS)


def _trial(suite: Suite, check: str, what: str, case: Case, name: str = "") -> CoreTrial:
    return CoreTrial(suite.value, what, Trial(name or check, case.label), _NEEDED[check])
