"""Real bugs that others have fixed: which of them the source stage tells of, beside the injected faults of their class.

    python bench/judge fixes --bugs DIR --mirror DIR --work DIR [--faults FILE] [--jobs N]

The folder of bugs holds two lists, dev.tsv (labels read by hand) and mined.tsv (labels guessed from the diff), and the
programs `extract` and `score`, which write the files of each bug before and after its fix, and count by what the source
stage finds in both. What was found in a file is kept in the folder, and a killed run goes on.
A bug is detected where a finding at the fix is gone afterwards. The mirror holds a git repository of each project.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.judge.faults.operators import OPERATORS
from bench.judge.fixes.finding import Asked, Found, found_in
from bench.judge.fixes.table import Injected, Scored, scored_of, table
from bench.judge.keeping import BRAIN, Kept, all_done, folder
from tritonaudit.execute.pool import Limits

LISTS = ("dev", "mined")
_LIMITS = Limits(seconds=600, memory=4 << 30)
_FOUND = "found.json"
_COUNTED_BY = ("class", "visible", "oracle", "repo")
"""Columns that `score` reads of each row."""


def main(options: Sequence[str]) -> None:
    """Score both lists, and print one table."""
    parser = argparse.ArgumentParser(
        prog="python bench/judge fixes", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bugs", type=Path, required=True, metavar="DIR", help="dev.tsv, mined.tsv, extract, score")
    parser.add_argument("--mirror", type=Path, required=True, metavar="DIR", help="owner+name, a repository each")
    parser.add_argument("--work", type=folder, required=True, metavar="DIR", help="what a run needs, and has found")
    parser.add_argument("--faults", type=Path, metavar="FILE", help="as `faults --output` writes it")
    parser.add_argument("--jobs", type=int, default=2, metavar="N")
    asked = parser.parse_args(options)
    found = {name: _scored(name, asked.bugs, asked.mirror, asked.work, asked.jobs) for name in LISTS}
    print(table(found, _injected(asked.faults)))


def _scored(name: str, bugs: Path, mirror: Path, work: Path, jobs: int) -> Scored:
    files = work / "bugs" / name
    rows = _whole(bugs / f"{name}.tsv", work / "bugs")
    if not files.is_dir():
        _run([bugs / "extract", mirror, files, "--bugs", rows])
    _find(rows, files, work, jobs)
    command = f"cat {_FOUND}"
    return scored_of(_run([bugs / "score", files, "--bugs", rows, "--totals", "--jobs", jobs, "--command", command]))


def _find(rows: Path, files: Path, work: Path, jobs: int) -> None:
    """Write what is found in each file of the list, before and after, to where `score` takes it from."""
    with rows.open(encoding="utf-8", newline="") as file:
        bugs = [row for row in csv.DictReader(file, delimiter="\t") if (files / row["id"] / "diff").exists()]
    asked = [Asked(files / row["id"] / version, row["path"]) for row in bugs for version in ("before", "after")]
    found = all_done(
        Kept(work, "fixes", (*BRAIN, "tritonaudit/report/causes.py", "bench/judge/fixes/finding.py")),
        Found,
        found_in,
        asked,
        lambda _, message: Found(()),
        title="found in",
        workers=jobs,
        limits=_LIMITS,
        size=lambda one: (one.folder / one.file).stat().st_size,
    )
    for one, of_it in zip(asked, found, strict=True):
        (one.folder / _FOUND).write_text(json.dumps(of_it.printed()), encoding="utf-8")


def _whole(rows: Path, work: Path) -> Path:
    """The list with all columns that `score` counts by: one that was mined says nothing in some."""
    with rows.open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file, delimiter="\t"))
    work.mkdir(parents=True, exist_ok=True)
    whole = work / rows.name
    with whole.open("w", encoding="utf-8", newline="") as file:
        names = dict.fromkeys((*found[0], *_COUNTED_BY))
        writer = csv.DictWriter(file, list(names), restval="-", delimiter="\t")
        writer.writeheader()
        writer.writerows(found)
    return whole


def _run(command: Sequence[object]) -> str:
    """What the program prints. Leaves with what it says where it fails."""
    ran = subprocess.run([sys.executable, *map(str, command)], check=False, capture_output=True, text=True)
    if ran.returncode:
        sys.exit(f"{command[0]} ended with {ran.returncode}:\n{ran.stderr}")
    return ran.stdout


def _injected(path: Path | None) -> Mapping[str, Injected]:
    """By operator; none where no file is named."""
    if path is None:
        return {}
    rows = json.loads(path.read_text(encoding="utf-8"))
    kinds = {operator.name: operator.kind for operator in OPERATORS}
    return {name: Injected(kinds[name], row["faults"], row["source"]) for name, row in rows.items() if name in kinds}
