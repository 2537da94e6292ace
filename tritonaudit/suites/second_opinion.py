"""Has Triton's interpreter execute cases, too, and compares. Imports torch: for workers."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch

from tritonaudit.execute.blame import described
from tritonaudit.execute.killed import End, Killed
from tritonaudit.execute.pool import Limits, run_tasks
from tritonaudit.finding import Status
from tritonaudit.simulator.cross_check import HARMLESS, known_limit, remark
from tritonaudit.simulator.ir import Module
from tritonaudit.simulator.live import module_of
from tritonaudit.subject.model import Case, Subject
from tritonaudit.suites.calling import Called, Device, Result, call_subject
from tritonaudit.suites.formats import wide
from tritonaudit.suites.judgement import Element, Number
from tritonaudit.suites.on_interpreter import become_interpreter, interpreted
from tritonaudit.suites.opinion import CASE_SECONDS, SECONDS, START_SECONDS, Opinion
from tritonaudit.suites.references import References, references
from tritonaudit.suites.sentences import counted, differ
from tritonaudit.suites.tolerance import judge
from tritonaudit.suites.worker import TryTask

_LIMITS = Limits(CASE_SECONDS, memory=4 << 30, start=START_SECONDS)


def second_opinions(device: Device, subject: Subject, path: Path, cases: Sequence[Case]) -> Iterator[Opinion]:
    """What the interpreter says to what the device, the CPU engine, gives for each of the cases, in their order.

    Where the first, which is as ordinary as they come, takes too long for it, no other is begun.
    """
    until = time.monotonic() + SECONDS
    tasks = [TryTask(path, subject.name, case) for case in cases]
    done, why = 0, f"the {SECONDS:.0f} s for it were spent"
    for task, theirs in run_tasks(
        interpreted, tasks, workers=1, limits=_LIMITS, prepare=become_interpreter, is_fresh=True
    ):
        yield _opinion(subject, task.case, call_subject(device, subject, task.case), theirs)
        done += 1
        if done == 1 and isinstance(theirs, Killed) and theirs.end is End.TIMEOUT:
            why = f"the first case took longer than {CASE_SECONDS:g} s"
            break
        if time.monotonic() >= until:
            break
    for case in cases[done:]:
        yield Opinion(case.label, reason=why)


def _opinion(subject: Subject, case: Case, ours: Called, theirs: tuple[torch.Tensor, ...] | Killed) -> Opinion:
    modules = [module_of(ran.launch.program.ttir) for ran in ours.ran if ran.launch.program is not None]
    if ours.error is not None:
        return Opinion(case.label, reason=f"the CPU engine has no results: calling it {described(ours.error)}")
    if isinstance(theirs, Killed):
        known = next(filter(None, map(remark, modules)), "") if theirs.end is End.RAISED else ""
        return Opinion(case.label, reason=f"the interpreter cannot execute it: {theirs.message}{known}")
    if any(fault.kind not in HARMLESS for ran in ours.ran for fault in ran.faults):
        return Opinion(case.label, reason="its launches have faults, so that there are no results to compare")
    difference = _first_difference(subject, case, ours, theirs)
    return Opinion(case.label, difference, _explanation(modules) if difference else "")


def _explanation(modules: Sequence[Module]) -> str:
    return next(filter(None, map(known_limit, modules)), "")


def _first_difference(subject: Subject, case: Case, ours: Called, theirs: Sequence[torch.Tensor]) -> str:
    """Empty where each result is the same as far as the order of sums and the rounding of functions allow."""
    if len(ours.results) != len(theirs):
        return f"{counted(len(ours.results), 'result')} on the CPU engine, {len(theirs)} under TRITON_INTERPRET=1"
    found = references(subject, ours.given, case) if subject.reference is not None else References()
    perturbed = [found.perturbed_of(number) for number in range(len(ours.results))]  # as modes of torch have it
    with torch._C.DisableTorchFunction():  # nothing here is the user's, and tensors are where they are
        triples = enumerate(zip(ours.results, theirs, perturbed, strict=True))
        differences = (_difference(one, other, found, number, moved) for number, (one, other, moved) in triples)
        return next(filter(None, differences), "")


def _difference(
    result: Result, theirs: torch.Tensor, found: References, number: int, perturbed: Sequence[torch.Tensor]
) -> str:
    """Our result in the place of the reference, which says how far inputs that are a rounding off move it."""
    ours = result.tensor.detach()
    if result.unwritten is not None and ours.shape == theirs.shape:
        theirs = torch.where(result.unwritten, ours, theirs)
    same, moved = None, list[torch.Tensor]()
    if number < len(found.same) and (found.same[number].shape, found.same[number].dtype) == (ours.shape, ours.dtype):
        precise, same = found.of(number)
        moved = [wide(ours) + (one - precise) for one in perturbed] if ours.is_floating_point() else [*perturbed]
    judgement = judge(theirs, wide(ours), same, moved)
    if judgement.status is not Status.FAIL and not judgement.unasked:
        return ""
    if judgement.status is not Status.FAIL:
        finite = counted(judgement.unasked, "element")
        return f"{finite} of {result.name} that are finite under TRITON_INTERPRET=1 are not on the CPU engine"
    element = judgement.nonfinite or judgement.worst
    if element is None or judgement.wrong is None:
        return f"{result.name} under TRITON_INTERPRET=1, beside the CPU engine's: {judgement.reason}"
    wrong = max(int(judgement.wrong.sum()), 1)
    return f"{_reported(result.name, element)}; {counted(wrong, 'element')} {differ(wrong)}"


def _reported(name: str, element: Element) -> str:
    place = ", ".join(map(str, element.index))
    wanted, got = map(_shown, (element.wanted, element.got))
    return f"{name}[{place}] is {wanted} on the CPU engine, {got} under TRITON_INTERPRET=1"


def _shown(number: Number) -> str:
    return f"{number:.9g}" if isinstance(number, (float, complex)) else str(number)
