"""The tables of what people found of findings in published packages: what they hold, and what is left to read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bench.verdicts import FALSE, TRUE, UNCLEAR, Verdict, findings, held, print_share, read, share, write

_KERNELS = """
import triton
import triton.language as tl


@triton.jit
def rows(x_ptr, n):
    for row in range(16):
        if row >= n:
            continue
        tl.store(x_ptr + row, 1.0)


@triton.jit
def lanes(x_ptr):
    tl.store(x_ptr + tl.arange(0, 24), 1.0)
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "kernels-1.0"
    (folder / "kernels").mkdir(parents=True)
    (folder / "kernels" / "rows.py").write_text(_KERNELS, encoding="utf-8")
    return folder


def test_a_finding_keeps_its_verdict_when_it_moves(package: Path, tmp_path: Path) -> None:
    table = tmp_path / "verdicts.tsv"
    found = {package: findings(package, ["TAC102", "TAC104"])}
    rows = held(found, table, add=True)
    assert [(row.package, row.path, row.code, row.kernel, row.verdict) for row in rows] == [
        ("kernels-1.0", "kernels/rows.py", "TAC104", "rows", ""),
        ("kernels-1.0", "kernels/rows.py", "TAC102", "lanes", ""),
    ]

    write(table, [replace(row, verdict=TRUE, reason="read") for row in read(table)])
    (package / "kernels" / "rows.py").write_text(f"\n\n{_KERNELS}", encoding="utf-8")
    moved = {package: findings(package, ["TAC102", "TAC104"])}
    assert [(row.verdict, row.reason) for row in held(moved, table, add=False)] == [(TRUE, "read")] * 2


def test_a_verdict_stays_when_its_finding_is_gone(package: Path, tmp_path: Path) -> None:
    table = tmp_path / "verdicts.tsv"
    gone = Verdict("kernels-1.0", "kernels/rows.py", 1, "TAC123", "rows", "gone", FALSE, "fixed")
    write(table, [gone])
    held({package: findings(package, ["TAC104"])}, table, add=True)
    assert gone in read(table)
    assert len(read(table)) == 2


def test_what_is_unclear_is_not_counted_as_true(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [Verdict("p-1", "a.py", 3, "TAC104", "k", "m", verdict) for verdict in (TRUE, TRUE, FALSE, UNCLEAR, "")]
    assert share(rows) == 0.5
    assert share(rows[-1:]) is None
    print_share(rows)
    assert capsys.readouterr().out.splitlines()[1:] == [
        "5 findings, 4 judged by reading, true: 50% (wanted: 95%)",
        "not judged: p-1/a.py:3 TAC104 m",
    ]
