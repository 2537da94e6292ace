"""What the measure stage asks of a subject. Imports neither torch nor triton."""

from __future__ import annotations

from enum import Enum


class Check(Enum):
    """What the measure stage asks of a subject; the value is what a report calls it."""

    TIMED = "timed at small, medium and large sizes"
    PYTORCH = "compared with PyTorch"
    COMPILED = "compared with torch.compile"
    BASELINES = "compared with the baselines that the subject names"
    VERIFIED = "verified again after the timing"
    ROOFLINE = "held against the roof"
    PROFILED = "profiled"
