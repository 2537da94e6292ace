"""How often a checker speaks up in published packages, most of whose kernels are right."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bench.beside.reports import Report


@dataclass(frozen=True)
class Noise:
    """Shares of some kernels: those with an error, those with any finding; and the findings to a kernel."""

    errors: float
    any: float
    findings: float

    @classmethod
    def of(cls, reports: Iterable[Report], kernels: int) -> Noise:
        """What the reports on that many kernels come to; one on no kernel in particular is a finding all the same."""
        found = list(reports)
        with_any = {(one.path, one.kernel) for one in found if one.kernel is not None}
        with_error = {(one.path, one.kernel) for one in found if one.kernel is not None and one.is_error}
        total = max(kernels, 1)
        return cls(len(with_error) / total, len(with_any) / total, len(found) / total)


def inside(reports: Iterable[Report], folders: Iterable[Path]) -> list[Report]:
    """The reports on files of these folders."""
    roots = tuple(folder.resolve() for folder in folders)
    return [one for one in reports if any(one.path.is_relative_to(root) for root in roots)]
