"""What readers found of launches that differ beyond their bounds, by kernel and place."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path

_READ = Path(__file__).with_name("explanations.tsv")


def explanation(kernel: str, place: str) -> str | None:
    """Why this kernel's results differ; None where nobody has found out."""
    return _explanations().get((kernel, place))


@cache
def _explanations() -> Mapping[tuple[str, str], str]:
    with _READ.open(encoding="utf-8", newline="") as file:
        return {(row["kernel"], row["place"]): row["why"] for row in csv.DictReader(file, delimiter="\t")}
