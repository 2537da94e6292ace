"""The options of the pytest plugin; what does the work is imported where `--tritonaudit` asks for it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

_SECONDS = 30.0
_DEVICES = ("auto", "cpu", "gpu")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tritonaudit", "auditing Triton kernels")
    group.addoption(
        "--tritonaudit", action="store_true", help="collect the subjects of audit_*.py, one test for each suite"
    )
    group.addoption(
        "--tritonaudit-budget",
        type=_seconds,
        default=_SECONDS,
        metavar="SECONDS",
        help=f"how long each subject is tried, and on a GPU timed (default: {_SECONDS:g})",
    )
    group.addoption(
        "--tritonaudit-seed",
        type=int,
        metavar="N",
        help="draw the cases that nobody can foresee as an earlier session did, by the number in its report",
    )
    group.addoption(
        "--tritonaudit-strict",
        action="store_true",
        help="fail a suite that did not try everything it has to, instead of skipping it with the reason",
    )
    group.addoption(
        "--tritonaudit-device",
        choices=_DEVICES,
        default=_DEVICES[0],
        help="run on the GPU, if there is one, or on the CPU engine (default: auto)",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("tritonaudit"):
        collecting = importlib.import_module("tritonaudit.testing.collecting")
        config.pluginmanager.register(collecting.Plugin(config), "tritonaudit-subjects")


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < float("inf"):
        raise ValueError(text)
    return seconds
