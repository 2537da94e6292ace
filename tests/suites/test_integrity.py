"""Subjects that give right results, or seem to, without being what they say; and honest ones, which stay clean."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tritonaudit.config import Config
from tritonaudit.finding import Finding, Outcome, Status
from tritonaudit.rules import all_rules
from tritonaudit.suites.facts import Symptom

SUBJECTS = ROOT / "tests" / "suites" / "subjects" / "integrity"
MUTATED = ROOT / "bench" / "mutation" / "subjects"
MOST_CASES = 4  # each dtype, or another number of rows and of columns
FOUND = {
    "by_numpy": {Symptom.TORCH_WORK},
    "comparison_replaced": {Symptom.PATCHED, Symptom.WRONG_RESULT},
    "computed_when_looked_at": {Symptom.NO_TENSOR},
    "constant": {Symptom.NO_KERNEL, Symptom.WRONG_RESULT},
    "copied_by_a_kernel": {Symptom.TORCH_WORK},
    "decoy": {Symptom.TORCH_WORK},
    "fallback": {Symptom.TORCH_WORK},
    "first_calls_alone": {Symptom.STALE},
    "given_back": {Symptom.ALIASED},
    "gradients_off": {Symptom.PATCHED},
    "half_by_torch": {Symptom.TORCH_WORK},
    "half_precision": {Symptom.WRONG_RESULT},
    "in_a_thread": {Symptom.TORCH_WORK},
    "in_another_process": {Symptom.TORCH_WORK},
    "in_place": {Symptom.ALIASED, Symptom.INPUT_CHANGED},
    "input_zeroed": {Symptom.INPUT_CHANGED},
    "judge_replaced": {Symptom.PATCHED, Symptom.WRONG_RESULT},
    "kept_by_address": {Symptom.STALE},
    "kept_by_identity": {Symptom.STALE},
    "kept_by_version": {Symptom.STALE},
    "kept_in_workspace": {Symptom.STALE},
    "known_answers": {Symptom.WRONG_RESULT},
    "known_by_some_elements": {Symptom.STALE},
    "later_in_a_thread": {Symptom.THREAD},
    "mask_of_the_last_call": {Symptom.STALE},
    "memory_reused": {Symptom.NOT_WRITTEN},
    "moved_by_torch": {Symptom.TORCH_WORK},
    "narrow_by_torch": {Symptom.NO_KERNEL},
    "nothing_added": {Symptom.TORCH_WORK},
    "one_buffer": {Symptom.ALIASED},
    "one_shape": {Symptom.WRONG_RESULT},
    "passed_as_argument": {Symptom.TORCH_WORK},
    "pickled_as_code": {Symptom.NO_TENSOR},
    "previous_output": {Symptom.STALE},
    "reference_borrowed": {Symptom.TORCH_WORK},
    "scores_left_out": {Symptom.WEAK_REFERENCE},
    "side_stream": {Symptom.THREAD},
    "special_by_torch": {Symptom.TORCH_WORK},
    "torch_alone": {Symptom.NO_KERNEL},
    "weak": {Symptom.WEAK_REFERENCE},
    "what_lies_there": {Symptom.TORCH_WORK},
    "without_storage": {Symptom.NO_TENSOR},
}
WRONG_ALONE = ["half_precision", "input_zeroed", "memory_reused"]
INTEGRITY = {f"TAC41{digit}" for digit in range(8)}
INTEGRITY_SYMPTOMS = {symptom for rule in all_rules() if rule.code in INTEGRITY for symptom in vars(rule)["symptoms"]}

pytestmark = pytest.mark.slow


@cache
def audited(folder: Path) -> tuple[tuple[Finding, ...], tuple[Outcome, ...]]:
    """What the run stage says of all subjects of a folder."""
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    from tritonaudit.suites.stage import RunRequest, Where, run_paths

    request = RunRequest(seconds=1, jobs=2, device=Where.CPU, most_cases=MOST_CASES)
    audit = run_paths([folder], Config(ROOT), request).audit
    assert not audit.problems
    return audit.findings, audit.outcomes


def statuses(name: str) -> dict[Symptom, Status]:
    """What looking for each symptom came to, in the subject of the spec file of that name."""
    known = {symptom.value: symptom for symptom in Symptom}
    return {
        known[one.check]: one.status
        for one in audited(SUBJECTS)[1]
        if f"audit_{name}.py" in one.subject and one.check in known
    }


def seen(name: str) -> set[Symptom]:
    return {symptom for symptom, status in statuses(name).items() if status in (Status.FAIL, Status.INCONCLUSIVE)}


def of(name: str) -> list[Finding]:
    """What is found in the spec file of that name."""
    return [one for one in audited(SUBJECTS)[0] if one.path.endswith(f"audit_{name}.py")]


def test_every_subject_is_tried() -> None:
    assert {path.stem for path in SUBJECTS.glob("audit_*.py")} == {
        f"audit_{name}" for name in [*FOUND, "honest", "awaited_stream", "unknown_operator"]
    }


@pytest.mark.parametrize("name", FOUND)
def test_what_only_seems_right_is_seen(name: str) -> None:
    assert seen(name) >= FOUND[name]


def test_an_honest_kernel_is_clean() -> None:
    assert set(statuses("honest").values()) <= {Status.PASS, Status.NOT_RUN}


def test_an_honest_kernel_passes_every_check() -> None:
    passed = {symptom for symptom, status in statuses("honest").items() if status is Status.PASS}
    assert passed >= INTEGRITY_SYMPTOMS


@pytest.mark.parametrize("name", WRONG_ALONE)
def test_a_kernel_that_is_only_wrong_does_its_own_work(name: str) -> None:
    assert not seen(name) & INTEGRITY_SYMPTOMS


@pytest.mark.parametrize("name", sorted(set(FOUND) - {*WRONG_ALONE, "one_shape", "known_answers"}))
def test_it_is_a_finding_of_the_wrapper(name: str) -> None:
    assert {finding.code for finding in of(name)} & INTEGRITY


@pytest.mark.parametrize("name", ["weak", "scores_left_out"])
def test_a_weak_reference_makes_the_comparison_inconclusive(name: str) -> None:
    assert statuses(name)[Symptom.WEAK_REFERENCE] is Status.INCONCLUSIVE


def test_of_an_operator_that_nobody_knows_it_is_open_whose_work_the_result_is() -> None:
    assert statuses("unknown_operator")[Symptom.TORCH_WORK] is Status.NOT_RUN
    (reason,) = [
        one.reason
        for one in audited(SUBJECTS)[1]
        if "unknown_operator" in one.subject and one.check == Symptom.TORCH_WORK.value
    ]
    assert "what `fast::product` computes, which may be what the kernels are there for, is not known" in reason


def test_of_a_stream_it_matters_whether_anybody_waits_for_it() -> None:
    assert statuses("awaited_stream")[Symptom.THREAD] is statuses("honest")[Symptom.THREAD] is Status.PASS
    (finding,) = [one for one in of("side_stream") if one.code == "TAC415"]
    assert "output is written on a stream other than the caller's, which does not wait for it" in finding.message


def test_the_finding_is_at_the_wrapper() -> None:
    text = (SUBJECTS / "audit_decoy.py").read_text().splitlines()
    (finding,) = [one for one in of("decoy") if one.code == "TAC411"]
    assert text[finding.span.line - 1].startswith("def decorated_softmax")


def test_a_replaced_function_is_found_where_it_is_replaced() -> None:
    text = (SUBJECTS / "audit_comparison_replaced.py").read_text().splitlines()
    lines = {text[one.span.line - 1].partition(" =")[0] for one in of("comparison_replaced") if one.code == "TAC416"}
    assert lines == {"torch.allclose", "torch.equal", "torch.Tensor.equal", "time.perf_counter"}


def test_correct_kernels_of_many_kinds_are_clean(tmp_path: Path) -> None:
    names = [path.name for path in MUTATED.iterdir() if list(path.glob("audit_*.py"))]
    assert len(names) >= 10
    for name in names:
        shutil.copytree(MUTATED / name, tmp_path / name)
    findings, _ = audited(tmp_path)
    assert [one for one in findings if one.code in INTEGRITY] == []
