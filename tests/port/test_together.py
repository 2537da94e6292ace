"""Operations selected for together on a GPU: all variants are validated in one pass, and timed in another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from tests import measured
from tritonaudit.audit import AuditRequest, FullAudit
from tritonaudit.config import Config
from tritonaudit.finding import Audit, Problem
from tritonaudit.measure.gather import MeasuredSubject
from tritonaudit.measure.stage import MeasureAudit, MeasureRequest
from tritonaudit.port import selecting, validating
from tritonaudit.port.folders import Operation
from tritonaudit.port.selecting import Selected, SelectRequest, select_all
from tritonaudit.port.validating import PARTS, Verdict, validated
from tritonaudit.report.ran import RanSection
from tritonaudit.subject.find import SubjectKind
from tritonaudit.suites.running import SubjectKey
from tritonaudit.suites.stage import RunAudit

MILLISECONDS = {"v1_baseline": 2.0, "v2_tiling": 1.0, "v3_wrong": 0.5}
REQUEST = SelectRequest(AuditRequest(PARTS, 5.0, 4, "gpu"), Path("logs"), "sm_90", "a GPU")


def operation(name: str, *files: str) -> Operation:
    return Operation(name, Path(name), tuple(Path(name, f"{file}.py") for file in files or MILLISECONDS))


ADD, MUL, NONE_RIGHT = operation("add"), operation("mul"), operation("none", "v3_wrong")


@dataclass
class Pretence:
    """Validates by the names of variants and times by `MILLISECONDS`; what is asked is noted."""

    failing: str = ""
    untimed: str = ""
    is_interrupted: bool = False
    validated: list[list[str]] = field(default_factory=list)
    timed: list[list[str]] = field(default_factory=list)
    requests: list[MeasureRequest] = field(default_factory=list)

    def validate(self, operations: Sequence[Operation], *_: Any) -> dict[Path, Verdict]:
        self.validated.append([one.name for one in operations])
        if self.failing in self.validated[-1]:
            raise ValueError("a defect")
        files = [path for one in operations for path in one.files]
        return {path: Verdict("wrong" not in path.stem, subject="it", device="a GPU") for path in files}

    def measure(self, keys: Sequence[SubjectKey], _: Config, request: MeasureRequest, *__: Any) -> MeasureAudit:
        self.timed.append([path.as_posix() for path, _ in keys])
        self.requests.append(request)
        subjects = tuple(self._subject(path, name) for path, name in keys)
        gpu = None if self.untimed else measured.GPU
        return MeasureAudit(Audit(), subjects, gpu, self.untimed, self.is_interrupted)

    @staticmethod
    def _subject(path: Path, name: str) -> MeasuredSubject:
        row = measured.row(MILLISECONDS[path.stem], 3.0)
        return MeasuredSubject(path, name, tuple(replace(row, size=size) for size in ("small", "medium", "large")))


@pytest.fixture
def pretence(monkeypatch: pytest.MonkeyPatch) -> Pretence:
    one = Pretence()
    monkeypatch.setattr(selecting, "validated", one.validate)
    monkeypatch.setattr(selecting, "measure_subjects", one.measure)
    monkeypatch.setattr(selecting, "count_files", lambda paths, *_: ((), ()))
    monkeypatch.setattr(selecting, "techniques_of", lambda _: ())
    monkeypatch.setattr(selecting, "_compiled", lambda found, *_: found)
    return one


def selected(*operations: Operation, request: SelectRequest = REQUEST) -> list[tuple[str, str | None]]:
    """Each operation with its choice, or what is said of it where it failed."""
    return [
        (one.name, found.choice.name if isinstance(found, Selected) else found.message)
        for one, found in select_all(operations, Config(Path()), request)
    ]


def test_all_are_validated_and_timed_in_one_pass_each(pretence: Pretence) -> None:
    assert selected(ADD, MUL, NONE_RIGHT) == [("add", "v2_tiling"), ("mul", "v2_tiling"), ("none", None)]
    assert pretence.validated == [["add", "mul", "none"]]
    files = ("v1_baseline.py", "v2_tiling.py")
    assert pretence.timed == [[f"{name}/{file}" for name in ("add", "mul") for file in files]]
    (request,) = pretence.requests
    assert (request.is_brief, request.jobs) == (True, 4)


def test_each_has_the_times_of_its_own_variants(pretence: Pretence) -> None:
    ((_, found),) = select_all([ADD], Config(Path()), REQUEST)
    assert isinstance(found, Selected)
    finals = {one.name: one.times.final if one.times else None for one in found.variants}
    assert finals == {"v1_baseline": 2.0, "v2_tiling": 1.0, "v3_wrong": None}
    assert (found.gpu, found.untimed, found.device) == (measured.GPU, "", "a GPU")


def test_where_none_is_right_nothing_is_timed(pretence: Pretence) -> None:
    assert selected(NONE_RIGHT) == [("none", None)]
    assert pretence.timed == []


def test_one_that_fails_costs_itself_only(pretence: Pretence) -> None:
    pretence.failing = "mul"
    (add, mul, other) = selected(ADD, MUL, operation("sub"))
    assert (add, other) == (("add", "v2_tiling"), ("sub", "v2_tiling"))
    assert "please report it: ValueError: a defect" in str(mul[1])
    assert pretence.validated == [["add", "mul", "sub"], ["add"], ["mul"], ["sub"]]


def test_where_the_gpu_cannot_be_used_each_says_so(pretence: Pretence) -> None:
    pretence.untimed = "the GPU is gone"
    found = [one for _, one in select_all([ADD, NONE_RIGHT], Config(Path()), REQUEST)]
    assert [one.untimed for one in found if isinstance(one, Selected)] == ["the GPU is gone", ""]


def test_what_is_interrupted_ends(pretence: Pretence) -> None:
    pretence.is_interrupted = True
    with pytest.raises(KeyboardInterrupt):
        selected(ADD)


def test_without_a_gpu_they_are_done_one_after_the_other(pretence: Pretence) -> None:
    found = select_all([ADD, MUL], Config(Path()), replace(REQUEST, gpu=""))
    assert next(found)[0] == ADD
    assert pretence.validated == [["add"]]
    assert next(found)[0] == MUL
    assert pretence.timed == []


def test_what_is_wrong_in_the_folder_of_one_is_not_said_of_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No subject can be had of either: of one because of its spec file, of the other no reason is known."""
    monkeypatch.chdir(tmp_path)
    for name in ("add", "mul"):
        Path(name).mkdir()
        Path(name, "v1.py").write_text(f"def triton_{name}(x):\n    return x\n")
    problem = Problem("add/audit_add.py", "SyntaxError: invalid syntax", 3)

    def audited(*_: Any) -> Any:
        ran = RanSection(RunAudit(Audit(), ()))
        return FullAudit(Audit(problems=(problem,)), (ran,), frozenset())

    monkeypatch.setattr(validating, "audit_paths", audited)
    monkeypatch.setattr(validating, "kind_of", lambda _: SubjectKind.VARIANT)
    add, mul = operation("add", "v1"), operation("mul", "v1")
    found = validated([add, mul], Config(tmp_path), REQUEST.audit)
    assert found[add.files[0]].reasons == ("add/audit_add.py:3: SyntaxError: invalid syntax",)
    assert found[mul.files[0]].reasons == ("it has no subject",)
