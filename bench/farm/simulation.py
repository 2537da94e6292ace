"""A farm in simulated time: the real scheduler, and leases that take as long as was measured on an H100."""

from __future__ import annotations

import heapq
import random
from collections import Counter
from dataclasses import dataclass, field
from itertools import count

from tritonaudit.farm.scheduler import Ending, Lease, Place, Scheduler, Stage

TRIED = (
    (20, 9.5), (6, 7.4), (6, 8.1), (6, 9.5), (6, 5.1), (6, 8.7), (6, 9.3), (6, 10.4),
    (6, 3.9), (6, 6.5), (6, 22.8), (6, 8.4), (5, 7.5), (4, 7.7), (5, 4.9),
)  # fmt: skip
"""Of a hundred files how many took so many seconds to be tried, 16 at a time: the table in bench/kernelbench/h100.md.

The first are the right ones, which alone are timed.
"""
TIMED = 4.25
"""Seconds that timing adds for each right one there: 228 s in place of 143 s, for twenty of them."""
_SPREAD = 0.25
"""Of the logarithm of a duration: that of files of one row was not kept, so this is assumed."""
_NODE_BACK = 120.0


@dataclass(frozen=True)
class Farm:
    """What is simulated."""

    subjects: int
    nodes: int
    gpus: int
    cores: int
    failures: float
    losses: float
    seed: int


@dataclass
class Result:
    """What came out.

    Of the timing slots' time a share was `useful`; for the rest their nodes were `absent`, or they were busy with what
    was `spoilt` by failures, or `idle`, of which `starting` until the first subject was right. No schedule could end
    before the `bound`: until then the nodes that were there had not had time for the work, had nothing failed.
    """

    seconds: float = 0.0
    bound: float = 0.0
    useful: float = 0.0
    absent: float = 0.0
    spoilt: float = 0.0
    idle: float = 0.0
    starting: float = 0.0
    leases: int = 0
    failed: int = 0
    nodes_lost: int = 0
    reported: int = 0
    given_up: int = 0
    reported_twice: int = 0
    trying_busy: float = 0.0


@dataclass
class _Work:
    """What the subjects take: seconds of trying, and of timing, which is 0 for what is not timed."""

    tried: list[float]
    timed: list[float]


def _work(farm: Farm, chance: random.Random) -> _Work:
    rows = [seconds for number, seconds in TRIED for _ in range(number)]
    right = TRIED[0][0]
    tried, timed = [], []
    for _ in range(farm.subjects):
        row = chance.randrange(len(rows))
        tried.append(rows[row] * chance.lognormvariate(0, _SPREAD))
        timed.append(TIMED * chance.lognormvariate(0, _SPREAD) if row < right else 0.0)
    return _Work(tried, timed)


@dataclass
class _Simulation:
    farm: Farm
    chance: random.Random
    work: _Work
    scheduler: Scheduler
    result: Result = field(default_factory=Result)
    now: float = 0.0
    events: list[tuple[float, int, Lease | int, bool]] = field(default_factory=list)
    """When what ends: a lease, which failed or not, or the absence of a node."""
    order: count[int] = field(default_factory=count)
    reported: Counter[int] = field(default_factory=Counter)
    busy: Counter[Stage] = field(default_factory=Counter)
    running: dict[int, tuple[Lease, float]] = field(default_factory=dict)
    """Leases, and when they began."""
    lost: list[float] = field(default_factory=list)
    """When nodes went, one after the other."""
    first_timed: float | None = None

    def run(self) -> Result:
        for node in range(self.farm.nodes):
            self.join(node)
        while not self.scheduler.is_over:
            for lease in self.scheduler.starts():
                self.begin(lease)
            self.now, _, what, fails = heapq.heappop(self.events)
            if isinstance(what, int):
                self.join(what)
            else:
                self.end(what, fails=fails)
        return self.summed()

    def places(self, node: int) -> list[Place]:
        return [Place(f"{node}:{gpu}", self.farm.cores, times=1) for gpu in range(self.farm.gpus)]

    def join(self, node: int) -> None:
        for place in self.places(node):
            self.scheduler.join(place)

    def begin(self, lease: Lease) -> None:
        work = self.work.timed if lease.stage is Stage.TIME else self.work.tried
        fails = self.chance.random() < self.farm.failures
        seconds = work[lease.subject] * (self.chance.random() if fails else 1.0)
        self.result.leases += 1
        self.running[lease.number] = lease, self.now
        if lease.stage is Stage.TIME and self.first_timed is None:
            self.first_timed = self.now
        heapq.heappush(self.events, (self.now + seconds, next(self.order), lease, fails))

    def end(self, lease: Lease, *, fails: bool) -> None:
        self.count_busy(lease)
        if fails:
            self.result.failed += 1
            ending = self.scheduler.failed(lease.number)
            self.hear(lease.subject, ending)
            if ending is not Ending.STALE and self.chance.random() < self.farm.losses:
                self.lose(int(lease.place.partition(":")[0]))
        elif lease.stage is Stage.TIME:
            self.hear(lease.subject, self.scheduler.timed(lease.number))
        else:
            is_timed = self.work.timed[lease.subject] > 0
            self.hear(lease.subject, self.scheduler.tried(lease.number, is_to_be_timed=is_timed))

    def count_busy(self, lease: Lease) -> None:
        _, began = self.running.pop(lease.number, (lease, self.now))
        self.busy[lease.stage] += self.now - began

    def lose(self, node: int) -> None:
        self.lost.append(self.now)
        for lease in [lease for lease, _ in self.running.values() if lease.place.startswith(f"{node}:")]:
            self.count_busy(lease)
        for place in self.places(node):
            for subject, ending in self.scheduler.leave(place.name):
                self.hear(subject, ending)
        heapq.heappush(self.events, (self.now + _NODE_BACK, next(self.order), node, False))

    def hear(self, subject: int, ending: Ending) -> None:
        if ending in (Ending.DONE, Ending.GIVEN_UP):
            self.reported[subject] += 1
            self.result.given_up += ending is Ending.GIVEN_UP

    def summed(self) -> Result:
        gpus, result = self.farm.nodes * self.farm.gpus, self.result
        timing = gpus * self.now
        result.seconds = self.now
        result.bound = self.bound()
        result.nodes_lost = len(self.lost)
        result.absent = sum(min(_NODE_BACK, self.now - lost) for lost in self.lost) / (self.farm.nodes * self.now)
        result.useful = sum(self.work.timed) / timing
        result.spoilt = self.busy[Stage.TIME] / timing - result.useful
        result.idle = 1 - result.useful - result.spoilt - result.absent
        result.starting = (self.now if self.first_timed is None else self.first_timed) / self.now
        result.reported = len(self.reported)
        result.reported_twice = sum(number > 1 for number in self.reported.values())
        result.trying_busy = self.busy[Stage.TRY] / (timing * self.farm.cores)
        return result

    def bound(self) -> float:
        """When the nodes that were there had had time for all the work, of the one kind or the other."""
        of_node = self.farm.gpus
        needed = max(sum(self.work.tried) / (of_node * self.farm.cores), sum(self.work.timed) / of_node)
        changes = [*((lost, -1) for lost in self.lost), *((lost + _NODE_BACK, 1) for lost in self.lost)]
        then, there = 0.0, self.farm.nodes
        for moment, change in sorted(changes):
            if (moment - then) * there >= needed:
                break
            needed -= (moment - then) * there
            then, there = moment, there + change
        return then + needed / there


def simulated(farm: Farm) -> Result:
    """What the farm comes to."""
    chance = random.Random(farm.seed)
    work = _work(farm, chance)
    return _Simulation(farm, chance, work, Scheduler(farm.subjects)).run()
