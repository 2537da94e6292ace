"""The subjects by name, and the one case of each. For processes that import torch and triton."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tritonaudit.subject.load import load_subjects
from tritonaudit.subject.model import Case, Subject
from tritonaudit.subject.sweep import compile_cases

SUBJECTS = Path(__file__).with_name("subjects.py")


@cache
def subjects() -> dict[str, Subject]:
    """Every subject, in the order of the file."""
    return {subject.name: subject for subject in load_subjects(SUBJECTS)}


def only_case(subject: Subject) -> Case:
    """The case of a subject that has one."""
    [case] = compile_cases(subject)
    return case
