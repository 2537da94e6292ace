"""Every command that README.md, docs/ and their neighbours show is executed once, or listed with the reason why not."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from tests.checkout import ROOT, run
from tests.history.entries import entry, history
from tests.notebooks import code, notebook
from tritonaudit.cli import run as tritonaudit

PAGES = (
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "CONTRIBUTING.md",
    ROOT / "editors" / "vscode" / "README.md",
)
PROGRAM = r"(?:\.venv/bin/)?(?:tritonaudit|pytest|python|pip|make|npm|git)"
IN_BLOCK = re.compile(rf"^    (?:\$ |- run: )?({PROGRAM}(?: [^:\n].*)?)$", re.M)
IN_LINE = re.compile(rf"`({PROGRAM} [^`]+)`")
DYNAMIC = ("audit", "compile", "init", "roofline")
"""Commands that need torch and triton. Here they get one small kernel and no subject, so that nothing is run."""
DOUBLING = """\
import torch
import triton
import triton.language as tl


@triton.jit
def double_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, 2 * tl.load(x_ptr + at, mask=at < n), mask=at < n)


def double(x: torch.Tensor) -> torch.Tensor:
    x = x.contiguous()
    out = torch.empty_like(x)
    double_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return out
"""

_GPU = "needs a GPU"
_NETWORK = "installs from the network"
_SAMPLE = "tests/test_readme.py and tests/test_docs.py compare what it prints"
_MINUTE = "takes from half a minute to several; tests/cli and tests/farm run the command on small subjects"
_CHECKOUT = "writes into the checkout; the tests of `tritonaudit new` do it in a copy"
_BENCH = "a benchmark: minutes to hours, and corpora that are not in the repository"
NOT_RUN = {
    **dict.fromkeys(("make audit", "make docs", "make test"), f"{_NETWORK}; changes the user's machine"),
    **dict.fromkeys(("npm install --no-save axe-core", "npm run vsix"), _NETWORK),
    "tritonaudit server": "waits for an editor; tests/server speaks with it",
    "tritonaudit server --check": "stops the process's garbage collection; tests/server runs it in one of its own",
    "tritonaudit audit FILE --only performance --output-format json": _GPU,
    "tritonaudit audit --only performance bench/measuring/subjects": _GPU,
    "tritonaudit explain TAB190": "a rule of the reader's own, which tests/test_docs.py installs",
    **dict.fromkeys(
        (
            "tritonaudit examples/faulty/softmax.py",
            "tritonaudit kernels",
            "tritonaudit kernels --diff",
            "tritonaudit compile examples/compiled --target sm_90 --target gfx942",
            "tritonaudit compile kernels/softmax --target sm_90",
            "python examples/simulated/add.py",
        ),
        _SAMPLE,
    ),
    **dict.fromkeys(
        (
            "tritonaudit trace -- pytest",
            "tritonaudit trace -- pytest tests",
            "tritonaudit replay tritonaudit.trace",
        ),
        "tests/trace runs both on a project",
    ),
    "tritonaudit new TAM199 some-name": _CHECKOUT,
    ".venv/bin/tritonaudit new TAM110 some-name": _CHECKOUT,
    "pytest tests/rules -k TAM199 --update-expected": _CHECKOUT,
    "pytest --update-expected": _CHECKOUT,
    "python tools/rule_index.py": "writes into the checkout; tests/tools compares what it writes",
    "python tools/api_table WHEELS": "needs a wheel of every release of Triton",
}
SLOW = re.compile(
    r"tritonaudit (farm|gate|select|audit (kernels|FILE|candidates)|roofline kernels)\b"
    r"|python -c \"import tritonaudit"
)
"""What runs a subject."""
BENCH = re.compile(r"python bench/")


def shown() -> list[str]:
    """The distinct commands, without comments, prompts and input, in the order of the pages."""
    found: dict[str, None] = {}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for command in (*IN_BLOCK.findall(text), *IN_LINE.findall(text)):
            found[re.sub(r"\s+", " ", re.sub(r"\s+#.*| < \S+", "", command)).strip()] = None
    return [command for command in found if not _is_a_mention(command)]


def _is_a_mention(command: str) -> bool:
    """Prose names commands without what they are given."""
    return re.fullmatch(r"tritonaudit (audit|check|compile|explain|explain CODE|init|new|server)", command) is not None


def reason(command: str) -> str | None:
    if command in NOT_RUN:
        return NOT_RUN[command]
    if command.startswith("pip install"):
        return _NETWORK
    if "--watch" in shlex.split(command):
        return "goes on until Ctrl-C: tests/cli/test_watch.py"
    if BENCH.match(command):
        return _BENCH
    return _MINUTE if SLOW.match(command) else None


EXECUTED = [command for command in shown() if reason(command) is None]


def test_what_is_listed_is_shown() -> None:
    assert [command for command in NOT_RUN if command not in {*shown(), "tritonaudit server"}] == []


def test_most_commands_are_executed() -> None:
    assert len(EXECUTED) >= 50


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the pages speak of: kernels in src/, a notebook, a history of three versions."""
    clean = ROOT / "examples" / "clean" / "softmax.py"
    for place in ("src/softmax.py", "kernel.py", "candidate.py"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        shutil.copy(clean, tmp_path / place)
    (tmp_path / "explore.ipynb").write_text(notebook(code(clean.read_text(encoding="utf-8"))))
    (tmp_path / "pyproject.toml").touch()
    history(tmp_path / "memory", entry(), entry(), entry())
    for variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", EXECUTED)
def test_a_command_does_what_it_is_there_for(
    command: str, project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    program, *arguments = shlex.split(command.replace("FILE", "src/softmax.py"))
    if program != "tritonaudit":
        _execute_program(program, arguments, project)
        return
    if arguments[:1] == ["-"]:
        monkeypatch.setattr("sys.stdin", (project / "kernel.py").open(encoding="utf-8"))
    if arguments and arguments[0] in DYNAMIC:
        pytest.importorskip("torch", reason="it needs torch")
        pytest.importorskip("triton", reason="it needs triton")
        text = DOUBLING.partition("def double(")[0] if arguments[0] == "audit" else DOUBLING  # a wrapper would be run
        for place in ("src/softmax.py", "kernel.py", "candidate.py")[: 3 if arguments[0] == "audit" else 1]:
            (project / place).write_text(text, encoding="utf-8")
    _prepare(arguments, project)
    capfd.readouterr()
    assert tritonaudit(arguments) == (3 if arguments == ["history", "trend"] else 0)
    assert "Traceback" not in capfd.readouterr().err


def _prepare(arguments: list[str], project: Path) -> None:
    """What the page, or the commands before this one, have left in the folder."""
    if "--baseline" in arguments:
        tritonaudit(["src", "--write-baseline", "known.json"])
    if "--against" in arguments:
        tritonaudit(["compile", "src", "--target", "sm_90", "--output-format", "json", "--output-file", "base.json"])
    if "unmask" in arguments:
        tritonaudit(["history", "mask", "2"])
    if "kernels" in arguments:
        shutil.copytree(ROOT / "fixtures" / "kernels" / "softmax", project / "kernels" / "softmax")
    if "origin/main" in arguments:
        commit = ("-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "--message", "m")
        for git in (("init", "--quiet"), ("add", "src"), commit, ("update-ref", "refs/remotes/origin/main", "HEAD")):
            run("git", *git, cwd=project)


def _execute_program(program: str, arguments: list[str], project: Path) -> None:
    """As a shell in the checkout would, or pytest in a project with one test of its own."""
    if program == "pytest":
        (project / "test_own.py").write_text("def test_softmax() -> None: ...\n", encoding="utf-8")
        run(sys.executable, "-m", "pytest", "-p", "tritonaudit.pytest_plugin", *arguments, "test_own.py", cwd=project,
            variables={"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})  # fmt: skip
        return
    assert program == "python"
    run(sys.executable, *arguments, cwd=ROOT)
