"""The scheduler, where places come and go at random: nothing is lost, reported twice, or timed beside others."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tritonaudit.farm.scheduler import MOST_TRIES, Ending, Lease, Place, Scheduler, Stage

LAST = Place("last", 2, times=1)
"""It comes in the end, and does not go."""


@dataclass
class World:
    """Runs leases, and keeps what is reported of each subject, and where it failed."""

    scheduler: Scheduler
    running: dict[int, Lease] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    reported: Counter[int] = field(default_factory=Counter)
    given_up: set[int] = field(default_factory=set)
    failures: Counter[int] = field(default_factory=Counter)
    failed_at: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))

    def start(self) -> None:
        for lease in self.scheduler.starts():
            assert lease.number not in self.running
            assert not self.reported[lease.subject], "what is reported is done with"
            assert lease.subject not in {one.subject for one in self.running.values()}, "it is done twice at once"
            others = {
                name
                for name, place in self.places.items()
                if name not in self.failed_at[lease.subject] and (place.times or lease.stage is Stage.TRY)
            }
            assert lease.place not in self.failed_at[lease.subject] or not others, "it is tried where it failed"
            self.running[lease.number] = lease
        self.check_slots()

    def check_slots(self) -> None:
        by_place: dict[str, list[Lease]] = defaultdict(list)
        for lease in self.running.values():
            by_place[lease.place].append(lease)
        for name, leases in by_place.items():
            timed = [lease for lease in leases if lease.stage is Stage.TIME]
            assert len(timed) <= self.places[name].times, "no more are timed at once"
            assert len(leases) - len(timed) <= self.places[name].slots
            if any(self.failures[lease.subject] == MOST_TRIES - 1 for lease in leases):
                assert len(leases) == 1, "a last try has its place to itself"

    def hear(self, subject: int, ending: Ending) -> None:
        if ending in (Ending.DONE, Ending.GIVEN_UP):
            self.reported[subject] += 1
        if ending is Ending.GIVEN_UP:
            self.given_up.add(subject)

    def leave(self, name: str) -> None:
        held = [lease for lease in self.running.values() if lease.place == name]
        for lease in held:
            del self.running[lease.number]
            self.failures[lease.subject] += 1
            self.failed_at[lease.subject].add(name)
        heard = self.scheduler.leave(name)
        assert Counter(subject for subject, _ in heard) == Counter(lease.subject for lease in held)
        self.places.pop(name, None)
        for subject, ending in heard:
            self.hear(subject, ending)
        for lease in held:
            assert self.scheduler.tried(lease.number, is_to_be_timed=False) is Ending.STALE, "it answers late"

    def join(self, place: Place) -> None:
        self.scheduler.join(place)
        self.places[place.name] = place

    def end(self, lease: Lease, *, fails: bool, is_to_be_timed: bool) -> None:
        del self.running[lease.number]
        if fails:
            self.failures[lease.subject] += 1
            self.failed_at[lease.subject].add(lease.place)
            self.hear(lease.subject, self.scheduler.failed(lease.number))
        elif lease.stage is Stage.TIME:
            self.hear(lease.subject, self.scheduler.timed(lease.number))
        else:
            self.hear(lease.subject, self.scheduler.tried(lease.number, is_to_be_timed=is_to_be_timed))


@settings(max_examples=100, deadline=None)
@given(data=st.data(), subjects=st.integers(0, 25))
def test_nothing_is_lost_nothing_is_reported_twice_and_slots_are_kept(data: st.DataObject, subjects: int) -> None:
    world = World(Scheduler(subjects))
    names = iter(f"place {number}" for number in range(1000))
    for _ in range(data.draw(st.integers(0, 60))):
        world.start()
        deed = data.draw(st.sampled_from(("join", "leave", "end", "end", "end", "end")))
        if deed == "join":
            world.join(Place(next(names), data.draw(st.integers(1, 4)), times=data.draw(st.integers(0, 3))))
        elif deed == "leave" and world.places:
            world.leave(data.draw(st.sampled_from(sorted(world.places))))
        elif deed == "end" and world.running:
            lease = world.running[data.draw(st.sampled_from(sorted(world.running)))]
            world.end(lease, fails=data.draw(st.integers(0, 3)) == 0, is_to_be_timed=data.draw(st.booleans()))
    world.join(LAST)
    while not world.scheduler.is_over:
        world.start()
        assert world.running, "there is something to do, and a place for it"
        assert not world.scheduler.is_stuck
        world.end(next(iter(world.running.values())), fails=False, is_to_be_timed=True)
    assert world.reported == Counter(range(subjects))
    assert all(world.failures[subject] == MOST_TRIES for subject in world.given_up)
    assert all(count < MOST_TRIES for subject, count in world.failures.items() if subject not in world.given_up)


def test_what_fails_everywhere_is_given_up_after_its_third_try() -> None:
    scheduler = Scheduler(1)
    for number in range(4):
        scheduler.join(Place(str(number), 1))
    endings, places = [], []
    while not scheduler.is_over:
        (lease,) = scheduler.starts()
        places.append(lease.place)
        endings.append(scheduler.failed(lease.number))
    assert endings == [Ending.AGAIN, Ending.AGAIN, Ending.GIVEN_UP]
    assert len(set(places)) == 3


def test_on_a_single_place_it_is_tried_again_there() -> None:
    scheduler = Scheduler(1)
    scheduler.join(Place("only", 1))
    (first,) = scheduler.starts()
    scheduler.failed(first.number)
    (second,) = scheduler.starts()
    assert second.place == "only"


def test_the_first_subjects_are_spread_over_all_places() -> None:
    scheduler = Scheduler(4)
    for name in "abcd":
        scheduler.join(Place(name, 8))
    assert sorted(lease.place for lease in scheduler.starts()) == list("abcd")


def test_little_waits_for_a_gpu_that_is_slow_to_time() -> None:
    scheduler = Scheduler(1000)
    scheduler.join(Place("gpu", 10, times=1))
    waiting = -1  # the one that is timed
    while leases := [lease for lease in scheduler.starts() if lease.stage is Stage.TRY]:
        for lease in leases:
            scheduler.tried(lease.number, is_to_be_timed=True)
            waiting += 1
    assert waiting < 20


def test_no_place_and_no_gpu_are_reported_as_being_stuck() -> None:
    scheduler = Scheduler(1)
    assert scheduler.is_stuck
    scheduler.join(Place("cpu", 1))
    assert not scheduler.is_stuck
    (lease,) = scheduler.starts()
    scheduler.tried(lease.number, is_to_be_timed=True)
    assert scheduler.is_stuck
    scheduler.join(Place("gpu", 1, times=1))
    assert not scheduler.is_stuck


@pytest.mark.parametrize("slots", [0, -1])
def test_a_place_without_slots_is_refused(slots: int) -> None:
    with pytest.raises(ValueError, match="slots"):
        Scheduler(1).join(Place("none", slots))
