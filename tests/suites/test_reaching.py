"""What of a call's arithmetic can have got into its results."""

from __future__ import annotations

from tritonaudit.suites.arithmetic import Spent
from tritonaudit.suites.reaching import Step, reaching

INPUT, SCRATCH, RESULT = 1, 2, 3
LAUNCH = Step(Spent(), frozenset((RESULT,)))


def operator(reads: int, *writes: int) -> Step:
    return Step(Spent(forward=10.0), frozenset(writes), frozenset((reads,)))


def counted(*steps: Step) -> float:
    return reaching(steps, {RESULT}).forward


def test_what_comes_before_a_launch_may_be_in_what_that_writes() -> None:
    assert counted(operator(INPUT, SCRATCH), LAUNCH) == 10


def test_what_comes_after_a_launch_counts_if_it_gets_into_the_results() -> None:
    assert counted(LAUNCH, operator(RESULT, SCRATCH), operator(SCRATCH, RESULT)) == 20
    assert counted(LAUNCH, operator(RESULT, SCRATCH)) == 0


def test_what_the_host_is_reported_counts_if_something_follows_that_it_could_be_in() -> None:
    assert counted(LAUNCH, operator(RESULT, SCRATCH), operator(SCRATCH)) == 0
    assert counted(operator(INPUT, SCRATCH), operator(SCRATCH), LAUNCH) == 20
    assert counted(LAUNCH, operator(INPUT, SCRATCH), operator(SCRATCH), operator(INPUT, RESULT)) == 30


def test_a_launch_that_writes_elsewhere_is_no_way_to_the_results() -> None:
    elsewhere = Step(Spent(), frozenset((SCRATCH,)))
    assert counted(LAUNCH, operator(RESULT, INPUT), elsewhere) == 0


def test_both_passes_are_kept_apart() -> None:
    backward = Step(Spent(backward=5.0), frozenset((RESULT,)), frozenset((INPUT,)))
    assert reaching((operator(INPUT, RESULT), backward), {RESULT}) == Spent(10, 5)
