"""What earlier runs found is given back as long as nothing has changed that it rests on."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.checkout import environment
from tritonaudit.config import Config
from tritonaudit.engine import FileResult, check
from tritonaudit.file_cache import FileCache, open_cache
from tritonaudit.source.basis import digest

IMPORTS = "import triton\nimport triton.language as tl\n\n\n"
KERNEL = """\
@triton.jit
def copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offs, tl.load(x_ptr + offs), mask=offs < n)
"""
CALLING = """\
import triton
import triton.language as tl

from .helpers import scaled


@triton.jit
def scale(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    tl.store(x_ptr + offs, scaled(x), mask=offs < n)
"""
HELPER = IMPORTS + "@triton.jit\ndef scaled(x):\n    return 2 * x\n"
OTHER_HELPER = IMPORTS + "@triton.jit\ndef scaled(x, factor):\n    return factor * x\n"
ROW = """\
import torch
import triton
import triton.language as tl


@triton.jit
def total_kernel(x_ptr, out_ptr, N: tl.constexpr):
    offs = tl.arange(0, N)
    tl.store(out_ptr, tl.sum(tl.load(x_ptr + offs), axis=0))


def total(x):
    out = torch.empty((), device=x.device)
    total_kernel[(1,)](x, out, N=x.shape[0])
    return out
"""
CALLER = "from .kernels import total\n\n\ndef sums(x):\n    assert x.shape[0] in (16, 32)\n    return total(x)\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A package of a project, with `kernels.py` in it."""
    package = tmp_path / "project" / "package"
    package.mkdir(parents=True)
    (package.parent / "pyproject.toml").touch()
    (package / "__init__.py").touch()
    (package / "kernels.py").write_text(IMPORTS + KERNEL)
    return package


def is_kept(path: Path, config: Config) -> bool:
    """Whether a run now would take what the file comes to from an earlier one."""
    return FileCache(config).get(FileResult, path, digest(path.read_bytes())) is not None


def found(project: Path, **config: object) -> list[tuple[str, str, int]]:
    """What a run with the cache finds, which is what one without it finds."""
    asked = replace(Config(project.parent), **config)  # type: ignore[arg-type]
    audit, fresh = check([project], asked, cache=open_cache(asked)), check([project], asked)
    assert audit == fresh
    return [(finding.code, Path(finding.path).name, finding.span.line) for finding in audit.findings]


def test_what_a_run_found_is_kept_for_the_next(project: Path) -> None:
    config = Config(project.parent)
    assert not is_kept(project / "kernels.py", config)
    first = found(project)
    assert first == [("TAM101", "kernels.py", 8)]
    assert is_kept(project / "kernels.py", config)
    assert found(project) == first


def test_a_file_that_has_changed_is_checked_anew(project: Path) -> None:
    found(project)
    (project / "kernels.py").write_text(IMPORTS + KERNEL.replace("x_ptr + offs)", "x_ptr + offs, mask=offs < n)"))
    assert found(project) == []


def test_so_is_one_with_another_configuration(project: Path) -> None:
    found(project)
    assert found(project, ignore=("TAM101",)) == []
    assert found(project) != []


def test_so_is_one_whose_helper_in_another_file_has_changed(project: Path) -> None:
    (project / "kernels.py").write_text(CALLING)
    (project / "helpers.py").write_text(HELPER)
    assert found(project) == []
    (project / "helpers.py").write_text(OTHER_HELPER)
    assert not is_kept(project / "kernels.py", Config(project.parent))
    assert found(project) == [("TAC126", "kernels.py", 11)]


def test_so_is_one_whose_helper_has_come_or_gone(project: Path) -> None:
    (project / "kernels.py").write_text(CALLING)
    assert found(project) == []
    (project / "helpers.py").write_text(OTHER_HELPER)
    assert found(project) == [("TAC126", "kernels.py", 11)]
    (project / "helpers.py").unlink()
    assert found(project) == []


def test_so_is_one_whose_callers_say_something_else(project: Path) -> None:
    (project / "kernels.py").write_text(ROW)
    assert ("TAC102", "kernels.py", 8) in found(project)
    (project / "callers.py").write_text(CALLER)
    assert ("TAC102", "kernels.py", 8) not in found(project)


def test_so_is_one_whose_launch_in_another_file_has_changed_or_has_come_or_gone(project: Path) -> None:
    kernel, host = ROW.split("def total(x)", 1)
    launching = project / "ops" / "total.py"
    launching.parent.mkdir()
    host = f"import torch\n\nfrom ..kernels import total_kernel\n\n\ndef total(x){host}"
    (project / "kernels.py").write_text(kernel)
    assert ("TAC102", "kernels.py", 8) not in found(project)
    launching.write_text(host)
    assert not is_kept(project / "kernels.py", Config(project.parent))
    assert ("TAC102", "kernels.py", 8) in found(project)
    launching.write_text(host.replace("x.shape[0]", "64"))
    assert ("TAC102", "kernels.py", 8) not in found(project)
    launching.unlink()
    assert not is_kept(project / "kernels.py", Config(project.parent))


def test_so_is_one_whose_project_asks_for_another_triton(project: Path) -> None:
    config = Config(project.parent)
    found(project)
    (project.parent / "pyproject.toml").write_text('[project]\nname = "package"\ndependencies = ["triton==3.1.0"]\n')
    assert not is_kept(project / "kernels.py", config)


def test_a_file_beside_it_that_it_does_not_use_changes_nothing(project: Path) -> None:
    found(project)
    (project / "other.py").write_text(HELPER)
    assert is_kept(project / "kernels.py", Config(project.parent))


def cut_short(entry: Path) -> None:
    entry.write_bytes(entry.read_bytes()[:-10])


def emptied(entry: Path) -> None:
    entry.write_bytes(b"")


def become_another(entry: Path) -> None:
    entry.write_bytes(b"cbuiltins\nlen\n.")


@pytest.mark.parametrize("spoil", [cut_short, emptied, become_another])
def test_what_is_spoilt_is_made_again(
    project: Path, spoil: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITONAUDIT_CACHE", str(tmp_path / "cache"))
    first = found(project)
    for entry in (tmp_path / "cache").rglob("*"):
        if entry.is_file():
            spoil(entry)
    assert not is_kept(project / "kernels.py", Config(project.parent))
    assert found(project) == first
    assert is_kept(project / "kernels.py", Config(project.parent))


def test_where_nothing_can_be_kept_it_is_found_all_the_same(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("TRITONAUDIT_CACHE", str(tmp_path / "file"))
    assert found(project) == [("TAM101", "kernels.py", 8)]


def test_paths_are_shown_from_where_the_run_stands(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = Config(project.parent)
    for folder, shown in ((project.parent, "package/kernels.py"), (project, "kernels.py")):
        monkeypatch.chdir(folder)
        audit = check([project], config, cache=open_cache(config))
        assert [finding.path for finding in audit.findings] == [shown]


def test_runs_at_once_find_the_same_and_leave_nothing_half_written(project: Path, tmp_path: Path) -> None:
    for number in range(40):
        (project / f"kernels_{number}.py").write_text(IMPORTS + KERNEL)
    variables = {**environment(), "TRITONAUDIT_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "tritonaudit", "check", "--output-format", "concise", str(project)]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=variables) for _ in range(4)]
    texts = {run.communicate()[0] for run in runs}
    assert len(texts) == 1
    assert texts.pop().count("TAM101") == 41
    assert not [entry for entry in (tmp_path / "cache").rglob("tmp*") if entry.is_file()]


def test_what_no_run_has_used_for_long_is_removed(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITONAUDIT_CACHE", str(tmp_path / "cache"))
    found(project)
    (old,) = (tmp_path / "cache" / "source").iterdir()
    os.utime(old, (0, 0))
    found(project, ignore=("TAM101",))
    assert old not in list((tmp_path / "cache" / "source").iterdir())
