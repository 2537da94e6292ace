"""The GPUs that stand in for targets."""

from __future__ import annotations

import functools

import pytest

from tritonaudit.capture.device import device_for, has_asked, multiprocessors_told, telling
from tritonaudit.hardware.targets import known_targets


@pytest.mark.parametrize("target", known_targets())
def test_every_target_has_one(target: str) -> None:
    device = device_for(target)
    assert device.target.name == target
    if device.target.backend == "cuda":
        assert f"sm_{device.capability[0]}{device.capability[1]}" == target


def test_host_code_is_told_of_as_many_multiprocessors_as_it_is_to_see() -> None:
    device = device_for("sm_89")
    with telling(2) as told:
        assert not told.asked
        assert multiprocessors_told(device) == 2
        assert told.asked
    assert multiprocessors_told(device) == device.multiprocessors


def test_what_functions_keep_of_another_number_is_forgotten() -> None:
    device = device_for("sm_89")

    @functools.cache
    def kept() -> int:
        return multiprocessors_told(device)

    @functools.cache
    def another() -> object:
        return object()

    before = kept(), another()
    with telling(2):
        assert kept() == 2
    assert (kept(), another()) == before
    assert has_asked()


def test_a_driver_is_asked_for_its_multiprocessors_alone() -> None:
    pytest.importorskip("triton")
    from tritonaudit.capture.driver import StandInDriver

    figures = StandInDriver(device_for("sm_89")).utils.get_device_properties(0)
    with telling(2) as told:
        assert figures["max_shared_mem"] > 0
        assert not told.asked
        assert figures["multiprocessor_count"] == figures.get("multiprocessor_count") == 2
        assert told.asked
