"""What all tests share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is no failure.
settings.register_profile("repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("repeatable")


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What tests compile is kept for the tests alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITONAUDIT_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True)
def no_gpu_is_known() -> None:
    """What the GPU can reach is asked anew by each test: some pretend to have another one."""
    if (stage := sys.modules.get("tritonaudit.measure.stage")) is not None:
        stage._known_gpus.clear()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-expected", action="store_true", help="write what is printed as what is expected")


@pytest.fixture
def expected(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Compares a text with the file that holds what is expected, or rewrites the file with `--update-expected`."""

    def compare(path: Path, actual: str) -> None:
        if request.config.getoption("--update-expected"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(actual.encode("utf-8"))
        assert actual == path.read_bytes().decode("utf-8")

    return compare
