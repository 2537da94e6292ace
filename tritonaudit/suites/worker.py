"""What a worker does: it becomes a device, and tries subjects, or single cases of them, as tasks ask."""

from __future__ import annotations

import faulthandler
import gc
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tritonaudit.execute.confine import confine, emptied_scratch
from tritonaudit.execute.turns import Turns
from tritonaudit.execute.worker import be_last
from tritonaudit.subject.guessed import GuessedSubject
from tritonaudit.subject.model import Case, Subject
from tritonaudit.suites.course import Course, examine_with_few
from tritonaudit.suites.given_too import GivenToo
from tritonaudit.suites.hollow import look_far
from tritonaudit.suites.outcome import CaseOutcome
from tritonaudit.suites.trials import BETWEEN_SECONDS, SubjectTask

if TYPE_CHECKING:
    from tritonaudit.suites.calling import Device


_START_SECONDS = 60.0
"""For bringing up a GPU once it is this process's turn."""
_device: Device | None = None


def become_device(on_gpu: bool) -> None:
    """Prepare this process: launches go to the GPU, or to the CPU engine in its place."""
    global _device
    from tritonaudit.absent import importer
    from tritonaudit.suites import harness, integrity

    importer.install()
    assert integrity  # what judges must be there by now, to be known as it is before the user's code runs
    if on_gpu:
        from tritonaudit.suites.apart.process import one_beforehand, prepare_apart
        from tritonaudit.suites.on_gpu import Gpu

        prepare_apart()
        with Turns().shared(_START_SECONDS), one_beforehand():
            _device = Gpu()
    else:
        from tritonaudit.suites.on_cpu import CpuEngine

        _device = CpuEngine()
    harness.remember()
    if not on_gpu:
        confine()


def gpu_name(_: object) -> str:
    """What the GPU is called that torch can use; empty where there is none."""
    import torch

    return str(torch.cuda.get_device_name()) if torch.cuda.is_available() else ""


def audit_subject(task: SubjectTask) -> None:
    """Try the subject until its time is spent; entries for its journal tell what comes of it, trial by trial."""
    from tritonaudit.suites import harness
    from tritonaudit.suites.settings import surroundings

    assert _device is not None
    harness.forget_replaced()
    before = surroundings()
    _audit(_device, task)
    if harness.replaced() or surroundings() != before or not (_device.is_engine or emptied_scratch()):
        be_last()
    elif not _device.is_engine:
        import torch

        gc.collect()  # the models of the subject, among others
        torch.cuda.empty_cache()


def _audit(device: Device, task: SubjectTask) -> None:
    from tritonaudit.suites import harness

    with subject_on(device, task.path, task.subject) as subject:
        faulthandler.enable(all_threads=False)
        faulthandler.register(signal.SIGXCPU, all_threads=False, chain=True)
        harness.repair()
        audit = Course(device, subject, task, Turns())
        if isinstance(subject, GuessedSubject):
            audit.relate_alone()
        elif task.only_watches:
            audit.watch()
        else:
            audit.run()


@contextmanager
def subject_on(device: Device, path: Path, name: str) -> Iterator[Subject]:
    """The subject of that name of a file; its wrapper is called in a process of its own."""
    from tritonaudit.suites.apart.process import judged_apart

    turn = nullcontext() if device.is_engine else Turns().shared(BETWEEN_SECONDS)
    with ExitStack() as left:
        with turn:
            subject = left.enter_context(judged_apart(device, path, name))
        yield subject


@dataclass(frozen=True)
class TryTask:
    """One case of a subject of a file."""

    path: Path
    subject: str
    case: Case


def try_case(task: TryTask) -> tuple[CaseOutcome, ...]:
    """What a call of the subject comes to, and calls with its programs in other orders and with few multiprocessors.

    Without a reference it is also held against other calls; with guessed inputs nothing else is done.
    """
    assert _device is not None
    with subject_on(_device, task.path, task.subject) as subject:
        if task.case.far:
            return (look_far(_device, subject, task.case),)
        if subject.reference is None:
            from tritonaudit.suites.relating import related

            found = related(_device, subject, task.case)
            return found if isinstance(subject, GuessedSubject) else (*found, *_tried(_device, subject, task.case))
        return _tried(_device, subject, task.case)


def _tried(device: Device, subject: Subject, case: Case) -> tuple[CaseOutcome, ...]:
    from tritonaudit.suites.correctness import examine, repeat
    from tritonaudit.suites.integrity import integrity

    given_too = GivenToo(subject)
    works = [partial(check, device, subject) for check in (integrity, examine, repeat)]
    outcomes = [given_too.settled(work(case), work, may_ask=True) for work in works]
    if any(outcome.asks_multiprocessors for outcome in outcomes):
        outcomes.append(examine_with_few(device, subject, case))
    return tuple(outcomes)
