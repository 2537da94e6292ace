"""`tritonaudit check`: exit codes, formats, where the report goes, and how bad usage is answered."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import tritonaudit.config as tritonaudit_config
from tests.checkout import ROOT, environment
from tritonaudit.config import Config
from tritonaudit.finding import Audit

Command = Callable[..., Any]

BROKEN = "import triton\n@triton.jit\ndef kernel(:\n"


def one_line(text: str) -> bool:
    return text.startswith("tritonaudit: ") and text.count("\n") == 1 and text.endswith("\n")


def codes(report: str) -> set[str]:
    return {finding["code"] for finding in json.loads(report)["findings"]}


# Exit codes


def test_findings_are_1(tritonaudit: Command, faulty: Path) -> None:
    ran = tritonaudit("check", faulty)
    assert ran.code == 1
    assert "softmax.py" in ran.out
    assert ran.err == ""


def test_no_findings_are_0(tritonaudit: Command, clean: Path) -> None:
    assert tritonaudit("check", clean).code == 0


def test_a_missing_path_is_2_and_the_rest_is_reported(tritonaudit: Command, faulty: Path) -> None:
    ran = tritonaudit("check", faulty, "gone.py", "--output-format", "concise")
    assert ran.code == 2
    assert "gone.py" in ran.out
    assert "softmax.py" in ran.out


def test_a_broken_file_is_2_and_the_rest_is_reported(tritonaudit: Command, faulty: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text(BROKEN)
    ran = tritonaudit("check", broken, faulty, "--output-format", "concise")
    assert ran.code == 2
    assert "broken.py:3" in ran.out
    assert "softmax.py" in ran.out


def test_exit_zero_makes_1_into_0_and_leaves_2(tritonaudit: Command, faulty: Path) -> None:
    assert tritonaudit("check", faulty, "--exit-zero").code == 0
    assert tritonaudit("check", faulty, "gone.py", "--exit-zero").code == 2


def test_only_findings_at_the_level_fail(tritonaudit: Command, faulty: Path) -> None:
    report = json.loads(tritonaudit(faulty, "--output-format", "json").out)
    warning = next(finding["code"] for finding in report["findings"] if finding["severity"] == "warning")
    assert tritonaudit(faulty, "--select", warning, "--fail-on", "error").code == 0
    assert tritonaudit(faulty, "--select", warning, "--fail-on", "warning").code == 1
    assert tritonaudit(faulty, "--select", warning, "--fail-on", "info").code == 1


def test_an_interrupt_is_130_without_a_traceback(
    tritonaudit: Command, faulty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> Audit:
        raise KeyboardInterrupt

    monkeypatch.setattr("tritonaudit.engine.check", interrupted)
    ran = tritonaudit("check", faulty)
    assert ran.code == 130
    assert ran.err.strip() == ""


def test_a_defect_of_ours_is_2_rather_than_findings(
    tritonaudit: Command, faulty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def defective(*_: object, **__: object) -> Audit:
        raise RuntimeError("defect")

    monkeypatch.setattr("tritonaudit.engine.check", defective)
    ran = tritonaudit("check", faulty)
    assert ran.code == 2
    assert "RuntimeError: defect" in ran.err


# The default command


def test_check_is_the_default_command(tritonaudit: Command, faulty: Path) -> None:
    assert tritonaudit(faulty) == tritonaudit("check", faulty)
    assert tritonaudit("--output-format", "concise", faulty) == tritonaudit(
        "check", "--output-format", "concise", faulty
    )


def test_the_current_folder_is_the_default_path(
    tritonaudit: Command, faulty: Path, clean: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(faulty)
    assert tritonaudit().code == 1
    monkeypatch.chdir(clean)
    assert tritonaudit().code == 0


@pytest.mark.parametrize("folder", ["compile", "rules"])
def test_a_path_named_like_a_command(
    tritonaudit: Command, faulty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    shutil.copytree(faulty, tmp_path / folder)
    monkeypatch.chdir(tmp_path)
    assert tritonaudit(f"./{folder}").code == 1


# Formats and colour


def test_every_format(tritonaudit: Command, faulty: Path) -> None:
    def report(output_format: str) -> str:
        ran = tritonaudit(faulty, "--output-format", output_format)
        assert ran.code == 1
        assert isinstance(ran.out, str)
        return ran.out

    assert report("full") == tritonaudit(faulty).out
    assert report("concise").count("\n") < report("full").count("\n")
    assert report("github").startswith("::")
    assert codes(report("json"))
    assert json.loads(report("sarif"))["version"] == "2.1.0"
    assert report("markdown").startswith("# Triton Kernel Audit Report\n")


def test_a_report_says_how_it_was_made(tritonaudit: Command, faulty: Path) -> None:
    text = tritonaudit(faulty, "--output-format", "markdown", "--ignore", "TAN101").out
    assert f"# the whole audit\ntritonaudit check {faulty} --output-format markdown --ignore TAN101\n" in text
    assert "| accumulation in higher precision | ➖ not checked | TAN101 was turned off |" in text
    passed = [line for line in text.splitlines() if line.split(" | ")[1:2] == ["✅ PASS"]]
    assert passed == ["| Best practices | ✅ PASS | 5 items of its checklist are asked by no rule |"]


def test_colour_only_where_it_is_wanted(tritonaudit: Command, faulty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[" not in tritonaudit(faulty).out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in tritonaudit(faulty).out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in tritonaudit(faulty).out


def test_a_terminal_gets_colour(tritonaudit: Command, faulty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tritonaudit.cli.terminal.is_terminal", lambda: True)
    assert "\x1b[" in tritonaudit(faulty).out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in tritonaudit(faulty).out


# The output file


def test_the_report_goes_to_the_file(tritonaudit: Command, faulty: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.txt"
    report.write_text("of yesterday")
    ran = tritonaudit(faulty, "--output-file", report)
    assert (ran.code, ran.out) == (1, "")
    assert report.read_text("utf-8") == tritonaudit(faulty).out
    assert os.listdir(tmp_path) == ["report.txt"]


def test_a_file_is_never_coloured(
    tritonaudit: Command, faulty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    tritonaudit(faulty, "--output-file", tmp_path / "report.txt")
    assert "\x1b[" not in (tmp_path / "report.txt").read_text("utf-8")


def test_a_failed_write_leaves_what_was_there(
    tritonaudit: Command, faulty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "report.txt").write_text("of yesterday")
    monkeypatch.setattr(os, "replace", full)
    ran = tritonaudit(faulty, "--output-file", tmp_path / "report.txt")
    assert ran.code == 2
    assert one_line(ran.err)
    assert (tmp_path / "report.txt").read_text() == "of yesterday"
    assert os.listdir(tmp_path) == ["report.txt"]


def test_the_file_keeps_its_permissions(tritonaudit: Command, faulty: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.txt"
    report.touch()
    report.chmod(0o640)
    tritonaudit(faulty, "--output-file", report)
    assert report.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("checked", ["kernel.py", "."])
def test_a_checked_input_is_never_overwritten(
    tritonaudit: Command, faulty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checked: str
) -> None:
    monkeypatch.chdir(tmp_path)
    kernel = Path("kernel.py")
    shutil.copy(faulty / "softmax.py", kernel)
    Path("link.txt").symlink_to("kernel.py")
    before = kernel.read_bytes()
    for target in ("kernel.py", tmp_path / "kernel.py", "link.txt"):
        ran = tritonaudit("check", checked, "--output-file", target)
        assert ran.code == 2
        assert one_line(ran.err)
        assert kernel.read_bytes() == before


def test_an_input_of_another_suffix_is_not_overwritten(tritonaudit: Command, faulty: Path, tmp_path: Path) -> None:
    kernel = tmp_path / "kernel"
    shutil.copy(faulty / "softmax.py", kernel)
    assert tritonaudit(kernel, "--output-file", kernel).code == 2
    assert kernel.read_bytes() == (faulty / "softmax.py").read_bytes()


def test_the_file_behind_the_standard_input_is_not_overwritten(
    tritonaudit: Command, faulty: Path, tmp_path: Path, give: Callable[[bytes], None]
) -> None:
    kernel = tmp_path / "kernel.py"
    shutil.copy(faulty / "softmax.py", kernel)
    give(kernel.read_bytes())
    assert tritonaudit("-", "--stdin-filename", kernel, "--output-file", kernel).code == 2
    assert kernel.read_bytes() == (faulty / "softmax.py").read_bytes()


def test_a_folder_that_is_not_there(tritonaudit: Command, faulty: Path, tmp_path: Path) -> None:
    ran = tritonaudit(faulty, "--output-file", tmp_path / "gone" / "report.txt")
    assert ran.code == 2
    assert one_line(ran.err)


@pytest.mark.skipif(not Path("/dev/null").is_char_device(), reason="there is no /dev/null")
def test_a_device_stays_a_device(tritonaudit: Command, faulty: Path) -> None:
    assert tritonaudit(faulty, "--output-file", "/dev/null").code == 1
    assert Path("/dev/null").is_char_device()


# The standard input


@pytest.fixture
def give(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    """Puts bytes on the standard input."""
    return lambda data: monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))


def test_the_standard_input(tritonaudit: Command, faulty: Path, clean: Path, give: Callable[[bytes], None]) -> None:
    give((faulty / "sequence.py").read_bytes())
    ran = tritonaudit("-", "--stdin-filename", "some/name.py", "--output-format", "concise")
    assert ran.code == 1
    assert "some/name.py:" in ran.out
    give((faulty / "sequence.py").read_bytes())
    assert tritonaudit("check", "-").code == 1
    give((clean / "sequence.py").read_bytes())
    assert tritonaudit("-").code == 0


def test_the_standard_input_that_does_not_parse(tritonaudit: Command, give: Callable[[bytes], None]) -> None:
    give(BROKEN.encode())
    assert tritonaudit("-").code == 2


@pytest.mark.parametrize("arguments", [["-", "other.py"], ["--stdin-filename", "name.py"]])
def test_what_does_not_go_with_the_standard_input(tritonaudit: Command, arguments: list[str]) -> None:
    ran = tritonaudit(*arguments)
    assert ran.code == 2
    assert one_line(ran.err)


# Which rules


def test_select_ignore_and_extend_select(tritonaudit: Command, faulty: Path) -> None:
    def found(*arguments: str) -> set[str]:
        return codes(tritonaudit(faulty, "--output-format", "json", *arguments).out)

    first, second, *_ = sorted(found())
    assert found("--select", first) == {first}
    assert found("--select", f"{first}, {second}") == {first, second}
    assert found("--select", first, "--select", second) == {first, second}
    assert found("--select", first, "--extend-select", second) == {first, second}
    assert found("--ignore", first) == found() - {first}


def test_the_command_line_and_the_configuration(tritonaudit: Command, faulty: Path, tmp_path: Path) -> None:
    def found(*arguments: str) -> set[str]:
        return codes(tritonaudit(tmp_path, "--output-format", "json", *arguments).out)

    shutil.copytree(faulty, tmp_path, dirs_exist_ok=True)
    first, second, *rest = sorted(found())
    (tmp_path / "pyproject.toml").write_text(f'[tool.tritonaudit]\nignore = ["{first}"]\n')
    assert found() == {second, *rest}
    assert found("--ignore", second) == set(rest)
    assert found("--select", first) == {first}


def test_the_project_is_that_of_all_paths(
    tritonaudit: Command, faulty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    roots = []
    load = tritonaudit_config.load_config

    def loading(root: Path, *others: Any) -> Config:
        roots.append(root)
        return load(root, *others)

    monkeypatch.setattr(tritonaudit_config, "load_config", loading)
    monkeypatch.chdir(tmp_path)
    for folder in ("a", "b"):
        shutil.copytree(faulty, tmp_path / folder)
        (tmp_path / folder / "pyproject.toml").touch()
    tritonaudit("a/softmax.py")
    tritonaudit("a/softmax.py", "b")
    tritonaudit("gone.py")
    assert roots == [tmp_path / "a", tmp_path, tmp_path]


def test_a_configuration_file_by_name(tritonaudit: Command, faulty: Path, tmp_path: Path) -> None:
    file = tmp_path / "other.toml"
    file.write_text('ignore = ["ALL"]\n')
    assert tritonaudit(faulty, "--config", file).code == 0


def test_force_exclude(tritonaudit: Command, faulty: Path, tmp_path: Path) -> None:
    shutil.copytree(faulty, tmp_path / "kernels")
    (tmp_path / "pyproject.toml").write_text('[tool.tritonaudit]\nextend-exclude = ["kernels"]\n')
    assert tritonaudit(tmp_path / "kernels" / "sequence.py").code == 1
    assert tritonaudit(tmp_path / "kernels" / "sequence.py", "--force-exclude").code == 0


def test_jobs_do_not_change_the_report(tritonaudit: Command, faulty: Path) -> None:
    assert tritonaudit(faulty, "--jobs", "2") == tritonaudit(faulty, "--jobs", "1")


# Bad usage


@pytest.mark.parametrize(
    "arguments",
    [
        ["--nope"],
        ["check", "--output-format", "nope"],
        ["check", "--fail-on", "never"],
        ["check", "--jobs", "0"],
        ["check", "--select"],
        ["check", "--select", "TAM1O1"],
        ["check", "--config", "gone.toml"],
        ["explain"],
        ["new", "TAM199"],
    ],
)
def test_bad_usage_is_one_line_and_2(tritonaudit: Command, arguments: list[str]) -> None:
    ran = tritonaudit(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert one_line(ran.err)


def test_an_unknown_rule_is_guessed(tritonaudit: Command) -> None:
    assert "did you mean 'unmasked-access'" in tritonaudit("--select", "unmasked-acces").err


def test_every_error_of_a_configuration_has_its_line(tritonaudit: Command, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.tritonaudit]\npedantic = 1\nnope = 2\n")
    ran = tritonaudit(tmp_path)
    assert ran.code == 2
    assert ran.err.count("tritonaudit: ") == ran.err.count("\n") == 2


@pytest.mark.skipif(sys.platform == "win32", reason="pipes are not closed like this")
def test_a_reader_that_hangs_up_is_no_error(faulty: Path) -> None:
    command = [sys.executable, "-m", "tritonaudit", "check", str(faulty)]
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    assert process.wait() == 1
