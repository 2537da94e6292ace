"""How the rules of the measure stage judge what was timed and counted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.measured import CASE, GIGABYTES, GPU, SPAN, counter, kernel, missed, of_size, profiled, row, timed
from tritonaudit.audit import united
from tritonaudit.compile.places import Place
from tritonaudit.finding import Audit, Cause, Confidence, Finding, Severity, Span, Stage, Status
from tritonaudit.measure.counters import IDEAL, INSTRUCTIONS, READ, SAMPLES, SECTORS, SPILLS, WRITTEN
from tritonaudit.measure.facts import MeasuredKernel, Role
from tritonaudit.measure.stalls import STALLS
from tritonaudit.rule import Hit
from tritonaudit.rules import all_rules, find_rule

MEASURED = [rule.code for rule in all_rules() if rule.stage() is Stage.MEASURE]


def hits(code: str, facts: Any) -> list[Hit]:
    rule = find_rule(code)
    assert rule is not None
    return list(rule().check(facts))


def hit(code: str, facts: Any) -> Hit:
    (found,) = hits(code, facts)
    return found


def facts_for(code: str) -> type:
    rule = find_rule(code)
    assert rule is not None
    return rule.facts()


@pytest.mark.parametrize("code", MEASURED)
def test_what_was_not_measured_is_not_judged(code: str) -> None:
    empty = kernel(missed("there is no GPU")) if facts_for(code) is MeasuredKernel else profiled(row=None)
    assert hits(code, empty) == []


@pytest.mark.parametrize("code", MEASURED)
@pytest.mark.parametrize("reason", ["wrong after the timing: output", "while it was timed it replaced torch.add"])
def test_of_a_wrong_result_no_time_is_reported(code: str, reason: str) -> None:
    if facts_for(code) is MeasuredKernel:
        wrong = row(50.0, 1.0, 1.0, spread=0.5).refused(reason)
        assert hits(code, kernel(wrong)) == []


# TAP501, TAP502


CONTENDERS = [("TAP501", Role.PYTORCH, "PyTorch"), ("TAP502", Role.COMPILED, "torch.compile")]


@pytest.mark.parametrize(("code", "role", "name"), CONTENDERS)
def test_the_worst_size_is_reported_with_its_times(code: str, role: Role, name: str) -> None:
    worst = of_size(row(4.0, 1.0, 1.0), "small", n=1000)
    found = hit(code, kernel(row(2.0, 1.0, 1.0), worst, row(1.0, 2.0, 2.0)))
    assert found.where == SPAN
    assert found.message == (
        f"`softmax` is 0.25 times as fast as {name} at n=1000 float32: 4.00 ms against 1.00 ms, and at 1 further size"
    )
    assert found.witness is not None
    assert found.witness.description == f"the subject 'softmax' on {GPU.name}, driver {GPU.driver}"


@pytest.mark.parametrize(("code", "role", "name"), CONTENDERS)
def test_a_named_size_is_reported_before_a_worse_one_that_has_no_name(code: str, role: Role, name: str) -> None:
    unnamed = of_size(row(4.0, 1.0, 1.0), "", n=1)
    assert (
        f"is 0.50 times as fast as {name} at n=1000"
        in hit(code, kernel(unnamed, of_size(row(2.0, 1.0, 1.0), "small", n=1000))).message
    )
    assert f"is 0.25 times as fast as {name} at n=1 " in hit(code, kernel(unnamed)).message


@pytest.mark.parametrize(("code", "role", "name"), CONTENDERS)
def test_the_other_contender_is_another_rule(code: str, role: Role, name: str) -> None:
    others = {"TAP501": row(2.0, None, 1.0), "TAP502": row(2.0, 1.0, None)}
    assert hits(code, kernel(others[code])) == []


@pytest.mark.parametrize("times", [(1.0, 1.0), (1.0, 1.2), (1.0, 0.98), (0.0015, 0.001)])
def test_what_is_no_slower_or_by_less_than_anyone_feels_is_not_called_so(times: tuple[float, float]) -> None:
    assert hits("TAP501", kernel(row(*times))) == []


def test_without_an_interval_below_1_nothing_is_slower() -> None:
    one = row(2.0, 1.0)
    wide = replace(one.timed[1], speedup=replace(one.timed[1].speedup, high=1.1))
    assert hits("TAP501", kernel(replace(one, timed=(one.timed[0], wide)))) == []


def test_where_no_speedup_is_claimed_none_is_reported() -> None:
    one = row(2.0, 1.0)
    unstable = replace(one, timed=(one.timed[0], timed(Role.PYTORCH, 1.0)), status=Status.WARN)
    assert hits("TAP501", kernel(unstable)) == []


# TAP503, TAP507: a row of so many bytes takes 1 ms at the measured bandwidth


@pytest.mark.parametrize(
    ("milliseconds", "codes"),
    [
        (1.0, []),
        (1.1, []),  # 91 %
        (1.12, ["TAP507"]),  # 89 %
        (1.99, ["TAP507"]),
        (2.01, ["TAP503"]),
        (100.0, ["TAP503"]),
    ],
)
def test_a_size_reaches_the_target_or_half_of_the_roof_or_less(milliseconds: float, codes: list[str]) -> None:
    assert [code for code in ("TAP503", "TAP507") if hits(code, kernel(row(milliseconds)))] == codes


def test_low_efficiency_names_the_roof() -> None:
    assert hit("TAP503", kernel(row(4.0))).message == (
        "`softmax` reaches 25% of the roof at n=67108864 float32: it takes 4.00 ms, and the measured copy bandwidth of"
        " 3000 GB/s would allow 1.00 ms"
    )
    product = hit("TAP503", kernel(row(8.0, flops=1.5e12)))
    assert "the measured rate of matrix products, float16 of 750 TFLOP/s would allow 2.00 ms" in product.message
    assert product.remedy != hit("TAP503", kernel(row(4.0))).remedy


def test_the_target_is_of_the_largest_size() -> None:
    small = of_size(row(0.18, bytes=GIGABYTES / 10), "medium", n=1 << 20)
    assert hits("TAP507", kernel(small, row(1.0))) == []
    found = hit("TAP507", kernel(of_size(row(0.1, bytes=GIGABYTES / 10), "medium", n=1 << 20), row(1.5)))
    assert found.message == (
        "`softmax` reaches 67% of the roof at its largest size, n=67108864 float32: the target of 90% is 1.11 ms, and"
        " it takes 1.50 ms"
    )


@pytest.mark.parametrize("code", ["TAP503", "TAP504", "TAP507"])
def test_of_little_work_no_efficiency_is_reported(code: str) -> None:
    little = row(0.1, bytes=2e7)
    assert hits(code, kernel(of_size(row(0.007, bytes=2e7), "small", n=1000), little)) == []


@pytest.mark.parametrize("code", ["TAP503", "TAP504", "TAP507", "TAP506"])
def test_of_unknown_work_no_efficiency_is_reported(code: str) -> None:
    unknown = row(50.0, bytes=None)
    assert unknown.roofline is not None
    assert unknown.roofline.reached is None
    assert hits(code, kernel(unknown)) == []


# TAP504


def test_time_that_grows_faster_than_the_work_is_reported_with_both() -> None:
    small, large = of_size(row(0.1, bytes=GIGABYTES / 10), "small", n=1000), row(4.0)
    assert hit("TAP504", kernel(large, small)).message == (
        "the time of `softmax` grows 40 times from n=1000 float32 to n=67108864 float32, and its work 10 times"
    )


def test_time_that_grows_with_the_work_or_slower_is_as_expected() -> None:
    slow_small = of_size(row(1.0, bytes=GIGABYTES / 10), "small", n=1000)
    for large in (1.0, 10.0, 14.0):
        assert hits("TAP504", kernel(slow_small, row(large))) == []


def test_dtypes_are_compared_with_themselves() -> None:
    small = of_size(row(0.1, bytes=GIGABYTES / 10), "small", n=1000)
    assert hits("TAP504", kernel(replace(small, case=replace(small.case, dtype="float16")), row(4.0))) == []


# TAP505


def test_times_that_spread_are_unstable() -> None:
    unstable = row(1.0, spread=0.25, status=Status.WARN, reason="unstable")
    found = hit("TAP505", kernel(unstable, row(1.0)))
    assert "spreads over 25% of their median, so that no speed-up is claimed" in found.message
    assert hits("TAP505", kernel(row(1.0, spread=0.09))) == []
    assert hits("TAP505", kernel(row(0.002, bytes=1e5, spread=0.2))) == []  # less than half a microsecond


# TAP506


def test_a_time_that_cannot_be_is_an_error() -> None:
    impossible = row(0.1, 0.2)
    assert (impossible.status, impossible.reason) == (Status.FAIL, "faster than the GPU can be")
    found = hit("TAP506", kernel(impossible))
    assert found.message.startswith("`softmax` takes 0.100 ms at n=67108864 float32, and the datasheet of NVIDIA H100")
    assert hits("TAP501", kernel(impossible)) == hits("TAP507", kernel(impossible)) == []


@pytest.mark.parametrize("milliseconds", [0.9, 1.0, 4.0])
def test_a_time_that_can_be_is_none(milliseconds: float) -> None:
    assert hits("TAP506", kernel(row(milliseconds))) == []


# TAM501


def sectors(asked: float, ideal: float, line: int = 9) -> tuple[Any, Any]:
    return counter(SECTORS, asked, line), counter(IDEAL, ideal, line)


def test_sectors_that_are_half_used_are_reported_at_the_access() -> None:
    found = hit("TAM501", profiled(*sectors(2097152, 262144)))
    assert found.where == Span(9, 9, 9, 30)
    assert found.message == (
        "at n=67108864 float32, this load asks L2 for 8.0 times the sectors that its bytes fill: 2,097,152 of 32 bytes"
        " instead of 262,144"
    )
    store = profiled(*sectors(200, 100), places={9: Place(SPAN, "store")})
    assert "this store asks L2 for 2.0 times" in hit("TAM501", store).message


@pytest.mark.parametrize(("asked", "ideal"), [(1000, 1000), (1990, 1000), (1000, 0)])
def test_sectors_that_are_used_are_as_they_should_be(asked: float, ideal: float) -> None:
    assert hits("TAM501", profiled(*sectors(asked, ideal))) == []


def test_few_sectors_of_a_kernel_cost_little() -> None:
    assert hits("TAM501", profiled(*sectors(80, 10), *sectors(1000, 1000, 12))) == []
    assert hits("TAM501", profiled(*sectors(800, 100), *sectors(1000, 1000, 12)))


def test_each_line_is_reported() -> None:
    assert len(hits("TAM501", profiled(*sectors(800, 100), *sectors(800, 100, 12)))) == 2


# TAM502


def moved(read: float, written: float, **said: Any) -> Any:
    return profiled(counter(READ, read), counter(WRITTEN, written), **said)


def test_bytes_that_are_moved_for_nothing_are_reported() -> None:
    found = hit("TAM502", moved(3 * GIGABYTES, GIGABYTES / 5))
    assert found.where == SPAN
    assert found.message == (
        "`softmax_kernel` moves 3.2 times the bytes needed at n=67108864 float32: 8,583.1 MiB read and 572.2 MiB"
        " written, and its work takes 2,861.0 MiB (counted)"
    )


@pytest.mark.parametrize("times", [0.7, 1.0, 1.49])
def test_bytes_that_are_needed_may_be_moved(times: float) -> None:
    assert hits("TAM502", moved(times * GIGABYTES, 0)) == []


def test_of_one_kernel_among_several_the_needed_bytes_are_unknown() -> None:
    assert hits("TAM502", moved(3 * GIGABYTES, 0, is_alone=False)) == []
    assert hits("TAM502", moved(3 * GIGABYTES, 0, row=row(1.0, bytes=None))) == []


def test_bytes_that_cost_no_time_may_be_moved() -> None:
    """At 750 TFLOP/s these operations take 4 ms, in which 12 GB can be moved."""
    product = row(4.0, flops=3e12)
    assert hits("TAM502", moved(3 * GIGABYTES, 0, row=product)) == []
    assert hits("TAM502", moved(5 * GIGABYTES, 0, row=product))


# TAM503


def spilled(share: float, **said: Any) -> Any:
    return profiled(counter(SPILLS, share * 1e6), counter(INSTRUCTIONS, 1e6), **said)


def test_spilling_is_reported_with_its_share() -> None:
    found = hit("TAM503", spilled(0.123))
    assert "12.3% of the instructions that its warps execute, 123,000, store registers" in found.message
    assert (found.severity, found.confidence) == (None, None)
    assert hits("TAM503", spilled(0)) == []


def test_little_spilling_is_pedantic() -> None:
    found = hit("TAM503", spilled(0.001))
    assert (found.severity, found.confidence) == (Severity.INFO, Confidence.LOW)


def test_spilling_that_the_compiler_reported_too_is_reported_once() -> None:
    """By the stage that has the surest evidence."""
    measured = hit("TAM503", spilled(0.2))
    usual: dict[str, Any] = {"severity": Severity.WARNING, "confidence": Confidence.HIGH, "path": "kernels.py"}
    usual |= {"span": SPAN, "kernel": "softmax_kernel", "cause": Cause.SPILL}
    seen = Finding("TAM503", "measured-spill", message=measured.message, **usual)
    compiled = Finding("TAP301", "register-spill", message="it spills", **usual)
    assert measured.cause is Cause.SPILL
    (reported,) = united([Audit((compiled,)), Audit((seen,))]).findings
    assert reported.code == "TAM503"
    assert reported.related[0].message == "TAP301 register-spill reports the same: it spills"


# TAP508


def waiting(*reasons: tuple[str, int], all: int = 1000, **said: Any) -> Any:
    counters = [counter(SAMPLES, samples, 9 + number, reason) for number, (reason, samples) in enumerate(reasons)]
    return profiled(counter(SAMPLES, all, unit="all"), *counters, **said)


def test_a_stall_is_reported_in_words_with_what_helps() -> None:
    found = hit("TAP508", waiting(("long_sb", 620), ("wait", 100)))
    assert found.where == Span(9, 9, 9, 30)
    assert found.message == (
        "of all waiting in `softmax_kernel` 62% is in this line, for what an earlier load from global or local memory"
        " brings (long scoreboard), at n=67108864 float32, where 50% of the roof is reached"
    )
    assert found.remedy == STALLS["long_sb"].remedy


def test_waiting_for_many_things_has_no_one_cause() -> None:
    assert hits("TAP508", waiting(("long_sb", 500), ("barrier", 450))) == []


def test_waiting_at_the_target_is_what_a_bound_kernel_does() -> None:
    assert hits("TAP508", waiting(("long_sb", 900), row=row(1.05))) == []
    assert hits("TAP508", waiting(("long_sb", 900), row=row(50.0, bytes=None))) == []


def test_warps_whose_turn_it_is_not_wait_for_nothing() -> None:
    assert hits("TAP508", waiting(("not_selected", 900))) == []


def test_of_few_samples_nothing_is_reported() -> None:
    assert hits("TAP508", waiting(("long_sb", 60), all=70)) == []


@pytest.mark.parametrize("reason", STALLS)
def test_each_reason_says_what_is_waited_for_and_what_helps(reason: str) -> None:
    found = hit("TAP508", waiting((reason, 900)))
    assert STALLS[reason].meaning in found.message
    assert found.remedy


def test_the_case_is_that_of_the_profile() -> None:
    assert CASE.label in hit("TAP508", waiting(("wait", 900))).message
