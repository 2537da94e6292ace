"""What the profiler prints, read: shortened output of Nsight Compute 2025.3 on an H100; and what it refuses."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tritonaudit.capture.launch import KernelRef
from tritonaudit.measure.counters import IDEAL, INSTRUCTIONS, L2, OCCUPANCY, READ, SAMPLES, SECTORS, SPILLS, WRITTEN
from tritonaudit.measure.facts import Counter, Profile
from tritonaudit.measure.profiling import NAME, Call, is_there, profiled, read_lines, read_totals
from tritonaudit.subject.model import Case

PRINTED = Path(__file__).parent / "ncu"
RAW, SOURCE = ((PRINTED / f"{page}.csv").read_text("utf-8") for page in ("raw", "source"))
KERNEL = KernelRef("/kernels/strided.py", "strided_kernel", 3)
CALL = Call(Path("/kernels/audit_strided.py"), "strided", Case({"n": 64}))


def by_line(counters: list[Counter], name: str) -> dict[tuple[int | None, str], float]:
    return {(one.line, one.unit): one.value for one in counters if one.name == name}


def test_totals_are_in_base_units() -> None:
    assert {one.name: (one.value, one.unit) for one in read_totals(RAW)} == {
        READ: (67196160, "B"),
        WRITTEN: (5177856, "B"),
        L2: (115512736, "B"),
        OCCUPANCY: (70.876976, "%"),
        SPILLS: (0, "instructions"),
        INSTRUCTIONS: (540672, "instructions"),
    }
    assert all(one.line is None and one.metric for one in read_totals(RAW))


def test_sectors_are_counted_at_the_line_of_the_access() -> None:
    counters = list(read_lines(SOURCE, KERNEL))
    assert by_line(counters, SECTORS) == {(5, "sectors"): 2097152}
    assert by_line(counters, IDEAL) == {(5, "sectors"): 262144}


def test_stalled_warps_are_counted_once_by_line_and_reason() -> None:
    """Not those that go on, and not again those whose scheduler had no other warp to go on with."""
    counters = list(read_lines(SOURCE, KERNEL))
    samples = by_line(counters, SAMPLES)
    assert samples.pop((None, "all")) == 16 + (2 + 2) + (10 + 5 + 1 + 1 + 1 + 3 + 3 + 1)
    assert samples == {
        (3, "no_inst"): 16,
        (4, "mio"): 2,
        (4, "short_sb"): 2,
        (5, "imc"): 10,
        (5, "lg"): 5,
        (5, "math"): 1,
        (5, "mio"): 1,
        (5, "no_inst"): 1,
        (5, "not_selected"): 3,
        (5, "short_sb"): 3,
        (5, "wait"): 1,
    }


def test_what_lies_in_other_files_counts_among_all_samples_alone() -> None:
    library = SOURCE.replace("/kernels/strided.py", "/triton/language/standard.py")
    alone, both = (list(read_lines(text, KERNEL)) for text in (SOURCE, SOURCE + library))
    assert by_line(both, SAMPLES)[None, "all"] == 2 * by_line(alone, SAMPLES)[None, "all"]
    assert by_line(both, SECTORS) == by_line(alone, SECTORS)
    assert not any(one.line for one in read_lines(library, KERNEL))


def test_a_reason_of_few_samples_is_left_out() -> None:
    many = SOURCE.replace('"16"', '"9,999"', 4)
    assert by_line(list(read_lines(many, KERNEL)), SAMPLES).keys() == {(None, "all"), (3, "no_inst")}


@pytest.mark.parametrize("text", ["", "==ERROR== no kernels were profiled", '"ID","Kernel Name"\n"","unit"\n'])
def test_of_nothing_nothing_is_read(text: str) -> None:
    assert list(read_totals(text)) == []
    assert list(read_lines(text, KERNEL)) == []


# ncu in the place of which a script stands, which says what ncu says


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Profile]:
    def profile(script: str, seconds: float = 20.0) -> Profile:
        program = tmp_path / NAME
        program.write_text(f"#!{sys.executable}\n{script}\n", "utf-8")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        (found,) = profiled(CALL, [KERNEL], seconds)
        return found

    return profile


@pytest.mark.skipif(sys.platform == "win32", reason="a script is no program there")
@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (
            "print('==PROF== Connected')\nprint('==ERROR== ERR_NVGPUCTRPERM: no permission')",
            "ERR_NVGPUCTRPERM: no permission",
        ),
        ("print('==WARNING== No kernels were profiled.')", "ncu saw no launch of strided_kernel"),
    ],
)
def test_a_profiler_that_sees_nothing_says_why(said: Callable[[str], Profile], script: str, reason: str) -> None:
    assert said(script) == Profile(KERNEL, CALL.case, reason=reason)


@pytest.mark.skipif(sys.platform == "win32", reason="a script is no program there")
def test_a_profiler_that_hangs_is_ended(said: Callable[..., Profile]) -> None:
    assert said("import time\ntime.sleep(60)", seconds=1).reason == "ncu took longer than 1 s"


def test_a_profiler_that_is_missing_is_no_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not is_there()
    (found,) = profiled(CALL, [KERNEL], 1.0)
    assert found.reason.startswith("ncu: ")
    assert found.counters == ()


# the real one


def has_gpu() -> bool:
    torch = pytest.importorskip("torch", reason="torch launches the kernels")
    pytest.importorskip("triton", reason="triton compiles the kernels")
    return bool(torch.cuda.is_available())


@pytest.mark.slow
def test_lanes_that_lie_apart_ask_for_eight_times_the_sectors(tmp_path: Path) -> None:
    if not has_gpu() or not is_there():
        pytest.skip(f"no GPU, or no {NAME}: nothing is counted")
    path = tmp_path / "audit_strided.py"
    shutil.copy(ROOT / "fixtures" / "rules" / "TAM501_excess_sectors" / "bad.py", path)
    elements = 1 << 22
    call = Call(path, "first_of_eight", Case({"n": elements}))
    (found,) = profiled(call, [KernelRef(str(path), "first_of_eight_kernel", 12)], 120.0)
    assert found.reason == ""
    asked, ideal = by_line([*found.counters], SECTORS), by_line([*found.counters], IDEAL)
    assert asked == {(15, "sectors"): elements, (16, "sectors"): elements / 8}
    assert ideal == {(15, "sectors"): elements / 8, (16, "sectors"): elements / 8}
    (read,) = by_line([*found.counters], READ).values()
    assert 0.9 <= read / (32 * elements) <= 1.2
    assert by_line([*found.counters], SPILLS) == {(None, "instructions"): 0}
