"""A launch of each kernel under NVIDIA's Nsight Compute (ncu), which counts what it does. For processes with a GPU.

As a program (`python -m tritonaudit.measure.profiling FILE`) it makes the call that the pickled `Call` in FILE names.
"""

from __future__ import annotations

import csv
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tritonaudit.capture.launch import KernelRef
from tritonaudit.measure.counters import (
    IDEAL,
    INSTRUCTIONS,
    L2,
    OCCUPANCY,
    READ,
    SAMPLES,
    SECTORS,
    SPILLS,
    THROUGHPUT,
    WRITTEN,
)
from tritonaudit.measure.facts import Counter, Profile
from tritonaudit.subject.model import Case

NAME = "ncu"
_METRICS = (
    Counter(READ, 0, "B", "dram__bytes_read.sum"),
    Counter(WRITTEN, 0, "B", "dram__bytes_write.sum"),
    Counter(THROUGHPUT, 0, "B/s", "dram__bytes.sum.per_second"),
    Counter(L2, 0, "B", "lts__t_bytes.sum"),
    Counter(OCCUPANCY, 0, "%", "sm__warps_active.avg.pct_of_peak_sustained_active"),
    Counter(SPILLS, 0, "instructions", "sass__inst_executed_register_spilling"),
    Counter(INSTRUCTIONS, 0, "instructions", "smsp__inst_executed.sum"),
)
_COLUMNS = {
    "L2 Theoretical Sectors Global": Counter(SECTORS, 0, "sectors", "memory_l2_theoretical_sectors_global"),
    "L2 Theoretical Sectors Global Ideal": Counter(IDEAL, 0, "sectors", "memory_l2_theoretical_sectors_global_ideal"),
}
_STALL, _NOT_ISSUED, _SELECTED = "stall_", "(Not Issued)", "stall_selected"
_SAMPLED = "smsp__pcsamp_warps_issue_stalled"
_LEAST_SAMPLES = 0.01
"""The share of all samples that a reason at a line must have to be reported."""
_TURN_SECONDS = 60.0
"""That a pool would wait for, of which a process of the profiler has none."""
_COMPLAINT = "==ERROR== "


@dataclass(frozen=True)
class Call:
    """Which case of a subject to call."""

    path: Path
    subject: str
    case: Case


def is_there() -> bool:
    """Whether the profiler is installed."""
    return shutil.which(NAME) is not None


def profiled(call: Call, kernels: Sequence[KernelRef], seconds: float) -> Iterator[Profile]:
    """What the profiler counts in the first launch of each kernel, within so many seconds for each."""
    for kernel in kernels:
        try:
            counters = tuple(_counted(call, kernel, seconds))
        except _NotRun as reason:
            yield Profile(kernel, call.case, reason=str(reason))
        else:
            yield Profile(kernel, call.case, counters)


class _NotRun(Exception):
    """The profiler counted nothing; the message says why."""


def _counted(call: Call, kernel: KernelRef, seconds: float) -> Iterator[Counter]:
    name = kernel.name.rpartition(".")[2]
    with tempfile.TemporaryDirectory(prefix="tritonaudit-") as folder:
        file, report = Path(folder, "call"), Path(folder, "report")
        file.write_bytes(pickle.dumps(call))
        profiling = (
            *("--profile-from-start", "off", "--clock-control", "none", "--section", "SourceCounters"),
            *("--metrics", ",".join(metric.metric for metric in _METRICS), "--export", str(report)),
            *("--kernel-name", f"regex:^{re.escape(name)}$", "--launch-count", "1"),
        )
        said = _ran((*profiling, sys.executable, "-m", __name__, str(file)), seconds)
        found = next(iter(Path(folder).glob("report*")), None)
        if found is None:
            raise _NotRun(_complaint(said) or f"{NAME} saw no launch of {name}")
        pages = (("raw", "--print-units", "base"), ("source", "--print-source", "cuda,sass"))
        read = [("--import", str(found), "--csv", "--page", *page) for page in pages]
        with ThreadPoolExecutor(len(read)) as together:  # each takes a second or more
            totals, lines = together.map(lambda arguments: _ran(arguments, seconds), read)
    yield from read_totals(totals)
    yield from read_lines(lines, kernel)


def _ran(arguments: Sequence[str], seconds: float) -> str:
    """What the profiler prints. Raises _NotRun."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        ran = subprocess.run(
            [NAME, *arguments], capture_output=True, text=True, timeout=seconds, env=environment, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        timed_out = isinstance(error, subprocess.TimeoutExpired)
        raise _NotRun(f"{NAME} took longer than {seconds:.0f} s" if timed_out else f"{NAME}: {error}") from error
    return ran.stdout


def _complaint(said: str) -> str:
    """What the profiler says is wrong, empty where it says nothing of the kind."""
    return " ".join(line.removeprefix(_COMPLAINT) for line in said.splitlines() if line.startswith(_COMPLAINT))


def read_totals(text: str) -> Iterator[Counter]:
    """The counts of the whole launch, from ncu's page `raw` in base units."""
    row: Mapping[str, str] = next((row for row in _table(text, "ID") if (row["ID"] or "").isdigit()), {})
    for metric in _METRICS:
        if (number := _number(row.get(metric.metric))) is not None:
            yield Counter(metric.name, number, metric.unit, metric.metric)


def read_lines(text: str, kernel: KernelRef) -> Iterator[Counter]:
    """The counts of each line of the kernel's file, from ncu's page `source`; those that are 0 are left out.

    Samples are counted for the whole launch first, with what lies in other files, such as Triton's own functions.
    """
    tables = [(path, [row for row in rows if row["Line No"]]) for path, rows in _files(text)]
    samples = sum(_number(row[name]) or 0 for _, rows in tables for row in rows for name in _stalls(row))
    if samples:
        yield Counter(SAMPLES, samples, "all", _SAMPLED)
    reported = {kernel.path, os.path.basename(kernel.path)}
    for path, rows in tables:
        if path in reported or os.path.basename(path) in reported:
            for row in rows:
                yield from _at_line(row, samples)


def _stalls(row: Mapping[str, str]) -> list[str]:
    """The columns that count stalled warps; ncu tells those again of whose scheduler no other warp went on."""
    return [name for name in row if name.startswith(_STALL) and not name.endswith(_NOT_ISSUED) and name != _SELECTED]


def _at_line(row: Mapping[str, str], samples: float) -> Iterator[Counter]:
    line = int(row["Line No"])
    for column, counter in _COLUMNS.items():
        if number := _number(row.get(column)):
            yield Counter(counter.name, number, counter.unit, counter.metric, line)
    for column in _stalls(row):
        if (number := _number(row[column])) and number >= _LEAST_SAMPLES * samples:
            yield Counter(SAMPLES, number, column.removeprefix(_STALL), f"{_SAMPLED}: {column}", line)


def _files(text: str) -> Iterator[tuple[str, list[Mapping[str, str]]]]:
    """The table of each file of the source."""
    parts = text.split('"File Path",')
    for part in parts[1:]:
        path = part.partition("\n")[0].strip().strip('"')
        yield path, list(_table(part, "Line No"))


def _table(text: str, first: str) -> Iterator[Mapping[str, str]]:
    """The rows below the line that begins with this column's name; of equal names the first column counts."""
    lines = text.splitlines()
    start = next((number for number, line in enumerate(lines) if line.startswith(f'"{first}"')), len(lines))
    rows = csv.reader(lines[start:])
    names = next(rows, [])
    for row in rows:
        if len(row) == len(names):
            yield dict(zip(reversed(names), reversed(row), strict=True))


def _number(text: str | None) -> float | None:
    try:
        return float((text or "").replace(",", ""))
    except ValueError:
        return None


def main(file: str) -> None:
    """Make the call until nothing is compiled or tuned any more, then, alone on the GPU, once for the profiler."""
    import torch

    from tritonaudit.capture.task import loaded
    from tritonaudit.execute.turns import Turns
    from tritonaudit.subject.inputs import run_subject

    call: Call = pickle.loads(Path(file).read_bytes())
    turns = Turns()
    with turns.shared(_TURN_SECONDS):
        subject = loaded(call.path)[call.subject]
        run_subject(subject, call.case)
        torch.cuda.synchronize()
    with turns.exclusive(_TURN_SECONDS):
        torch.cuda.profiler.start()
        run_subject(subject, call.case)
        torch.cuda.synchronize()
        torch.cuda.profiler.stop()


if __name__ == "__main__":
    main(sys.argv[1])
