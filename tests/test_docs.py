"""What docs/ says is so: its commands and options, its links, its code and the output that costs little."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from tests.checkout import ROOT, environment, install_rule
from tests.programs import install_programs
from tests.test_readme import SAMPLE, SAMPLE_TRITON, run_in_root
from tritonaudit.cli.app import app
from tritonaudit.compile.installed import triton_version
from tritonaudit.finding import Confidence, Finding, Severity, Span
from tritonaudit.report.evidence import LEVELS, level

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
WORKED = DOCS / "worked-example.md"
SCALED = """\
import torch
import triton
import triton.language as tl


@triton.jit
def double_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, 2 * tl.load(x_ptr + at, mask=at < n))


def double(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    n = x.numel()
    double_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
    return out
"""
ATOMIC = """\
import triton
import triton.language as tl


@triton.jit
def count(out_ptr):
    tl.atomic_add(out_ptr, 1)
"""


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def blocks(page: Path) -> Iterator[list[str]]:
    """Every command of an indented block, without the prompt, what it is fed and the comment."""
    for line in re.findall(r"^    (?:\$ )?tritonaudit( .+)?$", text_of(page), re.M):
        arguments = shlex.split(line, comments=True)
        yield arguments[: arguments.index("<")] if "<" in arguments else arguments


def inline(page: Path) -> Iterator[list[str]]:
    for line in re.findall(r"`tritonaudit ([^`]+)`", text_of(page)):
        yield shlex.split(line)


BLOCKS = [(page, arguments) for page in PAGES for arguments in blocks(page)]
ALL = [*BLOCKS, *((page, arguments) for page in PAGES for arguments in inline(page))]


def named(case: tuple[Path, list[str]]) -> str:
    page, arguments = case
    return f"{page.stem}: {' '.join(arguments)}"


def _context() -> click.Context:
    """As a call of the tool has it: commands keep the help options of the first one that they are parsed in."""
    return click.Context(app, info_name="tritonaudit", **app.context_settings)


def command_of(arguments: list[str]) -> str:
    return arguments[0] if arguments and arguments[0] in app.list_commands(_context()) else "check"


# -- commands ------------------------------------------------------------------------------------------------------


def test_there_are_commands_on_every_page_of_a_kind_of_user() -> None:
    pages = {page.stem for page, _ in BLOCKS}
    assert pages >= {"authors", "reviewers", "generating", "porting", "writing-rules", "worked-example"}


@pytest.mark.parametrize("case", ALL, ids=named)
def test_a_command_parses(case: tuple[Path, list[str]]) -> None:
    arguments = case[1]
    group: click.Command = app
    parent = _context()
    if command_of(arguments) == "check" and arguments[:1] != ["check"]:
        arguments = ["check", *arguments]
    while isinstance(group, click.Group) and arguments and arguments[0] in group.list_commands(parent):
        found = group.get_command(parent, arguments[0])
        assert found is not None
        group, arguments = found, arguments[1:]
    group.make_context(group.name, arguments, parent=parent)


# -- links, tables and code ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text_of(page)) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_readme_and_the_index_lead_to_every_page() -> None:
    assert "(docs/README.md)" in text_of(ROOT / "README.md")
    linked = set(re.findall(r"\(([\w-]+\.md)\)", text_of(DOCS / "README.md")))
    assert linked == {page.name for page in PAGES} - {"README.md"}


def test_a_level_of_the_report_is_what_the_table_says_of_its_severity() -> None:
    def found(code: str, severity: Severity) -> Finding:
        return Finding(code, "name", severity, Confidence.HIGH, "message", "a.py", Span(1, 1, 1, 2))

    text = text_of(DOCS / "reviewers.md")
    reported = re.findall(rf"^\| ({'|'.join(LEVELS)}) \| (\w+)(?:, (found|confirmed).*?)? \|", text, re.M)
    errors = {"found": "TAM101", "confirmed": "TAM401", "": "TAM401"}
    assert [name for name, _, _ in reported] == list(LEVELS)
    for name, severity, where in reported:
        assert level(found(errors[where], Severity(severity))) == name


def test_the_inputs_and_outputs_of_the_action_are_reported() -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML reads action.yml")
    action = yaml.safe_load(text_of(ROOT / "action.yml"))
    tables = re.findall(r"^\| (?:input|output) .*\n((?:\|.*\n)+)", text_of(DOCS / "github.md"), re.M)
    reported = [set(re.findall(r"^\| `([\w-]+)`", table, re.M)) for table in tables]
    assert reported == [set(action["inputs"]), set(action["outputs"])]


def test_the_workflow_gives_the_action_inputs_that_it_has() -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML reads it")
    block = re.search(r"((?:^    .*\n)+)", text_of(DOCS / "github.md"), re.M)
    assert block
    steps = yaml.safe_load(textwrap.dedent(block[1]))["jobs"]["tritonaudit"]["steps"]
    inputs = yaml.safe_load(text_of(ROOT / "action.yml"))["inputs"]
    assert steps[-1]["uses"].startswith("OWNER/tritonaudit@")
    assert set(steps[-1]["with"]) <= set(inputs)


def code_of(page: str) -> str:
    found = re.search(r"```python\n(.*?)```", text_of(DOCS / page), re.S)
    assert found
    return found[1]


def reported_by(page: str, code: str, text: str, folder: Path) -> list[tuple[int, str]]:
    """What the rule of a page says of a file, by line."""
    installed = install_rule(folder / "installed", "house", code_of(page))
    (folder / "project").mkdir()
    (folder / "project" / "m.py").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "tritonaudit", "check", "m.py", "--output-format", "json", "--exit-zero"],
        cwd=folder / "project",
        env={**environment(), "PYTHONPATH": os.pathsep.join((str(ROOT), str(installed)))},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = [finding for finding in json.loads(done.stdout)["findings"] if finding["code"] == code]
    return [(finding["line"], finding["message"]) for finding in found]


def test_the_rule_of_ones_own_finds_an_atomic(tmp_path: Path) -> None:
    ((line, message),) = reported_by("writing-rules.md", "TAB190", ATOMIC, tmp_path)
    assert (line, message.split("`")[1]) == (7, "tl.atomic_add(out_ptr, 1)")


def test_the_rule_on_the_queries_shows_numbers(tmp_path: Path) -> None:
    found = reported_by("how-it-knows.md", "TAM190", SCALED, tmp_path)
    assert found == [(9, "it writes index 1,025 of 1,025 elements")]


def test_the_program_that_repairs_repairs(tmp_path: Path) -> None:
    (tmp_path / "repair.py").write_text(code_of("generating.md"), encoding="utf-8")
    source = text_of(ROOT / "fixtures" / "kernels" / "softmax" / "v4_optimized.py")
    programs = install_programs(tmp_path / "bin")
    path = os.pathsep.join((str(programs), os.environ.get("PATH", "")))
    done = subprocess.run(
        ["python", "repair.py"], input=json.dumps({"source": source}), cwd=tmp_path,
        env={**environment(), "PATH": path}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert 'mask=mask, other=-float("inf"))' in done.stdout
    compile(done.stdout, "v4_optimized.py", "exec")


# -- the worked example --------------------------------------------------------------------------------------------


@pytest.fixture
def softmax(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the example begins."""
    left_out = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "fixtures" / "kernels" / "softmax", tmp_path / "kernels" / "softmax", ignore=left_out)
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def samples(*commands: str) -> list[re.Match[str]]:
    """Their places on the page, the last one first."""
    found = [sample for sample in SAMPLE.finditer(text_of(WORKED)) if sample["arguments"] in commands]
    assert len(found) == len(commands)
    return found[::-1]


def replaced(
    commands: tuple[str, ...], capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> str:
    """The page with what the commands print now."""
    text = text_of(WORKED)
    for sample in samples(*commands):
        printed = run_in_root(capfd, monkeypatch, shlex.split(sample["arguments"]), folder)
        indented = "".join(f"    {line}".rstrip() + "\n" for line in printed.rstrip().splitlines())
        text = text[: sample.start("output")] + indented + text[sample.end("output") :]
    return text


def test_the_source_says_what_is_shown(
    softmax: Path, expected: Callable[[Path, str], None], capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    expected(WORKED, replaced(("kernels", "kernels --diff"), capfd, monkeypatch, softmax))


@pytest.mark.slow
def test_the_compiler_says_what_is_shown(
    softmax: Path, expected: Callable[[Path, str], None], capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    pytest.importorskip("torch", reason="torch holds the tensors")
    if triton_version()[:4] != SAMPLE_TRITON:
        pytest.skip("the page has the registers of another Triton")
    expected(WORKED, replaced(("compile kernels/softmax --target sm_90",), capfd, monkeypatch, softmax))
