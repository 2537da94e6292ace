"""The hook, as pre-commit itself runs it."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
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
    rev: HEAD
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


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pre-commit keeps the hook that is installed once for several projects."""
    return tmp_path_factory.mktemp("home")


def pre_commit(project: Path, home: Path, *arguments: str, code: int = 0) -> str:
    variables = {**IDENTITY, "PRE_COMMIT_HOME": str(home)}
    return run(sys.executable, "-m", "pre_commit", *arguments, cwd=project, code=code, variables=variables).stdout


def run_hook(hook: Path, home: Path, project: Path, code: int) -> str:
    """What pre-commit prints in a project that uses the hook; `try-repo` would install it again each time."""
    (project / ".pre-commit-config.yaml").write_text(CONFIG.format(hook=hook), encoding="utf-8")
    return pre_commit(commit(project), home, "run", "--all-files", code=code)


@pytest.mark.parametrize(
    ("example", "code", "said"),
    [("faulty", 1, ("Failed", "kernels/sequence.py:", "TAM101")), ("clean", 0, ("Passed",))],
)
def test_the_hook_on_a_commit(
    hook: Path, home: Path, tmp_path: Path, example: str, code: int, said: tuple[str, ...]
) -> None:
    project = tmp_path / "project"
    shutil.copytree(ROOT / "examples" / example, project / "kernels")
    out = run_hook(hook, home, project, code)
    for words in said:
        assert words in out


def test_warnings_are_seen_though_they_pass(hook: Path, home: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    shutil.copy(ROOT / "examples" / "faulty" / "matmul.py", project)
    out = run_hook(hook, home, project, 0)
    assert "Passed" in out
    assert "matmul.py:33:9: TAN101 low-precision-accumulation [warning, high confidence]" in out
    assert "Found 1 finding (1 warning) in 1 of 1 file" in out


def configured(page: str, hook: Path, project: Path) -> Path:
    """A project with the configuration that a page shows, for this checkout."""
    shown = re.search(r"^    repos:\n(?:    .*\n)+", (ROOT / page).read_text(encoding="utf-8"), re.M)
    assert shown
    shutil.copytree(ROOT / "examples" / "faulty", project / "kernels")
    text = textwrap.dedent(shown[0]).replace("/path/to/tritonaudit", str(hook))
    (project / ".pre-commit-config.yaml").write_text(text, encoding="utf-8")
    return commit(project)


@pytest.mark.parametrize("page", ["README.md", "docs/authors.md"])
def test_what_a_page_shows_works_with_a_checkout(hook: Path, home: Path, tmp_path: Path, page: str) -> None:
    project = configured(page, hook, tmp_path / "project")
    assert "TAM101" in pre_commit(project, home, "run", "--all-files", code=1)


def test_the_commit_of_the_checkout_is_written_down(hook: Path, home: Path, tmp_path: Path) -> None:
    project = configured("docs/authors.md", hook, tmp_path / "project")
    pre_commit(project, home, "autoupdate", "--bleeding-edge")
    head = run("git", "rev-parse", "HEAD", cwd=hook).stdout.strip()
    assert f"rev: {head}\n" in (project / ".pre-commit-config.yaml").read_text(encoding="utf-8")


def test_the_hook_leaves_out_what_the_project_excludes(hook: Path, home: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.copytree(ROOT / "examples" / "faulty", project / "kernels")
    (project / "pyproject.toml").write_text('[tool.tritonaudit]\nextend-exclude = ["kernels"]\n')
    assert "Passed" in run_hook(hook, home, project, 0)
