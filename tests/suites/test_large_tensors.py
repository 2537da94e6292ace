"""Tensors of more elements than an int32 counts, in kernels that go where small tensors of integers say."""

from __future__ import annotations

import pytest

from tests.checkout import ROOT
from tritonaudit.config import Config
from tritonaudit.finding import Status
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
    overflows = {Symptom.OVERFLOW}
    assert seen == {"wide": set(), "narrow": overflows, "counted": overflows, "appended": set()}
    reasons = {run.name: {reason for trial in run.trials for _, reason in trial.unchecked} for run in runs}
    assert not any("not known" in one for one in reasons["wide"])
    (reason,) = [one for one in reasons["appended"] if "not known" in one]
    assert reason.startswith("on tensors without memory: in `appended_kernel` address from a value that is not known")
    (outcome,) = [
        one for run in runs if run.name == "appended" for one in run.outcomes if one.check.startswith("large tensors")
    ]
    assert (outcome.status, outcome.reason) == (Status.NOT_RUN, reason)
