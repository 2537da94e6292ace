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
from tritonaudit.fixes import Mended, is_fixable, mend

FIXTURES = ROOT / "fixtures" / "rules"
FIXED = ("TAC102", "TAC103", "TAC107", "TAM101", "TAN101", "TAN102", "TAN105")


def bad(code: str) -> Path:
    (folder,) = FIXTURES.glob(f"{code}_*")
    return folder / "bad.py"


def look(code: str) -> Callable[[str], tuple[Finding, ...]]:
    """What the rule alone finds in a text."""
    return lambda text: check_text(text.encode(), bad(code), Config(ROOT, select=(code,))).findings


@pytest.fixture(scope="module", params=FIXED)
def case(request: pytest.FixtureRequest) -> tuple[str, Mended]:
    """A rule's code, and what all its fixes make of its fixture."""
    code = str(request.param)
    return code, mend(bad(code).read_text(encoding="utf-8"), look(code), unsafe=True)


def test_the_fixed_fixture_is_literal(case: tuple[str, Mended], expected: Callable[[Path, str], None]) -> None:
    code, mended = case
    expected(bad(code).with_name("bad.fixed.py"), mended.text)


def test_a_finding_with_a_fix_is_gone(case: tuple[str, Mended]) -> None:
    code, mended = case
    assert mended.fixed > 0
    assert mended.dropped == ()
    assert mended.settled
    before, after = look(code)(bad(code).read_text(encoding="utf-8")), look(code)(mended.text)
    mended_ones = {finding.identity[:3] for finding in before if is_fixable(finding, unsafe=True)}
    assert not mended_ones & {finding.identity[:3] for finding in after}
    assert len(after) < len(before)


def test_what_is_fixed_parses_and_is_not_fixed_again(case: tuple[str, Mended]) -> None:
    code, mended = case
    ast.parse(mended.text)
    assert mend(mended.text, look(code), unsafe=True) == Mended(mended.text)


def test_safe_fixes_leave_the_unsafe_ones() -> None:
    text = bad("TAN102").read_text(encoding="utf-8")
    assert mend(text, look("TAN102")) == Mended(text)


@pytest.mark.parametrize("code", FIXED)
def test_what_is_right_is_left_alone(code: str) -> None:
    text = bad(code).with_name("good.py").read_text(encoding="utf-8")
    assert mend(text, lambda text: check_text(text.encode(), bad(code), Config(ROOT)).findings).text == text


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
    mended = mend(kernel + line.format(written), look("TAC107"))
    assert mended.text == kernel + line.format(fixed)


@pytest.mark.slow
@pytest.mark.parametrize("code", FIXED)
def test_what_compiled_still_compiles(code: str, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("triton")

    def rejected(file: Path) -> set[str]:
        run(["compile", str(file), "--select", "TAC301", "--target", "sm_90", "--output-format", "json"])
        return {finding["kernel"] for finding in json.loads(capfd.readouterr().out)["findings"]}

    before, after = rejected(bad(code)), rejected(bad(code).with_name("bad.fixed.py"))
    assert after <= before
    if code == "TAC103":
        assert {"softmax_kernel", "scale_kernel", "rotate_kernel"} <= before - after
