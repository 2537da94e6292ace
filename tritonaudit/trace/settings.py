"""What a command that is traced is told, by way of its environment."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from tritonaudit.data import decode, encode

VARIABLE = "TRITONAUDIT_TRACE"


@dataclass(frozen=True)
class Settings:
    """Into which `folder` each process writes what it launches, how many `seconds` a launch may take, and how many
    bytes of a tensor's memory are kept whole."""

    folder: Path
    seconds: float
    limit: int


def to_environment(settings: Settings) -> dict[str, str]:
    """The environment of a command that is traced: this one's, with the hook before all that Python imports."""
    hook = str(Path(__file__).parent / "hook")
    path = os.environ.get("PYTHONPATH")
    return {
        **os.environ,
        VARIABLE: encode(settings).decode(),
        "PYTHONPATH": os.pathsep.join([hook, path] if path else [hook]),
        "CUDA_VISIBLE_DEVICES": "",
        "TRITON_INTERPRET": "0",
    }


def from_environment() -> Settings:
    """What this process was told. Raises KeyError, and NotData for what is no settings."""
    settings: Settings = decode(Settings, os.environ[VARIABLE])
    return settings
