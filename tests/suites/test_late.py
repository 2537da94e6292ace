"""How long a case may take, and what is said of one that takes longer, or whose process is killed."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tritonaudit.capture.launch import KernelRef
from tritonaudit.execute.killed import End, Killed
from tritonaudit.subject.model import Case
from tritonaudit.suites.blame import blamed
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.journal import Begun, Ended, Record, Trial
from tritonaudit.suites.late import LEAST_SECONDS, MOST_SECONDS, Late, case_seconds, late, patience
from tritonaudit.suites.outcome import CaseOutcome, Sighting

SMALL, LARGE = Case({"n": 64}), Case({"n": 1000})
KERNEL = KernelRef("kernels.py", "kernel", 1)
HANGS = Sighting(Symptom.HANG, KERNEL, None, "it does not end within 5 s")


def took(case: Case, seconds: float) -> CaseOutcome:
    return CaseOutcome(case, frozenset((Symptom.CRASH,)), kernels=(KERNEL,), seconds=seconds)


def test_a_case_may_take_what_is_left_and_neither_too_little_nor_too_much() -> None:
    assert [case_seconds(left) for left in (-3, 1, 12, 500)] == [LEAST_SECONDS, LEAST_SECONDS, 12, MOST_SECONDS]


def compute() -> None:
    while True:
        pass


def test_what_computes_is_ended_when_it_has_computed_for_so_long() -> None:
    cpu = time.process_time()
    with pytest.raises(Late) as caught, patience(0.4):
        compute()
    assert caught.value.computes
    assert not caught.value.waits
    assert time.process_time() - cpu >= 0.4


def test_what_a_program_that_it_has_started_computes_is_no_waiting() -> None:
    """As the assembler does, for minutes where a block is very large."""
    began = time.monotonic()
    with pytest.raises(Late) as caught, patience(1.0, 0.5):
        subprocess.run([sys.executable, "-c", "while True: pass"], check=True)
    assert caught.value.computes
    assert not caught.value.waits
    assert time.monotonic() - began < 20


def test_what_waits_is_ended_when_it_has_waited_for_so_long() -> None:
    began = time.monotonic()
    with pytest.raises(Late) as caught, patience(0.4):
        time.sleep(60)
    assert caught.value.waits
    assert not caught.value.computes
    assert time.monotonic() - began < 10


def test_what_ends_in_time_is_left_alone() -> None:
    with patience(0.2):
        pass
    time.sleep(0.3)


def test_what_never_reaches_python_is_killed() -> None:
    code = "from tritonaudit.suites import late; late.GRACE_SECONDS = 0\nwith late.patience(0.5): sum(iter(int, 1))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False, timeout=120)
    assert done.returncode == -24, "SIGXCPU"


@pytest.mark.parametrize(
    ("others", "error", "symptom", "is_certain"),
    [
        ([took(LARGE, 0.1)], Late(5, waits=False, computes=True), Symptom.HANG, True),
        ([took(LARGE, 0.1)], Late(5, waits=True, computes=False), Symptom.HANG, True),
        ([], Late(5, waits=True, computes=False), Symptom.HANG, False),
        ([], Late(5, waits=False, computes=True), None, None),
        ([took(LARGE, 1.0)], Late(5, waits=False, computes=True), None, None),
        ([took(LARGE, 0.1)], Late(5, waits=False, computes=False), None, None),
    ],
    ids=["computes", "waits", "waits alone", "computes alone", "others are slow, too", "a busy machine"],
)
def test_whether_it_hangs(
    others: list[CaseOutcome], error: Late, symptom: Symptom | None, is_certain: bool | None
) -> None:
    outcome = late(LARGE, others, HANGS, error, 5.0)
    assert [(one.symptom, one.is_certain) for one in outcome.sightings] == ([(symptom, is_certain)] if symptom else [])
    assert bool(outcome.unchecked) == (symptom is None)


@pytest.mark.parametrize(("seconds", "hangs"), [(0.2, False), (0.04, True)])
def test_other_numbers_may_take_longer(seconds: float, hangs: bool) -> None:
    others = [took(replace(LARGE, fill="inf"), seconds)]
    assert bool(late(LARGE, others, HANGS, Late(5, waits=False, computes=True), 5.0).sightings) is hangs


def test_a_case_of_which_nobody_knows_how_long_it_took_was_not_quick() -> None:
    outcome = late(SMALL, [took(SMALL, 0.0)], HANGS, Late(5.0, waits=False, computes=True), 5.0)
    assert not outcome.checked


def test_a_larger_case_may_take_longer() -> None:
    outcome = late(LARGE, [took(SMALL, 0.01)], HANGS, Late(5, waits=False, computes=True), 5.0)
    assert not outcome.sightings


def test_a_longer_loop_may_take_longer() -> None:
    case, others = Case({"m": 1, "k": 1000}), [took(Case({"m": 1000, "k": 64}), 0.01)]
    assert not late(case, others, HANGS, Late(5, waits=False, computes=True), 5.0).sightings


def test_nothing_is_known_of_a_case_that_was_not_looked_at() -> None:
    refused = CaseOutcome(LARGE, frozenset(), seconds=0.001)
    assert not late(LARGE, [refused], HANGS, Late(5, waits=False, computes=True), 5.0).sightings


@pytest.mark.parametrize(("reference", "hangs"), [(0.02, True), (1.0, False), (None, False)])
def test_what_computes_for_far_longer_than_the_reference_hangs(reference: float | None, hangs: bool) -> None:
    outcome = late(LARGE, [], HANGS, Late(8, waits=False, computes=True, in_host=True), 8.0, reference)
    assert [one.is_certain for one in outcome.sightings] == [True] * hangs


@pytest.mark.parametrize(("file", "in_host"), [("wrappers.py", True), ("tritonaudit/capture/record.py", False)])
def test_whether_it_is_host_code_that_does_not_end(file: str, in_host: bool) -> None:
    with pytest.raises(Late) as caught, patience(1.0):
        exec(compile("while True: pass", f"/somewhere/{file}", "exec"))
    assert caught.value.in_host is in_host


@pytest.mark.parametrize(("reference", "is_certain"), [(0.02, True), (1.0, False), (None, False)])
def test_a_gpu_that_is_busy_for_far_longer_than_with_the_reference_hangs(
    reference: float | None, is_certain: bool
) -> None:
    (seen,) = late(LARGE, [], HANGS, Late(8, waits=True, computes=False), 8.0, reference).sightings
    assert seen.is_certain is is_certain
    assert seen.text.endswith(", and the reference takes 0.02 s" if is_certain else ", and only waits")


TRACE = """\
assertion failed: x > 0
/lib/python3.11/site-packages/thing.py:3: UserWarning: be careful
  warn("be careful")
Fatal Python error: Segmentation fault

Current thread 0x00007f (most recent call first):
  File "{library}/ctypes/__init__.py", line 519 in string_at
  File "/project/wrapper.py", line 12 in deeper
  File "/project/audit_softmax.py", line 30 in softmax
  File "{ours}/tritonaudit/suites/calling.py", line 90 in call_subject
"""


def outcome_of(end: End, message: str, log: str = "", seconds: float = 1.0) -> CaseOutcome:
    """What is said of a case when its process ends like that."""
    begun = Begun(Trial("call", LARGE.label), LARGE)
    record = Record((Ended(Trial("call", "n=2000"), took(Case({"n": 2000}), 0.01)), begun))
    return blamed(Path("/project/audit_softmax.py"), "softmax", record, begun, Killed(end, message, log), seconds)


def test_a_crash_is_reported_at_the_users_line() -> None:
    log = TRACE.format(library=Path(subprocess.__file__).parent, ours=ROOT)
    (sighting,) = outcome_of(End.CRASH, "killed by signal 11 (SIGSEGV)", log).sightings
    assert (sighting.symptom, sighting.place) == (Symptom.CRASH, ("/project/wrapper.py", 12, 1))
    assert sighting.text == "its process killed by signal 11 (SIGSEGV) (assertion failed: x > 0)"


def test_a_crash_without_a_trace_is_reported_at_the_last_kernel() -> None:
    (sighting,) = outcome_of(End.EXIT, "exited with code 0").sightings
    assert (sighting.kernel, sighting.place, sighting.text) == (KERNEL, None, "its process exited with code 0")


@pytest.mark.parametrize("end", [End.MEMORY, End.LOST])
def test_other_ends_say_nothing_of_the_case(end: End) -> None:
    outcome = outcome_of(end, "held more than 8 GiB of memory")
    assert not outcome.sightings
    assert {symptom for symptom, _ in outcome.unchecked} == set(Symptom)
    assert {reason for _, reason in outcome.unchecked} == {"its process held more than 8 GiB of memory"}


def test_a_process_that_ran_out_of_time_hangs_where_others_were_quick() -> None:
    (sighting,) = outcome_of(End.TIMEOUT, "took longer than 20 s", seconds=20.0).sightings
    assert sighting.symptom is Symptom.HANG
    assert not outcome_of(End.TIMEOUT, "took longer than 0.05 s", seconds=0.05).sightings
