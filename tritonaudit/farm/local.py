"""Places of this machine: an agent for each GPU, or one or more that share the cores of a machine without."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path

from tritonaudit.execute.descriptors import above_streams
from tritonaudit.execute.processes import may_have_gpu
from tritonaudit.farm.agent import Hello, Terms
from tritonaudit.farm.events import Answered, Event, FarmError, Joined, Left
from tritonaudit.farm.job import Answer, Asked, Job
from tritonaudit.farm.scheduler import Place

_START = "import sys; sys.path[:] = sys.argv[2:]; from tritonaudit.farm.agent import main; main()"
_MOST_SLOTS = 8
"""Of an agent without a GPU: its threads share one Python."""
_MOST_STILLBORN = 3
_CHOOSES_GPU = "CUDA_VISIBLE_DEVICES"


def gpus() -> list[str]:
    """What names the GPUs that this process may see, as CUDA_VISIBLE_DEVICES does; an AMD machine's are one place."""
    if not may_have_gpu():
        return []
    chosen = os.environ.get(_CHOOSES_GPU)
    if chosen is not None:
        return [name.strip() for name in chosen.split(",") if name.strip()]
    devices = [path for path in Path("/dev").glob("nvidia[0-9]*") if path.name.removeprefix("nvidia").isdecimal()]
    return [str(index) for index in range(len(devices))] or [""]


@dataclass
class _Agent:
    name: str
    gpu: str | None
    slots: int
    connection: Connection
    process: subprocess.Popen[bytes]
    is_ready: bool = False

    def end(self) -> None:
        self.connection.close()
        self.process.kill()
        self.process.wait()


class LocalPlaces:
    """The agents of this machine, each of which is started again when it has died."""

    def __init__(self, asked: Asked, jobs: int) -> None:
        self._asked = asked
        self._jobs = jobs
        self._agents: dict[str, _Agent] = {}
        self._started = 0
        self._stillborn = 0
        devices: list[str | None] = [] if asked.request.device == "cpu" else [*gpus()]
        devices = devices or [None] * -(-jobs // _MOST_SLOTS)
        for number, device in enumerate(devices):
            share = jobs // len(devices) + (number < jobs % len(devices))
            self._begin(device, max(1, share))

    def start(self, place: str, job: Job) -> None:
        """Give a job to a place."""
        agent = self._agents.get(place)
        if agent is not None:
            try:
                agent.connection.send(job)
            except OSError:
                return  # it has died, which its connection tells

    def events(self, seconds: float | None = None) -> Iterator[Event]:
        """What has happened, once something has; nothing where the seconds pass before. Raises FarmError."""
        by_connection = {agent.connection: agent for agent in self._agents.values()}
        for connection in wait(list(by_connection), seconds):
            agent = by_connection[connection]  # type: ignore[index]
            try:
                said = agent.connection.recv()
            except (EOFError, OSError):
                yield from self._died(agent)
                continue
            if isinstance(said, Hello):
                yield self._welcomed(agent, said)
            elif isinstance(said, Answer):
                yield Answered(said)
                if said.failure:  # its process ends
                    yield from self._died(agent)

    def close(self) -> None:
        """End them all, and what they do."""
        for agent in self._agents.values():
            agent.end()
        self._agents.clear()

    def _welcomed(self, agent: _Agent, hello: Hello) -> Joined:
        if hello.failure:
            raise FarmError(hello.failure)
        agent.is_ready, self._stillborn = True, 0
        return Joined(Place(agent.name, agent.slots, times=hello.times))

    def _died(self, agent: _Agent) -> Iterator[Event]:
        del self._agents[agent.name]
        agent.end()
        if agent.is_ready:
            yield Left(agent.name)
        else:
            self._stillborn += 1
            if self._stillborn >= _MOST_STILLBORN:
                raise FarmError(f"processes that audit die as they start, {self._stillborn} times in a row")
        self._begin(agent.gpu, agent.slots)

    def _begin(self, gpu: str | None, slots: int) -> None:
        self._started += 1
        name = f"{'cpu' if gpu is None else f'gpu {gpu}'} #{self._started}"
        ours, its = socket.socketpair()
        connection = Connection(above_streams(ours.detach()))
        descriptor = above_streams(its.detach())
        try:
            process = subprocess.Popen(
                [sys.executable, "-c", _START, str(descriptor), *(path or os.getcwd() for path in sys.path)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(descriptor,),
                env={**os.environ, **({_CHOOSES_GPU: gpu} if gpu else {})},
                start_new_session=True,
            )
        finally:
            os.close(descriptor)
        connection.send(Terms(self._asked, slots, self._jobs))
        self._agents[name] = _Agent(name, gpu, slots, connection, process)
