"""Ends an execution that takes too long."""

from __future__ import annotations

import time

from tritonaudit.simulator.machine import NotSimulated
from tritonaudit.simulator.numerics.unsupported import Unsupported


class Watch:
    """Raises NotSimulated once so many seconds have passed."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._ends = time.monotonic() + seconds

    def look(self) -> None:
        if time.monotonic() > self._ends:
            raise NotSimulated(Unsupported("the launch", f"it takes more than {self._seconds:g} s"), None)
