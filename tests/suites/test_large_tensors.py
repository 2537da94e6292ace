"""Tensors of more elements than an int32 counts, in kernels that go where small tensors of integers say."""

from __future__ import annotations

import pytest

from tests.checkout import ROOT
from tritonaudit.config import Config
from tritonaudit.suites.facts import Symptom

FOLDER = ROOT / "tests" / "suites" / "subjects" / "large"


@pytest.mark.slow
def test_targets_are_there_to_be_followed() -> None:
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    from tritonaudit.suites.stage import RunRequest, Where, run_paths

    request = RunRequest(seconds=300, jobs=2, device=Where.CPU, most_cases=1)
    runs = run_paths([FOLDER], Config(ROOT), request).runs
    seen = {run.name: {one.symptom for trial in run.trials for one in trial.sightings} for run in runs}
    assert seen == {"wide": set(), "narrow": {Symptom.OVERFLOW}}
