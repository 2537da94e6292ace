"""The bench that compares the compile stage with a GPU: what it makes of each side's words, and that it can be run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench.agreement.facts import Access, Compiled, Counted, Loaded, read_compiled, write
from bench.agreement.ncu import NotRun, read_counts
from bench.agreement.rows import AccessRow, access_rows, resource_rows
from bench.agreement.sides import Failed, run

_METRIC = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
_METRICS = [_METRIC.format(what, way) for way in ("ld", "st") for what in ("requests", "sectors")]
_LOG = f"""==PROF== Connected to process 71 (/usr/bin/python3.12)
==PROF== Profiling "_copy" - 0: 0%....50%....100% - 1 pass
==PROF== Disconnected from process 71
"ID","Process ID","Kernel Name","Block Size","Grid Size","{'","'.join(_METRICS)}"
"","","","","","","sector","","sector"
"0","71","_copy","(128, 1, 1)","(64, 1, 1)","512","8,192","512","8192"
"1","71","_sum","(128, 1, 1)","(64, 1, 1)","2,048","8,320","64","64"
"""


def test_counts_are_read_from_ncu_s_table_in_the_order_of_the_launches() -> None:
    assert read_counts(_LOG, {"copy": "_copy", "sum": "_sum"}) == [
        Counted("copy", "_copy", 512, 8192, 512, 8192),
        Counted("sum", "_sum", 2048, 8320, 64, 64),
    ]


def test_torch_s_own_kernels_between_ours_are_not_counted() -> None:
    assert read_counts(_LOG, {"sum": "_sum"}) == [Counted("sum", "_sum", 2048, 8320, 64, 64)]


def test_a_launch_that_is_missing_is_not_made_up() -> None:
    with pytest.raises(NotRun, match="counted 1 launches in place of 2"):
        read_counts(_LOG, {"copy": "_copy", "gather": "_gather"})
    with pytest.raises(NotRun, match="counted `_copy` where sum launches `_sum`"):
        read_counts(_LOG, {"sum": "_sum", "copy": "_copy"})


def test_what_ncu_says_is_wrong_is_reported_in_its_own_words() -> None:
    log = (
        "==PROF== Connected to process 71\n"
        "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters\n"
    )
    with pytest.raises(NotRun, match=r"^ERR_NVGPUCTRPERM - The user does not have permission"):
        read_counts(log, {"copy": "_copy"})
    with pytest.raises(NotRun, match="counted 0 launches in place of 1"):
        read_counts("", {"copy": "_copy"})


def test_resources_agree_where_every_figure_that_the_driver_tells_is_the_same() -> None:
    compiled = [Compiled(name, "_k", 32, 0, 16, 64) for name in ("same", "unknown", "spills")]
    loaded = [
        Loaded("same", "_k", 32, 0, 16, 64),
        Loaded("unknown", "_k", 32, 0, 16, None),
        Loaded("spills", "_k", 32, 8, 16, 48),
    ]
    same, unknown, spills = resource_rows(compiled, loaded)
    assert same.agrees
    assert unknown.agrees
    assert spills.differing == ("local", "occupancy")


def test_a_launch_without_a_counterpart_does_not_agree() -> None:
    [row] = resource_rows([Compiled("copy", "_copy", 18, 0, 0, 64)], [])
    assert not row.agrees


def _row(sectors: float, moved: int, **access: object) -> AccessRow:
    """A row of 100 requests."""
    given = {"kind": "load", "line": 1, "bytes": 4, "instructions": 8, **access}
    return AccessRow("copy", "load", (Access(**given),), moved, 100, round(100 * sectors))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("row", "agrees"),
    [
        pytest.param(_row(16, 51200, bytes=16), True, id="wide"),
        pytest.param(_row(4, 12800, bytes=16), False, id="said to be wide, and is not"),
        pytest.param(_row(4, 12800), True, id="as wide as it can be"),
        pytest.param(_row(32, 12800), False, id="lanes apart, unnoticed"),
        pytest.param(_row(16.25, 12800, cause="alignment", could_be=16), True, id="narrow, with gaps between lanes"),
        pytest.param(_row(4.9, 12500, cause="stride", could_be=16), True, id="narrow, rows end within a request"),
        pytest.param(_row(16, 51200, cause="stride", could_be=16), False, id="said to be narrow, and is not"),
        pytest.param(_row(32, 12800, cause="stride between lanes", could_be=16, lane_step=8), True, id="lanes apart"),
        pytest.param(
            _row(4, 12800, cause="stride between lanes", could_be=16, lane_step=8), False, id="lanes adjacent"
        ),
    ],
)
def test_a_verdict_on_width_agrees_with_what_requests_carry_and_touch(row: AccessRow, agrees: bool) -> None:
    assert row.agrees is agrees


def test_only_plain_accesses_get_a_row() -> None:
    accesses = (Access("load", 1, 16, 2), Access("store", 2, 4, 1))
    rows = resource_rows([Compiled("sum", "_sum", accesses=accesses)], [Loaded("sum", "_sum", read=8192, written=4)])
    [row] = access_rows({"sum": ("load",)}, rows, [Counted("sum", "_sum", 16, 256, 1, 1)])
    assert (row.kind, row.measured_width, row.measured_sectors) == ("load", 16, 16)
    assert row.agrees


def test_facts_are_read_as_they_were_written(tmp_path: Path) -> None:
    facts = [Compiled("mm", "_mm", 255, 2936, 65536, 8, matrix=("wgmma",), accesses=(Access("store", 39, 16, 64),))]
    write(tmp_path / "facts.json", facts)
    assert read_compiled(tmp_path / "facts.json") == facts


def test_without_a_gpu_it_says_that_it_was_not_run() -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("triton")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    assert run([sys.executable, "bench/agreement"], {}).startswith("NOT RUN: ")


@pytest.mark.slow
def test_the_compile_stage_s_side_needs_no_gpu() -> None:
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    said = run([sys.executable, "bench/agreement", "--compile-only"], {"CUDA_VISIBLE_DEVICES": ""})
    assert "| copy_fp32_odd_address | _copy |" in said
    assert "load 4 (alignment, could be 16)" in said


def test_a_side_that_fails_is_reported_by_its_last_words() -> None:
    with pytest.raises(Failed, match="no such subject"):
        run([sys.executable, "-c", "raise SystemExit('no such subject')"], {})
