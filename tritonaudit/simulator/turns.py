"""Programs that wait for each other: each on a thread of its own, one at a time; those that wait let others on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from tritonaudit.simulator.faults import Site

_MOST_STALLED = 64
"""So often may all waiting programs look in vain, each in the same state, before they are said to wait for ever."""


class Deadlock(Exception):
    """The programs that are left wait for what none of them will do; `sites` are where they wait."""

    def __init__(self, sites: list[Site]) -> None:
        super().__init__("programs wait for each other")
        self.sites = sites


class _Abandoned(BaseException):
    """Ends the thread of a program that nothing can wake."""


@dataclass(eq=False)
class _Runner:
    """A program on its thread."""

    work: Callable[[], object]
    resumed: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    is_done: bool = False
    failure: BaseException | None = None
    waits_at: Site | None = None


class Turns:
    """Runs programs in their order, each until it ends or waits; those that wait are woken, the last of them first."""

    def __init__(self) -> None:
        self._back = threading.Semaphore(0)
        self._current: _Runner | None = None
        self._is_over = False
        self._stalled = 0

    def run(self, works: Iterable[Callable[[], object]]) -> None:
        """Run all; raises what the first to fail raises, and Deadlock where none goes on."""
        waiting: list[_Runner] = []
        try:
            for work in works:
                runner = _Runner(work)
                threading.Thread(target=self._body, args=(runner,), daemon=True).start()
                if not self._resume(runner):
                    waiting.append(runner)
            self._stalled = 0
            while waiting:
                waiting = [runner for runner in waiting[::-1] if not self._resume(runner)][::-1]
                if self._stalled > _MOST_STALLED * len(waiting):
                    raise Deadlock([one.waits_at for one in waiting if one.waits_at is not None])
        finally:
            self._is_over = True
            for runner in waiting:
                runner.resumed.release()

    def wait(self, site: Site, is_stuck: bool) -> None:
        """What the running program waits for has not come: let others on, and go on when woken.

        `is_stuck` says that it is where it was before, so that only what others write can bring it on.
        """
        runner = self._current
        assert runner is not None
        runner.waits_at = site
        self._stalled = self._stalled + 1 if is_stuck else 0
        self._back.release()
        runner.resumed.acquire()
        if self._is_over:
            raise _Abandoned

    def proceed(self) -> None:
        """What the running program waited for has come."""
        self._stalled = 0

    def _resume(self, runner: _Runner) -> bool:
        """Let a program on, and say whether it ended."""
        self._current = runner
        runner.resumed.release()
        self._back.acquire()
        if runner.failure is not None:
            raise runner.failure
        if runner.is_done:
            self._stalled = 0
        return runner.is_done

    def _body(self, runner: _Runner) -> None:
        runner.resumed.acquire()
        try:
            runner.work()
        except _Abandoned:
            return
        except BaseException as failure:
            runner.failure = failure
        runner.is_done = True
        self._back.release()
