"""The gates on a GPU: a port from naive to tuned, and what fails where it is timed. Needs a GPU."""

from __future__ import annotations

import os

import pytest

pytest.importorskip("triton", reason="Triton compiles the kernels")
torch = pytest.importorskip("torch", reason="torch holds the tensors")

from tests.checkout import ROOT  # noqa: E402
from tritonaudit.config import Config  # noqa: E402
from tritonaudit.finding import Status  # noqa: E402
from tritonaudit.gate.checklist import Answer, Item  # noqa: E402
from tritonaudit.gate.gate import GateRequest, gate  # noqa: E402
from tritonaudit.history.entry import Data, entry_of  # noqa: E402
from tritonaudit.suites.stage import Where  # noqa: E402

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU: nothing can be timed")

FOLDER = ROOT / "fixtures" / "ports"


def gated(name: str, stage: int, against: Data | None = None, seconds: float = 8.0) -> tuple[dict[Item, Answer], Data]:
    """The answers for a file, and the entry of the history that it would be kept as."""
    request = GateRequest(stage, seconds, os.cpu_count() or 1, Where.GPU, None, against, keeps=True)
    came = gate(FOLDER / f"audit_{name}.py", Config(ROOT), request)
    (subject,) = came.subjects
    assert came.problems == ()
    return dict(subject.answers), entry_of(came.full.audit, came.full.sections, None, None)


def unmet(answers: dict[Item, Answer]) -> dict[Item, tuple[Status, str]]:
    return {item: (one.status, one.reason) for item, one in answers.items() if one.status is not Status.PASS}


@pytest.fixture(scope="module")
def naive() -> tuple[dict[Item, Answer], Data]:
    return gated("naive", 1)


@pytest.fixture(scope="module")
def tuned(naive: tuple[dict[Item, Answer], Data]) -> tuple[dict[Item, Answer], Data]:
    return gated("tuned", 3, naive[1], seconds=20.0)


def test_the_naive_version_comes_through_stage_1(naive: tuple[dict[Item, Answer], Data]) -> None:
    assert unmet(naive[0]) == {}


def test_the_tuned_version_comes_through_every_stage(tuned: tuple[dict[Item, Answer], Data]) -> None:
    assert unmet(tuned[0]) == {}
    assert "→" in tuned[0][Item.FASTER].reason
    assert "of the roof" in tuned[0][Item.BANDWIDTH].reason


def test_what_is_no_faster_fails_stage_2(tuned: tuple[dict[Item, Answer], Data]) -> None:
    answers = unmet(gated("naive", 2, tuned[1])[0])
    assert set(answers) == {Item.COALESCED, Item.AUTOTUNED, Item.FASTER}
    status, reason = answers[Item.FASTER]
    assert (status, reason.startswith("slower in the mean: ")) == (Status.FAIL, True)


def test_what_changes_while_it_is_timed_is_not_measured(naive: tuple[dict[Item, Answer], Data]) -> None:
    status, _ = unmet(gated("tiring", 3, naive[1])[0])[Item.MEASURED]
    assert status is Status.FAIL
