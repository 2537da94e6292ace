"""The bench beside simpler checkers: when a bug counts as seen, what noise is, and what the others look for."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.beside import naive, ours, triton_lint
from bench.beside.noise import Noise, inside
from bench.beside.recall import Tried, fixed_kernels, near, read_bugs, tried
from bench.beside.reports import Checker, Report, of_each_kernel
from bench.beside.results import Result, by_kind, missed

_HEAD = "import triton\nimport triton.language as tl\n\n\n"
_COPY = """\
@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets{mask})
    tl.store(out_ptr + offsets, x, mask=offsets < n)
"""
_FAULTY = _HEAD + _COPY.format(mask="")
_FIXED = _HEAD + _COPY.format(mask=", mask=offsets < n")
_LOAD = 8
"""The line of the load."""

_LINT = Checker("lint", of_each_kernel(triton_lint.complaints))


def bug(
    folder: Path, lines: str = str(_LOAD), before: str = _FAULTY, after: str = _FIXED, checker: Checker = _LINT
) -> Tried:
    """What a checker says of a made-up bug."""
    for version, text in (("before", before), ("after", after)):
        (folder / "bugs" / "one" / version).mkdir(parents=True)
        (folder / "bugs" / "one" / version / "copy.py").write_text(text, encoding="utf-8")
    table = folder / "bugs.tsv"
    table.write_text(f"id\tclass\tvisible\tlines_before\none\tmissing-mask\ta:source\t{lines}\n", encoding="utf-8")
    (found,) = tried(checker, read_bugs(table, folder / "bugs"))
    return found


def codes(text: str, checker: Checker, folder: Path) -> set[tuple[str, int]]:
    folder.joinpath("kernels.py").write_text(text, encoding="utf-8")
    return {(report.code, report.line) for report in checker.reports(folder)}


def test_what_goes_with_the_fix_has_seen_the_bug(tmp_path: Path) -> None:
    found = bug(tmp_path)
    assert found.caught == {"missing-mask"}
    assert fixed_kernels([found.bug]) == 1


def test_tritonaudit_is_asked_as_the_others_are(tmp_path: Path) -> None:
    assert bug(tmp_path, checker=Checker("tritonaudit", ours.reports)).caught == {"TAM101"}


def test_what_stays_after_the_fix_has_not_seen_the_bug(tmp_path: Path) -> None:
    assert bug(tmp_path, after=_FAULTY.replace("BLOCK: tl", "BLOCK_SIZE: tl")).caught == set()


def test_what_only_moves_to_another_text_has_not_seen_the_bug(tmp_path: Path) -> None:
    assert bug(tmp_path, after=_FAULTY.replace("x = tl.load", "y = tl.load")).caught == set()


def test_what_lies_far_from_the_changed_lines_has_not_seen_the_bug(tmp_path: Path) -> None:
    assert bug(tmp_path, lines=str(_LOAD + 4)).caught == set()


def test_changed_lines_reach_three_lines_either_way() -> None:
    assert near("10,20-21…") == frozenset([*range(7, 14), *range(17, 25)])


def test_bugs_that_are_not_there_are_left_out(tmp_path: Path) -> None:
    table = tmp_path / "bugs.tsv"
    table.write_text("id\tclass\tvisible\tlines_before\none\trace\ta:source\t3\n", encoding="utf-8")
    assert read_bugs(table, tmp_path) == []


def test_a_bug_that_is_not_seen_is_listed_with_what_is_said_there(tmp_path: Path) -> None:
    seen = Result("lint", (bug(tmp_path),), ())
    blind = seen.only("blind", lambda report: report.code == "missing-autotune")
    assert list(missed(seen)) == []
    assert list(missed(blind)) == ["missing-mask\tone\ta:source\tmissing-autotune"]
    assert list(by_kind([seen, blind]))[2:] == [
        "| all | 1 | 1 | 0 |",
        "| visible in source or launch | 1 | 1 | 0 |",
        "| the eight targeted kinds | 1 | 1 | 0 |",
        "| missing-mask | 1 | 1 | 0 |",
    ]


def test_noise_is_a_share_of_kernels() -> None:
    path = Path("/packages/one-1.0/a.py")
    reports = [
        Report(path, 3, "A1", True, "first"),
        Report(path, 4, "A2", False, "first"),
        Report(path, 9, "A2", False, "second"),
        Report(path, 20, "A3", False, None),
    ]
    assert Noise.of(reports, 4) == Noise(errors=0.25, any=0.5, findings=1.0)
    assert inside(reports, [Path("/packages/one-1.0")]) == reports
    assert inside(reports, [Path("/packages/one-1")]) == []


def test_the_five_rules_of_triton_lint(tmp_path: Path) -> None:
    text = f"""{_HEAD}@triton.jit
def kernel(x_ptr, out_ptr, n):
    BLOCK_M = 64
    lanes = tl.arange(0, 128)
    first = tl.load(x_ptr + 4)
    x = tl.load(x_ptr + lanes, lanes < n)
    for a in range(n):
        for b in range(n):
            for c in range(n):
                for d in range(n):
                    tl.store(out_ptr + lanes, x)
"""
    assert codes(text, _LINT, tmp_path) == {
        ("missing-autotune", 6),
        ("hardcoded-block-size", 7),
        ("hardcoded-block-size", 8),
        ("scalar-memory-access", 9),
        ("missing-mask", 9),
        ("complex-loop-structure", 14),
        ("missing-mask", 15),
    }


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("x = tl.load(x_ptr + f(i))", "load-without-mask"),
        ("x = tl.arange(0, 24)", "arange-not-a-power-of-2"),
        ("x = 1  # a tie-break", "break"),
        ("if i < n:", "if-without-where"),
        ("x = tl.arange(0, BLOCK)[:, None] * x_stride", "arange-times-stride"),
        ("x = tl.load(x_ptr, mask=m) + tl.load(x_ptr, mask=m)", "same-pointer"),
        ("x = tl.arange(0, 16)", "literal-arange"),
        ("x = tl.exp(i - (m))", "exp-without-max"),
    ],
)
def test_a_regular_expression_finds_its_line(line: str, code: str, tmp_path: Path) -> None:
    body = f"    {line}\n" + ("        pass\n" if line.endswith(":") else "")
    text = f"{_HEAD}@triton.jit\ndef kernel(x_ptr, i, m, n, x_stride, BLOCK: tl.constexpr):\n{body}"
    found = codes(text, Checker("naive", of_each_kernel(naive.complaints)), tmp_path)
    assert (code, 7) in found


def test_regular_expressions_are_silent_where_their_word_is_there(tmp_path: Path) -> None:
    text = f"""{_HEAD}@triton.jit
def kernel(x_ptr, n, x_max, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.exp(tl.load(x_ptr + lanes, mask=(lanes < n)) - x_max)
"""
    assert codes(text, Checker("naive", of_each_kernel(naive.complaints)), tmp_path) == set()


def test_a_kernel_without_a_constexpr(tmp_path: Path) -> None:
    text = f"{_HEAD}@triton.jit\ndef kernel(x_ptr):\n    pass\n"
    assert codes(text, Checker("naive", of_each_kernel(naive.complaints)), tmp_path) == {("no-constexpr", 6)}
