"""Kernels that are generated, and what is kept of what compilers say of them."""

from __future__ import annotations

import ast
import json
from pathlib import Path

from bench.language.generated import generated
from bench.language.kinds import KINDS
from bench.language.releases import verdicts


def test_generated_kernels_are_the_same_for_the_same_seed_and_differ() -> None:
    first, again, other = generated(40, 1), generated(40, 1), generated(40, 2)
    assert [one.text for one in first] == [one.text for one in again]
    assert {one.text for one in first}.isdisjoint(one.text for one in other)
    assert len({one.text for one in first}) == 40


def test_generated_kernels_are_of_every_kind_and_half_of_them_have_a_fault() -> None:
    kernels = generated(200, 1)
    assert {one.kind for one in kernels} == set(KINDS)
    assert 60 < sum(bool(one.faults) for one in kernels) < 140


def test_a_generated_kernel_is_launched_with_all_its_parameters() -> None:
    for one in generated(40, 3):
        tree = ast.parse(one.text)
        kernel = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "kernel")
        assert {a.arg for a in kernel.args.args} == {*one.question.types, *one.question.constants}


def test_what_a_compiler_said_is_not_asked_again(tmp_path: Path) -> None:
    one = generated(1, 1)[0]
    (tmp_path / "3.9.0.jsonl").write_text(json.dumps({"key": one.question.key, "said": "refused"}) + "\n")
    found = verdicts([one.question], tmp_path / "nowhere", ["3.9.0"], tmp_path)
    assert found == {"3.9.0": {one.question.key: "refused"}}
