"""`tritonaudit check` with `--baseline`, `--changed-since`, `--changed-lines` and `--statistics`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.checkout import ROOT
from tests.cli.conftest import Command

OTHER = """

@triton.jit
def other_kernel(x_ptr, BLOCK):
    tl.store(x_ptr + tl.arange(0, BLOCK), 0.0)
"""

GONE = """import triton
import triton.language as tl


@triton.jit
def {0}_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.math.tanh(tl.load(x_ptr + offsets, mask=offsets < n)), mask=offsets < n)
"""


@pytest.fixture
def project(tmp_path: Path, faulty: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one file, in which something is found."""
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "src").mkdir()
    shutil.copy(faulty / "softmax.py", tmp_path / "src" / "softmax.py")
    monkeypatch.chdir(tmp_path)
    return Path("src")


def report(tritonaudit: Command, *arguments: str | Path) -> list[dict[str, Any]]:
    findings: list[dict[str, Any]] = json.loads(tritonaudit(*arguments, "--output-format", "json").out)["findings"]
    return findings


# Baselines


def test_what_is_in_the_baseline_fails_nothing_and_is_not_shown(tritonaudit: Command, project: Path) -> None:
    before = report(tritonaudit, project)
    assert tritonaudit(project, "--fail-on", "info").code == 1
    assert tritonaudit(project, "--fail-on", "info", "--write-baseline", "known.json").code == 0
    ran = tritonaudit(project, "--fail-on", "info", "--baseline", "known.json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == f"No findings in 1 file, 1 kernel. {len(before)} in the baseline.\n"
    assert report(tritonaudit, project, "--baseline", "known.json") == []


def test_it_is_shown_and_marked_where_that_is_asked_for(tritonaudit: Command, project: Path) -> None:
    before = report(tritonaudit, project)
    tritonaudit(project, "--write-baseline", "known.json")
    asked = (project, "--baseline", "known.json", "--show-known")
    ran = tritonaudit(*asked)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.count(" (in the baseline)\n") == len(before)
    assert f" {len(before)} in the baseline." in ran.out
    assert report(tritonaudit, *asked) == [{**finding, "in_baseline": True} for finding in before]
    for form in ("concise", "github", "markdown", "html"):
        assert tritonaudit(*asked, "--output-format", form).out.count("(in the baseline)") == len(before), form
    assert tritonaudit(project, "--show-known").code == 2


def test_what_is_in_the_baseline_is_dim(tritonaudit: Command, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tritonaudit(project, "--write-baseline", "known.json")
    monkeypatch.setenv("FORCE_COLOR", "1")
    *findings, summary = tritonaudit(project, "--baseline", "known.json", "--show-known").out.rstrip("\n").split("\n")
    assert all(line.startswith("\x1b[2m") for line in findings if line)
    assert not summary.startswith("\x1b[2m")


def test_what_is_new_is_not_in_the_baseline(tritonaudit: Command, project: Path) -> None:
    known = len(report(tritonaudit, project))
    tritonaudit(project, "--write-baseline", "known.json")
    file = project / "softmax.py"
    file.write_text("# a line more\n" + file.read_text("utf-8") + OTHER, "utf-8")
    ran = tritonaudit(project, "--baseline", "known.json", "--show-known", "--fail-on", "warning")
    assert ran.code == 1
    assert ran.out.count(" (in the baseline)\n") == known
    assert "TAC103" in ran.out


def test_a_cause_that_is_known_is_new_in_another_kernel(tritonaudit: Command, project: Path) -> None:
    file = project / "tanh.py"
    file.write_text(GONE.format("old"), "utf-8")
    tritonaudit(file, "--write-baseline", "known.json")
    file.write_text(GONE.format("a_new") + GONE.format("old") + GONE.format("other_new"), "utf-8")
    out = tritonaudit(file, "--baseline", "known.json", "--show-known").out
    assert out.count("TAC106") == 2
    assert out.count("(in the baseline)") == 1
    assert "; the same in 1 other kernel\n" in out


def test_of_equal_findings_the_baseline_counts_so_many(tritonaudit: Command, project: Path) -> None:
    kernel = "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef kernel(x_ptr, BLOCK):\n"
    line = "    tl.store(x_ptr + tl.arange(0, BLOCK), 0.0)\n"
    file = project / "softmax.py"
    file.write_text(kernel + line, "utf-8")
    tritonaudit(project, "--write-baseline", "known.json", "--select", "TAC103")
    file.write_text(kernel + line + line, "utf-8")
    ran = tritonaudit(project, "--baseline", "known.json", "--show-known", "--select", "TAC103")
    assert ran.code == 1
    assert ran.out.count(": TAC103 ") == 2
    assert ran.out.count(" (in the baseline)\n") == 1


def test_a_baseline_holds_wherever_it_is_used_from(
    tritonaudit: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tritonaudit(project, "--write-baseline", "known.json")
    monkeypatch.chdir(project)
    assert tritonaudit("softmax.py", "--baseline", "../known.json").code == 0


def test_what_no_longer_occurs_is_reported(tritonaudit: Command, project: Path) -> None:
    tritonaudit(project, "--write-baseline", "known.json")
    (project / "softmax.py").write_text("")
    ran = tritonaudit(project, "--baseline", "known.json")
    assert ran.code == 0
    said = next(line for line in ran.err.splitlines() if "no longer" in line)
    assert said.startswith("tritonaudit: no longer found of what known.json holds: src/softmax.py TA")
    (project / "softmax.py").unlink()
    (project / "other.py").touch()
    assert said in tritonaudit(project / "other.py", "--baseline", "known.json").err.splitlines()
    assert tritonaudit(project / "other.py", "--baseline", "known.json", "-q").err == ""


def test_what_was_not_asked_for_is_not_reported(tritonaudit: Command, project: Path) -> None:
    tritonaudit(project, "--pedantic", "--write-baseline", "known.json")
    (project / "other.py").touch()
    for asked in ((project / "other.py",), (project, "--select", "TAX001"), (project,)):
        assert "no longer" not in tritonaudit(*asked, "--baseline", "known.json").err


def test_a_baseline_is_what_its_schema_says(tritonaudit: Command, project: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    tritonaudit(project, "--write-baseline", "known.json")
    schema = json.loads((ROOT / "tritonaudit" / "baseline.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(json.loads(Path("known.json").read_text("utf-8")))


def test_the_state_in_sarif(tritonaudit: Command, project: Path) -> None:
    def states(*arguments: str) -> set[str | None]:
        log = json.loads(tritonaudit(project, "--output-format", "sarif", *arguments).out)
        return {result.get("baselineState") for result in log["runs"][0]["results"]}

    assert states() == {None}
    tritonaudit(project, "--write-baseline", "known.json")
    (project / "new.py").write_text("import triton\nimport triton.language as tl\n" + OTHER, "utf-8")
    assert states("--baseline", "known.json") == {"unchanged", "new"}


def test_paths_in_sarif_count_from_the_root_of_the_checkout(
    tritonaudit: Command, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Path.cwd()
    monkeypatch.chdir(repository)
    (run,) = json.loads(tritonaudit("softmax.py", "gone.py", "--output-format", "sarif").out)["runs"]
    assert run["originalUriBaseIds"] == {"%SRCROOT%": {"uri": f"{root.as_uri()}/"}}
    places = [one["locations"][0]["physicalLocation"]["artifactLocation"] for one in run["results"]]
    (said,) = run["invocations"][0]["toolExecutionNotifications"]
    places.append(said["locations"][0]["physicalLocation"]["artifactLocation"])
    assert {(place["uri"], place["uriBaseId"]) for place in places} == {
        ("src/softmax.py", "%SRCROOT%"),
        ("src/gone.py", "%SRCROOT%"),
    }


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"version": 2, "findings": {}}', '{"version": 1, "findings": {"a": 1}}']
)
def test_a_file_that_is_no_baseline(tritonaudit: Command, project: Path, text: str) -> None:
    Path("known.json").write_text(text)
    ran = tritonaudit(project, "--baseline", "known.json")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("tritonaudit: known.json: ")
    assert tritonaudit(project, "--baseline", "gone.json").code == 2


def test_a_baseline_does_not_replace_a_source(tritonaudit: Command, project: Path) -> None:
    before = (project / "softmax.py").read_bytes()
    assert tritonaudit(project, "--write-baseline", project / "softmax.py").code == 2
    assert (project / "softmax.py").read_bytes() == before


# What came with a change


def git(*arguments: str) -> None:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments],
        check=True,
        capture_output=True,
        env=environment,
    )


def commit() -> None:
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "as it is")


@pytest.fixture
def repository(project: Path) -> Path:
    """The project, committed."""
    commit()
    return project


def test_nothing_changed(tritonaudit: Command, repository: Path) -> None:
    assert report(tritonaudit, repository)
    for option in ("--changed-since", "--changed-lines"):
        ran = tritonaudit(repository, option, "HEAD")
        assert (ran.code, ran.err) == (0, "")
        assert "No findings" in ran.out


def test_what_the_revision_had_is_counted(tritonaudit: Command, repository: Path) -> None:
    before = len(report(tritonaudit, repository))
    out = tritonaudit(repository, "--changed-since", "HEAD").out
    assert out == f"No findings in 1 file, 1 kernel. {before} in the earlier revision.\n"
    file = repository / "softmax.py"
    file.write_text(file.read_text("utf-8") + OTHER, "utf-8")
    assert f". {before} in the earlier revision." in tritonaudit(repository, "--changed-since", "HEAD").out
    assert "revision" not in tritonaudit(repository).out


def test_a_cause_of_the_revision_counts_once(tritonaudit: Command, repository: Path) -> None:
    file = repository / "tanh.py"
    file.write_text(GONE.format("old") + GONE.format("older"), "utf-8")
    commit()
    assert " 1 in the earlier revision." in tritonaudit(file, "--changed-since", "HEAD").out


SCALE = """import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) * 2.0)


def scale(x):
    n = x.numel()
    assert n % 1024 == 0
    x = x.contiguous()
    out = torch.empty_like(x)
    scale_kernel[(triton.cdiv(n, 1024),)](x, out, BLOCK=1024)
    return out
"""


def test_a_deleted_assertion_shows_what_it_excluded(tritonaudit: Command, project: Path) -> None:
    (project / "scale.py").write_text(SCALE, "utf-8")
    commit()
    (project / "scale.py").write_text(SCALE.replace("    assert n % 1024 == 0\n", ""), "utf-8")
    assert report(tritonaudit, project, "--changed-lines", "HEAD") == []
    found = report(tritonaudit, project, "--changed-since", "HEAD")
    assert [(one["path"], one["severity"], one["line"]) for one in found] == [
        ("src/scale.py", "error", 9),
        ("src/scale.py", "error", 9),
    ]


def test_a_caller_in_another_file_counts_as_it_was(tritonaudit: Command, project: Path) -> None:
    kernel, _, wrapper = SCALE.partition("def scale(x)")
    wrapper = f"import torch\nimport triton\n\nfrom src.scale import scale_kernel\n\n\ndef scale(x){wrapper}"
    (project / "__init__.py").touch()
    (project / "scale.py").write_text(kernel, "utf-8")
    (project / "calls.py").write_text(wrapper, "utf-8")
    commit()
    (project / "calls.py").write_text(wrapper.replace("    assert n % 1024 == 0\n", ""), "utf-8")
    found = report(tritonaudit, project, "--changed-since", "HEAD")
    assert {one["path"] for one in found} == {"src/scale.py"}
    assert len(found) == 2


def test_nothing_of_the_repository_runs_or_changes(tritonaudit: Command, repository: Path) -> None:
    hook = Path(".git/hooks/post-checkout")
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ntouch ran\n")
    hook.chmod(0o755)
    git("config", "filter.evil.smudge", "touch ran")
    Path(".gitattributes").write_text("*.py filter=evil\n")
    commit()
    before = sorted(path for path in Path().rglob("*") if ".git" not in path.parts)
    assert tritonaudit(repository, "--changed-since", "HEAD").code == 0
    assert sorted(path for path in Path().rglob("*") if ".git" not in path.parts) == before


@pytest.mark.parametrize("option", ["--changed-since", "--changed-lines"])
@pytest.mark.parametrize("is_committed", [False, True])
def test_only_findings_of_what_is_new(tritonaudit: Command, repository: Path, option: str, is_committed: bool) -> None:
    file = repository / "softmax.py"
    file.write_text("# a line more\n" + file.read_text("utf-8") + OTHER, "utf-8")
    if is_committed:
        commit()
    found = report(tritonaudit, repository, option, "HEAD~1" if is_committed else "HEAD")
    assert {finding["kernel"] for finding in found} == {"other_kernel"}


def test_a_cause_is_reported_where_lines_changed(tritonaudit: Command, repository: Path) -> None:
    file = repository / "tanh.py"
    file.write_text(GONE.format("old") + GONE.format("older"), "utf-8")
    commit()
    file.write_text(file.read_text("utf-8") + GONE.format("new"), "utf-8")
    for option in ("--changed-since", "--changed-lines"):
        (found,) = report(tritonaudit, file, option, "HEAD")
        assert (found["kernel"], found["related"]) == ("new_kernel", [])


def test_a_file_that_git_does_not_know_is_new(tritonaudit: Command, repository: Path) -> None:
    shutil.copy(repository / "softmax.py", repository / "größe \t neu.py")
    for option in ("--changed-since", "--changed-lines"):
        found = report(tritonaudit, repository, option, "HEAD")
        assert {finding["path"] for finding in found} == {"src/größe \t neu.py"}
    git("add", ".")
    for option in ("--changed-since", "--changed-lines"):
        assert report(tritonaudit, repository, option, "HEAD") == found


def test_a_moved_file_is_not_changed(tritonaudit: Command, repository: Path) -> None:
    git("mv", "src/softmax.py", "src/moved.py")
    for option in ("--changed-since", "--changed-lines"):
        assert report(tritonaudit, repository, option, "HEAD") == []
        assert report(tritonaudit, repository / "moved.py", option, "HEAD") == []


@pytest.mark.parametrize("option", ["--changed-since", "--changed-lines"])
@pytest.mark.parametrize("revision", ["nope", "--all", "HEAD:src"])
def test_a_revision_that_is_not_there(tritonaudit: Command, repository: Path, option: str, revision: str) -> None:
    ran = tritonaudit(repository, f"{option}={revision}")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"tritonaudit: {option} {revision}: ")
    assert ran.err.count("\n") == 1


def test_outside_git(tritonaudit: Command, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(Path.cwd().parent))
    ran = tritonaudit(project, "--changed-since", "HEAD")
    assert ran.code == 2
    assert "not a git repository" in ran.err


# Counts


def test_statistics_count_each_rule(tritonaudit: Command, project: Path) -> None:
    found = [finding["code"] for finding in report(tritonaudit, project)]
    ran = tritonaudit(project, "--statistics", "--fail-on", "info")
    assert ran.code == 1
    for code in set(found):
        (line,) = [line for line in ran.out.splitlines() if f" {code} " in line]
        assert int(line.split()[0]) == found.count(code)
    quiet = tritonaudit(project, "--statistics", "--fail-on", "info", "-q")
    table, _, summary = ran.out.rpartition("\n\n")
    assert summary.startswith("Found ")
    assert quiet.out == f"{table}\n"
    counts = json.loads(tritonaudit(project, "--statistics", "--output-format", "json").out)
    assert {count["code"]: count["findings"] for count in counts} == {code: found.count(code) for code in found}
