"""Trials of a subject, each within its time: what they came to, and what is known of those that do not end."""

from __future__ import annotations

import faulthandler
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tritonaudit.capture.launch import KernelRef
from tritonaudit.data import NotData
from tritonaudit.execute.blame import called_into, described, is_called_from, is_in, users_place
from tritonaudit.execute.turns import Turns
from tritonaudit.execute.worker import send_note
from tritonaudit.subject.model import Case, Subject
from tritonaudit.suites.cases import simpler
from tritonaudit.suites.core import CALL, MEMORY, STABILITY
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.given_too import GivenToo
from tritonaudit.suites.journal import Begun, Ended, Entry, Record, Simplified, Trial
from tritonaudit.suites.late import (
    COMPILER,
    LAUNCHING,
    LEAST_SECONDS,
    Late,
    case_seconds,
    computed,
    elements,
    late,
    longest,
    patience,
    unknown,
)
from tritonaudit.suites.outcome import CaseOutcome, Sighting, Simplest

if TYPE_CHECKING:
    from tritonaudit.suites.calling import Device, Lost


CORE_SECONDS = 120.0
"""For the core at most where a subject's time is less: a core that takes longer is not tried to its end."""
_CORE_CASE_SECONDS = 10.0
"""What a case of the core may compute, however little of the subject's time is left."""
_MOST_LATES = 2
"""Cases that do not end: then a core is not worth more than the subject's own time."""
_REFERENCE = "suites/references.py"
"""The file of ours through which each call of a reference goes."""
_MOST_REFERRED = 1 << 24
"""Elements that a case has at most whose reference is timed on the CPU: others may have no memory."""
_MINIMISED_SHARE = 0.2
"""Of a subject's time goes at most into making the cases of its failures simpler."""
_SIMPLER = "simpler"
"""The check of a case that is simpler than one with a defect, where trying it killed the worker."""
BETWEEN_SECONDS = 60.0
"""From the end of a case to the next one at most."""
_GIVEN_AGAIN = 4
"""So many times as long as a case with inputs as given must a trial be able to take that may repeat it."""
_MOST_BROKEN_OFF = 2
"""So often a case is tried again that an audit was trying when it was killed."""


@dataclass(frozen=True)
class SubjectTask:
    """A subject of a file, by its name, so many seconds and cases of its plan for it, and what is known already.

    Bringing up the device and compiling count, too. One that `cross_checks` asks Triton's interpreter for a second
    opinion, where the CPU engine executes launches. One that `only_watches` looks at memory on the CPU engine, and at
    nothing else: a GPU is trying the same subject. The `seed` draws what nobody can foresee, unless another one has
    begun to.
    """

    path: Path
    subject: str
    seconds: float
    known: Record = field(default_factory=Record)
    most_cases: int | None = None
    cross_checks: bool = False
    only_watches: bool = False
    seed: int = 0

    @property
    def key(self) -> tuple[Path, str]:
        return self.path, self.subject


class DeviceLost(Exception):
    """Nothing works on the GPU in this process any more."""


@dataclass
class Trials:
    """Those of a subject on a device, one after the other; entries for its journal tell of each as it ends."""

    device: Device
    subject: Subject
    task: SubjectTask
    turns: Turns
    started: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        record = self.task.known
        self.known = dict(record.outcomes)
        self.broken_off = record.broken_off
        self.spent_before = record.spent
        self.given_too = GivenToo(self.subject)
        self.outcomes = [entry.outcome for entry in record.ended if entry.trial.check in (CALL, MEMORY)]
        self.endured = [one.outcome for one in record.ended if one.trial.check.startswith(STABILITY)]
        self.taken = [(outcome.case, outcome.seconds) for outcome in self.outcomes if outcome.seconds]
        """What calls of cases took, in seconds for which processors computed."""
        self.computed_before = computed()
        self.simplified = {entry.seen for entry in record.entries if isinstance(entry, Simplified)}
        self.lates = sum(map(_hangs, self.known.values()))
        self.is_in_core = True
        self.minimising = 0.0
        self.reference_seconds: float | None = None
        self.referred, self.not_referred = 0, _MOST_REFERRED if self.device.is_engine else sys.maxsize
        """The elements of the largest case of which the reference was timed, and of the least of which it is not."""

    @property
    def spent(self) -> float:
        """Seconds, also those of workers before this one; none for waiting."""
        return self.spent_before + time.monotonic() - self.started - self.turns.waited

    @property
    def left(self) -> float:
        """Seconds."""
        return self.task.seconds - self.spent

    @property
    def blocks(self) -> list[int]:
        """The sizes of the blocks that launches used."""
        return sorted({size for outcome in self.outcomes for size in outcome.blocks})

    @property
    def launches(self) -> int:
        """That the first call made which came to its end, where the CPU engine executes each."""
        ended = (outcome.launches for outcome in self.outcomes if not outcome.is_late)
        return next(ended, 0) if self.device.is_engine else 0

    @contextmanager
    def _patience_of_the_core(self) -> Iterator[None]:
        """While this lasts, cases may take what those of the core may."""
        before, self.is_in_core = self.is_in_core, True
        try:
            yield
        finally:
            self.is_in_core = before

    def _may_try_core(self) -> bool:
        """Whether there is time for more of the core: beyond the subject's own not once cases do not end."""
        most = self.task.seconds if self.lates >= _MOST_LATES else max(CORE_SECONDS, self.task.seconds)
        return self.spent < most

    def _patience(self) -> tuple[float, float]:
        """Seconds that a trial may compute, and do nothing but wait."""
        waiting = case_seconds(self.left)
        return (max(waiting, _CORE_CASE_SECONDS) if self.is_in_core else waiting), waiting

    def _has_time(self, share: float | None) -> bool:
        """Whether less than that of the subject's time is spent; without a share, of what the core may take."""
        return self._may_try_core() if share is None else self.spent < share * self.task.seconds

    def _try(
        self, check: str, case: Case, work: Callable[[Case], CaseOutcome], *, is_minimised: bool = True
    ) -> CaseOutcome:
        """Do it, unless it ended before; what is seen in a new way is made simpler."""
        trial = Trial(check, case.label)
        if trial not in self.known:
            lates, before = self.lates, computed()
            outcome = self._outcome(trial, case, work)
            self.lates = max(self.lates, lates + _hangs(outcome))
            self._send(Ended(trial, outcome, self.spent))
            self.known[trial] = outcome
            if check in (CALL, MEMORY):
                self.outcomes.append(outcome)
                self.taken.append((case, computed() - before))
            elif check.startswith(STABILITY):
                self.endured.append(outcome)
        for sighting in self.known[trial].sightings:
            if is_minimised and sighting.key not in self.simplified:
                self.simplified.add(sighting.key)
                simplest = self._simplest(case, sighting, work)
                self._send(Simplified(trial, sighting.key, simplest, self.spent))
        if self.device.lost is not None:
            raise DeviceLost("an earlier launch has made the GPU unusable for its process")
        return self.known[trial]

    def _outcome(self, trial: Trial, case: Case, work: Callable[[Case], CaseOutcome]) -> CaseOutcome:
        if self.broken_off[trial] >= _MOST_BROKEN_OFF:
            return unknown(case, f"{self.broken_off[trial]} audits were killed while they tried it")
        return self._timed(trial, case, work)

    def _turn(self) -> AbstractContextManager[None]:
        """While this lasts, nobody times anything on the GPU."""
        return nullcontext() if self.device.is_engine else self.turns.shared(BETWEEN_SECONDS)

    def _timed(self, trial: Trial, case: Case, work: Callable[[Case], CaseOutcome]) -> CaseOutcome:
        with self._turn():
            self._time_reference(case)
            return self._patiently(trial, case, work)

    def _patiently(self, trial: Trial, case: Case, work: Callable[[Case], CaseOutcome]) -> CaseOutcome:
        seconds, waiting = self._patience()
        send_note(Begun(trial, case, self.spent), longest(seconds))
        faulthandler.dump_traceback_later(longest(seconds) - 1)
        try:
            with patience(seconds, waiting):
                outcome = self.given_too.settled(work(case), work, may_ask=self._is_quick_as_given(seconds))
        except Late as error:
            return self.given_too.settled(self._late(case, error.seconds, error), work, may_ask=False)
        except NotData as error:
            outcome = self._unbelievable(case, error)
        except Exception as error:  # the subject's own are part of an outcome: it is a defect of ours, or a hook
            whose = "what the subject has set up" if users_place(error) else "tritonaudit failed, please report it:"
            outcome = unknown(case, f"{whose} {described(error)}")
        finally:
            faulthandler.cancel_dump_traceback_later()
        if self.device.lost is None or Symptom.CRASH in outcome.checked or outcome.is_refused:
            return outcome
        return self._lost(case, self.device.lost)  # which not every kind of trial tells

    def _unbelievable(self, case: Case, error: NotData) -> CaseOutcome:
        """A case in which the process that calls the wrapper said what none of ours says."""
        text = f"its process sent what is not an answer: {error}"
        sighting = Sighting(Symptom.CRASH, self._wrapper(), None, text)
        return CaseOutcome(case, frozenset((Symptom.CRASH,)), (sighting,))

    def _time_reference(self, case: Case) -> None:
        """Know what the reference takes, once a call of the subject's did not end.

        It has a GPU to itself for that, which others that do not end would slow down.
        """
        if not self.lates or not self.referred < elements(case) < self.not_referred:
            return
        from tritonaudit.capture.standin import Host, tensors_on
        from tritonaudit.subject.inputs import make_inputs
        from tritonaudit.suites.references import reference_seconds

        turn = tensors_on(Host.CPU) if self.device.is_engine else self.turns.exclusive(BETWEEN_SECONDS)
        before, self.not_referred = self.not_referred, elements(case)  # nor anything larger, where it does not end
        with turn, suppress(Exception, Late), patience(LEAST_SECONDS):
            self.reference_seconds = reference_seconds(self.subject, make_inputs(self.subject, case), case)
            self.referred, self.not_referred = elements(case), before

    def _is_quick_as_given(self, seconds: float) -> bool:
        """Whether a case with its inputs as given is known to take little of so many seconds."""
        return any(
            outcome.checked and not outcome.case.sizes and _GIVEN_AGAIN * outcome.seconds < seconds
            for outcome in self.outcomes
        )

    def _lost(self, case: Case, by: Lost) -> CaseOutcome:
        from tritonaudit.suites.correctness import lost

        return lost(case, by)

    def _late(self, case: Case, seconds: float, error: Late) -> CaseOutcome:
        """A case that took too long: it hangs, or nothing is known."""
        self.lates += 1
        if is_in(error, COMPILER):
            return replace(unknown(case, f"compiling it takes longer than {seconds:.0f} s"), is_late=True)
        if error.computes and error.account is None and is_called_from(error, _REFERENCE):
            return replace(unknown(case, f"the reference takes longer than {seconds:.0f} s"), is_late=True)
        path, line = users_place(error) or ("", None)
        kernels = [kernel for outcome in self.outcomes for kernel in outcome.kernels]
        kernel = kernels[-1] if kernels and called_into(error, *LAUNCHING) else self._wrapper()
        if self.device.lost is not None:
            kernel = self.device.lost.kernel
        place = None if line is None else (path, line, 1)
        sighting = Sighting(Symptom.HANG, kernel, place, f"it does not end within {seconds:.0f} s")
        is_known = (self.device.lost is not None or error.in_host) and elements(case) <= self.referred
        reference = self.reference_seconds if is_known else None
        return late(case, self.outcomes, sighting, error, seconds, reference)

    def _send(self, entry: Entry) -> None:
        send_note(entry, BETWEEN_SECONDS)

    def _wrapper(self) -> KernelRef:
        from tritonaudit.suites.wrapper import wrapper_ref

        return wrapper_ref(self.subject)

    def _simplest(self, case: Case, sighting: Sighting, work: Callable[[Case], CaseOutcome]) -> Simplest:
        """A case with the same defect that is as simple as the time allows."""
        simplest = Simplest(case, sighting.text)
        if sighting.symptom is Symptom.HANG:
            return simplest
        began = self.spent
        too_small: dict[str, int] = {}
        tries: Iterator[Case] = simpler(self.subject, case)
        while self.device.lost is None and self._may_minimise(began):
            tried = next(tries, None)
            if tried is None:
                break
            trial = Trial(_SIMPLER, tried.label)
            outcome = self.known.get(trial) or self._timed(trial, tried, work)
            alike = (other for other in outcome.sightings if other.key == sighting.key)
            if (same := next(alike, None)) is not None and same.is_certain >= sighting.is_certain:
                simplest, tries = Simplest(tried, same.text), simpler(self.subject, tried, too_small)
            elif sighting.symptom is Symptom.OVERFLOW:  # fewer elements do not overflow either
                kept = simplest.case.sizes
                too_small |= {name: size for name, size in tried.sizes.items() if size != kept.get(name)}
        self.minimising += self.spent - began
        return simplest

    def _may_minimise(self, began: float) -> bool:
        return self.minimising + (self.spent - began) < _MINIMISED_SHARE * self.task.seconds


def _hangs(outcome: CaseOutcome) -> bool:
    return any(one.symptom is Symptom.HANG for one in outcome.sightings)
