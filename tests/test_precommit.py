"""The hook, as pre-commit itself runs it."""

from __future__ import annotations

import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.checkout import ROOT, copy_checkout, run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("pre_commit") is None, reason="pre-commit is not installed"),
    pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed"),
]

IDENTITY = {
    "GIT_AUTHOR_NAME": "someone",
    "GIT_AUTHOR_EMAIL": "someone@example.org",
    "GIT_COMMITTER_NAME": "someone",
    "GIT_COMMITTER_EMAIL": "someone@example.org",
    "GIT_CONFIG_GLOBAL": "/dev/null",
}

CONFIG = """\
repos:
  - repo: {hook}
    rev: {revision}
    hooks:
      - id: tritonaudit
"""


@pytest.fixture(scope="module")
def hook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git repository of the working tree, as it would be once committed."""
    return commit(copy_checkout(tmp_path_factory.mktemp("hook") / "tritonaudit"))


def commit(folder: Path) -> Path:
    for arguments in (("init", "--quiet"), ("add", "--all"), ("commit", "--quiet", "--message", "all")):
        run("git", *arguments, cwd=folder, variables=IDENTITY)
    return folder


def run_hook(hook: Path, project: Path, code: int) -> str:
    """What pre-commit prints in a project that uses the hook, which is installed only once for all of them."""
    revision = run("git", "rev-parse", "HEAD", cwd=hook).stdout.strip()
    (project / ".pre-commit-config.yaml").write_text(CONFIG.format(hook=hook, revision=revision))
    commit(project)
    variables = {**IDENTITY, "PRE_COMMIT_HOME": str(hook.parent / "home")}
    command = (sys.executable, "-m", "pre_commit", "run", "--all-files")
    return run(*command, cwd=project, code=code, variables=variables).stdout


@pytest.mark.parametrize(
    ("example", "code", "said"),
    [("faulty", 1, ("Failed", "kernels/sequence.py:", "TAM101")), ("clean", 0, ("Passed",))],
)
def test_the_hook_on_a_commit(hook: Path, tmp_path: Path, example: str, code: int, said: tuple[str, ...]) -> None:
    project = tmp_path / "project"
    shutil.copytree(ROOT / "examples" / example, project / "kernels")
    out = run_hook(hook, project, code)
    for words in said:
        assert words in out


def test_warnings_are_seen_though_they_pass(hook: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    shutil.copy(ROOT / "examples" / "faulty" / "matmul.py", project)
    out = run_hook(hook, project, 0)
    assert "Passed" in out
    assert "matmul.py:33:9: TAN101 low-precision-accumulation [warning, high confidence]" in out
    assert "Found 1 finding (1 warning) in 1 of 1 file" in out


def test_the_hook_leaves_out_what_the_project_excludes(hook: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.copytree(ROOT / "examples" / "faulty", project / "kernels")
    (project / "pyproject.toml").write_text('[tool.tritonaudit]\nextend-exclude = ["kernels"]\n')
    assert "Passed" in run_hook(hook, project, 0)
