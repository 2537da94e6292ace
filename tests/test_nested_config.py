"""The nearest configuration governs a file; what is odd about configurations is reported, and where they are wrong."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.checkout import ROOT
from tests.cli.conftest import Ran
from tritonaudit.cli import run
from tritonaudit.cli.options import rules_on
from tritonaudit.compile.settle import settle
from tritonaudit.config import project_config
from tritonaudit.finding import Severity
from tritonaudit.source.discover import discover
from tritonaudit.testing import collecting

Audited = Callable[..., Ran]
SUM = """\
import triton
import triton.language as tl


@triton.jit
def running_sum(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=x_ptr.dtype.element_ty)
    for start in range(0, n, BLOCK):
        mask = start + lanes < n
        total += tl.load(x_ptr + start + lanes, mask=mask, other=0)
    tl.store(out_ptr + lanes, total)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one faulty kernel in each of several folders: TAC107, and TAN102, in lines of the same number."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'p'\n")
    for folder in (".", "kept", "own", "own/deep"):
        (tmp_path / folder).mkdir(exist_ok=True)
        shutil.copy(ROOT / "examples" / "faulty" / "softmax.py", tmp_path / folder)
    return tmp_path


@pytest.fixture
def audited(capfd: pytest.CaptureFixture[str]) -> Audited:
    def call(*arguments: str) -> Ran:
        code = run(arguments)
        return Ran(code, *capfd.readouterr())

    return call


def found(ran: Ran) -> dict[str, set[str]]:
    """The codes by folder."""
    codes: dict[str, set[str]] = {}
    for finding in json.loads(ran.out)["findings"]:
        codes.setdefault(Path(finding["path"]).parent.as_posix(), set()).add(finding["code"])
    return codes


def write(path: str, text: str) -> None:
    Path(path).write_text(text)


BOTH = {"TAC107", "TAN102"}


def test_the_nearest_configuration_governs_a_file(project: Path, audited: Audited) -> None:
    write("tritonaudit.toml", "ignore = ['TAC107']\n")
    write("own/pyproject.toml", "[tool.tritonaudit]\nselect = ['TAC107']\n")
    write("kept/pyproject.toml", "[tool.ruff]\n")
    shown = found(audited(".", "--output-format", "json"))
    assert shown == {".": {"TAN102"}, "kept": {"TAN102"}, "own": {"TAC107"}, "own/deep": {"TAC107"}}
    assert found(audited("own/deep", "--output-format", "json")) == {"own/deep": {"TAC107"}}
    assert found(audited("kept/softmax.py", "--output-format", "json")) == {"kept": {"TAN102"}}


def test_each_file_of_several_processes_is_governed_by_its_own(
    project: Path, audited: Audited, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tritonaudit.engine._PARALLEL_FROM", 0)
    write("own/tritonaudit.toml", "select = ['TAC107']\n")
    shown = found(audited(".", "--jobs", "2", "--no-cache", "--output-format", "json"))
    assert shown == {".": BOTH, "kept": BOTH, "own": {"TAC107"}, "own/deep": {"TAC107"}}


def test_what_was_kept_is_read_again_where_a_nested_configuration_changed(project: Path, audited: Audited) -> None:
    assert found(audited(".", "--output-format", "json"))["own"] == BOTH
    write("own/tritonaudit.toml", "select = ['TAC107']\n")
    assert found(audited(".", "--output-format", "json"))["own"] == {"TAC107"}
    write("own/tritonaudit.toml", "select = ['TAN102']\n")
    assert found(audited(".", "--output-format", "json"))["own"] == {"TAN102"}


def test_the_command_line_is_said_on_top_of_each(project: Path, audited: Audited) -> None:
    write("own/tritonaudit.toml", "select = ['TAC107', 'TAN102']\n")
    shown = found(audited(".", "--ignore", "TAC107", "--output-format", "json"))
    assert shown == {".": {"TAN102"}, "kept": {"TAN102"}, "own": {"TAN102"}, "own/deep": {"TAN102"}}


def test_a_configuration_that_the_command_line_names_governs_all(project: Path, audited: Audited) -> None:
    write("own/tritonaudit.toml", "select = ['TAC107']\n")
    write("other.toml", "select = ['TAN102']\n")
    shown = found(audited(".", "--config", "other.toml", "--output-format", "json"))
    assert set.union(*shown.values()) == {"TAN102"}
    assert len(shown) == 4


def test_what_fails_is_said_by_the_configuration_of_the_file(project: Path, audited: Audited) -> None:
    assert audited(".").code == 0
    write("own/tritonaudit.toml", "fail-on = 'warning'\n")
    assert audited(".").code == 1
    assert audited("kept").code == 0


def test_what_fails_a_line_of_jsonl_is_said_by_the_configuration_of_the_file(project: Path, audited: Audited) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    asked = ("audit", "own", "kept", "--only", "source", "--jobs", "1", "--output-format", "jsonl")
    assert audited(*asked).code == 0
    write("own/tritonaudit.toml", "fail-on = 'warning'\n")
    ran = audited(*asked)
    verdicts = {line["path"]: line["verdict"] for line in map(json.loads, ran.out.splitlines())}
    assert verdicts == {
        "kept/softmax.py": "no subject", "own/deep/softmax.py": "fail", "own/softmax.py": "fail"
    }  # fmt: skip
    assert ran.code == 1


def test_a_line_of_jsonl_is_out_of_date_where_a_nested_configuration_changed(project: Path, audited: Audited) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    asked = (
        "audit",
        "own",
        "kept",
        "--only",
        "source",
        "--jobs",
        "1",
        "--output-format",
        "jsonl",
        "--output-file",
        "x",
    )
    write("pyproject.toml", "[tool.tritonaudit]\nexclude = ['x']\n")
    audited(*asked)
    assert len(Path("x").read_text().splitlines()) == 3
    write("own/tritonaudit.toml", "fail-on = 'warning'\n")
    assert audited(*asked, "--resume").code == 1


def test_a_rule_counts_as_on_where_every_file_that_is_read_has_it_on(project: Path, audited: Audited) -> None:
    write("tritonaudit.toml", "ignore = ['TAN102']\n")
    write("own/tritonaudit.toml", "ignore = ['TAC107']\n")
    for folder, off in (("own", {"TAC107"}), ("kept", {"TAN102"}), (".", BOTH)):
        config = project_config(project)
        discover([Path(folder)], config)
        on = rules_on(config, [Path(folder)])
        assert on is not None
        assert {code for code in BOTH if code not in on} == off


def test_subjects_of_pytest_are_governed_by_the_nearest_configuration(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("own/tritonaudit.toml", "fail-on = 'warning'\n")
    file = project / "own" / "audit_it.py"
    monkeypatch.setattr(collecting, "subjects_of", lambda *_: ([(file, "it")], (), ()))
    made: list[dict[str, Any]] = []
    monkeypatch.setattr(collecting.SubjectNode, "from_parent", lambda *_, **said: made.append(said))
    node = SimpleNamespace(path=file, _plugin=SimpleNamespace(gpu=""), CollectError=ValueError)
    list(collecting.AuditFile.collect(node))  # type: ignore[arg-type]
    assert made[0]["audit_config"].of(file).fail_on is Severity.WARNING


def test_types_of_launches_settle_findings_below_a_nested_configuration(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "tritonaudit.toml").write_text("fail-on = 'warning'\n")
    path = tmp_path / "own" / "kernels.py"
    path.write_text(SUM)
    signature = {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    settled = settle(path, {"running_sum": [signature]}, project_config(tmp_path))
    assert [finding.code for finding in settled.refuted] == ["TAN101"]


def test_what_a_nested_configuration_turns_off_is_not_reported_as_gone(project: Path, audited: Audited) -> None:
    audited(".", "--write-baseline", "known.json")
    write("own/tritonaudit.toml", "ignore = ['TAC107']\n[per-file-ignores]\n'deep/' = ['TAN102']\n")
    assert audited(".", "--baseline", "known.json").err == ""
    write("own/softmax.py", "")
    err = audited(".", "--baseline", "known.json").err
    assert err == "tritonaudit: no longer found of what known.json holds: own/softmax.py TAN102\n"


def test_exclusions_are_those_of_the_folder(project: Path, audited: Audited) -> None:
    write("tritonaudit.toml", "extend-exclude = ['/kept/', 'deep/']\n")
    write("own/tritonaudit.toml", "exclude = ['/softmax.py']\n")
    assert audited("--show-files").out == "own/deep/softmax.py\nsoftmax.py\n"
    ran = audited("own/softmax.py", "own/deep/softmax.py", "kept/softmax.py", "--force-exclude", "--show-files")
    assert ran.out == "own/deep/softmax.py\n"


def test_show_settings_says_which_file_governs(project: Path, audited: Audited) -> None:
    write("own/tritonaudit.toml", "select = ['TAC107']\n")
    out = audited("own/deep/softmax.py", "--show-settings").out
    assert out.startswith("# What governs own/deep/softmax.py: own/tritonaudit.toml\n")
    assert 'select = ["TAC107"]\n' in out
    assert audited("kept", "--show-settings").out.startswith("# What governs kept: the defaults: no file")


def test_show_settings_of_a_folder_above(project: Path, audited: Audited, monkeypatch: pytest.MonkeyPatch) -> None:
    write("tritonaudit.toml", "select = ['TAC107']\n")
    write("own/deep/tritonaudit.toml", "select = ['TAN102']\n")
    monkeypatch.chdir(project / "own" / "deep")
    assert 'select = ["TAC107"]\n' in audited("..", "--show-settings").out


def test_show_settings_of_what_is_not_there(project: Path, audited: Audited) -> None:
    ran = audited("nosuch", "--show-settings")
    assert (ran.code, ran.out, ran.err) == (2, "", "tritonaudit: nosuch: no such file or folder\n")
    assert audited("-", "--stdin-filename", "nosuch.py", "--show-settings").code == 0


# -- extend --------------------------------------------------------------------------------------------------------


def test_a_configuration_builds_on_another(project: Path, audited: Audited) -> None:
    write("tritonaudit.toml", "ignore = ['TAN102']\nfail-on = 'info'\n")
    write("own/tritonaudit.toml", "extend = '../tritonaudit.toml'\npedantic = true\n")
    write("own/deep/tritonaudit.toml", "extend = '../tritonaudit.toml'\nignore = ['TAC107']\n")
    settings = audited("own/deep", "--show-settings").out
    assert 'ignore = ["TAN102", "TAC107"]' in settings
    assert 'fail-on = "info"' in settings
    assert "pedantic = true" in settings
    write("own/deep/tritonaudit.toml", "extend = '../tritonaudit.toml'\nselect = ['TAN102']\n")
    assert found(audited("own/deep", "--output-format", "json")) == {"own/deep": {"TAN102"}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pedantic = true\nextend = 'gone.toml'\n", "own/tritonaudit.toml:2: extend: there is no file {own}/gone.toml"),
        (
            "extend = 'tritonaudit.toml'\n",
            "own/tritonaudit.toml:1: extend: tritonaudit.toml already extends this file",
        ),
        ("extend = '../pyproject.toml'\n", "own/tritonaudit.toml:1: extend: there is no [tool.tritonaudit] in {above}"),
        ("extend = 3\n", "own/tritonaudit.toml:1: extend: expected the path of a configuration file, got 3"),
    ],
)
def test_what_cannot_be_extended_is_said(project: Path, audited: Audited, text: str, message: str) -> None:
    write("own/tritonaudit.toml", text)
    ran = audited(".")
    assert (ran.code, ran.out) == (2, "")
    assert (
        ran.err == f"tritonaudit: {project}/{message.format(own=project / 'own', above=project / 'pyproject.toml')}\n"
    )


def test_a_nested_configuration_that_is_wrong_is_named_with_its_line(project: Path, audited: Audited) -> None:
    write("own/tritonaudit.toml", "pedantic = true\nselekt = []\n")
    ran = audited(".")
    assert (ran.code, ran.out) == (2, "")
    assert (
        ran.err
        == f"tritonaudit: {project}/own/tritonaudit.toml:2: selekt: there is no such key; did you mean 'select'?\n"
    )
    write("own/tritonaudit.toml", "pedantic = \n")
    assert audited(".").err.startswith(f"tritonaudit: {project}/own/tritonaudit.toml:1: not TOML: ")


# -- what is odd ---------------------------------------------------------------------------------------------------


def warnings(ran: Ran) -> list[str]:
    return [line.removeprefix("tritonaudit: warning: ") for line in ran.err.splitlines()]


def test_two_configuration_files_of_one_folder_are_a_warning(project: Path, audited: Audited) -> None:
    for folder in (".", "own"):
        write(f"{folder}/pyproject.toml", "[project]\n\n[tool.tritonaudit]\npedantic = true\n")
        write(f"{folder}/tritonaudit.toml", "ignore = ['ALL']\n")
    ran = audited(".")
    assert ran.code == 0
    why = "[tool.tritonaudit] is ignored, because tritonaudit.toml in the same folder takes precedence"
    assert warnings(ran) == [f"pyproject.toml:3: {why}", f"own/pyproject.toml:3: {why}"]
    assert audited(".", "-q").err == ""


@pytest.mark.parametrize(
    "table", ["tool.tritonaudt", "tool.triton-audit", "tool.triton_audit", "tool.TritonAudit", "tritonaudit"]
)
def test_a_misspelt_table_is_a_warning(project: Path, audited: Audited, table: str) -> None:
    write("pyproject.toml", f"[project]\nname = 'p'\n\n[{table}]\nignore = ['ALL']\n")
    ran = audited(".", "--output-format", "json")
    assert found(ran)["."] == BOTH
    assert warnings(ran) == [f"pyproject.toml:4: [{table}] is not read; did you mean [tool.tritonaudit]?"]


@pytest.mark.parametrize("asked", ["--show-settings", "--show-files"])
def test_it_is_a_warning_beside_what_is_only_shown(project: Path, audited: Audited, asked: str) -> None:
    write("own/pyproject.toml", "[tool.triton-audit]\nignore = ['ALL']\n")
    ran = audited("own", asked)
    assert warnings(ran) == ["own/pyproject.toml:1: [tool.triton-audit] is not read; did you mean [tool.tritonaudit]?"]
    assert audited("own", asked, "-q").err == ""


def test_a_table_that_is_misspelt_in_a_folder_below_is_a_warning(project: Path, audited: Audited) -> None:
    write("own/pyproject.toml", "[tool.tritonaudi]\nignore = ['ALL']\n")
    assert warnings(audited(".")) == [
        "own/pyproject.toml:1: [tool.tritonaudi] is not read; did you mean [tool.tritonaudit]?"
    ]


def test_tables_of_other_tools_are_none_of_ours(project: Path, audited: Audited) -> None:
    write("pyproject.toml", "[tool.triton]\nx = 1\n[tool.pip-audit]\n[tool.ruff]\n")
    assert audited(".").err == ""


def test_a_table_in_a_file_of_our_own_is_reported_where_its_keys_stand(project: Path, audited: Audited) -> None:
    write("tritonaudit.toml", "[tool.tritonaudit]\npedantic = true\n")
    ran = audited(".")
    assert ran.code == 2
    assert "keys stand at the top level of a tritonaudit.toml, not in [tool.tritonaudit]" in ran.err


def test_a_pyproject_of_another_that_is_no_toml_is_none_of_ours(project: Path, audited: Audited) -> None:
    write("own/pyproject.toml", "[tool.other\n")
    assert audited(".").code == 0


def test_settings_are_picked_up_from_above_the_project(
    project: Path, audited: Audited, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "tritonaudit.toml").write_text("ignore = ['TAC107']\n")
    (project / "own" / "pyproject.toml").write_text("[project]\nname = 'inner'\n")
    monkeypatch.chdir(project / "own")
    assert found(audited(".", "--output-format", "json")) == {".": {"TAN102"}, "deep": {"TAN102"}}


def test_a_walk_asks_for_no_configuration_twice(
    project: Path, audited: Audited, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tritonaudit.config as module

    asked: list[Any] = []
    looked = module._in_folder

    def look(folder: Path, *arguments: Any, **named: Any) -> Any:
        asked.append(folder)
        return looked(folder, *arguments, **named)

    monkeypatch.setattr(module, "_in_folder", look)
    audited(".")
    below = [folder for folder in asked if folder.is_relative_to(project)]
    assert len(below) == len(set(below)) == 4
