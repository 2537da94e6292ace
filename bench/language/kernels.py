"""Kernels of a file, each with whether every release compiles it, with the launch beside it or without."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path

from bench.language.scores import Judged, predictions

LAUNCH = "launch"
"""The function of a case's text that launches the kernel."""


def judged_kernels(path: Path, *, with_launch: bool, only: tuple[str, ...] = ()) -> Iterator[Judged]:
    """What the source stage says of each kernel of the file, one prediction for each release."""
    for case in json.loads(path.read_text(encoding="utf-8")):
        if only and case["group"] not in only:
            continue
        text = case["source"] if with_launch else without_launch(case["source"])
        for release, ok in case["compiles"].items():
            found = predictions(text, release)
            yield Judged(case["group"], case["name"], release, not ok, found, case["error"] or "", text)


def without_launch(text: str) -> str:
    """The text without its function `launch`."""
    lines = text.splitlines(keepends=True)
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name == LAUNCH:
            del lines[node.lineno - 1 : node.end_lineno]
    return "".join(lines)
