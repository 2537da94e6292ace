"""What people try first: short options, mistyped words, what would be read, completion, schemas."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.checkout import ROOT, environment, python
from tritonaudit.rules import all_rules

Command = Callable[..., Any]


@pytest.mark.parametrize("arguments", [(), ("check",), ("explain",), ("history",), ("history", "show")])
def test_h_is_help(tritonaudit: Command, arguments: tuple[str, ...]) -> None:
    ran = tritonaudit(*arguments, "-h")
    assert ran.code == 0
    assert ran.out.startswith("Usage: tritonaudit")
    assert ran == tritonaudit(*arguments, "--help")


def test_v_is_the_version(tritonaudit: Command) -> None:
    assert tritonaudit("-V") == tritonaudit("--version")


@pytest.mark.parametrize("option", ["-q", "--quiet"])
def test_quiet_shows_the_findings_alone(tritonaudit: Command, faulty: Path, option: str) -> None:
    loud, quiet = tritonaudit(faulty / "softmax.py"), tritonaudit(faulty / "softmax.py", option)
    summary = loud.out.splitlines()[-1]
    assert summary.startswith("Found ")
    assert quiet.out == loud.out.removesuffix(f"{summary}\n")
    assert quiet.code == loud.code


# -- mistyped ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "meant"),
    [("chekc", "check"), ("Check", "check"), ("explian", "explain"), ("rule", "rules"), ("audti", "audit")],
)
def test_a_mistyped_command_is_reported(
    tritonaudit: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str, meant: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = tritonaudit(word, "src")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"tritonaudit: there is no command or path {word!r}; did you mean `{meant}`?\n"


def test_a_folder_of_such_a_name_is_one(tritonaudit: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rule").mkdir()
    assert tritonaudit("rule").code == 0


@pytest.mark.parametrize(("mistyped", "meant"), [("scr", "src"), ("./kernels/sofmax.py", "kernels/softmax.py")])
def test_a_path_that_does_not_exist_is_reported_what_it_may_have_meant(
    tritonaudit: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mistyped: str, meant: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "softmax.py").touch()
    ran = tritonaudit(mistyped)
    assert ran.code == 2
    assert f"problem: no such file or folder; did you mean {meant!r}?" in ran.out


# -- what would be read, and what governs it -----------------------------------------------------------------------


def test_show_files_lists_what_would_be_read(
    tritonaudit: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("b.py", "a.ipynb", "build/c.py", "src/d.py", "README.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("not read")
    ran = tritonaudit("--show-files")
    assert (ran.code, ran.out, ran.err) == (0, "a.ipynb\nb.py\nsrc/d.py\n", "")
    gone = tritonaudit("gone", "b.py", "--show-files")
    assert (gone.code, gone.out, gone.err) == (2, "b.py\n", "tritonaudit: gone: no such file or folder\n")


def test_show_files_says_that_there_are_none(tritonaudit: Command, tmp_path: Path) -> None:
    ran = tritonaudit(tmp_path, "--show-files")
    expected = f"tritonaudit: warning: no Python files or notebooks found in {tmp_path}\n"
    assert (ran.code, ran.out, ran.err) == (0, "", expected)
    assert tritonaudit(tmp_path, "--show-files", "-q").err == ""


def test_where_something_is_found_nothing_is_said_of_kernels(tritonaudit: Command, tmp_path: Path) -> None:
    (tmp_path / "used.py").write_text("import triton\n\nx = triton.jit  # tritonaudit: ignore[TAM101]\n")
    ran = tritonaudit(tmp_path, "--output-format", "concise")
    assert "TAX002" in ran.out
    assert ran.err == ""


def test_show_settings_is_toml_that_says_the_same(
    tritonaudit: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tomllib = pytest.importorskip("tomllib")
    monkeypatch.chdir(tmp_path)
    text = "fail-on = 'info'\nignore = ['TAM']\n[per-file-ignores]\n'a \"b\".py' = ['ALL']\n"
    (tmp_path / "tritonaudit.toml").write_text(text)
    ran = tritonaudit("--show-settings", "--pedantic")
    assert ran.code == 0
    assert ran.out.startswith("# What governs .: tritonaudit.toml\n")
    shown = tomllib.loads(ran.out)
    assert {key: shown[key] for key in ("fail-on", "ignore", "pedantic", "per-file-ignores")} == {
        "fail-on": "info", "ignore": ["TAM"], "pedantic": True, "per-file-ignores": {'a "b".py': ["ALL"]},
    }  # fmt: skip
    (tmp_path / "tritonaudit.toml").write_text(ran.out)
    assert tritonaudit("--show-settings").out == ran.out


def test_no_cache_reads_and_keeps_nothing(
    tritonaudit: Command, clean: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITONAUDIT_CACHE", str(tmp_path / "cache"))
    assert tritonaudit(clean, "--no-cache").code == 0
    assert not (tmp_path / "cache").exists()
    assert tritonaudit(clean).code == 0
    assert (tmp_path / "cache").exists()


# -- rules in any case ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("selector", ["tac107", "Tac107", "TAC1", "tac1", "Python-Boolean-On-Tensor"])
def test_a_rule_is_selected_in_any_case(tritonaudit: Command, faulty: Path, selector: str) -> None:
    out = tritonaudit(faulty / "softmax.py", "--select", selector, "--output-format", "concise").out
    assert [line.split()[1] for line in out.splitlines()] == ["TAC107"]


def test_a_rule_is_configured_and_suppressed_in_any_case(tritonaudit: Command, faulty: Path, tmp_path: Path) -> None:
    path = tmp_path / "softmax.py"
    shutil.copy(faulty / "softmax.py", path)
    (tmp_path / "tritonaudit.toml").write_text("select = ['all']\nignore = ['tan102']\n")
    assert tritonaudit(path, "--output-format", "concise").out.count("\n") == 1
    path.write_text(f"# tritonaudit: ignore-file[tac107, EXP-without-max] as it is\n{path.read_text()}")
    (tmp_path / "tritonaudit.toml").unlink()
    assert tritonaudit(path, "--output-format", "concise").out == ""


def test_a_word_like_the_beginning_of_a_code_is_a_reason(tritonaudit: Command, clean: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    text = (clean / "softmax.py").read_text()
    path.write_text(f"# tritonaudit: ignore-file tab characters are meant\n{text}")
    assert tritonaudit(path, "--output-format", "concise").out == ""


# -- schemas, completion -------------------------------------------------------------------------------------------


def test_the_schema_of_the_configuration_is_the_file_in_the_repository(tritonaudit: Command) -> None:
    printed = tritonaudit("schema").out
    assert printed == (ROOT / "tritonaudit" / "config.schema.json").read_text()
    assert tritonaudit("schema", "config").out == printed
    jsonschema.validate({"select": ["tam101"], "extend": "../tritonaudit.toml"}, json.loads(printed))


@pytest.mark.parametrize("name", ["findings", "audit", "baseline"])
def test_other_schemas_are_printed(tritonaudit: Command, name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(tritonaudit("schema", name).out))


@pytest.mark.parametrize(
    ("shell", "words"), [("bash", "complete -o"), ("zsh", "#compdef tritonaudit"), ("fish", "complete ")]
)
def test_completion_is_printed(tritonaudit: Command, shell: str, words: str) -> None:
    ran = tritonaudit("completion", shell)
    assert (ran.code, ran.err) == (0, "")
    assert words in ran.out
    assert "_TRITONAUDIT_COMPLETE" in ran.out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_installed_where_the_shell_looks(
    tritonaudit: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: str
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", f"/bin/{shell}")
    ran = tritonaudit("completion", "--install")
    (written,) = (path for path in tmp_path.rglob("*") if path.is_file())
    assert ran.code == 0
    assert ran.out.startswith(f"wrote {written}\n")
    assert written.read_text() == tritonaudit("completion", shell).out


def test_an_unknown_shell_is_reported_which_there_are(tritonaudit: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/dash")
    ran = tritonaudit("completion")
    assert (ran.code, ran.err) == (2, "tritonaudit: name the shell: bash, zsh, fish\n")


def completed(*words: str) -> list[str]:
    """What bash is offered for the last word."""
    variables = {
        "_TRITONAUDIT_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": str(len(words) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-m", "tritonaudit"], cwd=ROOT,
        env={**environment(), **variables}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.split()


def test_a_line_is_completed_by_commands_files_options_and_rules() -> None:
    assert completed("tritonaudit", "exp") == ["plain,explain", "file,exp"]
    assert "plain,--select" in completed("tritonaudit", "--sel")
    assert completed("tritonaudit", "check", "sr") == ["file,sr"]
    assert completed("tritonaudit", "--output-format", "sar") == ["plain,sarif"]
    assert completed("tritonaudit", "--select", "tam10") == [
        f"plain,{rule.code}" for rule in all_rules() if rule.code.startswith("TAM10")
    ]
    assert completed("tritonaudit", "explain", "unmasked") == ["plain,unmasked-access"]


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_can_read_its_completion(tritonaudit: Command, tmp_path: Path) -> None:
    script = tmp_path / "completion"
    script.write_text(tritonaudit("completion", "bash").out)
    said = subprocess.run(
        ["bash", "-c", f". {script}; complete -p tritonaudit"], capture_output=True, text=True, check=True
    )
    assert "tritonaudit" in said.stdout


def test_completion_starts_fast() -> None:
    code = "import sys; from tritonaudit.cli import run; run(['completion', 'bash']); print('loaded:', *sys.modules)"
    loaded = set(python("-c", code, cwd=ROOT).stdout.rpartition("loaded: ")[2].split())
    assert not loaded & {"libcst", "rich", "torch", "triton", "tritonaudit.rules"}
