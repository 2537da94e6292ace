"""Places of a Ray cluster: on each node an actor for each of its GPUs, or one that has the cores of a node without.

Sources travel as blobs in Ray's store, by their digests, and are written once on each node: nothing that an audit needs
has to be on a disk that machines share, but the installation itself. Imports Ray.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tritonaudit.config import Config
from tritonaudit.farm.agent import Hello, Terms, answered, prepared
from tritonaudit.farm.events import Answered, Event, FarmError, Joined, Left
from tritonaudit.farm.job import Answer, Asked, Job
from tritonaudit.farm.scheduler import Place
from tritonaudit.measure.stage import MOST_AT_ONCE
from tritonaudit.source.discover import discover, project_root

_MOST_FAILURES = 3
_PAUSE = 0.5
"""Seconds between looks for a node, while there is none."""
_CONFIGURATIONS = ("pyproject.toml", "tritonaudit.toml")


@dataclass(frozen=True)
class Sources:
    """Files below a folder: each with its path from there, and the digest of its content."""

    base: str
    here: str
    files: tuple[tuple[str, str], ...]

    @property
    def digest(self) -> str:
        return hashlib.sha256(json.dumps((self.here, self.files)).encode()).hexdigest()


def gathered(paths: Sequence[Path], config: Config) -> tuple[Sources, dict[str, bytes]]:
    """The sources of the projects of the paths, with their configurations, and what the digests stand for."""
    here = os.getcwd()
    named = {Path(os.path.abspath(path)) for path in discover(paths, config).sources}
    roots = {project_root(path) for path in named}
    wanted = set(named)
    for root in roots:
        wanted.update(discover((root,), replace(config, root=root)).sources)
    folders = {
        folder for path in wanted for folder in path.parents if any(folder.is_relative_to(root) for root in roots)
    }
    wanted.update(one for folder in folders for name in _CONFIGURATIONS if (one := folder / name).is_file())
    wanted.update(one for path in named for one in _extended(config.of(path)))
    base = os.path.commonpath([here, *(str(path.parent) for path in wanted)])
    blobs: dict[str, bytes] = {}
    files: dict[str, str] = {}
    for path in sorted(wanted):
        content = path.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        blobs[digest] = content
        files[os.path.relpath(path, base)] = digest
    return Sources(base, os.path.relpath(here, base), tuple(sorted(files.items()))), blobs


def _extended(config: Config) -> Iterator[Path]:
    """The files that a configuration rests on."""
    hardware = config.hardware_file
    yield from (one for one in (config.source, hardware, *config.extended) if one is not None and one.is_file())


def unpacked(sources: Sources, blobs: dict[str, bytes]) -> Path:
    """The folder of this machine that holds these sources, and nothing else; it is written where it is not there."""
    home = Path(tempfile.gettempdir(), f"tritonaudit-farm-{os.getuid()}")
    home.mkdir(mode=0o700, exist_ok=True)
    if home.lstat().st_uid != os.getuid() or home.is_symlink():
        raise FarmError(f"{home} belongs to somebody else")
    folder = home / sources.digest
    if not folder.exists():
        half = Path(tempfile.mkdtemp(dir=home))
        (half / sources.here).mkdir(parents=True, exist_ok=True)
        for name, digest in sources.files:
            path = half / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(blobs[digest])
        try:
            half.rename(folder)
        except OSError:  # another process of this machine was first
            shutil.rmtree(half, ignore_errors=True)
    return folder


class Actor:
    """What a Ray actor does: it is an agent whose jobs come as calls."""

    def __init__(self, terms: Terms, sources: Sources, blobs: dict[str, bytes]) -> None:
        self._sources = sources
        self._folder = unpacked(sources, blobs)
        os.chdir(self._folder / sources.here)
        config = terms.asked.config
        root = self._folder / os.path.relpath(config.root, sources.base)
        self._terms = replace(terms, asked=replace(terms.asked, config=replace(config, root=root)))
        self._hello = prepared(self._terms)

    def hello(self) -> Hello:
        """Whether it has a GPU."""
        return self._hello

    def do(self, job: Job) -> Answer:
        """Answer a job; paths in it are as where its sources come from."""
        if os.path.isabs(job.path):
            job = replace(job, path=str(self._folder / os.path.relpath(job.path, self._sources.base)))
        answer = answered(job, self._terms, self._hello)
        there, here = (json.dumps(path)[1:-1] for path in (str(self._folder), self._sources.base.rstrip("/")))
        return replace(answer, line=answer.line.replace(there, here))


@dataclass
class _Held:
    node: str
    slots: int
    actor: Any
    is_ready: bool = False


class RayPlaces:
    """The actors of a cluster, with those of nodes that are added while it goes on."""

    def __init__(self, ray: Any, asked: Asked, paths: Sequence[Path]) -> None:
        self._ray = ray
        self._asked = asked
        sources, blobs = gathered(paths, asked.config)
        self._sources = sources
        self._blobs = ray.put(blobs)
        self._held: dict[str, _Held] = {}
        self._calls: dict[Any, tuple[str, Job | None]] = {}
        self._started = 0
        self._failures: dict[str, int] = {}
        self._look()

    def start(self, place: str, job: Job) -> None:
        """Give a job to a place."""
        held = self._held.get(place)
        if held is not None:
            self._calls[held.actor.do.remote(job)] = place, job

    def events(self, seconds: float | None = None) -> Iterator[Event]:
        """What has happened, once something has; nothing where the seconds pass before. Raises FarmError."""
        self._look()
        if not self._calls:
            time.sleep(_PAUSE if seconds is None else min(seconds, _PAUSE))
            return
        ready, _ = self._ray.wait(list(self._calls), num_returns=1, timeout=seconds)
        for call in ready:
            place, job = self._calls.pop(call)
            try:
                said = self._ray.get(call)
            except Exception as error:  # of Ray, whatever it is: the actor, its node, or the store is not there
                yield from self._lost(place, error)
                continue
            if job is None:
                yield from self._welcomed(place, said)
            elif said.failure:
                yield Answered(said)
                yield from self._lost(place, RuntimeError(said.failure))
            else:
                yield Answered(said)

    def close(self) -> None:
        """End the actors, and what they do."""
        for held in self._held.values():
            self._ray.kill(held.actor)
        self._held.clear()
        self._calls.clear()

    def _welcomed(self, name: str, hello: Hello) -> Iterator[Event]:
        if hello.failure:  # of this node, where others may do
            yield from self._lost(name, RuntimeError(hello.failure))
            return
        held = self._held[name]
        held.is_ready = True
        yield Joined(Place(name, held.slots, times=hello.times))

    def _lost(self, name: str, error: Exception) -> Iterator[Event]:
        held = self._held.pop(name, None)
        if held is None:
            return
        self._calls = {call: (place, job) for call, (place, job) in self._calls.items() if place != name}
        with suppress(Exception):
            self._ray.kill(held.actor)
        if held.is_ready:
            yield Left(name)
            return
        self._failures[held.node] = self._failures.get(held.node, 0) + 1
        if self._failures[held.node] >= _MOST_FAILURES and not self._held:
            raise FarmError(f"no actor of Ray can start: {error}")

    def _look(self) -> None:
        """See that each node that is alive has its actors, where GPUs are to be used only each that has one."""
        alive = [node for node in self._ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]
        uses_gpus = self._asked.request.device != "cpu" and any(node["Resources"].get("GPU") for node in alive)
        for node in alive:
            resources = node["Resources"]
            gpus = int(resources.get("GPU", 0)) if uses_gpus else 0
            if (uses_gpus and not gpus) or self._failures.get(node["NodeID"], 0) >= _MOST_FAILURES:
                continue
            for _ in range((gpus or 1) - sum(held.node == node["NodeID"] for held in self._held.values())):
                self._begin(node["NodeID"], int(resources["CPU"]), gpus)

    def _begin(self, node: str, cores: int, gpus: int) -> None:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        self._started += 1
        slots = max(1, cores // (gpus or 1))
        name = f"{node[:8]} #{self._started}"
        kind = self._ray.remote(Actor).options(
            num_cpus=slots,
            num_gpus=1 if gpus else 0,
            max_concurrency=slots + MOST_AT_ONCE + 1,
            max_restarts=0,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False),
        )
        terms = Terms(self._asked, slots, cores)
        self._held[name] = held = _Held(node, slots, kind.remote(terms, self._sources, self._blobs))
        self._calls[held.actor.hello.remote()] = name, None


def ray_places(asked: Asked, address: str, paths: Sequence[Path]) -> RayPlaces:
    """The places of the cluster at that address. Raises FarmError where there is no Ray, or no such cluster."""
    try:
        import ray
    except ImportError as error:
        raise FarmError("--ray needs Ray: pip install 'tritonaudit[cluster]'") from error
    if not ray.is_initialized():
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise FarmError(f"--ray {address}: {error}") from error
    return RayPlaces(ray, asked, paths)
