"""The bench of tolerance: what it tries, and that it tells right from wrong."""

from __future__ import annotations

from collections import Counter

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")

from bench.tolerance.cases import PARTS, trials
from bench.tolerance.policies import OURS, POLICIES
from bench.tolerance.run import References, result_of
from tritonaudit.finding import Status


@pytest.mark.parametrize("part", PARTS)
def test_there_are_many_right_and_many_wrong_kernels(part: str) -> None:
    names = [(trial.kernel_name, trial.dtype) for trial in trials(part)]
    counts = Counter(trial.way.is_right for trial in trials(part))
    assert len(set(names)) == len(names)
    assert min(counts.values()) >= 60


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("layer norm of 100: two passes", Status.PASS),
        ("layer norm of 100: unbiased", Status.FAIL),
        ("maximum of a row: from zero", Status.FAIL),
    ],
)
def test_a_kernel_is_executed_and_judged(name: str, status: Status) -> None:
    part = next(iter(PARTS))
    trial = next(one for one in trials(part) if one.kernel_name == name and one.dtype == "float16")
    assert POLICIES[OURS](result_of(trial, References(), as_gpu=False)) is status
