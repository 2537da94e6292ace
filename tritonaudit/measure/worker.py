"""What a worker does: it measures a subject, size after size, and tells each row as soon as it is known.

While it prepares and verifies it shares the GPU with others; while it times nobody else uses it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from tritonaudit.capture.launch import KernelRef
from tritonaudit.capture.time_limit import OutOfTime, time_limit
from tritonaudit.execute.blame import depends_on_stand_in, described, is_refusal
from tritonaudit.execute.turns import Turns
from tritonaudit.execute.worker import announce_waiting, send_note
from tritonaudit.finding import Status
from tritonaudit.measure.compiler import COMPILE_THREADS, MODULES, load
from tritonaudit.measure.facts import NO_ROOM, Clock, Gpu, Profile, Role, Row, Sample, Timed
from tritonaudit.measure.further import CHANGES_NOTHING, could_change
from tritonaudit.measure.sizes import LARGE, timed_cases
from tritonaudit.subject.model import Case, Subject

if TYPE_CHECKING:
    from tritonaudit.measure.noting import Noted
    from tritonaudit.measure.timing import Contender, Stopwatch, Times
    from tritonaudit.subject.inputs import Arguments

FIRST_CALL_SECONDS = 120.0
"""For a contender's first call, in which its kernels are compiled and tuned."""
_BETWEEN_SECONDS = 300.0
"""From one row to the next at most: then the worker is killed."""
_INPUT_SETS = 3
_INPUT_SHARE = 0.1
"""Of the GPU's free memory goes at most into sets of inputs."""
_LEAST_SECONDS, _MOST_SECONDS = 0.3, 2.0
"""For which the contenders of a size are timed."""
_FURTHER_SIZES = 10
"""Of the correctness suite, beside the named ones."""
_FURTHER_SECONDS = 8.0
_FURTHER_BETWEEN_SECONDS = 30.0
"""As far as Python is reached it is the former that ends a first call: a compiler does not let go of it."""
_SPARE_BYTES = 1 << 30
"""Of the GPU's memory may be held for later by a process that waits for its turn."""
_CEILING_SECONDS = 120.0
_START_SECONDS = 60.0
_CASE_SHARE = 1 / 16
"""Of the GPU's memory the inputs of a case take at most, for references need many times as much."""
_MOST_PROFILED = 4
"""Kernels of a subject, the first that it launches."""
_PROFILE_SECONDS = 120.0
"""Waiting for a turn on the GPU included."""
_THROTTLED = 0.75
"""Of its highest clock: below it a GPU is throttled, says nvbench."""
_DISAGREEMENT, _GAP_MILLISECONDS = 0.1, 0.005


@dataclass(frozen=True)
class MeasureTask:
    """A subject of a file, by its name, and so many seconds for timing it.

    One that `is_brief` is timed beside PyTorch only, at the named sizes of its first dtype.
    """

    path: Path
    subject: str
    seconds: float
    is_brief: bool = False

    @property
    def key(self) -> tuple[Path, str]:
        return self.path, self.subject


@dataclass(frozen=True)
class ProfileTask:
    """A subject of a file, by its name: what the profiler counts of it is wanted, at the largest of its named sizes."""

    path: Path
    subject: str

    @property
    def key(self) -> tuple[Path, str]:
        return self.path, self.subject


@dataclass(frozen=True)
class GpuTask:
    """What the GPU can reach; what is measured of it is kept in the folder."""

    folder: Path


@dataclass(frozen=True)
class Begun:
    """A size is under way."""

    case: Case
    size: str


@dataclass(frozen=True)
class Done:
    """A row, the kernels that the subject launches at this size, and its wrapper."""

    row: Row
    kernels: tuple[KernelRef, ...] = ()
    wrapper: KernelRef | None = None


Word = Begun | Done | Profile
"""What a worker says while it measures."""


def become_gpu_user(is_timing: bool = True) -> None:
    """Prepare this process: what judges is there, and known as it is, before the user's code runs.

    What torch.compile takes is not, unless it `is_timing`.
    """
    from tritonaudit.absent import importer

    for name in MODULES if is_timing else ():
        with suppress(Exception):  # which not every torch has
            load(name)
    _compile_in_this_process()
    importer.install()
    from tritonaudit.measure import ceilings, noting, timing, verify
    from tritonaudit.suites import harness

    assert all((ceilings, noting, timing, verify))
    if is_timing:
        with Turns().shared(_START_SECONDS):
            _warm_up()
    harness.remember()


def _compile_in_this_process() -> None:
    """Have torch.compile start no process for each core, unless the user says how many."""
    os.environ.setdefault(COMPILE_THREADS, "1")
    settings: Any = sys.modules.get("torch._inductor.config")
    if settings is not None:  # which may have read it as another
        with suppress(ValueError):
            settings.compile_threads = int(os.environ[COMPILE_THREADS])


def _warm_up() -> None:
    """Have torch.compile and the profiler load what they need, which takes longer than a subject does."""
    import torch

    from tritonaudit.measure.timing import warm_up

    for start in (lambda: torch.compile(torch.neg)(torch.ones(1, device="cuda")), warm_up):
        with suppress(Exception):  # where it does not work, each row says why
            start()


def measure(task: GpuTask | MeasureTask | ProfileTask) -> Gpu | None:
    """The GPU with the rates that it is measured to reach; or a subject is measured, and tells what comes of it."""
    turns = Turns()
    if isinstance(task, GpuTask):
        from tritonaudit.measure.ceilings import measured_gpu

        announce_waiting(0.0, _CEILING_SECONDS)
        with turns.shared(_CEILING_SECONDS):
            return measured_gpu(task.folder, turns.exclusive(_CEILING_SECONDS))
    with turns.shared(_BETWEEN_SECONDS):
        if isinstance(task, ProfileTask):
            _profile(task, turns)
        else:
            _measure_subject(task, turns)
    return None


def _subject(task: MeasureTask | ProfileTask) -> Subject:
    from tritonaudit.capture.task import IMPORT_SECONDS, loaded
    from tritonaudit.suites import harness

    harness.forget_replaced()
    with time_limit(IMPORT_SECONDS):
        subject = loaded(task.path)[task.subject]
    harness.repair()
    return subject


def _measure_subject(task: MeasureTask, turns: Turns) -> None:
    """Measure the subject at each size until its time is spent; rows are reported as they are known."""
    subject = _subject(task)
    named = _named_cases(subject, all_dtypes=not task.is_brief)
    further = [] if task.is_brief else _further_cases(subject, [case for _, case in named])
    timing = _Timing(subject, task, turns, task.seconds, len(named) + len(further))
    for size, case in (*named, *(("", case) for case in further)):
        timing.reported(size, case)


@dataclass
class _Timing:
    """A subject on its way through its sizes: `left` seconds for so many `sizes`; `rows` are those that it had."""

    subject: Subject
    task: MeasureTask
    turns: Turns
    left: float
    sizes: int
    rows: list[Row] = field(default_factory=list)

    def reported(self, size: str, case: Case) -> Done:
        """The row of a size, reported in time, else the worker is killed."""
        import torch

        send_note(Begun(case, size), _patience(size))
        done = self._done(size, case)
        self.rows.append(done.row)
        self.sizes -= 1
        send_note(done, _BETWEEN_SECONDS)
        torch.cuda.synchronize()  # raises where a launch has made the GPU unusable for its process
        return done

    def _done(self, size: str, case: Case) -> Done:
        if not size and not could_change(self.rows, case):
            return Done(Row(case, size, Status.NOT_RUN, CHANGES_NOTHING))
        if self.left <= 0:
            return Done(Row(case, size, Status.NOT_RUN, "the time was spent"))
        seconds = min(_MOST_SECONDS, max(_LEAST_SECONDS, self.left / self.sizes))
        measuring = _Measuring(self.subject, Row(case, size, Status.NOT_RUN), seconds, self.turns, self.task.is_brief)
        done = measuring.done()
        self.left -= measuring.spent
        return done


def _patience(size: str) -> float:
    """Seconds within which a size is done, without those in which it waits for its turn."""
    return _BETWEEN_SECONDS if size else _FURTHER_BETWEEN_SECONDS


def _profile(task: ProfileTask, turns: Turns) -> None:
    """What the profiler counts in each kernel at the largest named size is reported as it is known."""
    import torch

    from tritonaudit.measure import profiling

    subject = _subject(task)
    named = _named_cases(subject, all_dtypes=False)
    case = next((case for size, case in named if size == LARGE), named[-1][1] if named else None)
    if case is None or not (kernels := _launched(subject, case)):
        return
    torch.cuda.empty_cache()
    if not profiling.is_there():
        send_note(Profile(kernels[0], case, reason=f"there is no `{profiling.NAME}`"), _BETWEEN_SECONDS)
        return
    with turns.given_up(_BETWEEN_SECONDS):  # it starts a process, which takes longer than what it counts
        for profile in profiling.profiled(profiling.Call(task.path, task.subject, case), kernels, _PROFILE_SECONDS):
            send_note(profile, _BETWEEN_SECONDS)


def _launched(subject: Subject, case: Case) -> list[KernelRef]:
    """The kernels to profile, none where a call fails: that is for timing to tell."""
    from tritonaudit.measure.noting import noting
    from tritonaudit.subject.inputs import run_subject

    try:
        with time_limit(FIRST_CALL_SECONDS), noting() as noted:
            run_subject(subject, case)
    except (Exception, OutOfTime):
        return []
    return list(noted.kernels)[:_MOST_PROFILED]


def _named_cases(subject: Subject, *, all_dtypes: bool) -> list[tuple[str, Case]]:
    """The sizes to be timed that have names: in the first dtype, then in the others."""
    import torch

    from tritonaudit.subject.size_kind import takes_dtype

    _, memory = torch.cuda.mem_get_info()
    named = timed_cases(subject, int(_CASE_SHARE * memory))
    others = subject.dtypes[1:] if all_dtypes and takes_dtype(subject) else ()
    return [*named, *((size, replace(case, dtype=dtype)) for dtype in others for size, case in reversed(named))]


def _further_cases(subject: Subject, named: Sequence[Case]) -> list[Case]:
    """Sizes of the correctness suite that have no name, and no dimension longer than the named ones."""
    from tritonaudit.suites.cases import audit_cases

    had, longest = {case.label for case in named}, max((_longest(case) for case in named), default=0)
    ordinary = (case for case in audit_cases(subject).cases if _is_ordinary(case) and case.dtype == subject.dtypes[0])
    return [case for case in ordinary if case.label not in had and _longest(case) <= longest][:_FURTHER_SIZES]


def _longest(case: Case) -> int:
    return max(case.sizes.values(), default=0)


def _is_ordinary(case: Case) -> bool:
    """Whether nothing but its sizes is special."""
    return case == Case(case.sizes, case.dtype) and 0 not in case.sizes.values()


class _Refused(Exception):
    """This size cannot be measured; the message says why."""


class _Measuring:
    """One subject at the size of a blank row, for so many seconds; where it `is_brief` beside PyTorch only."""

    def __init__(self, subject: Subject, blank: Row, seconds: float, turns: Turns, is_brief: bool) -> None:
        self._subject = subject
        self._blank = blank
        self._seconds = seconds
        self._turns = turns
        self._is_brief = is_brief
        self.spent = 0.0
        self._noted: Noted | None = None
        self._unverified = ""

    def done(self) -> Done:
        """The row, whatever becomes of it."""
        import torch

        from tritonaudit.suites.wrapper import wrapper_ref

        try:
            row = self._row()
        except _Refused as error:
            row = replace(self._blank, reason=str(error))
        except torch.cuda.OutOfMemoryError:
            row = replace(self._blank, reason=f"it {NO_ROOM}")
        torch.cuda.empty_cache()
        wrapper = wrapper_ref(self._subject)
        if self._noted is None:
            return Done(row, wrapper=wrapper)
        return Done(replace(row, configs=tuple(self._noted.configs)), tuple(self._noted.kernels), wrapper)

    def _row(self) -> Row:
        from tritonaudit.measure.timing import Contender
        from tritonaudit.measure.work import count
        from tritonaudit.suites import harness

        watch = self._watch()
        subject = Contender(Role.SUBJECT.value, self._subject.function)
        if why := self._first(watch, subject):
            return replace(self._blank, status=Status.FAIL, reason=why)
        others, refused = self._others(watch)
        times, clock = self._times(watch, [subject, *(contender for _, contender in others)])
        timed = tuple(_timed(times, [(Role.SUBJECT, subject), *others]))
        work = count(self._subject, self._blank.case)
        row = replace(self._blank, status=Status.PASS, timed=(*timed, *refused), work=work, clock=clock)
        harness.repair()
        if replaced := harness.replaced():
            return row.refused(f"while it was timed it replaced {replaced[0].name}")
        rounds = len(times[subject.name].wall)
        if why := self._wrong(watch, watch.once(subject, rounds), rounds):
            return row.refused(f"wrong after the timing: {why}")
        return _doubted(row, self._unverified)

    def _times(self, watch: Stopwatch, contenders: Sequence[Contender]) -> tuple[dict[str, Times], Clock | None]:
        """The contenders' times, and the clock, with the GPU to itself: nothing else is done meanwhile."""
        from tritonaudit.measure.clock import clocks

        _give_back_memory()
        with self._turns.exclusive(_patience(self._blank.size)):
            before = clocks()
            began = time.monotonic()
            times = watch.time(contenders, self._seconds)
            self.spent = time.monotonic() - began
            after = clocks()
        return times, Clock(before[0], after[0], after[1]) if before and after else None

    def _watch(self) -> Stopwatch:
        """Sets of inputs as many as memory allows."""
        import torch

        from tritonaudit.measure.timing import Stopwatch
        from tritonaudit.subject.inputs import tensors_in

        inputs = [self._inputs(0)]
        size = sum(tensor.untyped_storage().nbytes() for tensor in tensors_in(inputs[0]))
        free, _ = torch.cuda.mem_get_info()
        while len(inputs) < _INPUT_SETS and (len(inputs) + 1) * size < _INPUT_SHARE * free:
            inputs.append(self._inputs(len(inputs)))
        self._sets = len(inputs)
        return Stopwatch(inputs, self._subject.gradients, bool(self._subject.mutates))

    def _inputs(self, seed: int) -> Arguments:
        from tritonaudit.subject.inputs import make_inputs

        try:
            return make_inputs(self._subject, self._case_of(seed))
        except Exception as error:
            raise _Refused(f"its inputs cannot be made: {described(error)}") from error

    def _case_of(self, seed: int) -> Case:
        return replace(self._blank.case, seed=seed)

    def _first(self, watch: Stopwatch, subject: Contender) -> str:
        """Why the subject is not timed: it fails, or is wrong; empty where it is right."""
        import torch

        from tritonaudit.measure.noting import noting

        try:
            with time_limit(FIRST_CALL_SECONDS if self._blank.size else _FURTHER_SECONDS), noting() as self._noted:
                returned = watch.once(subject)
        except OutOfTime as error:
            raise _Refused(f"its first call {error}") from error
        except torch.cuda.OutOfMemoryError:
            raise
        except Exception as error:
            if depends_on_stand_in(error):
                raise _Refused(f"calling it {described(error)}") from error
            if is_refusal(error):
                raise _Refused(f"the wrapper refuses this size: {described(error)}") from error
            return f"calling it {described(error)}"
        why = self._wrong(watch, returned, 0)
        return f"wrong before it was timed: {why}" if why else ""

    @property
    def _is_compiled(self) -> bool:
        """Whether torch.compile is compared with, too: at sizes that have names, for each takes it long."""
        return bool(self._blank.size) and not self._is_brief

    def _wrong(self, watch: Stopwatch, returned: Any, number: int) -> str:
        """What is wrong with what a call on the set of that number gave; empty where nothing is known to be."""
        from tritonaudit.measure.verify import Unverified, wrong
        from tritonaudit.simulator.torch_memory import storage_address
        from tritonaudit.suites import harness
        from tritonaudit.suites.calling import Result, results_of

        harness.repair()
        place = number % self._sets
        given = self._inputs(place)
        named = results_of(self._subject, watch.inputs[place], returned, given)
        results = [Result(name, tensor, storage_address(tensor)) for name, tensor in named]
        try:
            return wrong(self._subject, self._case_of(place), given, results)
        except Unverified as error:
            self._unverified = f"not verified: {error}"
            return ""

    def _others(self, watch: Stopwatch) -> tuple[list[tuple[Role, Contender]], list[Timed]]:
        """What the subject is compared with, and what of that cannot be called, with the reason."""
        import torch

        from tritonaudit.measure.timing import Contender

        subject = self._subject
        offered: list[tuple[Role, str, Callable[..., Any]]] = []
        if subject.reference is not None:
            offered.append((Role.PYTORCH, Role.PYTORCH.value, subject.reference))
        if subject.reference is not None and self._is_compiled:
            torch.compiler.reset()  # it is compiled again for each size: after a few it would silently not be
            compiled = torch.compile(subject.reference, dynamic=False)
            offered.append((Role.COMPILED, Role.COMPILED.value, compiled))
        if not self._is_brief:
            offered += [(Role.BASELINE, _own_name(name), function) for name, function in subject.baselines.items()]
        ready: list[tuple[Role, Contender]] = []
        refused: list[Timed] = []
        for role, name, function in offered:
            contender = Contender(name, function)
            try:
                with time_limit(FIRST_CALL_SECONDS):
                    watch.once(contender)
                    watch.once(contender)
            except (Exception, OutOfTime) as error:
                is_short = isinstance(error, torch.cuda.OutOfMemoryError)
                why = f"what they need {NO_ROOM}" if is_short else described(error)
                refused.append(Timed(role, name, reason=f"its first calls: {why}"))
            else:
                ready.append((role, contender))
        return ready, refused


def _give_back_memory() -> None:
    """Wait for all of this process's launches; what memory it holds for later, if it is much, others may need."""
    import torch

    torch.cuda.synchronize()
    if torch.cuda.memory_reserved() - torch.cuda.memory_allocated() > _SPARE_BYTES:
        torch.cuda.empty_cache()


def _own_name(baseline: str) -> str:
    """A name that no contender of ours has."""
    return f"{baseline} (baseline)" if baseline in {role.value for role in Role} else baseline


def _timed(times: dict[str, Times], contenders: Sequence[tuple[Role, Contender]]) -> Iterator[Timed]:
    """The contenders with their times, the subject first."""
    from tritonaudit.measure.statistics import sample, speedup

    subject = times[contenders[0][1].name].device
    for role, contender in contenders:
        taken = times[contender.name]
        device = sample(taken.device)
        doubts = tuple(_doubts(device, median(taken.events)))
        ratio = None if role is Role.SUBJECT else speedup(subject, taken.device)
        yield Timed(role, contender.name, device, sample(taken.wall), taken.method, ratio, doubts=doubts)


def _doubts(device: Sample, events: float) -> Iterator[str]:
    if device.is_unstable:
        yield f"unstable: the middle half of its times spreads over {device.spread:.0%} of their median"
    apart = abs(events - device.median)
    if apart > max(_DISAGREEMENT * device.median, _GAP_MILLISECONDS):
        yield f"its kernels take {device.median:.4g} ms, and CUDA events see {events:.4g} ms"


def _doubted(row: Row, unverified: str) -> Row:
    """The row with what makes its times doubtful; where they are unstable nothing is said of speed-ups."""
    reasons = [unverified] if unverified else []
    subject = row.timed[0]
    if any(doubt.startswith("unstable") for doubt in subject.doubts):
        reasons.append(subject.doubts[0])
    if row.clock is not None and row.clock.after < _THROTTLED * row.clock.highest:
        reasons.append(f"the GPU is throttled: its clock is {row.clock.after} of {row.clock.highest} MHz")
    timed = tuple(one if not _is_unstable(one, subject) else replace(one, speedup=None) for one in row.timed)
    return replace(row, timed=timed, status=Status.WARN if reasons else row.status, reason="; ".join(reasons))


def _is_unstable(*timed: Timed) -> bool:
    return any(one.device is not None and one.device.is_unstable for one in timed)
