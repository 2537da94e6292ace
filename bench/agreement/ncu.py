"""NVIDIA's profiler Nsight Compute: one run of it over all launches to be counted, and its table read back."""

from __future__ import annotations

import csv
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from bench.agreement.facts import Counted
from bench.agreement.sides import Failed, run

_METRICS = {
    "load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
}
_COMPLAINTS = ("==ERROR==",)


class NotRun(Exception):
    """The profiler could not be used, in its own words where it has any."""


def count(kernels: Mapping[str, str], folder: Path, variables: Mapping[str, str]) -> list[Counted]:
    """Profile one launch of each subject, given with its kernel's name. Raises NotRun."""
    ncu = shutil.which("ncu")
    if ncu is None:
        raise NotRun("there is no `ncu` on the PATH")
    log = folder / "ncu.csv"
    command = [
        *(ncu, "--csv", "--page", "raw", "--print-units", "base", "--log-file", str(log.resolve())),
        # The GPU's clocks stay as they are: nothing is timed.
        *("--clock-control", "none", "--profile-from-start", "off", "--metrics", ",".join(_METRICS.values())),
        *(sys.executable, "-m", "bench.agreement.gpu", "profile", *kernels),
    ]
    log.unlink(missing_ok=True)
    try:
        run(command, variables)
    except Failed as failure:
        raise NotRun(complaint(_text(log)) or str(failure)) from failure
    return read_counts(_text(log), kernels)


def read_counts(log: str, kernels: Mapping[str, str]) -> list[Counted]:
    """The counts of each subject's launch, which ncu lists in the order of the launches. Raises NotRun."""
    lines = log.splitlines()
    start = next((number for number, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    # Below the names of the columns stands a row of units, which has no number.
    table = [row for row in csv.DictReader(lines[start:]) if (row["ID"] or "").isdigit()]
    # Between ours, torch launches kernels of its own.
    rows = [row for row in table if row["Kernel Name"].startswith(tuple(kernels.values()))]
    if len(rows) != len(kernels):
        raise NotRun(complaint(log) or f"ncu counted {len(rows)} launches in place of {len(kernels)}")
    return [_counted(subject, kernel, row) for (subject, kernel), row in zip(kernels.items(), rows, strict=True)]


def complaint(log: str) -> str:
    """What ncu says is wrong, "" where it says nothing of the kind."""
    said = [line.split("== ", 1)[1].strip() for line in log.splitlines() if line.startswith(_COMPLAINTS)]
    return " ".join(said)


def _counted(subject: str, kernel: str, row: Mapping[str, str]) -> Counted:
    if not row["Kernel Name"].startswith(kernel):
        raise NotRun(f"ncu counted `{row['Kernel Name']}` where {subject} launches `{kernel}`")
    try:
        return Counted(subject, kernel, **{name: _number(row[metric]) for name, metric in _METRICS.items()})
    except (KeyError, ValueError) as error:
        raise NotRun(f"ncu's table lacks a count of {subject}: {error}") from error


def _number(text: str) -> int:
    return round(float(text.replace(",", "")))


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
