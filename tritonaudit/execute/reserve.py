"""Workers with nothing to do, kept from one call of `run_tasks` to the next: to start and prepare one takes seconds."""

from __future__ import annotations

import threading

from tritonaudit.execute.hired import Hired


class Reserve:
    """Keeps at most so many workers, those that worked last. Any thread may use it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: list[Hired] = []
        self._leaving: list[Hired] = []
        self._lock = threading.Lock()

    def keep(self, worker: Hired) -> None:
        """Take a worker over, and have one that has long had nothing to do end if there are too many."""
        with self._lock:
            self._kept.append(worker)
            over = max(0, len(self._kept) - self._most)
            for one in self._kept[:over]:
                self._dismiss(one)
            del self._kept[:over]
            for one in [one for one in self._leaving if one.has_ended]:
                self._leaving.remove(one)
                one.close()

    def taken(self, order: bytes, memory: int, kin: str) -> Hired | None:
        """A worker that is prepared in this way, may hold so much memory, and has done nothing but what is akin."""
        with self._lock:
            for worker in reversed(self._kept):
                if (worker.order, worker.memory, worker.kin) == (order, memory, kin):
                    self._kept.remove(worker)
                    if worker.is_silent:
                        return worker
                    self._dismiss(worker)  # it has died, or says what nobody has asked for
        return None

    def _dismiss(self, worker: Hired) -> None:
        """Ask it to end; nobody waits for that now."""
        worker.ask_to_end()
        self._leaving.append(worker)

    def close(self) -> None:
        """End them all."""
        with self._lock:
            for worker in self._kept:
                self._dismiss(worker)
            leaving, self._kept, self._leaving = self._leaving, [], []
        for worker in leaving:
            worker.close()
