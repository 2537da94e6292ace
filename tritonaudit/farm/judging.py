"""Verdicts as a function, for loops that train on them: `judge`, and `judge_async`."""

from __future__ import annotations

import asyncio
import atexit
import hashlib
import json
import os
import shutil
import tempfile
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tritonaudit.audit import PERFORMANCE, RUN_PARTS, AuditRequest
from tritonaudit.config import Config
from tritonaudit.execute.processes import may_have_gpu
from tritonaudit.farm.driving import Driver, Reported
from tritonaudit.farm.events import FarmError
from tritonaudit.farm.job import Asked
from tritonaudit.farm.local import LocalPlaces
from tritonaudit.farm.summary import CHEATS

_NAME = "candidate.py"
_TICK = 0.05


@dataclass(frozen=True)
class Verdict:
    """What a kernel came to.

    `right`: all of the core was tried, and nothing in it is certainly wrong, cheats aside. `integrity`: nothing in it
    only looks right. `coverage` is the share of the core that was tried. `speedup` over PyTorch, at the size at which
    it is least, with its 95 % interval, is None where nothing was timed. `line` is as `line.schema.json` says.
    """

    verdict: str
    right: bool
    integrity: bool
    coverage: float
    speedup: tuple[float, float, float] | None
    line: dict[str, Any]


def judge(
    source: str,
    *,
    reference: str | None = None,
    budget: float = 30.0,
    device: str = "auto",
    seed: int = 0,
    cases: int | None = None,
) -> Verdict:
    """The verdict on a KernelBench pair, `ModelNew` in `source`, and `Model` and `get_inputs` there or in `reference`.

    The other parameters are those of `tritonaudit farm`. Calls with the same ones share workers, which stay until this
    process ends; calls of several threads go on at once, as far as there are cores. Raises FarmError where no worker
    can be had, such as without the GPU that `device` asks for.
    """
    return _service(budget, device, seed, cases).submit(source, reference).result()


async def judge_async(
    source: str,
    *,
    reference: str | None = None,
    budget: float = 30.0,
    device: str = "auto",
    seed: int = 0,
    cases: int | None = None,
) -> Verdict:
    """The same for an event loop, which goes on meanwhile."""
    return await asyncio.wrap_future(_service(budget, device, seed, cases).submit(source, reference))


class _Service:
    """The places of calls that ask for the same, and the thread that drives them while there is a call."""

    def __init__(self, request: AuditRequest) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="tritonaudit-judge-"))
        config = Config(root=self._folder)
        self._places = LocalPlaces(Asked(config, request), os.cpu_count() or 1)
        self._driver = Driver([], config, self._places, more=self._taken, tick=_TICK)
        self._changed = threading.Condition()
        self._waiting: list[tuple[str, str]] = []
        self._futures: dict[str, Future[Verdict]] = {}
        self._number = 0
        self._is_open = True
        threading.Thread(target=self._serve, name="tritonaudit judge", daemon=True).start()

    def submit(self, source: str, reference: str | None) -> Future[Verdict]:
        """The verdict on it, once it is there."""
        with self._changed:
            self._number += 1
            folder = self._folder / str(self._number)
        folder.mkdir()
        (folder / "pyproject.toml").touch()  # so that it is a project by itself
        (folder / _NAME).write_text(source, encoding="utf-8")
        if reference is not None:
            (folder / "reference.py").write_text(reference, encoding="utf-8")
        digest = hashlib.sha256(json.dumps((source, reference)).encode()).hexdigest()
        future: Future[Verdict] = Future()
        future.set_running_or_notify_cancel()  # a caller that gives up cancels its own waiting, not the audit
        with self._changed:
            if not self._is_open:
                raise FarmError("its workers have ended")
            self._futures[str(folder / _NAME)] = future
            self._waiting.append((str(folder / _NAME), digest))
            self._changed.notify()
        return future

    def close(self) -> None:
        """End the workers, and leave no file."""
        with self._changed:
            self._is_open = False
            self._changed.notify()
        self._places.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _serve(self) -> None:
        while self._wait():
            try:
                for reported in self._driver.lines():
                    self._resolve(reported)
            except BaseException as error:
                with self._changed:
                    self._is_open = False
                    futures, self._futures = self._futures, {}
                for future in futures.values():
                    future.set_exception(error)
                forget(self)
                return

    def _wait(self) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or not self._is_open)
            return self._is_open

    def _taken(self) -> Sequence[tuple[str, str]]:
        with self._changed:
            waiting, self._waiting = self._waiting, []
        return waiting

    def _resolve(self, reported: Reported) -> None:
        folder = Path(reported.path).parent
        shutil.rmtree(folder, ignore_errors=True)
        with self._changed:
            future = self._futures.pop(reported.path)
        future.set_result(_verdict(json.loads(reported.line.replace(f"{json.dumps(str(folder))[1:-1]}/", ""))))


def _verdict(line: dict[str, Any]) -> Verdict:
    subjects = line.get("ran", {}).get("subjects", ())
    cores = [subject["coverage"]["core"] for subject in subjects]
    wrong = {one["code"] for one in line["findings"] if one["severity"] == "error"}
    found = {one["code"] for one in line["findings"]}
    tried, of = sum(core["tried"] for core in cores), sum(core["of"] for core in cores)
    is_whole = bool(of) and tried == of and line["verdict"] != "error"
    return Verdict(
        line["verdict"],
        is_whole and not wrong - CHEATS,
        bool(subjects) and not found & CHEATS,
        tried / of if of else 0.0,
        _least_speedup(line),
        line,
    )


def _least_speedup(line: dict[str, Any]) -> tuple[float, float, float] | None:
    ratios = [
        (one["speedup"]["value"], one["speedup"]["low"], one["speedup"]["high"])
        for subject in line.get("measured", {}).get("subjects", ())
        for row in subject["rows"]
        for one in row["contenders"]
        if one["role"] == "pytorch" and one["speedup"] is not None
    ]
    return min(ratios, default=None)


_Key = tuple[float, str, int, int | None]
_services: dict[_Key, _Service] = {}
_lock = threading.Lock()


def _service(budget: float, device: str, seed: int, cases: int | None) -> _Service:
    key = budget, device, seed, cases
    with _lock:
        if key not in _services:
            times = device != "cpu" and may_have_gpu()
            parts = RUN_PARTS | {PERFORMANCE} if times else RUN_PARTS
            _services[key] = _Service(AuditRequest(parts, budget, 1, device, most_cases=cases, seed=seed))
        return _services[key]


def forget(service: _Service) -> None:
    """Have the next call begin afresh."""
    with _lock:
        for key in [key for key, one in _services.items() if one is service]:
            del _services[key]
    service.close()


def _end() -> None:
    for service in list(_services.values()):
        service.close()


def _after_fork() -> None:
    """Leave the workers to the process that has them."""
    global _services, _lock
    _services, _lock = {}, threading.Lock()


atexit.register(_end)
os.register_at_fork(after_in_child=_after_fork)
