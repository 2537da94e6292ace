"""A project, and what an undisturbed farm says of it, for all the tests of farms."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.farm.running import lines_in, started, written_in


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    return written_in(tmp_path_factory.mktemp("farm"))


@pytest.fixture(scope="session")
def whole(project: Path) -> dict[str, str]:
    """The lines of all subjects."""
    results = project.parent / "whole.jsonl"
    process = started(project, ".", "--output", str(results))
    _, err = process.communicate(timeout=170)
    assert process.returncode == 1, err
    return lines_in(results)
