"""What calling wrappers came to is kept while nothing has changed that it depends on."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tests.test_data import CAPTURED, LAUNCH
from tritonaudit.capture.infer_task import Inferred, InferTask
from tritonaudit.capture.task import Captured, CaptureTask
from tritonaudit.compile import kept
from tritonaudit.compile.audit import CompileAudit, CompileRequest
from tritonaudit.compile.capturing import capture_subjects
from tritonaudit.compile.facts import CompiledKernel
from tritonaudit.compile.kept import KeptLaunches
from tritonaudit.compile.stage import compile_paths
from tritonaudit.config import Config
from tritonaudit.execute import hired
from tritonaudit.finding import Audit, Problem
from tritonaudit.hardware.targets import DEFAULT_TARGETS

SPEC = """\
import os

import torch
import triton
import triton.language as tl

from helper import BLOCK
from tritonaudit import Subject, Tensor


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + lanes, tl.load(x_ptr + lanes, mask=lanes < n), mask=lanes < n)


def copy(x):
    out = torch.empty_like(x)
    size = int(os.environ.get("COPY_BLOCK", BLOCK))
    copy_kernel[(triton.cdiv(x.numel(), size),)](x, out, x.numel(), BLOCK=size)
    return out


subject = Subject(copy, inputs=[Tensor("n")], sizes={"n": [4096]})
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a subject, and a kernel that none launches."""
    root = tmp_path / "project"
    (root / "package").mkdir(parents=True)
    (root / "pyproject.toml").touch()
    (root / "audit_copy.py").write_text(SPEC, encoding="utf-8")
    (root / "helper.py").write_text("BLOCK = 64\n", encoding="utf-8")
    (root / "package" / "alone.py").write_text(SPEC.partition("def copy(x)")[0], encoding="utf-8")
    return root


# -- entries -------------------------------------------------------------------------------------------------------


def path_of(project: Path) -> Path:
    return project / "audit_copy.py"


def captured(project: Path) -> Captured:
    return replace(CAPTURED, task=CaptureTask(path_of(project), "copy"))


def keep(project: Path, folder: Path, result: Captured | None = None) -> None:
    kept = KeptLaunches(folder)
    kept.keep_captured(path_of(project), "sm_90", [result or captured(project)], is_brief=False)
    kept.write()


def found(project: Path, folder: Path) -> tuple[Captured, ...] | None:
    return KeptLaunches(folder).captured(path_of(project), "sm_90", is_brief=False)


def test_what_is_kept_comes_back(project: Path, tmp_path: Path) -> None:
    assert found(project, tmp_path / "kept") is None
    keep(project, tmp_path / "kept")
    assert found(project, tmp_path / "kept") == (captured(project),)
    kept = KeptLaunches(tmp_path / "kept")
    assert kept.captured(path_of(project), "sm_80", is_brief=False) is None
    assert kept.captured(path_of(project), "sm_90", is_brief=True) is None
    assert kept.captured(project / "helper.py", "sm_90", is_brief=False) is None


def test_what_was_inferred_comes_back(project: Path, tmp_path: Path) -> None:
    task = InferTask(project, project / "package" / "alone.py", "copy_kernel")
    inferred = Inferred(task, (LAUNCH, replace(LAUNCH, program=None)), configs=2)
    kept = KeptLaunches(tmp_path / "kept")
    kept.keep_inferred("sm_90", inferred)
    kept.write()
    kept = KeptLaunches(tmp_path / "kept")
    assert kept.inferred(task, "sm_90") == inferred
    assert kept.inferred(replace(task, kernel="other"), "sm_90") is None
    assert kept.inferred(task, "sm_80") is None


def test_what_was_judged_comes_back_where_nothing_has_changed(project: Path, tmp_path: Path) -> None:
    audit = Audit(problems=(Problem("audit_copy.py", "cannot be read"),), files=2)
    kept = KeptLaunches(tmp_path / "kept")
    kept.keep_judged([path_of(project)], b"kernels", audit)
    kept.write()
    kept = KeptLaunches(tmp_path / "kept")
    assert kept.judged([path_of(project)], b"kernels") == audit
    assert kept.judged([path_of(project)], b"other kernels") is None
    assert kept.judged([path_of(project), project / "helper.py"], b"kernels") is None
    (project / "helper.py").write_text("BLOCK = 32\n", encoding="utf-8")
    assert KeptLaunches(tmp_path / "kept").judged([path_of(project)], b"kernels") is None


def edit_helper(project: Path, patch: pytest.MonkeyPatch) -> None:
    (project / "helper.py").write_text("BLOCK = 32\n", encoding="utf-8")


def add_a_module(project: Path, patch: pytest.MonkeyPatch) -> None:
    (project / "package" / "torch.py").touch()


def edit_what_git_ignores(project: Path, patch: pytest.MonkeyPatch) -> None:
    (project / "generated.py").write_text("BLOCK = 32\n", encoding="utf-8")


def set_what_the_source_reads(project: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setenv("COPY_BLOCK", "32")


def set_what_triton_reads(project: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setenv("TRITON_DEFAULT_FP_FUSION", "0")


def go_elsewhere(project: Path, patch: pytest.MonkeyPatch) -> None:
    patch.chdir(project)


def install_another_torch(project: Path, patch: pytest.MonkeyPatch) -> None:
    installed = project.parent / "installed"
    (installed / "torch-1.0.dist-info").rename(installed / "torch-1.1.dist-info")


def install_another_release_of_ours(project: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(kept, "installed", lambda: ("another",))


CHANGES = [
    edit_helper,
    add_a_module,
    edit_what_git_ignores,
    set_what_the_source_reads,
    set_what_triton_reads,
    go_elsewhere,
    install_another_torch,
    install_another_release_of_ours,
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_what_it_depends_on_is_noticed(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path, pytest.MonkeyPatch], None]
) -> None:
    (tmp_path / "installed" / "torch-1.0.dist-info").mkdir(parents=True)
    (project / ".gitignore").write_text("generated.py\n")
    monkeypatch.syspath_prepend(tmp_path / "installed")
    keep(project, tmp_path / "kept")
    monkeypatch.setenv("SOME_OTHER_VARIABLE", "1")
    (project / "notes.txt").write_text("no Python")
    assert found(project, tmp_path / "kept") is not None
    change(project, monkeypatch)
    assert found(project, tmp_path / "kept") is None


def test_a_project_that_is_edited_meanwhile_is_not_kept(project: Path, tmp_path: Path) -> None:
    kept = KeptLaunches(tmp_path / "kept")
    kept.keep_captured(path_of(project), "sm_90", [captured(project)], is_brief=False)
    (project / "helper.py").write_text("BLOCK = 32\n", encoding="utf-8")
    kept.write()
    assert found(project, tmp_path / "kept") is None
    (project / "helper.py").write_text("BLOCK = 64\n", encoding="utf-8")
    assert found(project, tmp_path / "kept") is None


@pytest.mark.parametrize("field", ["failed", "unswept"])
def test_what_may_go_well_another_time_is_not_kept(field: str, project: Path, tmp_path: Path) -> None:
    keep(project, tmp_path / "kept", replace(captured(project), **{field: 1}))
    assert found(project, tmp_path / "kept") is None


def test_an_argument_that_is_no_data_is_not_kept(project: Path, tmp_path: Path) -> None:
    launch = replace(LAUNCH, arguments=(("x", object()),))
    keep(project, tmp_path / "kept", replace(captured(project), launches=(launch,)))
    assert found(project, tmp_path / "kept") is None


@pytest.mark.parametrize(
    "damage",
    ["", "{", "[]", "null", "{}", "[" * 100_000, '{"": "_Captured", "programs": [], "uses": [], "captured": [{}]}'],
)
def test_a_damaged_entry_is_none_and_is_written_anew(damage: str, project: Path, tmp_path: Path) -> None:
    keep(project, tmp_path / "kept")
    (entry,) = (tmp_path / "kept").iterdir()
    entry.write_text(damage)
    assert found(project, tmp_path / "kept") is None
    keep(project, tmp_path / "kept")
    assert found(project, tmp_path / "kept") is not None


@pytest.mark.parametrize("number", [-1, 2, 1 << 40])
def test_an_entry_whose_launches_have_programs_that_are_not_there_is_none(
    number: int, project: Path, tmp_path: Path
) -> None:
    keep(project, tmp_path / "kept")
    (entry,) = (tmp_path / "kept").iterdir()
    text = entry.read_text()
    assert '"uses":[[0,null]]' in text
    entry.write_text(text.replace('"uses":[[0,null]]', f'"uses":[[{number},null]]'))
    assert found(project, tmp_path / "kept") is None


def test_what_nobody_came_back_to_is_removed(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(project, tmp_path / "kept")
    (used,) = (tmp_path / "kept").iterdir()
    for name, days in (("new", 13), ("old", 15)):
        (tmp_path / "kept" / name).write_text("x")
        os.utime(tmp_path / "kept" / name, times=(then := time.time() - days * 24 * 3600, then))
    os.utime(used, times=(then, then))
    assert found(project, tmp_path / "kept") is not None
    (project / "helper.py").write_text("BLOCK = 32\n", encoding="utf-8")
    keep(project, tmp_path / "kept")
    names = {path.name for path in (tmp_path / "kept").iterdir()}
    assert {used.name, "new"} < names
    assert len(names) == 3
    monkeypatch.setattr(kept, "_MOST_BYTES", 2 * used.stat().st_size)
    (project / "helper.py").write_text("BLOCK = 16\n", encoding="utf-8")
    keep(project, tmp_path / "kept")
    assert len(list((tmp_path / "kept").iterdir())) == 2


def test_a_folder_that_cannot_be_made_keeps_nothing(project: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    keep(project, tmp_path / "file" / "below")
    assert found(project, tmp_path / "file" / "below") is None


def test_a_project_is_read_once_for_all_targets(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = KeptLaunches(tmp_path / "kept")
    for target in DEFAULT_TARGETS:
        known = replace(captured(project), target=target)
        store.keep_captured(path_of(project), target, [known], is_brief=False)
    store.write()
    read: list[Path] = []
    really = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read.append(path) or really(path))
    found = capture_subjects([path_of(project)], DEFAULT_TARGETS, 16, kept=KeptLaunches(tmp_path / "kept"))
    assert len(found.launches) == len(captured(project).launches) * len(DEFAULT_TARGETS)
    assert [path.name for path in read].count("alone.py") == 1


# -- the stage -----------------------------------------------------------------------------------------------------


def compiled(project: Path) -> CompileAudit:
    return compile_paths([project], Config(root=project), CompileRequest(("sm_90",), jobs=1))


def as_cached(kernel: CompiledKernel) -> CompiledKernel:
    """The kernel as it is where each variant was known."""
    return replace(kernel, variants=tuple(replace(one, cached=True) for one in kernel.variants))


@pytest.fixture
def compiler() -> None:
    pytest.importorskip("torch", reason="torch makes the stand-in tensors")
    pytest.importorskip("triton", reason="triton compiles the kernels")


@pytest.mark.usefixtures("compiler")
def test_wrappers_are_not_called_again(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITONAUDIT_CACHE", str(tmp_path / "cache"))
    first = compiled(project)
    assert {Path(kernel.path).name for kernel in first.kernels} == {"audit_copy.py", "alone.py"}
    with monkeypatch.context() as patch:
        patch.setattr(hired, "start_supervisor", lambda *_, **__: pytest.fail("a worker is started"))
        second = compiled(project)
        assert second.audit == first.audit
        assert list(map(as_cached, second.kernels)) == list(map(as_cached, first.kernels))
    (project / "helper.py").write_text("raise OSError('gone')\n", encoding="utf-8")
    assert any("gone" in problem.message for problem in compiled(project).audit.problems)


@pytest.mark.usefixtures("compiler")
def test_a_wrapper_that_fails_is_called_again(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITONAUDIT_CACHE", str(tmp_path / "cache"))
    marker = tmp_path / "marker"
    (project / "audit_copy.py").write_text(
        SPEC.replace("    out = torch", f"    open({str(marker)!r}).close()\n    out = torch"), encoding="utf-8"
    )
    assert any("marker" in problem.message for problem in compiled(project).audit.problems)
    marker.touch()
    assert not compiled(project).audit.problems


COMMAND = """
import sys
from tritonaudit.cli import run
from tritonaudit.execute import starting
run(sys.argv[1:])
print("warm:", starting._state.warm is not None, "loaded:", *{"torch", "triton", "libcst"} & set(sys.modules))
"""


@pytest.mark.usefixtures("compiler")
def test_a_second_run_of_the_command_needs_neither_torch_nor_triton_nor_a_process_nor_the_rules(
    project: Path, tmp_path: Path
) -> None:
    last = [
        subprocess.run(
            [sys.executable, "-c", COMMAND, "compile", "--target", "sm_90", "."],
            cwd=project,
            env={**os.environ, "PYTHONPATH": str(ROOT), "TRITONAUDIT_CACHE": str(tmp_path / "cache")},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        for _ in range(2)
    ]
    assert last[0][:-1] == last[1][:-1]
    assert last[1][-1].strip() == "warm: False loaded:"
