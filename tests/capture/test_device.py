"""The GPUs that stand in for targets."""

from __future__ import annotations

import pytest

from tritonaudit.capture.device import device_for
from tritonaudit.hardware.targets import known_targets


@pytest.mark.parametrize("target", known_targets())
def test_every_target_has_one(target: str) -> None:
    device = device_for(target)
    assert device.target.name == target
    if device.target.backend == "cuda":
        assert f"sm_{device.capability[0]}{device.capability[1]}" == target
