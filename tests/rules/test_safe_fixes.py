"""The safe fixes on the rules' fixtures, executed before and after on the CPU engine: what was wrong is right then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")

from bench.fixes.cases import CASES
from bench.fixes.fixtures import Fixture, fixtures
from bench.fixes.reasons import OTHER_DEFECTS
from bench.fixes.trial import RIGHT, outcomes
from tritonaudit.config import Config
from tritonaudit.engine import text_checker
from tritonaudit.fixes.applying import is_fixable

RIGHT_BEFORE = {
    ("TAC107", "transpose_kernel"): "the compiler still takes `and` of blocks for `&`",
    ("TAC107", "window_kernel"): "the compiler still takes `and` of blocks for `&`",
    ("TAC107", "histogram_kernel"): "the compiler still takes a chain of blocks for `&`",
    ("TAC107", "make_kernel.kernel"): "the compiler still takes `and` of blocks for `&`",
    ("TAC107", "tuned_kernel"): "the compiler still takes `not` of a block for `~`",
    ("TAC132", "next_row_kernel"): "only a tensor of more than 2^31 elements shows it",
    ("TAC202", "warps_kernel"): "an option in the wrong place costs only speed",
}
"""Kernels whose fault changes no result that a small launch has; the fix must not change any, either."""


@dataclass(frozen=True)
class Ran:
    """A fixture, and what its kernels came to before its safe fixes, and after."""

    fixture: Fixture
    before: Mapping[str, str]
    after: Mapping[str, str]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> list[Ran]:
    folder = tmp_path_factory.mktemp("fixtures")
    return [_ran(fixture, folder) for fixture in fixtures(_release()) if fixture.safe_kernels]


def _release() -> str:
    from tritonaudit.compile.installed import triton_version

    return ".".join(str(triton_version()).split(".")[:2])


def _ran(fixture: Fixture, folder: Path) -> Ran:
    found = []
    for when, text in (("before", fixture.before), ("after", fixture.safe)):
        path = folder / when / f"{fixture.code}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        found.append(outcomes(path, fixture.code, fixture.safe_kernels))
    return Ran(fixture, *found)


def test_a_safely_fixed_kernel_is_right(ran: list[Ran]) -> None:
    wrong = {
        (one.fixture.code, kernel): outcome
        for one in ran
        for kernel, outcome in one.after.items()
        if outcome != RIGHT and (one.fixture.code, kernel) not in OTHER_DEFECTS
    }
    assert wrong == {}
    assert sum(map(len, (one.after for one in ran))) > 30


def test_it_was_wrong_before_where_that_can_show(ran: list[Ran]) -> None:
    right = {(one.fixture.code, kernel) for one in ran for kernel, outcome in one.before.items() if outcome == RIGHT}
    assert right == RIGHT_BEFORE.keys()


def test_each_has_a_launch_or_another_defect(ran: list[Ran]) -> None:
    fixed = {(one.fixture.code, kernel) for one in ran for kernel in one.fixture.safe_kernels}
    assert fixed - CASES.keys() <= OTHER_DEFECTS.keys()


def test_the_finding_is_gone_and_no_rule_finds_more(ran: list[Ran]) -> None:
    alone = Path("/nowhere/bad.py")
    check = text_checker(Config(alone.parent, target_triton=f"=={_release()}"))
    for one in ran:
        before, after = (check(text.encode(), alone).findings for text in (one.fixture.before, one.fixture.safe))
        counts = [Counter((finding.code, finding.kernel) for finding in found) for found in (before, after)]
        assert not counts[1] - counts[0], one.fixture.code
        assert not [found for found in after if found.code == one.fixture.code and is_fixable(found, unsafe=False)]
