"""A draw is frozen, read code first, and its table says what the readers said."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.accuracy.sampling import hash_of
from bench.judge.draw import frozen
from bench.judge.draw.freezing import sample
from bench.judge.draw.frozen import Draw, Drawn, Frozen, write
from bench.judge.draw.sheets import write_sheets
from bench.judge.draw.verdicts import kappa, table, take, wilson

KERNEL = """\
import triton
import triton.language as tl


@triton.jit
def helper(x):
    return x + 1


@triton.jit
def add_kernel(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, helper(tl.load(x_ptr + at)), mask=at < n)


def unrelated():
    return 1
"""


def drawn(index: int, severity: str = "error", confidence: str = "high") -> Drawn:
    line = "    tl.store(x_ptr + at, helper(tl.load(x_ptr + at)), mask=at < n)"
    return Drawn(
        index,
        "TAM101",
        severity,
        confidence,
        "adder-1.0",
        "adder.py",
        13,
        "add_kernel",
        f"{index:x}",
        hash_of(line),
        "why",
    )


@pytest.fixture
def draw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Draw:
    """Two findings, frozen in a folder of the test's own."""
    monkeypatch.setattr(frozen, "HOLDER", tmp_path)
    draw = Draw(1)
    write(draw.packages_file, Frozen, [Frozen("c0ffee", "adder", "1.0", "ab", 2, 2, 0, 0, 1)])
    write(draw.findings_file, Drawn, [drawn(0), drawn(1, "info"), drawn(2, "info", "low")])
    (tmp_path / "adder-1.0").mkdir()
    (tmp_path / "adder-1.0" / "adder.py").write_text(KERNEL)
    return draw


def test_a_sample_has_twenty_of_each_severity_and_is_the_same_for_a_seed() -> None:
    many = [drawn(index, "error" if index % 30 == 0 else "info") for index in range(900)]
    chosen = sample(many, 100, 1)
    assert chosen == sample(many, 100, 1) != sample(many, 100, 2)
    assert len(chosen) == 100
    assert [one.index for one in chosen] == list(range(100))
    assert sum(one.severity == "error" for one in chosen) >= 20


def test_what_only_the_pedantic_are_reported_fills_a_sample() -> None:
    some = [drawn(index, "info", "low" if index % 2 else "high") for index in range(100)]
    assert sum(one.confidence == "low" for one in sample(some, 80, 1)) == 30


def test_a_reader_sees_the_code_before_the_message(draw: Draw, tmp_path: Path) -> None:
    write_sheets(draw, tmp_path, tmp_path / "sheets")
    code = (tmp_path / "sheets" / "000.code.txt").read_text()
    assert "   13     tl.store(x_ptr + at, helper(" in code
    assert "def helper(x):" in code
    assert "TAM101" not in code
    assert "line 13, error, TAM101: why" in (tmp_path / "sheets" / "000.message.txt").read_text()


def test_sheets_of_another_text_than_the_frozen_one_are_refused(draw: Draw, tmp_path: Path) -> None:
    (tmp_path / "adder-1.0" / "adder.py").write_text("\n" + KERNEL)
    with pytest.raises(ValueError, match="is not the line that was frozen"):
        write_sheets(draw, tmp_path, tmp_path / "sheets")


def test_the_table_says_what_the_readers_said(draw: Draw, tmp_path: Path) -> None:
    for reader, verdicts in (("a", "0\ttrue\tno mask\n1\tfalse\tpadded\n"), ("b", "0\ttrue\tyes\n1\tuseless\tsmall\n")):
        (tmp_path / reader).write_text(verdicts)
        take(draw, reader, tmp_path / reader)
    shown = table(draw)
    assert "| error | 2 | 2 | 0 | 0 | 0 | 100% | 34%-100% |" in shown
    assert "| **all shown** | 4 | 2 | 1 | 1 | 0 | 50% | 15%-85% |" in shown
    assert "Readers a and b agree on 1 of 2, kappa 0.33." in shown


@pytest.mark.parametrize("row", ["7\ttrue\twhy", "0\tyes\twhy", "0\ttrue\t", "0 true why"])
def test_a_row_that_is_no_verdict_is_named(draw: Draw, tmp_path: Path, row: str) -> None:
    (tmp_path / "a").write_text("index\tverdict\treason\n" + row + "\n")
    with pytest.raises(SystemExit, match=":2: no index of the draw, verdict and reason"):
        take(draw, "a", tmp_path / "a")
    assert draw.verdicts == ()


def test_intervals_and_agreement_are_those_of_the_books() -> None:
    assert wilson(42, 100) == pytest.approx((0.328, 0.518), abs=0.001)
    assert wilson(0, 10) == pytest.approx((0.0, 0.278), abs=0.001)
    pairs = [("true", "true")] * 20 + [("true", "false")] * 5 + [("false", "true")] * 10 + [("false", "false")] * 15
    assert kappa(pairs) == pytest.approx(0.4)
