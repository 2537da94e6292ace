"""The GPUs that stand in for targets."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tritonaudit.capture.device import device_for, has_asked, multiprocessors_reported, report_multiprocessors
from tritonaudit.hardware.targets import known_targets


@pytest.mark.parametrize("target", known_targets())
def test_every_target_has_one(target: str) -> None:
    device = device_for(target)
    assert device.target.name == target
    if device.target.backend == "cuda":
        assert f"sm_{device.capability[0]}{device.capability[1]}" == target


@pytest.fixture
def few() -> Iterator[None]:
    report_multiprocessors(2)
    yield
    report_multiprocessors(None)


@pytest.mark.usefixtures("few")
def test_host_code_is_reported_of_as_many_multiprocessors_as_it_is_to_see() -> None:
    assert not has_asked()
    assert multiprocessors_reported(device_for("sm_89")) == 2
    assert has_asked()
    report_multiprocessors(None)
    assert not has_asked()
    assert multiprocessors_reported(device_for("sm_89")) == device_for("sm_89").multiprocessors


@pytest.mark.usefixtures("few")
def test_a_driver_is_asked_for_its_multiprocessors_alone() -> None:
    pytest.importorskip("triton")
    from tritonaudit.capture.driver import StandInDriver

    figures = StandInDriver(device_for("sm_89")).utils.get_device_properties(0)
    assert figures["max_shared_mem"] > 0
    assert not has_asked()
    assert figures["multiprocessor_count"] == figures.get("multiprocessor_count") == 2
    assert has_asked()
