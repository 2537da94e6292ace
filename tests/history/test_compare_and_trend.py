"""What two entries differ in, and how figures went over many."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests import ran
from tests.history.entries import WRONG, entry, finding
from tests.measured import missed, of_size, row
from tritonaudit.finding import Confidence, Stage, Status
from tritonaudit.history.asked import asked_of
from tritonaudit.history.compare import Compared, compared
from tritonaudit.history.folder import HistoryError, Version
from tritonaudit.history.trend import Trend, trends

WHERE = "large n=67108864 float32"


def versions(*entries: dict[str, Any]) -> list[Version]:
    return [Version(number, one) for number, one in enumerate(entries, 1)]


def between(earlier: dict[str, Any], later: dict[str, Any]) -> Compared:
    return compared(*versions(earlier, later))


def reported(found: Compared) -> list[tuple[str, str, str]]:
    return [(one.move, one.name, one.shown) for _, differences in found.subjects for one in differences]


def test_a_verdict_gets_better_and_worse() -> None:
    right, wrong = entry(), entry(checks={WRONG: Status.FAIL})
    assert reported(between(wrong, right)) == [("better", WRONG, "fail → pass")]
    assert reported(between(right, wrong)) == [("worse", WRONG, "pass → fail")]


def test_what_was_not_run_is_no_verdict() -> None:
    right, not_run = entry(), entry(checks={WRONG: Status.NOT_RUN})
    assert reported(between(right, not_run)) == [("gone", WRONG, "was pass, now not run: why")]
    assert reported(between(not_run, right)) == [("new", WRONG, "pass")]


def test_times_move_where_their_intervals_do_not_meet() -> None:
    slow, fast, hardly = entry(row(2.0, 3.0)), entry(row(1.5, 3.0)), entry(row(2.001, 3.0))
    assert reported(between(slow, fast)) == [
        ("better", f"time, {WHERE}", "2.00 ms → 1.50 ms"),
        ("better", f"of the roof, {WHERE}", "50% → 67%"),
        ("better", f"faster than PyTorch, {WHERE}", "1.50× → 2.00×"),
    ]
    assert [move for move, *_ in reported(between(fast, slow))] == ["worse"] * 3
    assert reported(between(slow, hardly)) == []


def test_errors_move_by_more_than_a_tenth() -> None:
    name = "worst error over its budget"
    assert reported(between(entry(ratio=0.5), entry(ratio=0.52))) == []
    assert reported(between(entry(ratio=0.5), entry(ratio=0.8))) == [("worse", name, "0.5 → 0.8")]
    assert reported(between(entry(ratio=float("nan")), entry(ratio=0.8))) == [("better", name, "not finite → 0.8")]
    assert reported(between(entry(ratio=float("nan")), entry(ratio=float("inf")))) == []


def test_times_of_two_devices_are_not_compared() -> None:
    one = entry(row(2.0))
    other = entry(row(1.0))
    other["environment"] = {**other["environment"], "device": "NVIDIA A100"}
    found = between(one, other)
    assert reported(found) == []
    assert found.untimed == 2
    [device] = found.environment
    assert (device.name, device.shown) == ("device", "NVIDIA H100 80GB HBM3 → NVIDIA A100")


def test_subjects_come_and_go() -> None:
    found = between(entry(subject="one"), entry(subject="two"))
    assert [(key, [one.move for one in moves]) for key, moves in found.subjects] == [
        (("audit_it.py", "one"), ["gone"]),
        (("audit_it.py", "two"), ["new"]),
    ]


def test_findings_are_known_by_what_they_are_of_and_not_by_their_line() -> None:
    moved = between(entry(findings=(finding(line=7),)), entry(findings=(finding(line=70),)))
    assert moved.findings == ()
    changed = between(entry(findings=(finding(expression="y"),)), entry(findings=(finding(expression="z", line=9),)))
    assert [(one.move, one.name) for one in changed.findings] == [("new", "kernels.py:9"), ("gone", "kernels.py:7")]


def asked(*stages: Stage, rules: str = "TAC401 TAM101", pedantic: bool = False) -> dict[str, Any]:
    return asked_of(stages or tuple(Stage), rules.split(), pedantic=pedantic)


def test_what_a_rule_finds_is_compared_where_both_asked_for_it() -> None:
    without, with_it = entry(asked=asked(rules="TAM101")), entry(asked=asked(), findings=(finding(),))
    for earlier, later in ((without, with_it), (with_it, without)):
        found = between(earlier, later)
        assert (found.findings, found.unasked) == ((), 1)
    found = between(entry(asked=asked()), with_it)
    assert ([one.move for one in found.findings], found.unasked) == (["new"], 0)


def test_what_only_pedantic_audits_show_is_not_compared_with_others() -> None:
    doubtful = replace(finding(), confidence=Confidence.LOW)
    plain, pedantic = entry(asked=asked()), entry(asked=asked(pedantic=True), findings=(doubtful,))
    assert between(plain, pedantic).findings == ()
    assert between(pedantic, plain).findings == ()
    assert [one.move for one in between(entry(asked=asked(pedantic=True)), pedantic).findings] == ["new"]


def test_a_sure_finding_is_new_or_gone_though_only_one_audit_was_pedantic() -> None:
    plain, pedantic = entry(asked=asked()), entry(asked=asked(pedantic=True), findings=(finding(),))
    assert [one.move for one in between(plain, pedantic).findings] == ["new"]
    assert [one.move for one in between(pedantic, plain).findings] == ["gone"]
    for one in pedantic["findings"]:  # as older releases kept it
        del one["confidence"]
    assert between(plain, pedantic).findings == ()


def test_parts_that_only_one_did_are_not_compared() -> None:
    whole = entry(row(2.0), asked=asked(), findings=(finding(),))
    source = {**entry(asked=asked(Stage.SOURCE)), "subjects": []}
    for earlier, later in ((whole, source), (source, whole)):
        found = between(earlier, later)
        assert (found.subjects, found.findings, found.same, found.unasked) == ((), (), 0, 1)
        assert {*found.both.only_earlier, *found.both.only_later} == {"compile", "run", "measure"}
    run = entry(row(9.0), ratio=2.0, asked=asked(Stage.RUN))
    assert reported(between(run, whole)) == [("better", "worst error over its budget", "2 → 0.5")]


def test_an_entry_that_does_not_say_what_it_was_asked_for_is_compared_as_a_whole() -> None:
    old = entry(findings=(finding(),))
    del old["asked"]
    assert [one.move for one in between(old, entry(asked=asked(Stage.SOURCE))).findings] == ["gone"]


def lines(found: Trend) -> dict[str, tuple[str, ...]]:
    return {line.name: line.shown for line in found.lines}


def test_a_trend_has_a_line_for_each_figure() -> None:
    kept = versions(entry(row(2.0), ratio=2.0, checks={WRONG: Status.FAIL}), entry(), entry(row(1.05), ratio=0.25))
    [found] = trends(kept)
    tried = len(ran.PASSING)
    assert (found.path, found.subject) == ("audit_it.py", "softmax")
    assert lines(found) == {
        "checks passed": (f"{tried + 2} of {tried + 3}", f"{tried} of {tried}", f"{tried + 3} of {tried + 3}"),
        WRONG: ("fail", "pass", "pass"),
        "worst error over its budget": ("2", "0.5", "0.25"),
        f"time, {WHERE}": ("2.00 ms", "", "1.05 ms"),
        f"of the roof, {WHERE}": ("50%", "", "95%"),
    }
    assert found.standing.is_reached


@pytest.mark.parametrize(
    ("latest", "reached", "said"),
    [
        (entry(row(1.05)), True, f"95.2% of the roof at {WHERE}, at least 90%"),
        (entry(row(1.2)), False, f"83.3% of the roof at {WHERE}, less than 90%"),
        (entry(row(1.05), checks={WRONG: Status.FAIL}), False, "wrong result fails"),
        (entry(), False, "how close it comes to the roof is not known: it was not measured"),
        (entry(missed("there is no GPU")), False, "how close it comes to the roof is not known: there is no GPU"),
        (entry(row(1.05, status=Status.FAIL)), False, "timed at small, medium and large sizes fails"),
        (entry(subject="other"), False, "the latest version does not have it"),
        (entry(row(1.05), target=0.99), False, f"95.2% of the roof at {WHERE}, less than 99%"),
    ],
)
def test_the_stop_condition(latest: dict[str, Any], reached: bool, said: str) -> None:
    found, *_ = trends(versions(entry(row(1.05)), latest), "softmax")
    assert (found.standing.is_reached, found.standing.reason) == (reached, said)


def test_the_size_with_the_longest_roof_decides() -> None:
    small = of_size(row(0.0375, bytes=3e7), "small", n=1 << 19)
    [found] = trends(versions(entry(small, row(1.05))))
    assert found.standing.is_reached
    [found] = trends(versions(entry(row(1.05, bytes=3e9), of_size(row(20.0, bytes=3e10), "huge", n=1 << 28))))
    assert not found.standing.is_reached


def test_an_unknown_subject_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match="no version has a subject 'nope'"):
        trends(versions(entry()), "nope")
