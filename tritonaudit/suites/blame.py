"""What is known of a case whose worker did not live to tell of it."""

from __future__ import annotations

from pathlib import Path

from tritonaudit.capture.launch import KernelRef
from tritonaudit.execute.blame import last_words, traced_place
from tritonaudit.execute.killed import End, Killed
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.journal import Begun, Record
from tritonaudit.suites.late import Late, late, unknown
from tritonaudit.suites.outcome import CaseOutcome, Sighting

_OWN_DOING = frozenset((End.CRASH, End.EXIT, End.RAISED, End.EXCESS))
"""Other ends say nothing of the case: the machine ran out of memory, or something closed the worker's pipes."""
_LONGEST = 200


def blamed(path: Path, subject: str, record: Record, begun: Begun, killed: Killed, seconds: float) -> CaseOutcome:
    """What a case came to that was begun those seconds before its worker was killed."""
    last = last_words(killed.log)[:_LONGEST]
    text = f"its process {killed.message}{f' ({last})' if last else ''}"
    place = traced_place(killed.log)
    kernels = [kernel for entry in record.ended for kernel in entry.outcome.kernels]
    if place is not None:
        sighting = Sighting(Symptom.CRASH, KernelRef(place[0], subject, place[1]), (*place, 1), text)
    else:
        sighting = Sighting(Symptom.CRASH, kernels[-1] if kernels else KernelRef(str(path), subject, 1), None, text)
    if killed.end is End.TIMEOUT:
        others = [entry.outcome for entry in record.ended if entry.trial.check == "call"]
        return late(begun.case, others, sighting, Late(seconds, waits=False, computes=True), seconds)
    if killed.end in _OWN_DOING:
        return CaseOutcome(begun.case, frozenset((Symptom.CRASH,)), (sighting,), seconds=seconds)
    return unknown(begun.case, text)
