"""The variants of the fixtures, on the CPU: those that are wrong on purpose are refused for that, and one is chosen."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch holds the tensors")
pytest.importorskip("triton", reason="triton makes the programs")

from tests.checkout import ROOT
from tests.port.test_session import selected

pytestmark = pytest.mark.slow

REFUSED = {
    "add": {"v2_tiling": "output not written"},
    "softmax": {"v2_tiling": "stability: exp overflow", "v4_optimized": "wrong result"},
    "mha": {"v2_tiling": "wrong result", "v3_coalesced": "wrong"},
}
CASES = 5
"""The first of them with a size that no block divides is the fourth."""
CHOSEN = {"add": "v3_coalesced", "softmax": "v1_baseline", "mha": "v4_optimized"}


@pytest.mark.parametrize(
    ("operation", "seconds", "cases"),
    [("add", 5.0, CASES), *((operation, 1.0, None) for operation in CHOSEN)],
    ids=["add by count", *(f"{operation} in a second" for operation in CHOSEN)],
)
def test_what_is_wrong_is_refused_for_that_and_the_rest_is_right(
    operation: str, seconds: float, cases: int | None, tmp_path: Path
) -> None:
    shutil.copytree(ROOT / "fixtures" / "kernels" / operation, tmp_path / operation)
    session = selected(tmp_path, operation, seconds=seconds, cases=cases)
    (one,) = session.selected
    refused = {variant.name: variant.verdict.reasons for variant in one.variants if not variant.verdict.is_right}
    assert set(refused) == set(REFUSED[operation]), refused
    for name, said in REFUSED[operation].items():
        assert any(reason.startswith(said) for reason in refused[name]), refused[name]
    assert one.choice.name == CHOSEN[operation]
