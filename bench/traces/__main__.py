"""What the GPU tests of published packages come to on a machine without a GPU, when `tritonaudit trace` runs them.

    python bench/traces FOLDER tests/test_one.py tests/test_two.py --seconds 120

runs each file of the project in FOLDER by itself, one process at a time, and prints a row of a table for it. `--reports
DIR` keeps what pytest printed and the reports.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parents[2]
_OUTCOME = re.compile(r"^(?:\S*::.*?)?\s?(PASSED|FAILED|SKIPPED|ERROR|XFAIL|XPASS)\b", re.MULTILINE)
_COLLECTED = re.compile(r"(?:collected (\d+) items?)(?: / (\d+) deselected)?")
_HEAD = "| test file | passed | failed | not run | not reached | launches | executed | kinds | findings | seconds |"


def main() -> int:
    """Run the files, print the table."""
    parser = argparse.ArgumentParser(
        prog="python bench/traces", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="the project, from which pytest is started")
    parser.add_argument("files", nargs="+", help="test files, as pytest is given them")
    parser.add_argument("--seconds", type=int, default=120, help="for the tests of a file (default: 120)")
    parser.add_argument("--reports", type=Path, metavar="DIR", help="keep reports and output here")
    arguments = parser.parse_args()
    print(_HEAD)
    print("|---" * (_HEAD.count("|") - 1) + "|", flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        kept = arguments.reports or Path(temporary)
        kept.mkdir(parents=True, exist_ok=True)
        for file in arguments.files:
            print(_row(arguments.folder, file, arguments.seconds, kept.resolve()), flush=True)
    return 0


def _row(folder: Path, file: str, seconds: int, kept: Path) -> str:
    name = file.replace("/", "-").removesuffix(".py")
    report, output = kept / f"{name}.json", kept / f"{name}.txt"
    tests = (
        "timeout",
        str(seconds),
        sys.executable,
        "-m",
        "pytest",
        "-v",
        "-p",
        "no:cacheprovider",
        "--tb=short",
        file,
    )
    own = ("--trace", str(kept / f"{name}.trace"), "--launch-seconds", "30", "--output-format", "json")
    own += ("--output-file", str(report), "--jobs", "1")
    began = time.monotonic()
    with open(output, "wb") as log:
        subprocess.run(
            (sys.executable, "-m", "tritonaudit", "trace", *own, "--", *tests),
            cwd=folder,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(_ROOT), os.environ.get("PYTHONPATH", "")])},
        )
    told = json.loads(report.read_text()) if report.exists() else {}
    return _cells(file, output.read_text(errors="replace"), told, time.monotonic() - began)


def _cells(file: str, output: str, told: dict[str, Any], seconds: float) -> str:
    counts = Counter(_OUTCOME.findall(output.split("short test summary info")[0]))
    passed, failed = counts["PASSED"] + counts["XPASS"], counts["FAILED"] + counts["ERROR"]
    not_run = counts["SKIPPED"] + counts["XFAIL"]
    known = _COLLECTED.search(output)
    collected = int(known[1]) - int(known[2] or 0) if known else 0
    left = max(collected - passed - failed - not_run, 0)
    kernels = told.get("traced", {}).get("kernels", [])
    sums = [sum(one[key] for one in kernels) for key in ("launches", "executed", "kinds")]
    findings = len(told.get("findings", []))
    cells = (f"`{file}`", passed, failed, not_run, left, *sums, findings, f"{seconds:.0f}")
    return f"| {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    sys.exit(main())
