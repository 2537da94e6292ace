"""Subjects are found while a GPU is looked for, and need none to be found."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tritonaudit.config import Config
from tritonaudit.finding import Status
from tritonaudit.progress import SILENT
from tritonaudit.suites import stage
from tritonaudit.suites.stage import NoGpu, RunRequest, Where
from tritonaudit.suites.subjects import subjects_of

PAIR = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1


class ModelNew(Model):
    pass


def get_inputs():
    return [torch.zeros(8)]


def get_init_inputs():
    return []
"""


def found(monkeypatch: pytest.MonkeyPatch, gpu: Callable[[], str], meet: Callable[[], Any] = lambda: None) -> Any:
    """What comes of looking for subjects, which are called after where they were found, beside a GPU."""

    def subjects(files: Any, _: int, on_gpu: bool, __: Any) -> Any:
        meet()
        return [(files[0], "on a GPU" if on_gpu else "on the engine")], []

    monkeypatch.setattr(stage, "may_have_gpu", lambda: True)
    monkeypatch.setattr(stage, "gpu_for", lambda _: gpu())
    monkeypatch.setattr(stage, "subjects_of", subjects)
    return stage._gpu_and_subjects([Path("pair.py")], RunRequest(device=Where.ANY), SILENT)


def test_subjects_are_found_while_a_gpu_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    both = threading.Barrier(2, timeout=30)

    def gpu() -> str:
        both.wait()
        return "H100"

    assert found(monkeypatch, gpu, both.wait) == ("H100", [(Path("pair.py"), "on a GPU")], [])


def test_they_are_found_again_where_torch_cannot_use_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(monkeypatch, lambda: "") == ("", [(Path("pair.py"), "on the engine")], [])


def test_a_gpu_that_is_asked_for_and_not_there_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def gpu() -> str:
        raise NoGpu("torch finds no GPU")

    with pytest.raises(NoGpu, match="torch finds no GPU"):
        found(monkeypatch, gpu)


@pytest.mark.parametrize("on_gpu", [True, False])
def test_a_file_that_uses_no_gpu_as_it_is_run_needs_none(on_gpu: bool, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the file imports it")
    pytest.importorskip("triton", reason="workers have it ready")
    path = tmp_path / "plus_one.py"
    path.write_text(PAIR, encoding="utf-8")
    assert subjects_of([path], 1, on_gpu, SILENT) == ([(path, "plus_one")], [], [])


@pytest.mark.parametrize(
    ("beside", "hint"), [(False, "`tritonaudit init` writes one"), (True, "audit_add.py does")], ids=["none", "beside"]
)
def test_a_file_without_a_subject_is_not_run_and_it_is_said_where_one_is(
    beside: bool, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("triton")
    monkeypatch.chdir(tmp_path)
    Path("add.py").write_text("import triton\n")
    if beside:
        Path("audit_add.py").write_text("from tritonaudit import Subject\n")
    audit = stage.run_paths([Path("add.py")], Config(tmp_path), RunRequest(1, 1, device=Where.CPU)).audit
    (outcome,) = audit.outcomes
    assert (outcome.status, outcome.reason) == (Status.NOT_RUN, f"none of the files holds a subject; {hint}")
