"""The suites of an audit: what of a subject has a verdict of its own."""

from __future__ import annotations

from enum import Enum


class Suite(Enum):
    """The value is what a report, and a test of pytest, calls it."""

    CORRECTNESS = "correctness"
    STABILITY = "stability"
    MEMORY = "memory"
    INTEGRITY = "integrity"
    PERFORMANCE = "performance"
