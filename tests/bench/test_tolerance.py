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
    assert min(counts.values()) >= 30


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("layer norm of 100: two passes", Status.PASS),
        ("layer norm of 100: unbiased", Status.FAIL),
        ("maximum of a row: from zero", Status.FAIL),
        ("upcast attention: as FlashAttention", Status.PASS),
        ("upcast attention: narrow sum of 13", Status.WARN),
        ("upcast attention: scale of the wrong size", Status.FAIL),
        ("stored logsumexp: base 2", Status.PASS),
        ("stored logsumexp: stored narrow", Status.FAIL),
        ("rows that see nothing: zeros", Status.PASS),
        ("rows that see nothing: few are none", Status.FAIL),
        ("rows that see nothing: NaN of few", Status.FAIL),
        ("quantised to 8 bits: inverse", Status.PASS),
        ("quantised to 8 bits: truncated", Status.FAIL),
    ],
)
def test_a_kernel_is_executed_and_judged(name: str, status: Status) -> None:
    every = (one for part in PARTS for one in trials(part))
    trial = next(one for one in every if one.kernel_name == name and one.dtype == "float16")
    assert POLICIES[OURS](result_of(trial, References(), as_gpu=False)) is status
