"""What is said of fixed kernels, and of packages that are fixed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from bench.fixes.corpus import outcomes
from bench.fixes.fixtures import fixtures
from bench.fixes.rows import Row, notes, table

UNMASKED = """import triton
import triton.language as tl

@triton.jit
def add(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, x + tl.load(y_ptr + offsets), mask=mask)
"""


def test_a_package_is_copied_fixed_and_looked_at_again(tmp_path: Path) -> None:
    package = tmp_path / "corpus" / "some-1.0"
    package.mkdir(parents=True)
    (package / "kernel.py").write_text(UNMASKED)
    (package / "broken.py").write_text("def")
    (tmp_path / "scratch").mkdir()
    (one,) = outcomes(tmp_path / "corpus", tmp_path / "scratch", unsafe=False)
    assert (one.offered, one.files, one.fixed, one.changed) == (Counter({"TAM101": 1}), 2, 1, 1)
    assert (one.unparsable, one.again, one.problems) == ([], [], [])
    assert (package / "kernel.py").read_text() == UNMASKED


def test_a_release_without_block_pointers_has_none_to_advance() -> None:
    def fixed(release: str) -> tuple[str, ...]:
        return next(fixture.kernels for fixture in fixtures(release) if fixture.code == "TAC124")

    assert fixed("3.6") == ("blocks_kernel",)
    assert fixed("3.9") == ()


def test_a_kernel_counts_where_nothing_else_is_wrong_with_it() -> None:
    rows = [
        Row("TAC112", "half_kernel", "no dtype", None, None),
        Row("TAC112", "pairs_kernel", "", "rejected", "right", "right"),
        Row("TAC132", "row_kernel", "no size", "right", "right", "no result"),
        Row("TAC132", "next_row_kernel", "", "right", "argument 1 is off by 2"),
    ]
    assert [row.is_bad for row in rows] == [False, False, True, True]
    lines = table(["TAC112", "TAC132", "TAC124"], rows).splitlines()[2:]
    assert lines == [
        "| TAC112 | 2 | 1 | 1 of 1 | 1 | 0 | 1 of 1 | 1 of 1 |",
        "| TAC132 | 2 | 0 | 2 of 2 | 2 | 2 | 1 of 2 | 0 of 1 |",
        "| TAC124 | does not apply |  |  |  |  |  |  |",
    ]
    assert notes(rows).splitlines() == [
        "TAC112 half_kernel: wrong besides: other operands in it do not go together (no dtype)",
        "TAC132 row_kernel: compiles as its case launches it; else: no size",
        "TAC132 row_kernel: not right after its safe fixes: no result",
        "TAC132 next_row_kernel: not right: argument 1 is off by 2",
    ]
