"""The command line in this process, and kernels to give it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tritonaudit.cli import run


@dataclass(frozen=True)
class Ran:
    """What a command line came to."""

    code: int
    out: str
    err: str


Command = Callable[..., Ran]


@pytest.fixture
def tritonaudit(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs a command line."""
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments: str | Path) -> Ran:
        code = run([str(argument) for argument in arguments])
        return Ran(code, *capfd.readouterr())

    return call


@pytest.fixture
def faulty() -> Path:
    """A folder with kernels that are wrong."""
    return ROOT / "examples" / "faulty"


@pytest.fixture
def clean() -> Path:
    """A folder with kernels that are right."""
    return ROOT / "examples" / "clean"
