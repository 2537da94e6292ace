"""Runs `tritonaudit audit` on folders of mutants, and tells what it finds in each."""

from __future__ import annotations

import json
import os
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.corpus import ROOT
from bench.mutation.kernels import Kernel
from bench.processes import run, tritonaudit

OPTIONS = ("--only", "source,correctness,memory,stability,integrity")
"""What finds wrong results and accesses: the compiler's resources for four GPUs tell of neither."""

_BATCH = 12
_SECONDS_EACH = 150.0


@dataclass(frozen=True)
class Item:
    """What is audited: a kernel's file, as it is or mutated, under a name."""

    id: str
    kernel: str
    source: str


@dataclass(frozen=True)
class Audited:
    """The codes of errors and of warnings; what could not be done; how many cases ran."""

    errors: Sequence[str]
    warnings: Sequence[str]
    problems: Sequence[str]
    cases: int = 0


def audit(items: Sequence[Item], options: Sequence[str], jobs: int) -> Iterator[Mapping[str, Audited]]:
    """What is found in the items, by their names, some at a time; those are missing that the tool said nothing of."""
    size = max(1, min(_BATCH, -(-len(items) // jobs)))
    batches = [items[start : start + size] for start in range(0, len(items), size)]
    with ThreadPoolExecutor(jobs) as pool:
        for done in as_completed([pool.submit(_audit, batch, options) for batch in batches]):
            yield done.result()


def write(item: Item, folder: Path) -> Path:
    """Write an item's files into a folder of its own; returns its spec file."""
    kernel = Kernel(item.kernel)
    own = folder / item.id
    own.mkdir()
    (own / kernel.file.name).write_text(item.source)
    (own / kernel.spec.name).write_text(kernel.spec.read_text())
    return own / kernel.spec.name


def _audit(items: Sequence[Item], options: Sequence[str]) -> Mapping[str, Audited]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "mutants"
        folder.mkdir()
        for item in items:
            write(item, folder)
        report = Path(name) / "report.json"
        given = ("--output-format", "json", "--output-file", report, "--jobs", "1", *options)
        run(
            tritonaudit("audit", folder, *given),
            cwd=folder,
            limit=_SECONDS_EACH * len(items),
            variables={"PYTHONPATH": os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", "")))},
        )
        if not report.is_file():
            return {}
        return read(items, json.loads(report.read_text()))


def read(items: Sequence[Item], report: Mapping[str, Any]) -> Mapping[str, Audited]:
    """What a report says of the items; nothing of those that were neither tried in any case nor found fault with."""
    codes: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    problems: defaultdict[str, list[str]] = defaultdict(list)
    for finding in report["findings"]:
        codes[Path(finding["path"]).parts[0], finding["severity"]].add(finding["code"])
    for problem in report["errors"]:
        problems[Path(problem["path"]).parts[0]].append(problem["message"])
    ran = report.get("ran", {}).get("subjects", [])
    cases = {Path(subject["path"]).parts[0]: subject["cases"] for subject in ran}
    return {
        item.id: Audited(
            sorted(codes[item.id, "error"]), sorted(codes[item.id, "warning"]), problems[item.id], cases.get(item.id, 0)
        )
        for item in items
        if cases.get(item.id) or codes[item.id, "error"] or codes[item.id, "warning"]
    }
