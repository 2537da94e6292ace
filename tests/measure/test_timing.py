"""How calls are timed: in turns, with what they change restored; and on a GPU, what their times tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="torch launches what is timed")

from tritonaudit.measure import timing  # noqa: E402
from tritonaudit.measure.statistics import speedup  # noqa: E402
from tritonaudit.measure.timing import (  # noqa: E402
    CUPTI,
    LEAST_ROUNDS,
    Contender,
    Stopwatch,
    Times,
    _covered,
    _rotated,
)

INTERVALS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 30)), max_size=12)


@given(INTERVALS)
def test_what_runs_at_once_is_counted_once(given: list[tuple[int, int]]) -> None:
    intervals = sorted((start, start + length) for start, length in given)
    assert _covered(intervals) == len({tick for start, end in intervals for tick in range(start, end)})


def test_gaps_between_kernels_are_no_work() -> None:
    assert _covered([(100, 200), (150, 180), (190, 250), (1000, 1001)]) == 151
    assert _covered([]) == 0


@pytest.mark.parametrize("number", [1, 2, 3, 5])
def test_contenders_take_turns_in_going_first(number: int) -> None:
    contenders = [Contender(str(place), print) for place in range(number)]
    rounds = [_rotated(contenders, turn) for turn in range(2 * number)]
    assert all(sorted(one.name for one in turn) == [one.name for one in contenders] for turn in rounds)
    assert [turn[0] for turn in rounds] == contenders * 2


def test_the_kernels_own_time_is_reported_where_there_is_one() -> None:
    both, events = Times([1.0], [2.0], [3.0]), Times([], [2.0], [3.0])
    assert (both.device, both.method) == ([1.0], CUPTI)
    assert (events.device, events.method) == ([2.0], "CUDA events")


class Counting(Stopwatch):
    """Has no GPU, and times by its own clock: each round takes the seconds that its kind takes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, round_seconds: float, spread: float) -> None:
        self._round, self._spread, self.now, self.profiled = round_seconds, spread, 0.0, []
        monkeypatch.setattr(timing.time, "monotonic", lambda: self.now)

    def _taken(self, number: int) -> float:
        self.now += self._round / 3
        return 1.0 + self._spread * (number % 2)

    def _event_time(self, contender: Contender, number: int) -> float:
        return self._taken(number)

    def _wall_time(self, contender: Contender, number: int) -> float:
        return self._taken(number)

    def _profile(self, contenders: Any, rounds: range, found: dict[str, Times]) -> None:
        self.profiled.append(rounds)
        for number in rounds:
            found[contenders[0].name].busy.append(self._taken(number))


def rounds_of(watch: Counting, seconds: float) -> int:
    times = watch.time([Contender("it", print)], seconds)["it"]
    assert len(times.busy) == len(times.events) == len(times.wall)
    assert [number for rounds in watch.profiled for number in rounds] == list(range(len(times.busy)))
    return len(times.busy)


def test_rounds_end_once_the_median_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rounds_of(Counting(monkeypatch, 0.001, 0.0), 2.0) == LEAST_ROUNDS


@pytest.mark.parametrize("seconds", [0.3, 1.0, 2.0])
def test_else_they_take_the_time_that_they_are_given_and_no_more(
    seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The profiler's share of it is kept for the profiler."""
    watch = Counting(monkeypatch, 0.01, 0.1)
    assert rounds_of(watch, seconds) > LEAST_ROUNDS
    assert 0.9 * seconds <= watch.now <= 1.1 * seconds


def test_there_are_never_more_than_the_most_or_fewer_than_the_least(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rounds_of(Counting(monkeypatch, 0.0001, 0.1), 10.0) == 400
    assert rounds_of(Counting(monkeypatch, 1.0, 0.1), 2.0) == LEAST_ROUNDS


# on a GPU


@pytest.fixture
def x() -> Iterator[Any]:
    if not torch.cuda.is_available():
        pytest.skip("no GPU: nothing can be timed")
    yield torch.randn(1 << 26, device="cuda")
    torch.cuda.empty_cache()


def timed(watch: Stopwatch, **functions: Callable[..., Any]) -> dict[str, Times]:
    contenders = [Contender(name, function) for name, function in functions.items()]
    for contender in contenders:
        watch.once(contender)
    return watch.time(contenders, 1.0)


def milliseconds(times: Times) -> float:
    return median(times.device)


def test_each_contender_has_as_many_times_of_each_kind(x: Any) -> None:
    found = timed(Stopwatch([((x,), {})]), copy=torch.clone, double=lambda x: x * 2)
    (rounds,) = {len(kind) for times in found.values() for kind in (times.busy, times.events, times.wall)}
    assert rounds >= LEAST_ROUNDS
    assert {times.method for times in found.values()} == {CUPTI}
    assert all(time > 0 for times in found.values() for kind in (times.busy, times.wall) for time in kind)


def test_twice_the_work_takes_twice_as_long(x: Any) -> None:
    found = timed(Stopwatch([((x,), {})]), once=lambda x: x * 2, twice=lambda x: (x * 2, x * 3))
    assert 1.9 <= milliseconds(found["twice"]) / milliseconds(found["once"]) <= 2.1


def test_a_contender_is_as_fast_as_itself(x: Any) -> None:
    found = timed(Stopwatch([((x,), {})]), one=torch.clone, other=lambda x: x.clone())
    ratio = speedup(found["one"].device, found["other"].device)
    assert not ratio.is_faster
    assert not ratio.is_slower


def test_the_cpu_and_the_launch_count_in_the_wall_time_alone() -> None:
    if not torch.cuda.is_available():
        pytest.skip("no GPU: nothing can be timed")
    small = torch.randn(1024, device="cuda")
    found = timed(Stopwatch([((small,), {})]), small=lambda x: x * 2)["small"]
    assert median(found.busy) < min(0.01, median(found.wall))


def test_what_lies_in_a_cache_is_flushed() -> None:
    """8 MiB fit into the last cache: if they still were there, they would be read several times as fast."""
    if not torch.cuda.is_available():
        pytest.skip("no GPU: nothing can be timed")
    little, much = (torch.randn(size, device="cuda") for size in (1 << 21, 1 << 26))
    rates = [
        one.numel() / milliseconds(timed(Stopwatch([((one,), {})]), sum=lambda x: x.sum())["sum"])
        for one in (little, much)
    ]
    assert rates[0] < 1.2 * rates[1]


def test_work_on_a_stream_that_nobody_waits_for_is_counted(x: Any) -> None:
    side = torch.cuda.Stream()

    def hidden(x: Any) -> Any:
        with torch.cuda.stream(side):
            return x * 2

    found = timed(Stopwatch([((x,), {})]), open=lambda x: x * 2, hidden=hidden)
    assert 0.9 <= milliseconds(found["hidden"]) / milliseconds(found["open"]) <= 1.2


def test_what_a_call_changes_is_restored_before_the_next(x: Any) -> None:
    before = x.clone()
    watch = Stopwatch([((x,), {})], changes=True)
    contender = Contender("grow", lambda x: x.add_(1))
    timed(watch, grow=contender.function)
    for number in range(3):
        assert torch.equal(watch.once(contender, number), before + 1)


def test_sets_of_inputs_take_turns(x: Any) -> None:
    sets = [torch.full((8,), float(number), device="cuda") for number in range(3)]
    watch = Stopwatch([((one,), {}) for one in sets])
    contender = Contender("same", lambda x: x.clone())
    assert [watch.once(contender, number)[0].item() for number in range(6)] == [0, 1, 2, 0, 1, 2]


def test_with_gradients_the_backward_pass_is_timed_and_leaves_nothing(x: Any) -> None:
    forward = timed(Stopwatch([((x,), {})]), both=lambda x: x * x)["both"]
    leaf = x.clone().requires_grad_()
    watch = Stopwatch([((leaf,), {})], gradients=True)
    both = timed(watch, both=lambda x: x * x)["both"]
    assert milliseconds(both) > 1.8 * milliseconds(forward)
    watch.once(Contender("both", lambda x: x * x))
    first = leaf.grad.clone()
    watch.once(Contender("both", lambda x: x * x))
    assert torch.equal(leaf.grad, first)  # not twice as much
