"""The log and the summary say what was measured, what was not, and why one is chosen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.measured import GPU, row
from tritonaudit.finding import Status
from tritonaudit.hardware.parts import known_parts
from tritonaudit.hardware.roofline import Work
from tritonaudit.measure.counting import Counted
from tritonaudit.port.choosing import chosen_by_time
from tritonaudit.port.costs import Times, times_of
from tritonaudit.port.folders import Operation
from tritonaudit.port.log import log_text, summary_text
from tritonaudit.port.selecting import Considered, Selected
from tritonaudit.port.validating import Verdict
from tritonaudit.subject.model import Case
from tritonaudit.suites.coverage import Coverage

FOLDER = Path("kernels/softmax")
RIGHT = Verdict(True, coverage=Coverage(38, 38, (), 111, 33), subject="softmax/v1")
WORK = Work(1e9, "counted", 4e9, "counted", "float32", False)
CASES = {"small": Case({"rows": 8}), "medium": Case({"rows": 64}), "large": Case({"rows": 512})}


def times(*milliseconds: float, **said: Any) -> Times:
    """Of small, medium and large, where PyTorch takes twice as long."""
    return times_of(
        [
            row(time, 2 * time, size=size, case=CASES[size], **said)
            for size, time in zip(CASES, milliseconds, strict=False)
        ]
    )


def selected(*variants: Considered, **said: Any) -> Selected:
    choice = chosen_by_time([(one.name, one.times) for one in variants if one.times is not None])
    operation = Operation("softmax", FOLDER, tuple(one.path for one in variants))
    return Selected(operation, variants, choice, "NVIDIA H100 80GB HBM3", "sm_90", gpu=GPU, **said)


def variant(name: str, verdict: Verdict = RIGHT, **said: Any) -> Considered:
    return Considered(name, FOLDER / f"{name}.py", ("`softmax_kernel`: not autotuned",), verdict, **said)


def test_the_benchmark_has_a_row_for_each_that_is_right() -> None:
    tried = Coverage(38, 38, (), 111, 7)
    wrong = variant("v2_wrong", Verdict(False, ("wrong result: 1 | 2",), coverage=tried, subject="softmax/v2"))
    log = log_text(
        selected(variant("v1", times=times(10.0, 20.0, 60.0)), wrong, variant("v3", times=times(4.0, 8.0, 24.0))),
        known_parts(),
    )
    lines = log.splitlines()
    assert "| Kernel | Small | Medium | Large | Final | Speedup |" in lines
    assert "| v1 | 10 | 20 | 60 | 30 (29.97 to 30.03) | 2.00× |" in lines
    assert "| v3 | 4 | 8 | 24 | 12 (11.99 to 12.01) | 2.00× |" in lines
    assert "| v2_wrong | ❌ refused | 38 of 38 core trials, 7 of 111 cases | wrong result: 1 \\| 2 |" in lines
    assert "**Chosen**: v3, `kernels/softmax/v3.py`" in lines
    assert "* v2_wrong is refused: wrong result: 1 \\| 2" in lines
    assert not any(line.startswith("| v2_wrong | ") and "refused" not in line for line in lines)


def test_a_size_without_a_time_has_none_and_no_final() -> None:
    rows = [row(1.0, 2.0, size="small"), row(1.0, size="large", status=Status.FAIL, reason="wrong after the timing")]
    found = times_of(rows)
    assert found.missing == (("large", "wrong after the timing"),)
    log = log_text(selected(variant("v1", times=found, uncosted="large: wrong after the timing")), known_parts())
    assert "| v1 | 1 | — | — | — | — |" in log
    assert "* v1: large: wrong after the timing" in log
    assert "**Chosen**: none" in log


def test_sizes_in_another_dtype_do_not_count() -> None:
    rows = [row(1.0, size="small"), row(9.0, size="small", case=Case({"n": 8}, "float16"))]
    assert [one.median for one in times_of(rows).sizes] == [1.0]


def test_sizes_that_memory_shrank_are_said() -> None:
    work = tuple(Counted(FOLDER / "v1.py", "softmax/v1", size, case, WORK) for size, case in CASES.items())
    unshrunk = log_text(selected(variant("v1", times=times(1.0, 2.0, 3.0)), work=work), known_parts())
    assert "Shrunk" not in unshrunk
    larger = (*work[:2], Counted(FOLDER / "v1.py", "softmax/v1", "large", Case({"rows": 4096}), WORK))
    log = log_text(selected(variant("v1", times=times(1.0, 2.0, 3.0)), work=larger), known_parts())
    assert "* Shrunk to what the GPU's memory holds: large is rows=512 float32, not rows=4096 float32." in log


def test_the_first_phase_says_what_is_computed_and_what_bounds_it() -> None:
    work = (Counted(FOLDER / "v1.py", "softmax/v1", "large", CASES["large"], WORK),)
    log = log_text(selected(variant("v1", times=times(1.0, 2.0, 3.0)), work=work), known_parts())
    assert "* Operation: `torch.nn.functional.softmax`" in log
    assert "| large | rows=512 float32 | 1 GFLOP | 4 GB | 0.25 | memory (H100-SXM) |" in log


def test_what_is_incomplete_is_neither_right_nor_refused() -> None:
    missing = "not everything that has to be tried was tried: memory: n=1023: the time was spent"
    short = Verdict(False, (missing,), subject="softmax/v2", coverage=Coverage(38, 37), is_incomplete=True)
    log = log_text(selected(variant("v1", times=times(1.0, 2.0, 6.0)), variant("v2", short)), known_parts())
    assert f"| v2 | 🟡 incomplete | 37 of 38 core trials, 0 of 0 cases | {missing} |" in log.splitlines()


def test_the_summary_has_a_line_for_each_and_for_what_failed() -> None:
    best = selected(variant("v1", times=times(1.0, 2.0, 6.0)), variant("v2", Verdict(False, ("wrong",))))
    lines = summary_text([best], [("kernels/mha", "there is no such folder")]).splitlines()
    assert "| `softmax` | v1 | 1 of 2 | 3 | 2.00× | `kernels/softmax/v1.py` |" in lines
    assert "| `kernels/mha` | — | — | — | — | there is no such folder |" in lines


def test_the_summary_says_what_was_not_tried_of_what_was_chosen() -> None:
    hasty = Verdict(True, coverage=Coverage(38, 38, (), 12, 3))
    tried = "`softmax` 38 of 38 core trials, 3 of 12 cases"
    reported = f"Tried of those chosen: {tried}. A larger `--budget` tries more cases."
    slow, quick = times(10.0, 20.0, 60.0), times(1.0, 2.0, 6.0)
    assert reported in summary_text([selected(variant("v1", hasty, times=quick), variant("v2", times=slow))], [])
    whole = Verdict(True, coverage=Coverage(38, 38, (), 12, 12))
    assert "Tried of those" not in summary_text(
        [selected(variant("v1", hasty, times=slow), variant("v2", whole, times=quick))], []
    )
