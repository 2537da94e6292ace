"""The fixes of rules on their fixtures: what `bad.py` becomes is `bad.fixed.py`, and there is nothing left to fix."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tritonaudit.cli import run
from tritonaudit.config import Config
from tritonaudit.engine import check_text
from tritonaudit.finding import Finding
from tritonaudit.fixes.applying import FixedText, apply_fixes, is_fixable
from tritonaudit.rule import Fixable
from tritonaudit.rules import all_rules, find_rule

FIXTURES = ROOT / "fixtures" / "rules"
FIXED = (
    "TAC102", "TAC103", "TAC105", "TAC106", "TAC107", "TAC112", "TAC122", "TAC124", "TAC132", "TAC202", "TAM101",
    "TAN101", "TAN102", "TAN105",
)  # fmt: skip


def bad(code: str) -> Path:
    (folder,) = FIXTURES.glob(f"{code}_*")
    return folder / "bad.py"


def look(code: str) -> Callable[[str], tuple[Finding, ...]]:
    """What the rule alone finds in a text."""
    return lambda text: check_text(text.encode(), bad(code), Config(ROOT, select=(code,))).findings


@pytest.fixture(scope="module", params=FIXED)
def case(request: pytest.FixtureRequest) -> tuple[str, FixedText]:
    """A rule's code, and what all its fixes make of its fixture."""
    code = str(request.param)
    return code, apply_fixes(bad(code).read_text(encoding="utf-8"), look(code), unsafe=True)


def test_a_rule_says_what_of_it_can_be_fixed(case: tuple[str, FixedText]) -> None:
    code, _ = case
    found = look(code)(bad(code).read_text(encoding="utf-8"))
    seen = {finding.fix.safe for finding in found if finding.fix is not None}
    said = {Fixable.SAFE: {True}, Fixable.UNSAFE: {False}, Fixable.EITHER: {True, False}}
    rule = find_rule(code)
    assert rule is not None
    assert seen <= said[rule.fixable]


def test_no_other_rule_says_so() -> None:
    assert {rule.code for rule in all_rules() if rule.fixable is not Fixable.NO} == {*FIXED, "TAC130"}


def test_the_fixed_fixture_is_literal(case: tuple[str, FixedText], expected: Callable[[Path, str], None]) -> None:
    code, result = case
    expected(bad(code).with_name("bad.fixed.py"), result.text)


def test_a_finding_with_a_fix_is_gone(case: tuple[str, FixedText]) -> None:
    code, result = case
    assert result.fixed > 0
    assert result.dropped == ()
    assert result.settled
    before, after = look(code)(bad(code).read_text(encoding="utf-8")), look(code)(result.text)
    fixable = {(*finding.identity[:3], finding.message) for finding in before if is_fixable(finding, unsafe=True)}
    assert not fixable & {(*finding.identity[:3], finding.message) for finding in after}
    assert len(after) < len(before)


def test_what_is_fixed_parses_and_is_not_fixed_again(case: tuple[str, FixedText]) -> None:
    code, result = case
    ast.parse(result.text)
    assert apply_fixes(result.text, look(code), unsafe=True) == FixedText(result.text)


def test_safe_fixes_leave_the_unsafe_ones() -> None:
    text = bad("TAN102").read_text(encoding="utf-8")
    assert apply_fixes(text, look("TAN102")) == FixedText(text)


@pytest.mark.parametrize("code", FIXED)
def test_what_is_right_is_left_alone(code: str) -> None:
    text = bad(code).with_name("good.py").read_text(encoding="utf-8")
    findings = check_text(text.encode(), bad(code), Config(ROOT)).findings
    lines = text.split("\n")
    assert not [
        finding
        for finding in findings
        if is_fixable(finding, unsafe=False) and f"expect: {finding.code}" not in lines[finding.span.line - 1]
    ]


@pytest.mark.parametrize(
    ("written", "fixed"),
    [
        ("mask and x", "mask & (x != 0)"),
        ("x + 1 or mask", "((x + 1) != 0) | mask"),
        ("(x + 1) and mask", "((x + 1) != 0) & mask"),
        ("mask and lanes < 3 and x", "(mask & (lanes < 3)) & (x != 0)"),
        ("not lanes < 3", "~(lanes < 3)"),
        ("0 <= lanes < 3", "(0 <= lanes) & (lanes < 3)"),
    ],
)
def test_conditions_of_blocks(written: str, fixed: str) -> None:
    kernel = (
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef kernel(x_ptr, n, BLOCK: tl.constexpr):\n"
        "    lanes = tl.arange(0, BLOCK)\n    mask = lanes < n\n"
        "    x = tl.load(x_ptr + lanes, mask=mask).to(tl.float32)\n"
    )
    line = "    tl.store(x_ptr + lanes, x, mask={})\n"
    result = apply_fixes(kernel + line.format(written), look("TAC107"))
    assert result.text == kernel + line.format(fixed)


@pytest.fixture(scope="module")
def rejected(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, set[str]]:
    """The kernels of each fixture, before its fixes and after, that do not compile."""
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    report = tmp_path_factory.mktemp("compiled") / "report.json"
    files = [path for code in FIXED for path in (bad(code), bad(code).with_name("bad.fixed.py"))]
    options = ["--select", "TAC301", "--target", "sm_90", "--output-format", "json", "--output-file", str(report)]
    run(["compile", *map(str, files), *options])
    kernels: dict[Path, set[str]] = {path: set() for path in files}
    for finding in json.loads(report.read_text(encoding="utf-8"))["findings"]:
        kernels[Path(finding["path"]).resolve()].add(finding["kernel"])
    return kernels


@pytest.mark.slow
@pytest.mark.parametrize("code", FIXED)
def test_what_compiled_still_compiles(code: str, rejected: dict[Path, set[str]]) -> None:
    before, after = rejected[bad(code)], rejected[bad(code).with_name("bad.fixed.py")]
    assert after <= before
    if code == "TAC103":
        assert {"softmax_kernel", "scale_kernel", "rotate_kernel"} <= before - after


@pytest.mark.parametrize(
    ("written", "fixed"),
    [
        ("tl.libdevice.exp(x)", "libdevice.exp(x)"),
        ("tl.math.tanh(tl.libdevice.exp(x))", "libdevice.tanh(libdevice.exp(x))"),
    ],
)
def test_the_library_is_imported_once_and_under_its_name(written: str, fixed: str) -> None:
    text = (
        "import triton  # first\nimport triton.language as tl  # second\n{}\n\n@triton.jit\ndef kernel(x_ptr):\n"
        "    x = tl.load(x_ptr)\n    tl.store(x_ptr, {})\n"
    )
    result = apply_fixes(text.format("", written), look("TAC106"))
    assert result.text == text.format("from triton.language.extra import libdevice\n", fixed)
    alias = "from triton.language.extra import libdevice as lib\n"
    assert apply_fixes(text.format(alias, written), look("TAC106")).text == text.format(
        alias, fixed.replace("libdevice", "lib")
    )
    taken = "\n\ndef libdevice(): pass\n"
    assert apply_fixes(text.format(taken, written), look("TAC106")) == FixedText(text.format(taken, written))


@pytest.mark.parametrize(
    ("written", "fixed"),
    [
        ('{"num_warps": 8}', "{}, num_warps=8"),
        ('{"A": 1, "num_warps": 8,}', '{"A": 1,}, num_warps=8'),
        ('{"num_warps": 8, "A": 1}, num_stages=2', '{"A": 1}, num_warps=8, num_stages=2'),
        ('{"num_warps": 8, "A": 1}, num_warps=2', None),
        ('{"num_warps": 8,  # why\n"A": 1}', None),
        ('{"num_warps": 8, "A": 1}, **more', None),
    ],
)
def test_options_of_a_config(written: str, fixed: str | None) -> None:
    text = (
        "import triton\nimport triton.language as tl\n\n\n"
        "@triton.autotune(configs=[triton.Config({})], key=[])\n@triton.jit\n"
        "def kernel(x_ptr, A: tl.constexpr):\n    tl.store(x_ptr, A)\n"
    )
    before = text.replace("{}", written)
    assert apply_fixes(before, look("TAC202")).text == (before if fixed is None else text.replace("{}", fixed))


def test_a_dropped_pointer_is_assigned_where_no_release_says_a_word() -> None:
    text = (
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef kernel(x_ptr, n):\n"
        "    p = tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (16,), (0,))\n    tl.advance(p, (16,))\n"
        "    tl.store(p, tl.load(p))\n"
    )
    config = Config(ROOT, select=("TAC130",), target_triton="<3.4")
    result = apply_fixes(text, lambda text: check_text(text.encode(), bad("TAC130"), config).findings)
    assert result.text == text.replace("    tl.advance", "    p = tl.advance")


@pytest.mark.parametrize(
    ("written", "fixed"),
    [
        ("x_ptr + pid / 2 + (pid + 1) / 4", "x_ptr + pid // 2 + (pid + 1) // 4"),
        ("x_ptr + (pid / 2 - 1) * n", "x_ptr + (pid // 2 - 1) * n"),
        ("x_ptr + pid / 2 * 0.5", None),
        ("x_ptr + tl.load(y_ptr).to(tl.float32) / 2", None),
    ],
)
def test_divisions_in_offsets(written: str, fixed: str | None) -> None:
    text = (
        "import torch\nimport triton\nimport triton.language as tl\n\n\n@triton.jit\ndef kernel(x_ptr, y_ptr):\n"
        "    pid, n = tl.program_id(0), tl.num_programs(0)\n    tl.store({}, 1.0)\n\n\n"
        "kernel[(1,)](torch.zeros(4), torch.zeros(4))\n"
    )
    result = apply_fixes(text.format(written), look("TAC112"))
    assert result.text == text.format(written if fixed is None else fixed)


@pytest.mark.parametrize(
    ("before", "inside", "fixed"),
    [
        ("total = 0", "total += x", "total = 0.0"),
        ("count, total = 1, 2", "total = x", "count, total = 1, 2.0"),
        ("total = 0\n    total += 1", "total += x", None),
        ("total = True", "total += x", None),
        ("total = n", "total += x", None),
    ],
)
def test_numbers_that_a_loop_makes_floats(before: str, inside: str, fixed: str | None) -> None:
    text = (
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef kernel(x_ptr, n):\n    {}\n"
        "    for i in range(tl.num_programs(0)):\n        x = tl.load(x_ptr + i).to(tl.float32)\n        {}\n"
        "    tl.store(x_ptr, total)\n"
    )
    result = apply_fixes(text.format(before, inside), look("TAC122"))
    assert result.text == text.format(before if fixed is None else fixed, inside)
