"""The bench of KernelBench's files: what they hold, and what is made of their verdicts."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch holds the tensors")
pytest.importorskip("triton", reason="triton makes the programs")

from bench.kernelbench.faults import FAULTS
from bench.kernelbench.files import PER_KERNEL, files, written
from bench.kernelbench.judging import RIGHT, UNDECIDED, WRONG, Judged, audited, table
from bench.kernelbench.kernels import KERNELS
from tritonaudit.subject.find import SubjectKind, kind_of, reference_of


def test_there_are_a_hundred_files_of_that_shape(tmp_path: Path) -> None:
    made = written(tmp_path)
    assert len(made) == len(KERNELS) * PER_KERNEL == 100
    for path, file in made.items():
        ast.parse(file.text)
        assert kind_of(path) is SubjectKind.PAIR
        assert reference_of(path) == path
    assert len({file.text for file in made.values()}) == 100


def test_every_fault_is_in_several_files() -> None:
    counts = Counter(file.fault.name for file in files() if file.fault is not None)
    assert set(counts) == {fault.name for fault in FAULTS}
    assert min(counts.values()) >= 4


def test_right_and_wrong_are_distinguished(tmp_path: Path) -> None:
    wanted = {"relu", "relu_tail"}
    made = {path: file for path, file in written(tmp_path).items() if path.stem in wanted}
    judged = {one.name: one for one in audited(made, 2.0, 1)}
    assert {name: one.verdict for name, one in judged.items()} == {"relu.py": RIGHT, "relu_tail.py": WRONG}
    assert all(one.is_as_known for one in judged.values())


def test_the_table_counts_by_fault_and_names_what_is_not_as_known() -> None:
    judged = [
        Judged("a.py", "", RIGHT, (), 1.0),
        Judged("b.py", "", WRONG, ("TAC401",), 2.0),
        Judged("b_tail.py", "tail", WRONG, ("TAC401", "TAC406"), 3.0),
        Judged("c_tail.py", "tail", UNDECIDED, (), 5.0, "wrong result: not run: late"),
    ]
    text = table(judged)
    assert "| right | 2 | 1 | TAC401 | 1.5 |" in text
    assert "| tail: the last element is left out | 2 | 1 | TAC401, TAC406 | 4.0 |" in text
    assert text.endswith("b.py: wrong TAC401\nc_tail.py: undecided wrong result: not run: late\n")
