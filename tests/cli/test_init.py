"""`tritonaudit init`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checkout import ROOT, python
from tests.cli.conftest import Command
from tests.notebooks import scaling
from tests.subject.wrappers import COPY, IMPORTS

WRAPPER = "def f(x):\n    rows, cols = x.shape\n    kernel[(1,)](x, x, x.numel(), BLOCK=64)\n"

LOADED = """
import sys
from tritonaudit.cli import run
code = run(sys.argv[1:])
print("loaded:", *sys.modules)
sys.exit(code)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "ops.py").write_text(IMPORTS + COPY + WRAPPER)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_notebook_is_named(tritonaudit: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scaling(tmp_path)
    ran = tritonaudit("init", ".")
    assert (ran.code, ran.out) == (0, "no spec for scale.ipynb: nothing can import a notebook\n")


def test_it_says_what_it_wrote(project: Path, tritonaudit: Command) -> None:
    ran = tritonaudit("init", ".")
    assert (ran.code, ran.out, ran.err) == (0, "wrote audit_ops.py: f\n", "")
    assert (project / "audit_ops.py").is_file()


def test_what_a_nested_configuration_excludes_has_no_spec(project: Path, tritonaudit: Command) -> None:
    (project / "own").mkdir()
    (project / "ops.py").rename(project / "own" / "ops.py")
    (project / "own" / "tritonaudit.toml").write_text("extend-exclude = ['ops.py']\n")
    assert tritonaudit("init", ".").out == "nothing to write: no function there launches a Triton kernel\n"


def test_what_exists_is_left_as_it_is(project: Path, tritonaudit: Command) -> None:
    tritonaudit("init", "ops.py")
    before = (project / "audit_ops.py").stat().st_mtime_ns
    ran = tritonaudit("init", "ops.py")
    assert (ran.code, ran.out) == (0, "audit_ops.py exists and is left as it is; it would cover f\n")
    assert (project / "audit_ops.py").stat().st_mtime_ns == before


def test_specs_go_where_they_are_sent_to(project: Path, tritonaudit: Command) -> None:
    ran = tritonaudit("init", "ops.py", "--output-dir", "audits")
    assert ran.out == "wrote audits/audit_ops.py: f\n"
    assert not (project / "audit_ops.py").exists()


def test_it_goes_on_after_what_it_cannot_do(project: Path, tritonaudit: Command) -> None:
    (project / "broken.py").write_text(IMPORTS + "@triton.jit\ndef kernel(:\n")
    ran = tritonaudit("init", ".", "missing.py")
    assert ran.code == 2
    assert ran.out == "wrote audit_ops.py: f\n"
    assert ran.err.splitlines() == [
        "tritonaudit: missing.py: no such file or folder",
        "tritonaudit: broken.py: cannot be read as Python: invalid syntax (line 7)",
    ]


def test_where_there_is_nothing_to_write_it_says_so(project: Path, tritonaudit: Command) -> None:
    (project / "ops.py").write_text("x = 1\n")
    ran = tritonaudit("init", ".")
    assert (ran.code, ran.out) == (0, "nothing to write: no function there launches a Triton kernel\n")


def test_paths_are_asked_for(tritonaudit: Command) -> None:
    ran = tritonaudit("init")
    assert ran.code == 2
    assert "PATHS" in ran.err


def test_nothing_of_the_users_is_imported(project: Path) -> None:
    (project / "ops.py").write_text(IMPORTS + "raise SystemExit(7)\n\n\n" + COPY + WRAPPER)
    done = python("-c", LOADED, "init", project / "ops.py", cwd=ROOT)
    modules = done.stdout.rpartition("loaded: ")[2].split()
    assert (project / "audit_ops.py").is_file()
    assert not {"ops", "torch", "triton"} & set(modules)
