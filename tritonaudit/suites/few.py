"""A case on a GPU of few multiprocessors. Imports torch: for workers."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Set
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tritonaudit.capture.device import modules_that_asked, telling
from tritonaudit.subject.load import LoadError, load_subjects
from tritonaudit.subject.model import Case, Subject
from tritonaudit.suites.calling import Device
from tritonaudit.suites.core import FEW_MULTIPROCESSORS
from tritonaudit.suites.correctness import examine
from tritonaudit.suites.outcome import CaseOutcome


def examine_with_few(device: Device, subject: Subject, path: Path, case: Case) -> CaseOutcome:
    """Call a subject of that file where there are few; one that asked when it was imported is imported anew for it.

    The outcome `asks_multiprocessors` where host code was told of them.
    """
    outcome = examine(device, subject, case, multiprocessors=FEW_MULTIPROCESSORS)
    files = modules_that_asked()
    if outcome.asks_multiprocessors or not files:
        return outcome
    with telling(FEW_MULTIPROCESSORS) as told, _imported_anew(files):
        try:
            others = {one.name: one for one in load_subjects(path)}
        except LoadError:
            return outcome
    if subject.name not in others or not told.asked:
        return outcome
    found = examine(device, others[subject.name], case, multiprocessors=FEW_MULTIPROCESSORS)
    return replace(found, asks_multiprocessors=True)


@contextmanager
def _imported_anew(files: Set[str]) -> Iterator[None]:
    """While this lasts, modules of these files are not known to have been imported."""
    known = {name: module for name, module in sys.modules.items() if getattr(module, "__file__", None) in files}
    for name in known:
        del sys.modules[name]
    try:
        yield
    finally:
        sys.modules.update(known)
