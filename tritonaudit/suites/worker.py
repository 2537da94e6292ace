"""What a worker does: it tries a subject on case after case until its time is spent, and journals what they come to."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tritonaudit.capture.launch import KernelRef
from tritonaudit.capture.time_limit import OutOfTime, time_limit
from tritonaudit.execute.blame import described
from tritonaudit.subject.model import Case, Subject
from tritonaudit.suites.cases import Plan, audit_cases, simpler
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.journal import Begun, Ended, Journal, Stopped, Trial
from tritonaudit.suites.large import large_cases, look
from tritonaudit.suites.outcome import CaseOutcome, Sighting
from tritonaudit.suites.stability import endure, stability_cases

if TYPE_CHECKING:
    from tritonaudit.suites.calling import Device

CASE_SECONDS = 20.0
"""Of one case at most: what takes longer is most likely to hang."""
_SLOWER = 50
"""So many times longer than any case before it: then it hangs."""
_REPEATED_EVERY = 6
_CALLS_FIRST = 24
"""Ordinary cases before the hardships: the rest of them follow."""
STABILITY, LARGE = "stability", "large tensors"
_MINIMISED_SHARE = 0.2
"""Of a subject's time goes at most into making the cases of its failures simpler."""


@dataclass(frozen=True)
class SubjectTask:
    """A subject of a file, by its name, and so many seconds and cases for it.

    `journal` is the file of what is known already.
    """

    path: Path
    subject: str
    seconds: float
    journal: Path
    most_cases: int | None = None


_device: Device | None = None


class DeviceLost(Exception):
    """Nothing works on the GPU in this process any more."""


def become_device(on_gpu: bool) -> None:
    """Prepare this process: launches go to the GPU, or to the CPU engine in its place."""
    global _device
    if on_gpu:
        from tritonaudit.suites.on_gpu import Gpu

        _device = Gpu()
    else:
        from tritonaudit.suites.on_cpu import CpuEngine

        _device = CpuEngine()


def gpu_name(_: object) -> str:
    """What the GPU is called that torch can use; empty where there is none."""
    import torch

    return str(torch.cuda.get_device_name()) if torch.cuda.is_available() else ""


def audit_subject(task: SubjectTask) -> None:
    """Try the subject until its time is spent; the journal has what came of it, trial by trial."""
    from tritonaudit.capture.task import loaded

    assert _device is not None
    _Audit(_device, loaded(task.path)[task.subject], task).run()


@dataclass(frozen=True)
class TryTask:
    """One case of a subject of a file."""

    path: Path
    subject: str
    case: Case


def try_case(task: TryTask) -> tuple[CaseOutcome, ...]:
    """What a call of the subject, and calls with its programs in other orders, come to."""
    from tritonaudit.capture.task import loaded
    from tritonaudit.suites.correctness import examine, repeat

    assert _device is not None
    subject = loaded(task.path)[task.subject]
    return examine(_device, subject, task.case), repeat(_device, subject, task.case)


@dataclass
class _Audit:
    device: Device
    subject: Subject
    task: SubjectTask
    started: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.journal = Journal(self.task.journal)
        self.journal.mend()
        record = self.journal.read()
        self.tried = set(record.tried)
        self.outcomes = [entry.outcome for entry in record.ended if entry.trial.check == "call"]
        self.seen = {sighting.key for entry in record.ended for sighting in entry.outcome.sightings}
        self.minimising = 0.0

    @property
    def left(self) -> float:
        """Seconds."""
        return self.task.seconds - (time.monotonic() - self.started)

    def run(self) -> None:
        first = audit_cases(self.subject, ()).cases[:1]
        for case in first:
            self._call(case)
        blocks = sorted({size for outcome in self.outcomes for size in outcome.blocks})
        plan = audit_cases(self.subject, blocks)
        done = 0
        for number, case in enumerate(plan.cases[: self.task.most_cases]):
            if self.left <= 0:
                break
            self._call(case)
            if number % _REPEATED_EVERY == 0:
                self._try("repeat", case, self._repeat)
            done = number + 1
            if number == _CALLS_FIRST:
                self._endure()
        self._endure()
        self._look()
        self._configs(plan)
        reason = "the time was spent" if done != self.task.most_cases else "no more were asked for"
        self.journal.add(Stopped(tuple(_left_out(plan, done, reason))))

    def _configs(self, plan: Plan) -> None:
        """Each further config of an autotuner, on an ordinary case and two sizes: other calls take the first config."""
        dtypes = len(self.subject.dtypes)
        for case in (*plan.cases[:1], *plan.cases[dtypes : dtypes + 2]):
            labels = {config for outcome in self.outcomes if outcome.case == case for config in outcome.configs}
            number = 1
            while labels and self.left > 0:
                outcome = self._try(f"config {number}", case, partial(self._examine, config=number))
                if outcome is None or labels & set(outcome.configs):
                    break
                labels |= set(outcome.configs)
                number += 1

    def _endure(self) -> None:
        """The hardships that were not tried before."""
        for name, case in stability_cases(self.subject):
            if self.left > 0:
                self._try(f"{STABILITY}: {name}", case, self._endured)

    def _call(self, case: Case) -> None:
        self._try("call", case, self._examine)

    def _try(self, check: str, case: Case, work: Callable[[Case], CaseOutcome]) -> CaseOutcome | None:
        """Do it, unless it was begun before; what fails in a new way is made simpler."""
        trial = Trial(check, case.label)
        if trial in self.tried:
            return None
        self.tried.add(trial)
        self.journal.add(Begun(trial, case))
        outcome = self._timed(case, work)
        if check == "call":
            self.outcomes.append(outcome)
        new = [sighting for sighting in outcome.sightings if sighting.key not in self.seen]
        self.seen |= {sighting.key for sighting in new}
        simplest = [replace(sighting, simplest=self._simplest(case, sighting, work)) for sighting in new]
        others = [sighting for sighting in outcome.sightings if sighting not in new]
        self.journal.add(Ended(trial, replace(outcome, sightings=(*simplest, *others))))
        if self.device.is_lost:
            raise DeviceLost("an earlier launch has made the GPU unusable for its process")
        return outcome

    def _timed(self, case: Case, work: Callable[[Case], CaseOutcome]) -> CaseOutcome:
        try:
            with time_limit(CASE_SECONDS):
                return work(case)
        except OutOfTime:
            return self._late(case)
        except Exception as error:  # the subject's own are part of an outcome: this is a defect of ours
            return _unknown(case, f"tritonaudit failed, please report it: {described(error)}")

    def _late(self, case: Case) -> CaseOutcome:
        """A case that took too long: it hangs if others were quick, else nothing is known."""
        slowest = max((outcome.seconds for outcome in self.outcomes), default=0.0)
        kernels = [kernel for outcome in self.outcomes for kernel in outcome.kernels]
        text = f"it does not end within {CASE_SECONDS:.0f} s"
        if slowest and slowest * _SLOWER < CASE_SECONDS:
            text += f", and the slowest case before it took {slowest:.1f} s"
            sighting = Sighting(Symptom.HANG, kernels[-1] if kernels else self._wrapper(), None, text)
            return CaseOutcome(case, frozenset((Symptom.HANG,)), (sighting,), seconds=CASE_SECONDS)
        return _unknown(case, text)

    def _wrapper(self) -> KernelRef:
        from tritonaudit.suites.wrapper import wrapper_ref

        return wrapper_ref(self.subject)

    def _simplest(self, case: Case, sighting: Sighting, work: Callable[[Case], CaseOutcome]) -> Case:
        """A case with the same defect that is as simple as the time allows."""
        began = time.monotonic()
        tries: Iterator[Case] = simpler(self.subject, case)
        while not self.device.is_lost and self._may_minimise(began):
            tried = next(tries, None)
            if tried is None:
                break
            outcome = self._timed(tried, work)
            if any(other.key == sighting.key for other in outcome.sightings):
                case, tries = tried, simpler(self.subject, tried)
        self.minimising += time.monotonic() - began
        return case

    def _may_minimise(self, began: float) -> bool:
        return self.minimising + (time.monotonic() - began) < _MINIMISED_SHARE * self.task.seconds

    def _examine(self, case: Case, config: int = 0) -> CaseOutcome:
        from tritonaudit.suites.correctness import examine

        return examine(self.device, self.subject, case, config)

    def _look(self) -> None:
        """Tensors that do not fit into memory, which only the CPU engine can do without."""
        for case in large_cases(self.subject) if self.device.can_do_without_memory else ():
            if self.left > 0:
                self._try(f"{LARGE}: more than 2^31 elements", case, partial(look, self.device, self.subject))

    def _endured(self, case: Case) -> CaseOutcome:
        return endure(self.device, self.subject, case)

    def _repeat(self, case: Case) -> CaseOutcome:
        from tritonaudit.suites.correctness import repeat

        return repeat(self.device, self.subject, case)


def _unknown(case: Case, reason: str) -> CaseOutcome:
    """A case of which nothing is known."""
    return CaseOutcome(case, frozenset(), unchecked=tuple((symptom, reason) for symptom in Symptom))


def _left_out(plan: Plan, done: int, reason: str) -> Iterator[tuple[str, str]]:
    yield from ((str(left.value), left.reason) for left in plan.left_out)
    if done < len(plan.cases):
        missed = ", ".join(map(str, plan.uncovered(done)))
        with_it = f", {missed} in none before" if missed else ""
        yield f"{len(plan.cases) - done} of {len(plan.cases)} cases{with_it}", reason
