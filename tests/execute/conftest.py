"""What the tests of workers share."""

from __future__ import annotations

import pytest

from tests.execute import tasks
from tritonaudit.execute.pool import Limits, run_tasks


@pytest.fixture(scope="session", autouse=True)
def warm_process() -> None:
    """The process that workers are forked from is there, so that tests can count what a pool itself leaves open."""
    list(run_tasks(tasks.double, [1], workers=1, limits=Limits(20, 1 << 30)))
