"""README.md and the pages it leads to say what is so: samples, commands, exit codes and the table of keys."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tritonaudit.cli import run
from tritonaudit.compile.installed import triton_version
from tritonaudit.config import Config

README = ROOT / "README.md"
DOCS = ROOT / "docs"
PAGES = (README, *sorted(DOCS.glob("*.md")))
COMMAND_LINE = DOCS / "command-line.md"
CONFIGURATION = DOCS / "configuring.md"
SCHEMA = ROOT / "tritonaudit" / "config.schema.json"
BROKEN = "import triton\n@triton.jit\ndef kernel(:\n"
ERROR = """\
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    for i in range(n):
        tl.store(x_ptr + i, tl.arange(0, 3))
"""


def section(page: Path, heading: str) -> str:
    """The text below a heading of a page, up to the next one of any level."""
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", page.read_text(encoding="utf-8"), re.M | re.S)
    assert found, heading
    return found[1]


def rows(page: Path, heading: str) -> list[list[str]]:
    """The cells of a section's table, without its head."""
    lines = [line for line in section(page, heading).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def run_in_root(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments: list[str], root: Path = ROOT
) -> str:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(root)
    run(arguments)
    out: str = capfd.readouterr().out
    return out


# -- the sample ----------------------------------------------------------------------------------------------------

SAMPLE_TRITON = "3.9."
SAMPLE = re.compile(r"^    \$ tritonaudit (?P<arguments>[^\n]+)\n(?P<output>(?:    [^\n]*\n|\n(?=    |\n))*)", re.M)


@pytest.mark.parametrize("page", [README, DOCS / "subjects.md"], ids=lambda page: page.name)
def test_the_sample_is_what_the_tool_prints(
    page: Path,
    expected: Callable[[Path, str], None],
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = page.read_text(encoding="utf-8")
    (sample,) = SAMPLE.finditer(text)
    arguments = shlex.split(sample["arguments"])
    if arguments[0] == "compile" and triton_version()[:4] != SAMPLE_TRITON:
        pytest.skip("another Triton's registers may differ")
    printed = run_in_root(capfd, monkeypatch, arguments)
    indented = "".join(f"    {line}".rstrip() + "\n" for line in printed.splitlines())
    expected(page, text[: sample.start("output")] + indented + text[sample.end("output") :])


def test_the_example_on_the_cpu_prints_what_is_said(expected: Callable[[Path, str], None]) -> None:
    pytest.importorskip("torch", reason="torch holds the tensors")
    if triton_version()[:4] != SAMPLE_TRITON:
        pytest.skip("an older Triton says less of a program's variables")
    page = DOCS / "simulate.md"
    text = page.read_text(encoding="utf-8")
    sample = re.search(r"^    \$ python (?P<file>examples/\S+)\n(?P<output>(?:    [^\n]*\n)*)", text, re.M)
    assert sample
    command = [sys.executable, "-W", "ignore", sample["file"]]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    indented = "".join(f"    {line}".rstrip() + "\n" for line in done.stdout.splitlines())
    expected(page, text[: sample.start("output")] + indented + text[sample.end("output") :])


def test_the_readme_is_short() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 150


# -- commands ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "option", sorted({option for page in PAGES for option in re.findall(r"--[a-z][a-z-]+", page.read_text("utf-8"))})
)
def test_an_option_exists(option: str, capfd: pytest.CaptureFixture[str]) -> None:
    described = (
        "check",
        "compile",
        "audit",
        "gate",
        "select",
        "roofline",
        "history",
        "history list",
        "farm run",
        "farm report",
        "trace",
        "replay",
        "init",
        "api",
        "completion",
        "server",
    )
    assert {run([*command.split(), "--help"]) for command in described} == {0}
    of_pytest = set(re.findall(r"--[a-z-]+", (ROOT / "tritonaudit" / "pytest_plugin.py").read_text(encoding="utf-8")))
    others = {"--bleeding-edge", "--dist", "--update-expected"}  # which are pre-commit's, xdist's and our own tests'
    if option in of_pytest | others:
        return
    assert re.search(rf"{option}\b(?!-)", capfd.readouterr().out)


@pytest.mark.parametrize(("page", "heading"), [(README, "Use"), (COMMAND_LINE, "Output")])
def test_the_formats_are_those_of_the_tool(page: Path, heading: str, capfd: pytest.CaptureFixture[str]) -> None:
    said = re.search(r"`--output-format` is (.*?)\n\n", section(page, heading), re.S)
    assert said
    run(["check", "--help"])
    choices = re.search(r"--output-format\s+\[([a-z|\s]+)\]", capfd.readouterr().out)
    assert choices
    assert set(re.findall(r"`([a-z]+)`", said[1])) == set(re.sub(r"\s", "", choices[1]).split("|"))


def test_the_files_that_are_spoken_of_exist() -> None:
    text = README.read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
    assert links
    assert [link for link in (*links, "examples/faulty", "examples/clean") if not (ROOT / link).exists()] == []


def test_the_targets_of_make_exist() -> None:
    targets = re.findall(r"^    make (\w+)", README.read_text(encoding="utf-8"), re.M)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert targets
    assert [target for target in targets if not re.search(rf"^{target}:", makefile, re.M)] == []


# -- exit codes ----------------------------------------------------------------------------------------------------


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a warning, an error and a file that does not parse, in folders of their own."""
    faulty = ROOT / "examples" / "faulty"
    for name, data in (
        ("clean", (ROOT / "examples" / "clean" / "softmax.py").read_bytes()),
        ("warning", (faulty / "softmax.py").read_bytes()),
        ("error", ERROR.encode()),
        ("broken", BROKEN.encode()),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "m.py").write_bytes(data)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        (0, ["clean"]),
        (0, ["warning"]),
        (0, ["warning", "error", "--exit-zero"]),
        (1, ["error"]),
        (1, ["warning", "--fail-on", "warning"]),
        (2, ["broken"]),
        (2, ["broken", "error", "--exit-zero"]),
        (2, ["missing"]),
        (2, ["--no-such-option"]),
        (2, ["clean", "--config", "missing.toml"]),
    ],
)
def test_an_exit_code_is_what_the_table_says(code: int, arguments: list[str]) -> None:
    assert str(code) in [row[0] for row in rows(COMMAND_LINE, "Exit codes")]
    assert run(["check", *arguments]) == code


@pytest.mark.usefixtures("kernels")
def test_the_rest_is_reported_all_the_same(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "broken", "error", "--output-format", "json"]) == 2
    assert "error/m.py" in {finding["path"] for finding in json.loads(capfd.readouterr().out)["findings"]}


def test_the_table_has_every_exit_code() -> None:
    assert [row[0] for row in rows(COMMAND_LINE, "Exit codes")] == ["0", "1", "2", "3", "130"]


# -- configuration -------------------------------------------------------------------------------------------------


def test_the_table_of_keys_is_the_schema() -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))["properties"]
    table = {row[0].strip("`"): row[1] for row in rows(CONFIGURATION, "Keys")}
    assert set(table) == set(schema)
    assert len(rows(CONFIGURATION, "Keys")) == len(table)
    for key, default in table.items():
        if key != "exclude":  # described in words
            assert json.loads(default.strip("`")) == schema[key]["default"], key


def test_the_keys_are_those_that_are_read() -> None:
    fields = {field.name.replace("_", "-") for field in Config.__dataclass_fields__.values() if field.compare} - {
        "root"
    }
    assert {row[0].strip("`") for row in rows(CONFIGURATION, "Keys")} == fields | {"extend"}
