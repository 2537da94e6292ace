"""An installed package of rules that is broken is named and left out, and everything else is still done."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkout import ROOT, environment, install_rule

GOOD = """\
from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.rule import Hit, Rule


class House(Rule):
    code, name, summary, since = "TAB190", "house", "A rule.", "1.0"
    severity, confidence = Severity.INFO, Confidence.HIGH

    def check(self, kernel: KernelFlow):
        yield Hit(kernel.tree.function.name, "it is a kernel")
"""
BROKEN = {
    "an import": ("import no_such_package\n", "ModuleNotFoundError: No module named 'no_such_package'", 1),
    "syntax": ("x = (\n", "SyntaxError: '(' was never closed", 1),
    "metadata": (
        GOOD.replace(', "1.0"', "").replace(", since", ""),
        "TypeError: rule House does not declare its since",
        6,
    ),
    "no facts": (GOOD.replace("KernelFlow):", "Kernel):"), "NameError: name 'Kernel' is not defined", None),
    "a code of ours": (GOOD.replace("TAB190", "TAM101"), "ValueError: several rules have the code TAM101", None),
    "an exit": ("import sys\n\nsys.exit('no')\n", "SystemExit: no", 3),
}


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join((str(ROOT), str(folder / "installed")))
    return subprocess.run(
        [sys.executable, "-m", "tritonaudit", *arguments], cwd=ROOT, env={**environment(), "PYTHONPATH": path},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("kind", BROKEN)
def test_it_is_named_with_its_file_and_line_and_the_rest_is_done(tmp_path: Path, kind: str) -> None:
    text, message, line = BROKEN[kind]
    install_rule(tmp_path / "installed", "house", text)
    done = run(tmp_path, "examples/faulty/softmax.py", "--output-format", "json")
    report = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (2, "")
    assert {finding["code"] for finding in report["findings"]} == {"TAC107", "TAN102"}
    (error,) = report["errors"]
    assert error["path"] is None
    assert error["message"].startswith(f"the rule package house: its rules are left out: {message}")
    assert line is None or error["message"].endswith(f"house_rule.py:{line})")


def test_a_package_beside_it_is_used(tmp_path: Path) -> None:
    install_rule(tmp_path / "installed", "house", GOOD)
    install_rule(tmp_path / "installed", "broken", "import no_such_package\n")
    done = run(tmp_path, "examples/faulty/softmax.py", "--output-format", "concise")
    assert done.returncode == 2
    assert "TAB190 [info] it is a kernel" in done.stdout
    assert "the rule package broken: problem: its rules are left out" in done.stdout


def test_a_rule_that_may_be_its_may_be_named(tmp_path: Path) -> None:
    install_rule(tmp_path / "installed", "broken", "import no_such_package\n")
    done = run(tmp_path, "examples/faulty/softmax.py", "--extend-select", "TAB190", "--output-format", "concise")
    assert done.returncode == 2
    assert "TAC107" in done.stdout
    said = (
        "the selectors: problem: the rules of a broken package are left out, and no rule has the code, name or prefix"
    )
    assert f"{said} 'TAB190'; did you mean 'TAB103'?\n" in done.stdout


def test_a_selector_that_names_no_rule_is_a_problem_beside_it(tmp_path: Path) -> None:
    install_rule(tmp_path / "installed", "broken", "import no_such_package\n")
    (tmp_path / "pyproject.toml").write_text("[tool.tritonaudit]\nignore = ['QQQ']\n")
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "tritonaudit.toml").write_text("ignore = ['ZZZ']\n")
    (tmp_path / "below" / "kernels.py").write_text("import triton\n")
    errors = json.loads(run(tmp_path, str(tmp_path), "--output-format", "json", "--no-cache").stdout)["errors"]
    why = "the rules of a broken package are left out, and"
    assert [(error["path"], error["message"]) for error in errors[1:]] == [
        (None, f"the selectors: {why} no rule has the code, name or prefix {one}") for one in ("'QQQ'", "'ZZZ'")
    ]


def test_a_package_is_no_file(tmp_path: Path) -> None:
    install_rule(tmp_path / "installed", "broken", "import no_such_package\n")
    path = "examples/clean/softmax.py"
    (reported,) = run(tmp_path, path, "--output-format", "github").stdout.splitlines()
    assert reported.startswith("::error title=problem::the rule package broken: its rules are left out: ")
    (invocation,) = json.loads(run(tmp_path, path, "--output-format", "sarif").stdout)["runs"][0]["invocations"]
    (notification,) = invocation["toolExecutionNotifications"]
    assert "locations" not in notification


def test_rules_lists_the_others(tmp_path: Path) -> None:
    install_rule(tmp_path / "installed", "broken", "import no_such_package\n")
    done = run(tmp_path, "rules")
    assert done.returncode == 2
    assert "TAM101" in done.stdout
    assert done.stderr.startswith("tritonaudit: the rule package broken: its rules are left out: ModuleNotFoundError")
    assert done.stderr.count("\n") == 1
