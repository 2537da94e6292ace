"""Files in, findings out: numbered, sorted, suppressed, and the same whoever does it."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.checkout import ROOT, environment, install_rule
from tritonaudit.config import Config
from tritonaudit.domains.facts import KernelFlow
from tritonaudit.domains.machine import Machine
from tritonaudit.engine import check, check_text
from tritonaudit.finding import Audit, Status
from tritonaudit.rules import all_rules
from tritonaudit.shown import shown_path

IMPORTS = "import triton\nimport triton.language as tl\n\n\n"
LOAD = "    tl.load(x_ptr + offs)\n"
UNREPEATED: dict[str, Any] = {"ignore": ("TAM107",)}
"""Loads are repeated here to have several findings."""
KERNEL = """\
@triton.jit
def {name}(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
{loads}    tl.store(y_ptr + offs, 1, mask=offs < n)


"""


def kernel(loads: str = LOAD, name: str = "kernel") -> str:
    return KERNEL.format(loads=loads, name=name)


def audit(text: str, **config: Any) -> Audit:
    return check_text(text.encode(), Path("m.py"), Config(Path.cwd(), **{**UNREPEATED, **config}))


def fingerprints(text: str) -> list[str]:
    return [finding.fingerprint for finding in audit(text).findings]


# -- identity ------------------------------------------------------------------------------------------------------


def test_equal_findings_are_numbered_in_the_order_of_the_text() -> None:
    found = audit(IMPORTS + kernel(LOAD * 3)).findings
    assert [(finding.code, finding.ordinal) for finding in found] == [("TAM101", 0), ("TAM101", 1), ("TAM101", 2)]
    assert len({finding.fingerprint for finding in found}) == 3
    assert [finding.span.line for finding in found] == [8, 9, 10]


BACKWARD_KERNEL = """\
@triton.jit
def backward_kernel(dx_ptr, do_ptr, dht_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    do = tl.load(do_ptr + offs, mask=offs < n, other=0.0)
    dht = tl.load(dht_ptr + offs, mask=offs < n, other=0.0)
    tl.store(dx_ptr + offs, do + dht, mask=offs < n)


"""
BACKWARD = """\
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone(), x.clone()

    @staticmethod
    def backward(ctx, do, dht):
        dx = torch.empty_like(do, memory_format=torch.contiguous_format)
        n = do.numel()
        backward_kernel[(triton.cdiv(n, 1024),)](dx, do, dht, n, BLOCK=1024)
        return dx
"""


def test_what_stands_in_the_file_of_the_launch_is_reported_of_each_place_there(tmp_path: Path) -> None:
    torch = "import torch\n" + IMPORTS
    (tmp_path / "pyproject.toml").write_text("")
    kernels, both = tmp_path / "kernels.py", tmp_path / "both.py"
    kernels.write_text(IMPORTS + BACKWARD_KERNEL)
    (tmp_path / "ops.py").write_text(torch + "from kernels import backward_kernel\n\n\n" + BACKWARD)
    both.write_text(torch + BACKWARD_KERNEL + BACKWARD)
    reported = [[finding.message for finding in check([path], Config(tmp_path)).findings] for path in (both, kernels)]
    assert [message[:44] for message in reported[0]] == [
        "the kernel addresses the gradient `do` as if",
        "the kernel addresses the gradient `dht` as i",
    ]
    assert sorted(reported[1]) == sorted(reported[0])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", "# a comment above everything\n\n\n"),
        (IMPORTS, IMPORTS + "def other():\n    return [1, 2]\n\n\n"),
        (IMPORTS, IMPORTS + kernel(name="before")),
        ("    offs =", "    # what follows is an index\n\n    offs ="),
        ("tl.load(x_ptr + offs)", "tl.load(x_ptr  +\n            offs)"),
        ("    tl.store(", "    if n == 0:\n        return\n    tl.store("),
        ("\n", "\r\n"),
    ],
    ids=["comment", "function", "kernel", "lines", "whitespace", "statement", "newlines"],
)
def test_edits_elsewhere_leave_the_fingerprint(old: str, new: str) -> None:
    text = IMPORTS + kernel()
    (before,) = fingerprints(text)
    assert before in fingerprints(text.replace(old, new) if old else new + text)


def test_a_long_expression_has_an_identity_too() -> None:
    body = LOAD.replace("x_ptr", "x_ptr" + " + n" * 300)
    (found,) = audit(IMPORTS + kernel(body)).findings
    assert len(found.expression) <= 400


def test_two_rules_may_speak_of_one_place_and_no_rule_twice() -> None:
    found = audit(IMPORTS + kernel(LOAD * 2) + kernel(LOAD, "other"), pedantic=True).findings
    places = [(finding.code, finding.span) for finding in found]
    assert len(places) == len(set(places))


def test_a_pedantic_rule_runs_where_it_is_asked_for() -> None:
    text = IMPORTS + kernel()
    assert "TAB103" not in {finding.code for finding in audit(text).findings}
    assert "TAB103" not in {finding.code for finding in audit(text, select=("TAB",)).findings}
    assert "TAB103" in {finding.code for finding in audit(text, pedantic=True).findings}
    assert [finding.code for finding in audit(text, select=("TAB103",)).findings] == ["TAB103"]


def test_a_pedantic_rule_does_not_run_else(monkeypatch: pytest.MonkeyPatch) -> None:
    pedantic, *_ = (rule for rule in all_rules() if rule.is_pedantic() and rule.facts() is KernelFlow)
    monkeypatch.setattr(pedantic, "check", lambda *_: pytest.fail("it ran"))
    audit(IMPORTS + kernel())


def test_findings_are_sorted(tmp_path: Path) -> None:
    for name in ("b.py", "a.py", "c/a.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(IMPORTS + kernel(LOAD * 2) + kernel(LOAD, "other"))
    paths = [tmp_path / "c", tmp_path / "b.py", tmp_path / "a.py"]
    found = check(paths, Config(tmp_path, **UNREPEATED)).findings
    assert len(found) == 9
    assert list(found) == sorted(found, key=lambda finding: (finding.path, finding.span))
    assert check(list(reversed(paths)), Config(tmp_path, **UNREPEATED)).findings == found


def test_what_was_looked_at_is_counted(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(IMPORTS + kernel() + kernel(name="other"))
    (tmp_path / "b.py").write_text("x = 1\n")
    found = check([tmp_path], Config(tmp_path))
    assert (found.files, found.kernels) == (2, 2)
    assert list(found.texts) == [shown_path(tmp_path / "a.py")]


# -- suppression ---------------------------------------------------------------------------------------------------


def codes(text: str, **config: Any) -> list[str]:
    return [finding.code for finding in audit(text, **config).findings]


def suppressed(selector: str) -> str:
    return IMPORTS + kernel(LOAD.replace("\n", f"  # tritonaudit: ignore[{selector}] padded\n"))


@pytest.mark.parametrize("selector", ["TAM101", "unmasked-access", "TAM", "TAM101, TAM101", "ALL"])
def test_a_suppressed_finding_is_gone(selector: str) -> None:
    assert "TAM101" not in codes(suppressed(selector))


def test_a_finding_of_another_line_stays_and_is_numbered_afresh() -> None:
    (finding,) = audit(suppressed("TAM101").replace("    tl.store", LOAD + "    tl.store")).findings
    assert (finding.code, finding.ordinal, finding.span.line) == ("TAM101", 0, 9)


def test_a_comment_that_suppresses_nothing_is_reported() -> None:
    text = suppressed("TAC102")
    assert sorted(codes(text)) == ["TAM101", "TAX002"]


def test_it_is_reported_only_where_its_rules_ran() -> None:
    assert codes(suppressed("TAC102"), ignore=("TAC102",)) == ["TAM101"]
    assert codes(suppressed("TAM101"), ignore=("TAM101",)) == []
    assert codes(suppressed("TAC102"), select=("TAM", "TAX")) == ["TAM101"]
    assert codes(suppressed("TAC102"), per_file_ignores=(("m.py", ("TAC102",)),)) == ["TAM101"]


def test_a_finding_that_is_not_shown_is_suppressed_all_the_same() -> None:
    text = IMPORTS + kernel(LOAD).replace("tl.store(y_ptr + offs, 1, mask=offs < n)", "tl.store(y_ptr, 1)")
    assert codes(text) == []
    assert codes(text, select=("TAM",), pedantic=True) == ["TAM101"]
    commented = text.replace("tl.load(x_ptr + offs)", "tl.load(x_ptr + offs)  # tritonaudit: ignore[TAM101] why")
    assert codes(commented) == []


# -- what is not analysed ------------------------------------------------------------------------------------------


def not_run(found: Audit) -> list[tuple[str, str]]:
    return [(outcome.subject, outcome.reason) for outcome in found.outcomes if outcome.status is Status.NOT_RUN]


def test_a_kernel_in_a_string_is_said_not_to_be_analysed() -> None:
    text = IMPORTS + "SOURCE = '''\n@triton.jit\ndef kernel(x):\n    pass\n'''\n"
    assert not_run(audit(text)) == [("m.py:5", "a kernel in a string is not analysed")]


def test_a_kernel_that_is_too_deep_is_said_not_to_be_analysed_and_the_others_are() -> None:
    deep = kernel(f"    y = {'n and ' * 2000}n\n", "deep")
    found = audit(IMPORTS + deep + kernel())
    assert not_run(found) == [("m.py:5", "`deep` is nested too deeply to be analysed")]
    assert [finding.kernel for finding in found.findings] == ["kernel"]
    assert found.kernels == 1


@pytest.mark.parametrize(
    ("name", "text", "noted"),
    [
        ("a.py.jinja", "import triton\n@triton.jit\ndef k(x): tl.store(x, {{ value }})\n", True),
        ("a.py.j2", "{{ jit }}: tl.load(x)\n", True),
        ("b.html.jinja", "<p>triton has a .jit</p>\n", False),
        ("c.j2", "", False),
    ],
)
def test_a_template_with_kernels_is_said_not_to_be_analysed(tmp_path: Path, name: str, text: str, noted: bool) -> None:
    (tmp_path / name).write_text(text)
    found = check([tmp_path], Config(tmp_path))
    expected = [(shown_path(tmp_path / name), "kernels in a template are not analysed")]
    assert not_run(found) == (expected if noted else [])
    assert found.problems == ()


def test_a_file_that_cannot_be_parsed_is_a_problem_and_a_finding() -> None:
    found = audit("import triton\n@triton.jit\ndef kernel(:\n")
    assert [(problem.path, problem.line) for problem in found.problems] == [("m.py", 3)]
    assert [finding.code for finding in found.findings] == ["TAX001"]


def test_a_file_that_cannot_be_decoded_is_a_problem() -> None:
    found = check_text(b"import triton  # jit\n\xff", Path("m.py"), Config(Path.cwd()))
    assert [(problem.path, problem.line) for problem in found.problems] == [("m.py", 2)]


def test_a_file_without_kernels_is_not_even_parsed() -> None:
    assert audit("def broken(:\n").problems == ()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(IMPORTS)
    (tmp_path / "a.py").chmod(0)
    assert [problem.path for problem in check([tmp_path], Config(tmp_path)).problems] == [shown_path(tmp_path / "a.py")]


# -- processes and defects -----------------------------------------------------------------------------------------

DEFECTIVE_RULE = """
from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.domains.facts import KernelFlow
from tritonaudit.rule import Hit, Rule


class Defective(Rule):
    code, name = "TAB198", "defective"
    summary = "Raises where a kernel has a certain name, and says everything twice of others."
    severity, confidence, since = Severity.INFO, Confidence.HIGH, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        if kernel.name == "hard":
            raise KeyError("no such thing")
        yield Hit(kernel.tree.function.name, "one")
        yield Hit(kernel.tree.function.name, "two")
"""


@pytest.fixture
def defective_rule(tmp_path: Path) -> Path:
    """A folder with an installed package that has the rule."""
    return install_rule(tmp_path / "installed", "defective", DEFECTIVE_RULE)


def run(cwd: Path, installed: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-m", "tritonaudit", "check", "--output-format", "json", *arguments],
        cwd=cwd,
        env={**environment(), "PYTHONPATH": os.pathsep.join((str(ROOT), str(installed)))},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


def test_a_defect_in_a_rule_costs_what_it_would_find_in_one_kernel(tmp_path: Path, defective_rule: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "easy.py").write_text(IMPORTS + kernel(name="easy"))
    (project / "hard.py").write_text(IMPORTS + kernel(name="hard") + kernel(name="beside"))
    code, report = run(project, defective_rule, ".")
    assert code == 2
    (error,) = report["errors"]
    assert error["path"] == "hard.py"
    assert error["line"] == 1 + (project / "hard.py").read_text().split("\n").index("@triton.jit")
    assert error["message"] == (
        "the rule TAB198 of `defective_rule` failed on `hard`: KeyError: 'no such thing' (defective_rule.py:16)"
    )
    assert sorted((finding["kernel"], finding["code"]) for finding in report["findings"]) == [
        ("beside", "TAB198"),
        ("beside", "TAM101"),
        ("easy", "TAB198"),
        ("easy", "TAM101"),
        ("hard", "TAM101"),
    ]


def test_a_defect_in_the_analysis_costs_one_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    read = Machine.run

    def run_or_raise(machine: Machine) -> None:
        if machine.flow.name == "hard":
            raise KeyError("no such thing")
        read(machine)

    monkeypatch.setattr(Machine, "run", run_or_raise)
    used = LOAD.replace("\n", "  # tritonaudit: ignore[TAM101]\n")
    found = audit(IMPORTS + kernel(used, name="hard") + kernel(name="beside"))
    (problem,) = found.problems
    assert "failed on `hard`, please report it: KeyError: 'no such thing'" in problem.message
    assert [(finding.kernel, finding.code) for finding in found.findings] == [("beside", "TAM101")]


def test_several_processes_find_what_one_finds(tmp_path: Path) -> None:
    for number in range(6):
        (tmp_path / f"m{number}.py").write_text(IMPORTS + kernel(LOAD * number))
    (tmp_path / "broken.py").write_text("import triton  # jit\ndef (\n")
    (tmp_path / "template.jinja").write_text("@triton.jit\ntl.load(x)\n")
    config = Config(tmp_path, **UNREPEATED)
    assert check([tmp_path], config, jobs=2) == check([tmp_path], config, jobs=1)
    assert len(check([tmp_path], config, jobs=1).findings) == sum(range(6)) + 1


def test_paths_are_shown_from_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    assert shown_path(tmp_path / "below" / "a" / "m.py") == "a/m.py"
    assert shown_path(Path("m.py")) == "m.py"
    assert shown_path(tmp_path / "m.py") == (tmp_path / "m.py").as_posix()


# -- launches in other files ---------------------------------------------------------------------------------------


def test_what_is_wrong_in_a_launch_of_another_file_is_reported_at_the_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "kernels.py").write_text(IMPORTS + kernel(""))
    (tmp_path / "ops.py").write_text("from kernels import kernel\n\n\ndef run(x, y):\n    kernel[(8,)](x, y)\n")
    (found,) = check([Path("kernels.py")], Config(tmp_path)).findings
    assert (found.code, found.path, found.span.line) == ("TAC211", "kernels.py", 6)
    assert found.expression == "kernel"
    assert found.message == "this launch of `kernel` does not pass `n`, `BLOCK`"
    assert [(other.path, other.span.line) for other in found.related] == [("ops.py", 5)]
    assert check([Path("ops.py")], Config(tmp_path)).findings == ()


def test_a_size_that_another_file_passes_is_shown_where_it_is_passed(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    body = "    cols = tl.arange(0, SIZE)\n    tl.store(x_ptr + tl.program_id(0) * SIZE + cols, 0.0)\n"
    (tmp_path / "kernels.py").write_text(IMPORTS + f"@triton.jit\ndef clear_kernel(x_ptr, SIZE: tl.constexpr):\n{body}")
    (tmp_path / "ops.py").write_text(
        "from kernels import clear_kernel\n" + "\n" * 50 + "def clear(x):\n    rows, cols = x.shape\n"
        "    clear_kernel[(rows,)](x, SIZE=cols)\n"
    )
    found = next(
        one
        for one in check([tmp_path / "kernels.py"], Config(tmp_path, pedantic=True)).findings
        if one.code == "TAC102"
    )
    assert [(Path(other.path).name, other.span.line) for other in found.related] == [("ops.py", 53)]


def test_no_fix_changes_a_launch_in_another_file(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    text = IMPORTS + (
        "@triton.jit\ndef kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):\n"
        "    offs = tl.arange(0, BLOCK)\n"
        "    tl.store(y_ptr + offs, tl.load(x_ptr + offs, mask=offs < n), mask=offs < n)\n"
    )
    launch = "def run(x, y):\n    kernel[(1,)](x, y, x.shape[0], BLOCK=24)\n"
    (tmp_path / "kernels.py").write_text(f"{text}\n\n{launch}")
    (here,) = check([tmp_path / "kernels.py"], Config(tmp_path)).findings
    (tmp_path / "kernels.py").write_text(text)
    (tmp_path / "ops.py").write_text(f"from kernels import kernel\n\n\n{launch}")
    (there,) = check([tmp_path / "kernels.py"], Config(tmp_path)).findings
    assert here.code == there.code == "TAC102"
    assert (here.fix is None, there.fix is None) == (False, True)


@pytest.mark.parametrize("step", ["{0} + {0}", "max({0}, {0} + 1)", "{0} if {0} else 1", "triton.cdiv({0}, 2) * {0}"])
def test_long_chains_of_names_do_not_take_long(step: str) -> None:
    names = ["n", *(f"num_tokens_{number}" for number in range(60))]
    steps = "".join(f"    {name} = {step.format(before)}\n" for before, name in itertools.pairwise(names))
    launch = f"    kernel[(triton.cdiv({names[-1]}, 64),)](x, y, {names[-1]}, BLOCK={names[-1]})\n"
    found = audit(f"{IMPORTS}{kernel()}def run(x, y, n):\n{steps}{launch}")
    assert found.kernels == 1
    assert not found.problems
    assert not found.outcomes


HUGE = """\
@triton.jit
def scale_kernel(x_ptr, w_ptr, out_ptr, N: tl.constexpr, C: tl.constexpr, SPATIAL: tl.constexpr, BLOCK: tl.constexpr):
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + index, index < N, 0)
    w = tl.load(w_ptr + index // SPATIAL % C, index < N, 0)
    tl.store(out_ptr + index, x * w, index < N)


def scale(x, w):
    assert x.ndim in (4, 5) and x.is_contiguous() and w.is_contiguous()
    assert w.shape == (x.shape[1],) + (1,) * (x.ndim - 2)
    out, n = torch.empty_like(x), x.numel()
    scale_kernel[(triton.cdiv(n, 512),)](x, w, out, n, x.shape[1], n // (x.shape[0] * x.shape[1]), 512)
    return out
"""


def test_a_grid_of_billions_of_programs_takes_no_memory(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("import torch\n" + IMPORTS + HUGE, encoding="utf-8")
    limited = f"ulimit -v {4 << 20} && exec {sys.executable} -m tritonaudit check --no-cache --jobs 1 {tmp_path}/m.py"
    ran = subprocess.run(["sh", "-c", limited], cwd=ROOT, env=environment(), capture_output=True, text=True)
    assert "please report it" not in ran.stdout + ran.stderr
    assert "in 1 of 1 file" in ran.stdout
