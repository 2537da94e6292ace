"""Times calls on the GPU of this process: contenders take turns, with caches flushed and inputs rotated.

Imports torch: for worker processes.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch

from tritonaudit.measure.statistics import is_precise
from tritonaudit.subject.inputs import Arguments, eighths, tensors_in

LEAST_ROUNDS = 20
_MOST_ROUNDS = 400
_MARK = "spin_kernel"
"""The kernel of `torch.cuda._sleep`, which marks where a call begins and ends on the GPU's own time line."""
_MARK_CYCLES = 2000
_L2_TIMES = 2
_HEAD_START_CYCLES = 400_000
"""For which the GPU is kept busy, so that a call's launches wait for it, and not it for them."""
_ACTIVITIES = (torch.profiler.ProfilerActivity.CUDA,)
CUPTI, EVENTS = "the kernels' own time (CUPTI)", "CUDA events"


@dataclass(frozen=True, eq=False)
class Contender:
    """A function that is timed, under a name of its own."""

    name: str
    function: Callable[..., Any]


@dataclass
class Times:
    """Milliseconds of one contender, round by round.

    `busy` is for how long the GPU worked, `events` from before the first kernel to behind the last as CUDA events see
    it, `wall` from the call until the GPU had finished.
    """

    busy: list[float] = field(default_factory=list)
    events: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)

    @property
    def device(self) -> list[float]:
        """The kernels' own time; by events where there is no profiler."""
        return self.busy or self.events

    @property
    def method(self) -> str:
        return CUPTI if self.busy else EVENTS


@dataclass(eq=False)
class Stopwatch:
    """Times contenders on sets of inputs.

    `inputs` are equal in all but their numbers and places. Those that are `changed` by a call are restored before
    each. With gradients a call is the forward and the backward pass.
    """

    inputs: Sequence[Arguments]
    gradients: bool = False
    changes: bool = False

    def __post_init__(self) -> None:
        properties = torch.cuda.get_device_properties()
        size = max(_L2_TIMES * getattr(properties, "L2_cache_size", 0), 1 << 26)
        self._flushing = torch.zeros(size // 4, dtype=torch.int32, device="cuda")
        kept = self.changes
        self._pristine = [[t.detach().clone() for t in tensors_in(given)] if kept else [] for given in self.inputs]
        self._gradients: dict[tuple[torch.Size, torch.dtype], torch.Tensor] = {}
        self._has_profiler = True

    def once(self, contender: Contender, number: int = 0) -> Any:
        """What a call on the set of that number returns, which cannot know that it is not timed."""
        self._prepare(number)
        torch.cuda.synchronize()
        returned = self._call(contender, number)
        torch.cuda.synchronize()
        return returned

    def time(self, contenders: Sequence[Contender], seconds: float) -> dict[str, Times]:
        """Times by name, until they are precise or the seconds are spent, of at least `LEAST_ROUNDS` rounds."""
        found = {contender.name: Times() for contender in contenders}
        ends = time.monotonic() + seconds
        done = 0
        while True:
            rounds = range(done, min(done + max(LEAST_ROUNDS, done), _MOST_ROUNDS))
            done = self._watch(contenders, rounds, found, (time.monotonic() + ends) / 2)  # to profile takes the rest
            self._profile(contenders, range(rounds.start, done), found)
            precise = all(is_precise(times.device) for times in found.values())
            if precise or done >= _MOST_ROUNDS or time.monotonic() > ends:
                return found

    def _watch(self, contenders: Sequence[Contender], rounds: range, found: dict[str, Times], ends: float) -> int:
        """Add what events and the wall clock say of these rounds, until that time; the round that is next."""
        for number in rounds:
            for contender in _rotated(contenders, number):
                found[contender.name].events.append(self._event_time(contender, number))
                found[contender.name].wall.append(self._wall_time(contender, number))
            if number + 1 >= LEAST_ROUNDS and time.monotonic() > ends:
                return number + 1
        return rounds.stop

    def _wall_time(self, contender: Contender, number: int) -> float:
        self._prepare(number)
        torch.cuda.synchronize()
        began = time.perf_counter()
        self._call(contender, number)
        torch.cuda.synchronize()
        return 1000 * (time.perf_counter() - began)

    def _event_time(self, contender: Contender, number: int) -> float:
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        self._prepare(number)
        torch.cuda._sleep(_HEAD_START_CYCLES)
        begin.record()
        self._call(contender, number)
        end.record()
        torch.cuda.synchronize()
        return float(begin.elapsed_time(end))

    def _profile(self, contenders: Sequence[Contender], rounds: range, found: dict[str, Times]) -> None:
        """Add for how long the GPU was busy with the calls of these rounds, if a profiler can tell."""
        if not self._has_profiler:
            return
        turns = [(contender, number) for number in rounds for contender in _rotated(contenders, number)]
        with _no_warnings(), torch.profiler.profile(activities=_ACTIVITIES) as profiler:
            for contender, number in turns:
                self._prepare(number)
                torch.cuda._sleep(_MARK_CYCLES)
                torch.cuda.synchronize()
                self._call(contender, number)
                torch.cuda.synchronize()
                torch.cuda._sleep(_MARK_CYCLES)
            torch.cuda.synchronize()
        busy = list(_busy(profiler))
        if len(busy) == len(turns) and all(busy):
            for (contender, _), milliseconds in zip(turns, busy, strict=True):
                found[contender.name].busy.append(milliseconds)
        else:
            self._has_profiler = False
            for times in found.values():
                times.busy.clear()

    def _prepare(self, number: int) -> None:
        """Inputs as they were, and nothing of them in the caches.

        What takes their place there is read, not written: else the call would have to write it back to memory, which
        takes up to a third of the time of a short one (measured on an H100).
        """
        self._restore(number)
        self._flushing.sum()

    def _restore(self, number: int) -> None:
        place = number % len(self.inputs)
        tensors = list(tensors_in(self.inputs[place]))
        with torch.no_grad():
            for tensor, before in zip(tensors, self._pristine[place] or [], strict=False):
                tensor.copy_(before)
        for tensor in tensors:
            tensor.grad = None

    def _call(self, contender: Contender, number: int) -> Any:
        positional, keywords = self.inputs[number % len(self.inputs)]
        returned = contender.function(*positional, **keywords)
        if self.gradients:
            outputs = [one for one in tensors_in(returned) if one.is_floating_point() and one.requires_grad]
            torch.autograd.backward(outputs, [self._gradient_of(one) for one in outputs])
        return returned

    def _gradient_of(self, output: torch.Tensor) -> torch.Tensor:
        """What is passed backward, made once."""
        key = output.shape, output.dtype
        if key not in self._gradients:
            self._gradients[key] = eighths(output)
        return self._gradients[key]


def warm_up() -> None:
    """Have the profiler load what it needs, which takes it longer than to time a size."""
    with _no_warnings(), torch.profiler.profile(activities=_ACTIVITIES):
        torch.cuda._sleep(_MARK_CYCLES)
        torch.cuda.synchronize()


@contextmanager
def _no_warnings() -> Iterator[None]:
    """The profiler's own would be reported in each round."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _rotated(contenders: Sequence[Contender], number: int) -> Sequence[Contender]:
    """In another order each round, so that none always follows the same one."""
    first = number % len(contenders)
    return (*contenders[first:], *contenders[:first])


def _busy(profiler: Any) -> Iterator[float]:
    """For how many milliseconds something ran between each pair of marks, on any stream."""
    events = [one for one in profiler.profiler.kineto_results.events() if str(one.device_type()) == "DeviceType.CUDA"]
    ran = sorted((one.start_ns(), one.start_ns() + one.duration_ns(), one.name()) for one in events)
    intervals: list[tuple[int, int]] | None = None
    for start, end, name in ran:
        if _MARK in name:
            if intervals is not None:
                yield _covered(intervals) / 1e6
            intervals = None if intervals is not None else []
        elif intervals is not None:
            intervals.append((start, end))


def _covered(intervals: Sequence[tuple[int, int]]) -> int:
    """The length of the union of intervals, which are in the order of their starts."""
    covered, reached = 0, 0
    for start, end in intervals:
        covered += max(0, end - max(start, reached))
        reached = max(reached, end)
    return covered
