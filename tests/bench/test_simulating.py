"""The bench of speed beside other tools: what its processes tell, and what is made of that."""

from __future__ import annotations

import sys
from functools import partial
from math import isnan, nan
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch holds the tensors")
pytest.importorskip("triton", reason="triton makes the programs")

from bench.faults.run import import_file
from bench.simulating import kernels, tables, tritonbench, worker
from bench.simulating.growth import Point, tabulated
from bench.simulating.sides import BASELINE, Others, Side, Timing, field_of, timing_of
from bench.simulating.tritonbench import Runs, Stopwatch, Timed
from tritonaudit import simulate
from tritonaudit.execute.killed import End, Killed


@pytest.mark.parametrize(
    "make",
    [
        partial(kernels.add, 1000, 64),
        partial(kernels.softmax, 7, 100),
        partial(kernels.matmul, 40, 24, 50, 16),
        partial(kernels.layer_norm_backward, 13, 20, 4),
        partial(kernels.attention, 1, 2, 40, 16, 16),
    ],
)
def test_kernels_compute_what_is_expected_and_have_no_faults(make: partial[kernels.Launch]) -> None:
    launch = make()
    assert isnan(launch.deviation())
    assert simulate(launch.kernel, launch.grid, *launch.arguments, **launch.constants).faults == ()
    assert launch.deviation() < 0.01


def test_a_process_tells_its_launches_among_other_lines() -> None:
    lines = [
        '{"versions": "x 1"}',
        "a tool's banner",
        "5",
        '{"seconds": 2.0}',
        '{"seconds": 0.5}',
        '{"deviation": 0.25}',
    ]
    assert timing_of(lines) == Timing("x 1", (2.0, 0.5), 0.25)
    assert timing_of(['{"seconds": 2.0}', '{"failed": "ValueError: no"}']) == Timing("", (2.0,), None, "ValueError: no")
    assert str(timing_of(['{"deviation": NaN}']).deviation) == "nan"
    assert timing_of(['{"remark": "no races"}']).remark == "no races"


def test_a_side_that_cannot_says_why(tmp_path: Path) -> None:
    prototype = Side("prototype", worker.PROTOTYPE).measure("layer-norm", 100)
    assert prototype.failed == "Cannot: it has not the operations that this kernel needs"
    assert prototype.versions.startswith("Triton ")
    assert Side("slow", worker.CHECKED).measure("add", 0.05).failed == "> 0.05 s"
    gone = tmp_path / "python"
    gone.write_text("#!/bin/sh\necho it is broken >&2\nexit 3\n")
    gone.chmod(0o755)
    assert Side("gone", worker.TTSEM, gone).measure("add", 100).failed == "exit code 3: it is broken"
    assert Side("silent", worker.TTSEM, Path("/bin/true")).measure("add", 100).failed == "it ended without a launch"


def test_who_is_not_given_is_said_to_be_absent(tmp_path: Path) -> None:
    alone = field_of(Others(), tmp_path)
    assert [side.title for side in alone.sides] == [
        BASELINE,
        "tritonaudit, all checks, 1 thread",
        "tritonaudit, all checks, 2 threads",
        "tritonaudit, checks=False, 1 thread",
        "tritonaudit, checks=False, 2 threads",
    ]
    assert len(alone.absent) == 5
    python = Path(sys.executable)
    (tmp_path / "add.mlir").touch()
    everyone = field_of(Others(python, python, tmp_path), tmp_path / "elsewhere")
    assert (len(everyone.sides), everyone.absent) == (10, [])
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "ir_dump.py").write_text("raise ValueError('no printer')\n")
    absent = field_of(Others(prototype=broken), broken).absent
    assert "prototype: ir_dump.py fails: ValueError: no printer" in absent


def test_medians_are_of_the_rounds() -> None:
    rounds = [Timing("", (9.0, 1.0, 2.0, 3.0), 0.0), Timing("", (5.0, 8.0), 0.0), Timing("", (6.0, 4.0, 4.0), 0.0)]
    summary = tables.Summary(tuple(rounds))
    assert (summary.first, summary.later, summary.note) == (6.0, 4.0, "")
    assert tables.Summary(()).later is None


@pytest.mark.parametrize(
    ("timing", "note"),
    [
        (Timing("", (1.0, 1.0), 1e-6), ""),
        (Timing("", (1.0, 1.0), 0.5), "off by 0.5"),
        (Timing("", (1.0, 1.0), nan), "computes no results"),
        (Timing("", (1.0, 1.0), nan, "", "no races"), "computes no results, no races"),
        (Timing("", (1.0, 1.0), 0.0, "", "no races"), "no races"),
        (Timing("", (1.0, 1.0), None, "> 120 s"), "> 120 s"),
        (Timing("", (), None, "> 120 s"), "> 120 s"),
        (Timing("", (), None, "NotImplementedError: math.erf"), "cannot: NotImplementedError: math.erf"),
    ],
)
def test_what_a_reader_must_know_is_noted(timing: Timing, note: str) -> None:
    assert tables.Summary((timing,)).note == note


def test_the_table_has_each_side_beside_the_interpreter() -> None:
    found = {
        ("a", BASELINE): [Timing("", (3.0, 3.0), 0.0)],
        ("a", "ours"): [Timing("", (1.0, 0.025), 0.0)],
        ("a", "theirs"): [Timing("", (), None, "TypeError: no")],
        ("b", BASELINE): [Timing("", (), None, "> 9 s")],
        ("b", "ours"): [Timing("", (1.0, 0.002), 0.0)],
    }
    assert tables.times({"a": "first", "b": "second"}, found).splitlines()[2:] == [
        "| first | TRITON_INTERPRET=1 | 3 s | 3 s | 1.0 |  |",
        "| first | ours | 1 s | 25 ms | 120 |  |",
        "| first | theirs | - | - | - | cannot: TypeError: no |",
        "| second | TRITON_INTERPRET=1 | - | - | - | > 9 s |",
        "| second | ours | 1 s | 2 ms | - |  |",
    ]


def test_growth_is_the_median_time_and_the_most_memory() -> None:
    points = [
        Point("programs", "4", is_checked, 1 << 20, seconds, held)
        for is_checked, seconds, held in (
            (True, 0.003, 1 << 20),
            (True, 0.001, 3 << 20),
            (True, 0.002, 2 << 20),
            (False, 1.5, None),
        )
    ]
    assert tabulated(points).splitlines()[2] == "| programs | 4 | 1.0 MiB | 2 ms | 1.5 s | 3.0 MiB | - |"


def test_a_stopwatch_counts_launches_and_what_fails() -> None:
    class Kernel:
        def run(self, number: int, *, warmup: bool = False) -> float:
            return 1 / number

    watch = Stopwatch()
    watch.watch(Kernel, "run")
    assert Kernel().run(2) == 0.5
    Kernel().run(2, warmup=True)
    with pytest.raises(ZeroDivisionError):
        Kernel().run(0)
    assert watch.count == 2
    assert watch.seconds > 0
    watch.reset()
    assert (watch.count, watch.seconds) == (0, 0.0)


def test_a_file_goes_on_by_calls_of_its_test(tmp_path: Path) -> None:
    path = tmp_path / "counting.py"
    path.write_text("calls = []\n\ndef test_it():\n    calls.append(1)\n\nresult = test_it()\n", encoding="utf-8")
    module, runs = import_file(path), Runs()
    runs.go_on(module)
    assert len(runs.later) == len(module.calls) - 1 > 1
    assert runs.timed("").later is not None


def test_files_are_compared_that_both_run_as_often() -> None:
    late = Killed(End.TIMEOUT, "it timed out", "")
    interpreted = {
        "a": Timed(2, 8.0, 8.0, later=6.0),
        "b": Timed(1, 3.0, 3.0, later=2.0),
        "c": Timed(1, 40.0, 40.0),
        "more": Timed(2, 1.0, 1.0),
        "late": late,
        "broken": Timed(1, 1.0, 1.0, "ValueError: no"),
        "idle": Timed(0, 0.0, 0.0),
    }
    checked = {
        "a": Timed(2, 2.0, 1.0, later=0.5),
        "b": Timed(1, 1.0, 0.5, later=0.25),
        "c": Timed(1, 4.0, 2.0),
        "more": Timed(3, 1.0, 1.0),
        "late": Timed(1, 1.0, 1.0),
        "broken": Timed(1, 1.0, 1.0),
        "idle": Timed(0, 0.0, 0.0),
    }
    found = {"all checks": checked}
    assert tritonbench.compared(interpreted, found) == ["a", "b", "c"]
    assert tritonbench.left_out(interpreted, found) == {
        "not as many launches": 1,
        "interpreter: timed out": 1,
        "interpreter: ValueError": 1,
        "no launch": 1,
    }
    assert tritonbench.comparison(interpreted, found).splitlines()[2:] == [
        "| all checks, Triton's front end included, first runs | 3 | 4.0 | 51 s | 7 s | 7.3 |",
        "| all checks, execution alone, first runs | 3 | 8.0 | 51 s | 3.5 s | 14.6 |",
        "| all checks, execution alone, later runs | 2 | 10.0 | 8 s | 750 ms | 10.7 |",
    ]
