"""The gate of stage 3 on a kernel that passes what can be checked without a GPU, and on others with one fault each."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch holds the tensors")
pytest.importorskip("triton", reason="triton makes the programs")

from tests.checkout import ROOT
from tritonaudit.config import Config
from tritonaudit.finding import Status
from tritonaudit.gate.checklist import Answer, Item
from tritonaudit.gate.gate import Gated, GateRequest, NoSuchSubject, gate
from tritonaudit.suites.stage import Where

FOLDER = ROOT / "fixtures" / "gate"
ON_A_GPU = {Item.FASTER, Item.MEASURED, Item.COMPARED, Item.BANDWIDTH}
FAILED = {
    "rejected": {Item.COMPILES: "`double_kernel` does not compile"},
    "wrong": {Item.MATCHES: "wrong result", Item.EDGES: "", Item.SHAPES: "4 of 5 shapes"},
    "cheating": {Item.GENUINE: "torch does the work"},
    "edge": {Item.EDGES: "expanded"},
    "shape": {Item.MATCHES: "n=4096", Item.EDGES: "n=4096", Item.SHAPES: "1 of 5 shapes: n=4096"},
    "scattered": {Item.COALESCED: "audit_scattered.py:"},
    "odd": {Item.POWERS_OF_2: "`BLOCK` of `double_kernel` is 48"},
    "untuned": {Item.AUTOTUNED: "`double_kernel` has no autotuner"},
    "one_config": {Item.AUTOTUNED: "`double_kernel` has only one config"},
    "waiting": {Item.NO_WAIT: "`torch.cuda.synchronize()`"},
}
"""What fails of each, and what is said of it."""


def request(stage: int, subject: str | None = None) -> GateRequest:
    return GateRequest(stage, 10.0, os.cpu_count() or 1, Where.CPU, subject)


@pytest.fixture(scope="module")
def gated() -> Gated:
    return gate(FOLDER, Config(ROOT), request(3))


def answers(gated: Gated, name: str) -> dict[Item, Answer]:
    return next(dict(one.answers) for one in gated.subjects if one.subject == name)


def test_every_subject_is_asked(gated: Gated) -> None:
    assert {one.subject for one in gated.subjects} == {"right", *FAILED}
    assert gated.problems == ()


def test_what_is_right_passes_all_that_needs_no_gpu(gated: Gated) -> None:
    found = answers(gated, "right")
    assert {item: answer.reason for item, answer in found.items() if answer.status is Status.FAIL} == {}
    assert {item for item, answer in found.items() if answer.status is Status.NOT_RUN} == ON_A_GPU
    assert not gated.holds


@pytest.mark.parametrize("name", FAILED)
def test_each_fault_fails_its_item(gated: Gated, name: str) -> None:
    found = {item: one.reason for item, one in answers(gated, name).items() if one.status is Status.FAIL}
    assert set(found) == set(FAILED[name])
    for item, said in FAILED[name].items():
        assert said in found[item]


def test_what_does_not_compile_is_not_said_to_be_right(gated: Gated) -> None:
    found = answers(gated, "rejected")
    assert {item for item, answer in found.items() if answer.status is Status.PASS} <= {Item.AUTOTUNED, Item.NO_WAIT}


def test_a_subject_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NoSuchSubject, match="has no subject 'left'; it has right"):
        gate(FOLDER / "audit_right.py", Config(ROOT), request(1, "left"))
    (tmp_path / "none.py").touch()
    with pytest.raises(NoSuchSubject, match="holds no subject"):
        gate(tmp_path / "none.py", Config(tmp_path), request(1))


def test_shapes_that_are_too_large_to_be_tried_are_named() -> None:
    (subject,) = gate(ROOT / "fixtures" / "ports" / "audit_naive.py", Config(ROOT), request(1)).subjects
    answer = dict(subject.answers)[Item.SHAPES]
    assert answer.status is Status.PASS
    assert answer.reason == "4 shapes; not tried, since too large for that: n=4194304 and n=16777216"
