"""What the measure stage shows: in the text, as data and in Markdown; without a GPU nothing is said to have run."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.measured import CASE, KERNEL, counter, missed, of_size, row, section, subject, timed
from tritonaudit.finding import Audit, Stage, Status
from tritonaudit.measure.counters import READ
from tritonaudit.measure.facts import Clock, Profile, Role
from tritonaudit.report import render
from tritonaudit.report.about import About
from tritonaudit.report.measured import MeasuredSection

SCHEMAS = Path(__file__).parents[2] / "tritonaudit" / "report"
NO_GPU = "there is no GPU"
BASELINE = timed(Role.BASELINE, 3.0, 2.5, name="liger")


def report(shown: MeasuredSection, format: str = "markdown") -> str:
    about = About("tritonaudit audit", frozenset((Stage.MEASURE,)))
    return render(Audit(files=1), format, color=False, sections=(shown,), about=about)


def lines(shown: MeasuredSection) -> list[str]:
    return ["".join(text for text, _ in line) for line in shown.lines()]


def cells(text: str, first: str, heading: str) -> list[str]:
    """The cells of the row below the heading whose first cell is this, without it."""
    below = text.partition(heading)[2].splitlines()
    found = next(line for line in below if line.startswith(f"| {first} |")).strip("| ").split(" | ")[1:]
    return [cell.replace("\\.", ".") for cell in found]  # which keeps a number from beginning a list


def full() -> MeasuredSection:
    """Everything: two sizes, one of them doubtful, a baseline, a clock, a config, a profile."""
    large = row(1.2, 2.4, 1.1)
    large = replace(large, timed=(*large.timed, BASELINE), clock=Clock(1980, 1950, 1980), configs=("BLOCK: 128",))
    doubtful = of_size(row(1.5, spread=0.3, status=Status.WARN, reason="unstable: its times spread"), "small", n=1000)
    profile = Profile(KERNEL, CASE, (counter(READ, 1e9), counter("samples", 40, 7, "long_sb")))
    return section(subject(large, doubtful, missed("the time was spent", size=""), profiles=(profile,)))


# in text


def test_each_size_has_its_contenders_and_its_roof() -> None:
    first, large, small, further, *_ = lines(full())
    assert first == "softmax  audit_it.py  measured on NVIDIA H100 80GB HBM3"
    assert large.startswith("  pass     large  n=67108864 float32: Triton 1.20 ms; PyTorch 2.40 ms (2.00×)")
    assert "liger 3.00 ms (2.50×); 83% of the roof" in large
    assert small.startswith("  warn     small  n=1000 float32: Triton 1.50 ms")
    assert small.endswith("unstable: its times spread")
    assert further == "  not run  n=67108864 float32: the time was spent"


def test_without_a_gpu_each_size_says_so() -> None:
    shown = section(subject(missed(NO_GPU), missed(NO_GPU, size="small"), reason=NO_GPU), reason=NO_GPU)
    first, *sizes = filter(None, lines(shown))
    assert first == "softmax  audit_it.py  NOT RUN: there is no GPU"
    assert [line.split(":")[1] for line in sizes] == [f" {NO_GPU}"] * 2
    assert all(line.startswith("  not run  ") for line in sizes)


def test_a_contender_without_times_says_why() -> None:
    one = row(1.2)
    refused = replace(BASELINE, device=None, wall=None, speedup=None, reason="it raises an error")
    assert (
        "liger not timed (it raises an error)" in lines(section(subject(replace(one, timed=(*one.timed, refused)))))[1]
    )


# as data


def test_the_data_conform_to_their_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema validates the output")
    referencing = pytest.importorskip("referencing", reason="jsonschema follows references with it")
    schemas = {path.name: json.loads(path.read_text("utf-8")) for path in SCHEMAS.glob("*.schema.json")}
    registry = referencing.Registry().with_resources(
        (name, referencing.Resource.from_contents(schema)) for name, schema in schemas.items()
    )
    validator = jsonschema.Draft202012Validator(schemas["audit.schema.json"], registry=registry)
    for shown in (full(), section(), section(subject(missed(NO_GPU)), reason=NO_GPU), section(subject(row(0.1)))):
        validator.validate(json.loads(report(shown, "json")))


def test_the_data_hold_what_was_measured() -> None:
    measured: dict[str, Any] = json.loads(report(full(), "json"))["measured"]
    assert (measured["gpu"]["name"], measured["not_run"]) == ("NVIDIA H100 80GB HBM3", "")
    (found,) = measured["subjects"]
    large, small, further = found["rows"]
    assert [one["role"] for one in large["contenders"]] == ["subject", "pytorch", "compiled", "baseline"]
    assert large["contenders"][0]["milliseconds"]["median"] == 1.2
    assert large["contenders"][1]["speedup"]["value"] == 2
    assert large["roofline"]["reached"] == pytest.approx(1 / 1.2)
    assert (large["clock"]["after"], large["configs"]) == (1950, ["BLOCK: 128"])
    assert (small["status"], further["status"], further["contenders"]) == ("warn", "not run", [])
    assert [one["line"] for one in found["profiles"][0]["counters"]] == [None, 7]


def test_without_a_gpu_the_data_hold_no_time() -> None:
    measured = json.loads(report(section(subject(missed(NO_GPU), reason=NO_GPU), reason=NO_GPU), "json"))["measured"]
    assert (measured["gpu"], measured["not_run"], measured["ceilings"]) == (None, NO_GPU, [])
    assert {check["status"] for one in measured["subjects"] for check in one["checks"]} == {"not run"}


# in Markdown


def test_markdown_has_a_row_for_each_size_and_a_column_for_each_baseline() -> None:
    text = report(full())
    heading = "## Performance Audit"
    large, small = "large  n=67108864 float32", "small  n=1000 float32"
    assert cells(text, "Size", heading) == [
        *("Triton (ms)", "PyTorch (ms)", "torch.compile (ms)", "liger (ms)", "Speedup", "HW Efficiency"),
    ]
    times = cells(text, large, heading)
    assert times[:2] == ["1.20 (1.20 to 1.20)", "2.40 (2.40 to 2.40)"]
    assert times[3:] == ["3.00 (3.00 to 3.00)", "2.00 (1.98 to 2.02)", "83% / 75%"]
    assert cells(text, small, heading)[1:5] == ["➖"] * 4
    assert f"* {small}: unstable: its times spread" in text
    assert "n=67108864 float32: the time was spent" in text


def test_markdown_has_the_roofline_of_the_largest_size_with_sources() -> None:
    text = report(full())
    heading = "## Roofline"
    assert cells(text, "Bytes", heading) == ["3e+09", "counted"]
    assert cells(text, "measured copy bandwidth", heading)[0] == "3,000 GB/s"
    assert cells(text, "Target (90% of the roof)", heading)[0] == "1.111 ms"
    assert cells(text, "Reached", heading)[0] == "83%"
    assert cells(text, "Bound", heading)[0] == "memory"


def test_what_is_unknown_is_called_so() -> None:
    text = report(section(subject(row(1.2, 2.4, bytes=None))))
    assert cells(text, "large  n=67108864 float32", "## Performance Audit")[-1] == "UNKNOWN"
    assert cells(text, "Bytes", "## Roofline")[0] == "UNKNOWN"
    assert cells(text, "Reached", "## Roofline")[0] == "UNKNOWN"


def test_a_time_that_cannot_be_has_no_speedup() -> None:
    text = report(section(subject(row(0.1, 2.0))))
    assert cells(text, "large  n=67108864 float32", "## Performance Audit")[3] == "➖"
    assert "large  n=67108864 float32: faster than the GPU can be" in text


def test_without_a_gpu_markdown_says_not_run_and_never_pass() -> None:
    text = report(section(subject(missed(NO_GPU), reason=NO_GPU), reason=NO_GPU))
    times = cells(text, "large  n=67108864 float32", "## Performance Audit")
    assert times == ["NOT RUN", "NOT RUN", "NOT RUN", "➖", "➖"]
    assert text.count(f"NOT RUN: nothing was measured: {NO_GPU}.") == 2
    assert cells(text, "Reached", "## Roofline")[0] == "UNKNOWN"
    assert cells(text, "Performance", "## Summary")[0] == "➖ NOT RUN"
    assert "PASS" not in text


@pytest.mark.parametrize("format", ["markdown", "html", "full"])
def test_names_that_are_no_names_are_escaped(format: str) -> None:
    one = row(1.2, 2.4, reason="not\x1b[31m <script>alert(1)</script> | a | b", status=Status.WARN)
    evil = timed(Role.BASELINE, 3.0, 2.5, name="a | b <script>\x1b[0m")
    text = report(section(replace(subject(replace(one, timed=(*one.timed, evil))), name="`x` <b> | \x07")), format)
    assert "\x1b" not in text
    assert "\x07" not in text
    assert format == "full" or not re.search(r"(?<!\\)<script>(alert|\\)", text)
