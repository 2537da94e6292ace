"""The bench that compares the front end's reader with Triton's own: its cases are files, its mutants are compiled."""

from __future__ import annotations

import ast
from importlib.metadata import version
from pathlib import Path

import pytest

pytest.importorskip("triton", reason="the originals of the mutants are kernels")

from bench.language.cases import cases, render
from bench.language.mutants import mutants, unchanged
from bench.language.scores import Judged, Score, predictions

_FILE = """
import triton
import triton.language as tl

SIZE = tl.constexpr(16)


@triton.jit
def helper(x):
    return x + SIZE


@triton.jit
def used(o_ptr, n, B: tl.constexpr):
    tl.store(o_ptr + tl.arange(0, B), helper(n))


@triton.jit
def unused(o_ptr):
    tl.store(o_ptr, 1)


CASES = [dict(fn="used", id="small", sig=dict(o_ptr="*i32", n="i32"), consts=dict(B=100))]
"""


def test_a_case_is_a_file_with_what_its_kernel_needs_and_a_launch() -> None:
    text = render(_FILE, {"fn": "used", "sig": {"o_ptr": "*fp16", "n": "i32:1"}, "consts": {"B": 16}})
    ast.parse(text)
    assert "def helper" in text
    assert "SIZE = tl.constexpr(16)" in text
    assert "unused" not in text
    assert "CASES" not in text
    assert 'o_ptr = torch.empty(4096, dtype=torch.float16, device="cuda")' in text
    assert "used[(1,)](o_ptr=o_ptr, n=1, B=16)" in text


def test_the_cases_of_a_folder_are_read_from_their_tables(tmp_path: Path) -> None:
    folder = tmp_path / "snippets"
    folder.mkdir()
    (folder / "f01_some.py").write_text(_FILE, encoding="utf-8")
    found = list(cases(folder, tmp_path / "scratch"))
    assert [(case.group, case.name) for case in found] == [("f01_some", "small")]
    assert [finding.code for finding in predictions(found[0].text, "3.9.0")] == ["TAC102"]


def test_a_score_counts_alarms_and_misses() -> None:
    finding = predictions(render(_FILE, {"fn": "used", "sig": {"o_ptr": "*i32"}, "consts": {"B": 100}}), "3.9.0")
    judged = [Judged("g", "c", "3.9.0", rejected, found) for rejected in (True, False) for found in (finding, ())]
    score = Score.of([*judged, judged[0], judged[0]])
    assert (score.right_errors, score.false_alarms, score.misses, score.silent) == (3, 1, 1, 1)
    assert score.precision == score.recall == 0.75


def test_mutants_are_the_same_for_the_same_seed_and_differ() -> None:
    first, second = mutants(40, 7), mutants(40, 7)
    assert [one.case.text for one in first] == [one.case.text for one in second]
    assert len({one.case.text for one in first}) == 40
    assert {one.case.text for one in mutants(40, 8)} != {one.case.text for one in first}


def test_nothing_is_found_in_the_originals() -> None:
    assert [(one.kernel, predictions(one.case.text, "3.9.0")) for one in unchanged() if one.case.text] == [
        (one.kernel, ()) for one in unchanged()
    ]


@pytest.mark.slow
def test_the_compiler_agrees_about_some_mutants() -> None:
    from bench.language.compiled import compiles

    release = version("triton")
    assert all(compiles(one)[0] for one in unchanged())
    judged = [
        Judged(one.change, one.case.name, release, not compiles(one)[0], predictions(one.case.text, release))
        for one in mutants(60, 11)
    ]
    score = Score.of(judged)
    assert [one.case for one in judged if one.predicted and not one.rejected] == []
    assert score.recall is not None
    assert score.recall >= 0.8
