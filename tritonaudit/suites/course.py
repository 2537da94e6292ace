"""In which order a subject is tried, and on what: what has to be tried first, then all that there is time for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from tritonaudit.execute.worker import send_note
from tritonaudit.subject.model import Case, Subject
from tritonaudit.subject.thresholds import thresholds
from tritonaudit.suites.axes import Axes, axes_of, is_huge
from tritonaudit.suites.cases import Plan, audit_cases, cases_in_order, why_not_as_given
from tritonaudit.suites.core import (
    CALL,
    CONFIG,
    CONFIGS,
    FEW_MULTIPROCESSORS,
    INTEGRITY,
    MEMORY,
    MULTIPROCESSORS,
    REPEAT,
    STABILITY,
    CoreCase,
    called_cases,
    config_trial,
    configs_trial,
    core_hardships,
    core_trials,
    expected_trials,
    few_multiprocessors_trial,
    inapplicable,
    memory_trials,
    way_trial,
    with_other_parameters,
)
from tritonaudit.suites.effort import Effort, longest_each
from tritonaudit.suites.facts import CROSS_CHECK
from tritonaudit.suites.far import far_cases
from tritonaudit.suites.given_too import unsettled
from tritonaudit.suites.hollow import FAR, LARGE, look, look_far, not_looked
from tritonaudit.suites.journal import Begun, CoreTrial, CoreTried, Ended, Expected, Opined, Planned, Stopped, Trial
from tritonaudit.suites.large import large_cases, why_none
from tritonaudit.suites.late import MOST_SECONDS, computed, elements, longest, unknown
from tritonaudit.suites.limits import LARGEST
from tritonaudit.suites.opinion import Opinion, cases_to_ask
from tritonaudit.suites.outcome import CaseOutcome
from tritonaudit.suites.sentences import counted
from tritonaudit.suites.smaller import Smaller
from tritonaudit.suites.stability import (
    endure,
    hardships_on,
    is_wrong_on_normal_numbers,
    long_case,
    seldom_cases,
    stability_cases,
)
from tritonaudit.suites.trials import CORE_SECONDS, Trials

if TYPE_CHECKING:
    from tritonaudit.suites.calling import Device
    from tritonaudit.suites.relating import RelationTrial


_BEFORE_WAYS = 0.9
"""The part of a long time after which ways of computing that only rare cases take are looked into: all must be."""
_TRIAL_ON_CPU, _TRIAL_ON_GPU = 0.05, 0.1
"""Seconds that a trial of the core usually takes, compiling included."""
_REPEATED_EVERY = 6
_QUICK = 1 << 18
"""Elements up to which a case is quick, whatever executes it."""
_CALLS_FIRST = 24
"""Cases of the plan before large tensors and configs: the rest of them follow."""
_CALLING, _ENDURING, _LOOKING, _CONFIGURING = 0.45, 0.75, 0.85, 0.95
"""Of a subject's time is spent at most when each of these ends for the first time, so that all have their turn."""
_LONG = 1.0
"""Seconds of the ordinary case, beside which dozens of others are no larger."""
_QUICK_SECONDS = 0.2
"""What a case may take whatever the others do."""
_CORE_COMPUTES = 6.0
"""Seconds that the cases of a core are to compute at most, where the subject has not more of them."""
_NO_REFERENCE = "there is no reference to compare with"
_SANITIZER_SECONDS = 20.0
"""Have to be left for it: it starts a process of its own, and the CPU engine has looked at memory already."""
_SANITIZED = 8
"""Cases that are called under the sanitizer, which slows each of them."""
_INTEGRITY_CASES = 3
"""On which more is tried than calls: the first before any other call, whose number a wrapper may count."""


class Course(Trials):
    """That of one audit of a subject."""

    def __post_init__(self) -> None:
        super().__post_init__()
        seed = self.task.known.seed
        self.seed = self.task.seed if seed is None else seed
        self.smaller: Smaller | None = None
        self.core: tuple[CoreTrial, ...] = ()
        self.labels: tuple[str, ...] = ()

    def run(self) -> None:
        """Try the core, whatever time there is, and then what else there is time for."""
        trials = expected_trials(self.subject)
        seconds = trials * (_TRIAL_ON_CPU if self.device.is_engine else _TRIAL_ON_GPU)
        self._send(Expected(trials, seconds, self.seed))
        plan = self._core()
        if self.subject.reference is None:
            said = [one for one in self._relate() if one.trial in self.known and not self.known[one.trial].is_refused]
            self._plan([*self.core, *(one.core for one in said)])
        self.is_in_core = False
        self._send(CoreTried(self.spent))
        self._look_far()
        most = self.task.most_cases
        self._calls(plan, _CALLS_FIRST if most is None else min(_CALLS_FIRST, most), _CALLING)
        self._endure(_ENDURING)
        self._integrity_of_each_way()
        self._look(_LOOKING)
        if most is None or most > _INTEGRITY_CASES:
            self._more_integrity(plan)
        self._configs(plan.cases[:1], _CONFIGURING)
        almost_all = _BEFORE_WAYS if self.task.seconds > CORE_SECONDS else 1.0
        self._calls(plan, most, almost_all)
        self._endure(almost_all)
        self._integrity_of_each_way()
        self._look()
        self._configs((*plan.cases[:1], *plan.cases[len(self.subject.dtypes) :][:2]))
        self._sanitize(plan)
        reason = "the time was spent" if self.left <= 0 else "no more were asked for"
        self._send(Stopped(tuple(self._left_out(plan, reason)), self.spent, reason))
        self._cross_check(plan)

    def relate_alone(self) -> None:
        """Try nothing but relations, of a subject whose inputs are guessed, in the subject's own time."""
        from tritonaudit.suites.relating import NEVER_TRIED

        self._send(Expected(1, _TRIAL_ON_CPU, self.seed))
        trials = self._relate()
        why = "it was not called" if not trials else "the time was spent" if self.left <= 0 else _NO_REFERENCE
        untried = [one for one in trials if one.trial not in self.known]
        saying = [one for one in trials if one in untried or not self.known[one.trial].is_refused]
        self._send(Planned((*(one.core for one in saying), NEVER_TRIED), (), self.spent))
        self._send(Stopped(tuple((one.what, why) for one in untried), self.spent, why))

    def _relate(self) -> Sequence[RelationTrial]:
        """Hold calls against each other as far as there is time; all relations that there are to try."""
        from tritonaudit.suites.relating import AGAIN, odd_trial, ordinary_case, relation_trials, taken, ways
        from tritonaudit.suites.relation_names import check_of_call
        from tritonaudit.suites.relations import Relations, tried

        for number, subject in enumerate(ways(self.subject)):
            relations, case = Relations(self.device, subject), ordinary_case(subject)
            called = self._try(check_of_call(number), case, tried(relations.ordinary), is_minimised=False)
            if called.checked or self.left <= 0:
                break
        if not called.checked:
            return ()
        odd = odd_trial(relations, called)
        outcome = None if odd is None else self._try(odd.trial.check, odd.case, odd.work, is_minimised=False)
        trials = (*([] if odd is None else [odd]), *relation_trials(relations, called, taken(outcome)))
        for one in trials:
            if self.left > 0:
                found = self._try(one.trial.check, one.case, one.work, is_minimised=False)
                if one.what == AGAIN and found.sightings:
                    return [each for each in trials if each.trial in self.known]
        return trials

    def _core(self) -> Plan:
        """Try what has to be tried, the most decisive first; the plan for all that comes after it."""
        ordinary = next(cases_in_order(self.subject, on_engine=self.device.is_engine))
        planned = cases_in_order(self.subject, on_engine=self.device.is_engine)
        first = next(filter(_has_distinct_elements, planned), ordinary)
        self._try(INTEGRITY, first, self._integrity, is_minimised=False)
        is_refused = self._call(first).is_refused
        blocks = self.blocks
        long = long_case(self.subject, blocks)
        if long is not None and self._effort({}).expected(long.sizes) < _CORE_COMPUTES / 2:
            self._call(long)
        blocks = self.blocks if is_refused else blocks
        later = self.blocks[-1:] if self.blocks[-1:] != blocks[-1:] else ()
        turns = thresholds([self.task.path, *(kernel.path for one in self.outcomes for kernel in one.kernels)], LARGEST)
        launches, on_engine = self.launches, self.device.is_engine
        plan = audit_cases(self.subject, blocks, later, turns, launches=launches, on_engine=on_engine, seed=self.seed)
        axes = axes_of(self.subject, blocks, later, turns, launches)
        taken = self._instead(plan, axes, self._call)
        cases = (
            *called_cases(self.subject, axes, plan, taken, self.seed),
            *with_other_parameters(self.subject, taken or plan.cases[0], self.seed),
        )
        self.labels = tuple(case.label for case in plan.cases)
        core = core_trials(self.subject, first, cases, blocks, is_watched=self.device.is_engine)
        self._plan([*core, *map(configs_trial, self._tuned()[:1])])
        self.smaller = Smaller(self.subject, axes, self.blocks)
        for number, one in enumerate(cases):
            if self._may_try_core():
                tried = self._try_or_smaller(one, CALL, self._call, cases[number:])
                if number == 1 or len(cases) == 1:
                    self._try_elsewhere(REPEAT, tried, self._repeat, self._taken())
        self._try_elsewhere(INTEGRITY, first, self._integrity, self._taken())
        self._few_multiprocessors()
        self._settle()
        for name, case in core_hardships(self.subject, blocks):
            if self._may_try_core() and not self._is_wrong_ordinarily():
                self._try_elsewhere(f"{STABILITY}: {name}", case, self._endured, hardships_on(name, self._taken()))
        self._settle()
        self._integrity_of_each_way()
        self._core_configs([one.case for one in (*cases[1:2], *cases)])
        return plan

    def _plan(self, core: Iterable[CoreTrial]) -> None:
        """Tell what has to be tried, as it is known by now."""
        self.core = tuple(core)
        self._send(Planned(self.core, self.labels, self.spent, inapplicable(self.subject)))

    def _taken(self) -> Iterator[Case]:
        """Cases of ordinary numbers that the wrapper has taken: of those that are quick the largest first."""
        cases = [outcome.case for outcome in self.outcomes if outcome.checked and not outcome.is_refused]
        yield from sorted(filter(_is_plain, cases), key=lambda case: (_cost(case), -elements(case)))

    def _instead(self, plan: Plan, axes: Axes, call: Callable[[Case], CaseOutcome]) -> Case | None:
        """Where the wrapper refuses the ordinary case, one that it takes, as far as the core has any.

        And on the CPU engine a smaller one where that takes long, beside which all others of the core would.
        """
        ordinary = call(plan.cases[0])
        if not ordinary.is_refused:
            is_long = self.device.is_engine and self.subject.given is None and ordinary.seconds >= _LONG
            return self._smaller_throughout(ordinary.case, axes, call) if is_long else None
        cases = [*self._taken(), *self._as_given_plainly()]
        cases += [one.case for one in called_cases(self.subject, axes, plan) if _is_plain(one.case)]
        return next((case for case in cases if self._may_try_core() and not call(case).is_refused), None)

    def _smaller_throughout(self, ordinary: Case, axes: Axes, call: Callable[[Case], CaseOutcome]) -> Case | None:
        smaller = Smaller(self.subject, axes, self.blocks).throughout(ordinary)
        return smaller if smaller is not None and self._may_try_core() and call(smaller).checked else None

    def _as_given_plainly(self) -> Iterator[Case]:
        """The case of the inputs as given, where there is one."""
        has_own = self.subject.given is not None and bool(self.subject.given.sizes)
        if has_own and not why_not_as_given(self.subject, on_engine=self.device.is_engine):
            yield Case({}, self.subject.dtypes[0])

    def _try_elsewhere(
        self, check: str, case: Case, work: Callable[[Case], CaseOutcome], others: Iterable[Case]
    ) -> None:
        """Try it on a case, and on the first of the others in its place where the wrapper refuses that."""
        outcome = self._try(check, case, work, is_minimised=check != INTEGRITY)
        if outcome.is_refused and (other := next(iter(others), None)) is not None:
            there = {Trial(check, case.label): Trial(check, other.label)}
            self._plan([replace(one, trial=there.get(one.trial, one.trial)) for one in self.core])
            self._try(check, other, work, is_minimised=check != INTEGRITY)

    def _try_or_smaller(
        self, one: CoreCase, check: str, call: Callable[[Case], CaseOutcome], rest: Sequence[CoreCase]
    ) -> Case:
        """Call a case of the core, of which there is the rest as well; the one that was called.

        Where it does not end, or takes too long, a smaller one stands for it, and it does not count as late.
        """
        assert self.smaller is not None
        lates = self.lates
        effort = self._effort(self.smaller.axes.given)
        is_known = Trial(check, one.case.label) in self.known
        most = math.inf if is_known else self._longest(effort, check, rest, self.smaller.axes.given)
        tried = self.smaller.tried(one, call, effort, most)
        if tried is not one:
            label, here = one.case.label, tried.case.label
            self._plan(
                replace(
                    kept,
                    what=tried.what if kept.trial.check == check else kept.what,
                    trial=Trial(kept.trial.check, here),
                )
                if kept.trial in (Trial(check, label), Trial(REPEAT, label))
                else kept
                for kept in self.core
            )
            self.lates = min(self.lates, lates + self.known[Trial(check, here)].is_late)
        return tried.case

    def _effort(self, given: Mapping[str, int]) -> Effort:
        return Effort([({**given, **case.sizes}, seconds) for case, seconds in self.taken])

    def _longest(self, effort: Effort, check: str, rest: Sequence[CoreCase], given: Mapping[str, int]) -> float:
        """Seconds that the first of these cases may take, which are the rest of the core, some of them known."""
        ends = self._patience()[0]
        if effort.expected({**given, **rest[0].case.sizes}) < _QUICK_SECONDS:
            return ends
        untried = [one.case for one in rest if Trial(check, one.case.label) not in self.known]
        expected = [effort.expected({**given, **case.sizes}) for case in untried]
        left = max(_CORE_COMPUTES, self.task.seconds) - (computed() - self.computed_before)
        return min(ends, max(longest_each(expected, left), _QUICK_SECONDS))

    def watch(self) -> None:
        """Try the core of memory, and tensors beyond what an int32 counts."""
        first = next(cases_in_order(self.subject, on_engine=self.device.is_engine))
        self._watch(first)
        blocks = self.blocks
        launches, on_engine = self.launches, self.device.is_engine
        plan = audit_cases(self.subject, blocks, launches=launches, on_engine=on_engine, seed=self.seed)
        axes = axes_of(self.subject, blocks, launches=launches)
        cases = called_cases(self.subject, axes, plan, self._instead(plan, axes, self._watch), self.seed)
        self._plan(tuple(memory_trials(cases, MEMORY)))
        wanted = {one.trial.case for one in self.core}
        self.smaller = Smaller(self.subject, axes, self.blocks)
        watched = [one for one in cases if one.case.label in wanted]
        for number, one in enumerate(watched):
            if self._may_try_core():
                self._try_or_smaller(one, MEMORY, self._watch, watched[number:])
        self._settle()
        self._look_far()
        self._look()
        self._send(
            Stopped(
                tuple(self.smaller.replaced),
                self.spent,
                "no more were asked for" if self._may_try_core() else "the time was spent",
            )
        )

    def _watch(self, case: Case) -> CaseOutcome:
        return self._try(MEMORY, case, self._watched)

    def _watched(self, case: Case) -> CaseOutcome:
        """What a call shows of memory: how it computes is the GPU's to show."""
        from tritonaudit.suites import memory

        outcome = self._examine(case, judges=False)
        seen = tuple(one for one in outcome.sightings if one.symptom in memory.SYMPTOMS)
        unchecked = tuple(one for one in outcome.unchecked if one[0] in memory.SYMPTOMS)
        checked = outcome.checked & memory.SYMPTOMS
        return replace(outcome, checked=checked, sightings=seen, unchecked=unchecked, closeness=None, errors=())

    def _integrity_of_each_way(self) -> None:
        """Whoever leaves the work to others for some dtypes, sizes or values calls other kernels or operators there.

        Each such way has to be looked into once, in the case of it that is the least work.
        """
        asked = {one.trial.case for one in self.core if one.trial.check == INTEGRITY}
        seen = (*self.outcomes, *self.endured)
        ways = {outcome.way for outcome in seen if outcome.case.label in asked}
        found: dict[object, Case] = {}
        for outcome in sorted(filter(_is_judged, seen), key=lambda one: (_cost(one.case), elements(one.case))):
            if outcome.way not in ways:
                found.setdefault(outcome.way, outcome.case)
        self._plan([*self.core, *map(way_trial, found.values())])
        with self._patience_of_the_core():
            for case in found.values():
                if self._may_try_core():
                    self._try(INTEGRITY, case, self._certain_integrity, is_minimised=False)

    def _certain_integrity(self, case: Case) -> CaseOutcome:
        """What is certain of it: where a way is seldom taken, a little of torch beside it is worth no warning."""
        outcome = self._integrity(case)
        return replace(outcome, sightings=tuple(one for one in outcome.sightings if one.is_certain))

    def _few_multiprocessors(self) -> None:
        """A case on a GPU with few of them, where the wrapper asks how many there are."""
        asking = {outcome.case.label for outcome in self.outcomes if outcome.asks_multiprocessors}
        for case in [case for case in self._taken() if case.label in asking][:1]:
            trial = few_multiprocessors_trial(case)
            self._plan([*self.core, trial])
            if not self._may_try_core():
                return
            self._try(trial.trial.check, case, self._with_few, is_minimised=False)

    def _core_configs(self, cases: Sequence[Case]) -> None:
        """Each further config of an autotuner, on the first case that came to a launch of one.

        How many there are is known once they have come round; until then what stands for them is missing.
        """
        tuned = self._tuned()
        for case in [case for case in (*cases, *tuned) if case in tuned][:1]:
            others = [one for one in self.core if one.trial.check != CONFIGS]
            self._plan([*others, configs_trial(case)])
            tried, came_round = self._each_config(case, share=None)
            configs = [config_trial(number, case) for number in range(1, tried + 1)]
            self._plan([*others, *configs] if came_round else [*others, *configs, configs_trial(case)])

    def _tuned(self) -> list[Case]:
        """The cases in which an autotuner was seen."""
        return [outcome.case for outcome in self.outcomes if outcome.configs]

    def _settle(self) -> None:
        """Try as given what was seen at other sizes alone, with the patience of the core that it is part of.

        Where one of them takes too long the others are left for later, when all that is quick was tried.
        """
        lates = self.lates
        with self._patience_of_the_core():
            for one in unsettled(self.known):
                is_moot = one.trial.check.startswith(STABILITY) and self._is_wrong_ordinarily()
                if one.trial not in self.known and not is_moot and self.lates == lates and self._may_try_core():
                    self._try(one.trial.check, one.case, self._as_given(one.trial.check), is_minimised=False)

    def _as_given(self, check: str) -> Callable[[Case], CaseOutcome]:
        """What does a trial of this check, where that can be done with the inputs as given."""
        if why := why_not_as_given(self.subject, on_engine=self.device.is_engine):
            return partial(unknown, reason=why)
        name, _, number = check.partition(" ")
        if name == CONFIG:
            return partial(self._examine, config=int(number))
        works = {
            INTEGRITY: self._integrity,
            REPEAT: self._repeat,
            MEMORY: self._watched,
            MULTIPROCESSORS: self._with_few,
        }
        return self._endured if check.startswith(STABILITY) else works.get(name, self._examine)

    def _calls(self, plan: Plan, most: int | None, share: float = 1.0) -> None:
        """So many cases of the plan, some of them again in other orders; those that take long come last."""
        for number, case in enumerate(sorted(plan.cases[:most], key=_cost)):
            if not self._has_time(share) or self._expected_seconds(case) > self.left:
                break
            self._call(case)
            if number % _REPEATED_EVERY == 0 and not any(map(is_huge, case.sizes.values())):
                self._try(REPEAT, case, self._repeat)

    def _expected_seconds(self, case: Case) -> float:
        """What a case is likely to take at least, by the others; nothing for one that is quick or known."""
        if not _cost(case) or Trial(CALL, case.label) in self.known:
            return 0.0
        return elements(case) / max((elements(one.case) / max(one.seconds, 1e-3) for one in self.outcomes), default=1.0)

    def _left_out(self, plan: Plan, reason: str) -> Iterator[tuple[str, str]]:
        """What no case of the plan had, and how many of its cases were not tried."""
        yield from ((str(left.value), left.reason) for left in plan.left_out)
        yield from self.smaller.replaced if self.smaller else ()
        had = {trial.case for trial in self.known if trial.check == CALL}
        missed = [case for case in plan.cases if case.label not in had]
        if missed:
            values = ", ".join(map(str, plan.uncovered(outcome.case for outcome in self.outcomes)))
            with_it = f", {values} in none before" if values else ""
            yield f"{counted(len(missed), 'case')}{with_it}", reason

    def _more_integrity(self, plan: Plan) -> None:
        for case in [one for one in plan.cases if _has_distinct_elements(one)][:_INTEGRITY_CASES]:
            if self.left > 0:
                self._try(INTEGRITY, case, self._integrity, is_minimised=False)

    def _configs(self, cases: Sequence[Case], share: float = 1.0) -> None:
        """Each further config of an autotuner on these cases, as other calls take the first."""
        for case in cases:
            self._each_config(case, share)

    def _each_config(self, case: Case, share: float | None) -> tuple[int, bool]:
        """How many further configs of an autotuner there are, and whether they have all come round."""
        labels = {config for outcome in self.outcomes if outcome.case == case for config in outcome.configs}
        number = 0
        while labels and self._has_time(share):
            number += 1
            outcome = self._try(f"{CONFIG} {number}", case, partial(self._examine, config=number))
            if outcome.configs and labels.issuperset(outcome.configs):
                return number, True
            labels |= set(outcome.configs)
        return number, False

    def _endure(self, share: float = 1.0) -> None:
        """The hardships that were not tried before; they say nothing of what is wrong on ordinary inputs, too."""
        if self._is_wrong_ordinarily():
            return
        for name, case in (*seldom_cases(self.subject, self.blocks), *stability_cases(self.subject, self.blocks)):
            if self._has_time(share):
                self._try(f"{STABILITY}: {name}", case, self._endured)

    def _is_wrong_ordinarily(self) -> bool:
        return any(map(is_wrong_on_normal_numbers, self.outcomes))

    def _try(
        self, check: str, case: Case, work: Callable[[Case], CaseOutcome], *, is_minimised: bool = True
    ) -> CaseOutcome:
        outcome = super()._try(check, case, work, is_minimised=is_minimised)
        if not self.is_in_core:
            self._settle()
        return outcome

    def _call(self, case: Case) -> CaseOutcome:
        return self._try(CALL, case, self._examine)

    def _examine(self, case: Case, config: int = 0, *, judges: bool = True) -> CaseOutcome:
        from tritonaudit.suites.correctness import examine

        return examine(self.device, self.subject, case, config, judges=judges)

    def _with_few(self, case: Case) -> CaseOutcome:
        return examine_with_few(self.device, self.subject, case)

    def _look(self, share: float = 1.0) -> None:
        """Tensors that do not fit into memory, which only the CPU engine can do without."""
        if not self.device.is_engine:
            return
        given = tuple(large_cases(self.subject))
        cases = given if given and not self._has_time(share) else self._large
        for case in cases:
            if self._has_time(share):
                self._try(LARGE, case, partial(look, self.device, self.subject))
        if not cases:
            self._try(LARGE, Case({}, self.subject.dtypes[0]), self._none_large)

    def _none_large(self, case: Case) -> CaseOutcome:
        return not_looked(case, why_none(self.subject))

    def _look_far(self) -> None:
        """Views of tensors so large, which are as quick as ordinary cases: whatever time there is."""
        for case in far_cases(self.subject) if self.device.is_engine else ():
            if self._may_try_core():
                self._try(FAR, case, partial(look_far, self.device, self.subject))

    @cached_property
    def _large(self) -> tuple[Case, ...]:
        from tritonaudit.suites.large_results import with_large_results

        cases = tuple(large_cases(self.subject))
        return (*cases, *with_large_results(self.subject, cases))

    def _sanitize(self, plan: Plan) -> None:
        """A few cases under compute-sanitizer, on a GPU, where it is installed."""
        from tritonaudit.suites import sanitizer

        if self.device.is_engine or self.left < _SANITIZER_SECONDS or not sanitizer.is_there():
            return
        cases = (*plan.cases[:1], *plan.cases[len(self.subject.dtypes) :][: _SANITIZED - 1])
        trials = [Trial(f"sanitizer: {sanitizer.NAME}", case.label) for case in cases]
        if self.known.keys() & set(trials):
            return
        kernels = tuple({kernel for outcome in self.outcomes for kernel in outcome.kernels})
        calls = sanitizer.Calls(self.task.path, self.subject.name, cases)
        seconds = 2 * MOST_SECONDS
        with self._turn():
            send_note(Begun(trials[0], cases[0], self.spent), longest(seconds))
            for trial, outcome in zip(trials, sanitizer.sanitized(calls, kernels, seconds), strict=True):
                self._send(Ended(trial, outcome, self.spent))

    def _cross_check(self, plan: Plan) -> None:
        """A few cases in Triton's interpreter, too: beside the subject's time, and behind all that it is judged by."""
        if not self.task.cross_checks or not self.device.is_engine:
            return
        from tritonaudit.suites.second_opinion import second_opinions

        cases = cases_to_ask(plan.cases, self.outcomes)
        opinions = second_opinions(self.device, self.subject, self.task.path, cases)
        for case in cases:
            self._send(Begun(Trial(CROSS_CHECK, case.label), case, self.spent))
            self._send(Opined(next(opinions), self.spent))
        if not cases:
            reason = "no ordinary case finished soon enough for the interpreter to run it"
            self._send(Opined(Opinion("", reason=reason), self.spent))

    def _endured(self, case: Case) -> CaseOutcome:
        return endure(self.device, self.subject, case)

    def _integrity(self, case: Case) -> CaseOutcome:
        from tritonaudit.suites.integrity import integrity

        return integrity(self.device, self.subject, case, self.seed)

    def _repeat(self, case: Case) -> CaseOutcome:
        from tritonaudit.suites.correctness import repeat

        return repeat(self.device, self.subject, case)


def _cost(case: Case) -> int:
    """By how much a case takes longer than those that are quick, in powers of 2."""
    return max(0, elements(case).bit_length() - _QUICK.bit_length())


def _is_plain(case: Case) -> bool:
    return case.is_plain


def _has_distinct_elements(case: Case) -> bool:
    """Whether the elements of its tensors differ from one another, and there are several of them."""
    return _is_plain(case) and min(case.sizes.values(), default=2) > 1


def _is_judged(outcome: CaseOutcome) -> bool:
    """Whether the wrapper has taken a case in which there is something to compute along each dimension."""
    has_work = min(outcome.case.sizes.values(), default=2) > 1
    return bool(outcome.checked) and not outcome.is_refused and has_work


def examine_with_few(device: Device, subject: Subject, case: Case) -> CaseOutcome:
    """What a call comes to on a GPU with few multiprocessors."""
    from tritonaudit.suites.apart.process import with_multiprocessors
    from tritonaudit.suites.correctness import examine

    with with_multiprocessors(subject, FEW_MULTIPROCESSORS) as again:
        return examine(device, again, case)
