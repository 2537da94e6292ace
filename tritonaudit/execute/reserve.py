"""Workers with nothing to do, kept from one call of `run_tasks` to the next: to start and prepare one takes seconds."""

from __future__ import annotations

import threading

from tritonaudit.execute.hired import Hired


class Reserve:
    """Keeps at most so many workers, those that worked last. Any thread may use it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: list[Hired] = []
        self._lock = threading.Lock()

    def keep(self, worker: Hired) -> None:
        """Take a worker over, and end one that has long had nothing to do if there are too many."""
        with self._lock:
            self._kept.append(worker)
            over = self._kept[: -self._most]
            del self._kept[: -self._most]
        _end(over)

    def taken(self, order: bytes, memory: int) -> Hired | None:
        """A worker that is prepared in this way, and may hold so much memory; it is not kept here any more."""
        while (found := self._popped(order, memory)) is not None:
            if found.is_silent:
                return found
            _end([found])  # it has died, or says what nobody has asked for
        return None

    def _popped(self, order: bytes, memory: int) -> Hired | None:
        with self._lock:
            for worker in reversed(self._kept):
                if (worker.order, worker.memory) == (order, memory):
                    self._kept.remove(worker)
                    return worker
        return None

    def close(self) -> None:
        """End them all."""
        with self._lock:
            kept, self._kept = self._kept, []
        _end(kept)


def _end(workers: list[Hired]) -> None:
    for worker in workers:
        worker.ask_to_end()
    for worker in workers:
        worker.close()
