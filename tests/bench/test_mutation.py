"""The bench of mutations: the kernels are right, the faults are such, and what is made of them."""

from __future__ import annotations

import ast
import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch holds the tensors")
pytest.importorskip("triton", reason="triton makes the programs")

from bench.mutation import in_kernels, in_wrappers, tables
from bench.mutation.auditing import Audited, Item, read, write
from bench.mutation.calling import become_cpu
from bench.mutation.kernels import PLAIN, kernels
from bench.mutation.mutants import Mutant, mutants, mutants_of
from bench.mutation.store import Store, key_of
from bench.mutation.trying import Task, Tried, try_mutant
from tests.bench.originals import wrong_cases
from tritonaudit.execute.pool import Limits, run_tasks

LIMITS = Limits(seconds=120, memory=4 << 30)

COPY = '''\
import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Copies."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.store(out_ptr + offsets, x, mask=offsets < n)


def copy(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    copy_kernel[(triton.cdiv(n, 64),)](x, out, n, BLOCK=64)
    return out
'''


@cache
def made() -> dict[str, tuple[Mutant, ...]]:
    return {kernel.name: mutants(kernel) for kernel in kernels()}


def changes(operator: str) -> set[tuple[int, str]]:
    return {(one.line, one.after) for one in mutants_of("copy", COPY, 100) if one.operator == operator}


def test_faults_are_what_their_names_say() -> None:
    assert changes("mask_dropped") == {
        (10, "tl.load(x_ptr + offsets)"),
        (11, "tl.store(out_ptr + offsets, x)"),
    }
    assert changes("other_changed") == {(10, "tl.load(x_ptr + offsets, mask=offsets < n, other=1.0)")}
    assert changes("comparison_weakened") == {(10, "(offsets <= n)"), (11, "(offsets <= n)")}
    assert changes("program_id_lost") == {(9, "(tl.program_id(0) * 0)")}
    assert changes("grid_rounded_down") == {(18, "(n // 64)")}
    assert changes("copy_dropped") == {(15, "(x)")}
    assert mutants_of("copy", COPY, 2) == mutants_of("copy", COPY, 2)
    assert changes("order_weakened") == changes("half_accumulator") == set()


def test_mutants_are_distinct_python() -> None:
    for kernel in kernels():
        some = made()[kernel.name]
        meanings = {ast.dump(ast.parse(one.source)) for one in some}
        assert len(meanings) == len({one.id for one in some}) == len(some) >= 20
        assert ast.dump(ast.parse(kernel.file.read_text())) not in meanings
        assert all(one.id.isidentifier() for one in some)


def test_every_operator_has_a_place_and_there_are_mutants_enough() -> None:
    every = [one for some in made().values() for one in some]
    operators = {operator.__name__ for operator in (*in_kernels.OPERATORS, *in_wrappers.OPERATORS)}
    assert {one.operator for one in every} == operators
    assert len(every) >= 400
    assert {kernel.name for kernel in kernels()} == set(PLAIN)


def test_the_kernels_are_right_on_awkward_cases() -> None:
    names = [kernel.name for kernel in kernels()]
    found = dict(run_tasks(wrong_cases, names, workers=1, limits=LIMITS, prepare=become_cpu))
    assert found == dict.fromkeys(names, ())


def test_a_mutant_is_rejected_or_equal_or_noticed(tmp_path: Path) -> None:
    (softmax,) = (kernel for kernel in kernels() if kernel.name == "softmax")
    source = softmax.file.read_text()
    edits = {
        "itself": ("", ""),
        "spelled_otherwise": ('-float("inf")', 'float("-inf")'),
        "wrong": ("/ total", "* total"),
        "wrong_for_odd_sizes": ("(n_rows,)", "(n_rows // 2 * 2,)"),
        "impossible": ("axis=0", "axis=1"),
    }
    tasks = [
        Task(name, "softmax", write(Item(name, "softmax", source.replace(*edit)), tmp_path), True)
        for name, edit in edits.items()
    ]
    found = {task.id: one for task, one in run_tasks(try_mutant, tasks, workers=1, limits=LIMITS, prepare=become_cpu)}
    assert found["itself"] == found["spelled_otherwise"] == Tried(is_equal=True)
    assert found["wrong"] == Tried(float32="differs", float16="differs")
    assert found["wrong_for_odd_sizes"] == Tried()
    assert isinstance(found["impossible"], Tried)
    assert "invalid axis" in found["impossible"].rejected


MUTANT = Mutant("copy", "mask_dropped", 10, 1, "before", "after", "", True)


def test_tables_count_what_is_left() -> None:
    audited = {"found": Audited(["TAM401"], [], []), "missed": Audited([], ["TAM101"], [], 7)}
    original = audited["missed"]
    judged = [
        tables.Judged(MUTANT, Tried(float32="differs"), audited["found"]),
        tables.Judged(replace(MUTANT, number=2), Tried(), audited["missed"], original=original),
        tables.Judged(MUTANT, Tried("does not compile"), None),
        tables.Judged(MUTANT, Tried(is_equal=True), None),
        tables.Judged(MUTANT, Tried(), audited["missed"], is_declared=True),
    ]
    table = tables.counted(judged, {**tables.AUDIT, **tables.PLAIN}, lambda one: one.kernel, "kernel")
    assert table.splitlines()[2].split(" | ")[1:] == [
        "5",
        "1",
        "2",
        "2",
        "1 (50.0 %)",
        "1 (50.0 %)",
        "0 (0.0 %)",
        "1 (50.0 %) |",
    ]
    assert tables.survivors(judged) == "copy__mask_dropped_10_2  (7 cases; TAM101)\n    - before\n    + after"
    assert tables.codes(judged).splitlines()[2:] == ["| TAM401 | 1 | 1 |"]


def test_what_no_case_was_tried_of_is_not_taken_for_clean() -> None:
    tried = (("a", 3), ("b", 2), ("c", 0))
    report = {
        "findings": [
            {"path": "a/copy.py", "severity": "error", "code": "TAC401"},
            {"path": "a/copy.py", "severity": "error", "code": "TAC401"},
            {"path": "b/copy.py", "severity": "warning", "code": "TAM101"},
            {"path": "d/copy.py", "severity": "error", "code": "TAC301"},
        ],
        "errors": [{"path": "b/audit_copy.py", "line": 1, "message": "cannot"}],
        "ran": {"subjects": [{"path": f"{name}/audit_copy.py", "cases": count} for name, count in tried]},
    }
    items = [Item(name, "copy", "") for name in "abcde"]
    assert read(items, report) == {
        "a": Audited(["TAC401"], [], [], 3),
        "b": Audited([], ["TAM101"], ["cannot"], 2),
        "d": Audited(["TAC301"], [], [], 0),
    }


def test_results_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "results" / "kept.jsonl"
    store = Store(path)
    assert store.get(key_of("a", "b")) is None
    store.put(key_of("a", "b"), {"x": 1})
    assert Store(path).get(key_of("a", "b")) == {"x": 1}
    assert Store(path).get(key_of("ab", "")) is None
    assert len([json.loads(line) for line in path.read_text().splitlines()]) == 1
