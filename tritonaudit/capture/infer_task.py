"""What a worker is asked about a kernel that no subject launches, and what it gives; imports nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tritonaudit.capture.launch import Launch, Sibling

MOST_CONFIGS = 4
"""Of an autotuner's, evenly spread."""


@dataclass(frozen=True)
class InferTask:
    """One jit function of a file, by its qualified name, in the project of that root; both are absolute."""

    root: Path
    path: Path
    kernel: str


@dataclass(frozen=True)
class Inferred:
    """The launches of a kernel as inferred, or why it cannot be launched; neither for what is no kernel by itself.

    `configs` is how many its autotuner has, of which at most MOST_CONFIGS are tried. On its
    `siblings` it would be the same.
    """

    task: InferTask
    launches: tuple[Launch, ...] = ()
    reason: str = ""
    is_helper: bool = False
    configs: int = 0
    siblings: tuple[Sibling, ...] = ()
