"""Whether subjects that kill, hang and deceive their processes change what an audit says of those beside them.

    python bench/hostile [--rounds N] [--budget SECONDS] [--jobs N] [DEED …]

Two honest subjects, a right one and a wrong one, are audited alone, and then in each round together with one subject
for every deed of subjects.py. What is printed for each deed is what the audit says of it. The exit code is 1 if in any
round the honest ones' findings or checks are others than alone, if a process stays behind, if a file of the project is
another one or no more, or if nothing is said of a deed that cannot pass.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.hostile.subjects import DEEDS, HARMLESS, honest, hostile, write
from bench.processes import environment, marked, tritonaudit

_MARK = "TRITONAUDIT_HOSTILE"
"""A variable in the environment of what the bench starts, by which it knows what is left of that."""


def main() -> None:
    """Run the rounds, and print what they came to."""
    parser = argparse.ArgumentParser(
        prog="python bench/hostile", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=10, metavar="N", help="[default: 10]")
    parser.add_argument("--budget", type=float, default=60, metavar="SECONDS", help="for each subject [default: 60]")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="subjects at a time [default: 2]")
    parser.add_argument("deeds", nargs="*", metavar="DEED", help="only these")
    arguments = parser.parse_args()
    deeds = arguments.deeds or list(DEEDS)
    alone = audited((), arguments.budget, arguments.jobs)
    print(f"alone: {alone.seconds:.0f} s", flush=True)
    failed = False
    for number in range(arguments.rounds):
        together = audited(deeds, arguments.budget, arguments.jobs)
        changed = [name for name in honest() if together.of(name) != alone.of(name)]
        silent = [deed for deed in deeds if deed not in HARMLESS and not together.said(deed)]
        failed |= bool(changed or silent or together.left or together.touched)
        print(f"round {number + 1}: {together.seconds:.0f} s; honest subjects changed: {changed or 'none'};", end=" ")
        print(f"nothing said of: {silent or 'none'}; processes left: {together.left or 'none'};", end=" ")
        print(f"files touched: {together.touched or 'none'}", flush=True)
        if not number:
            for deed in deeds:
                print(f"  {deed}: {'; '.join(together.said(deed)) or 'nothing'}")
    sys.exit(int(failed))


class Audited:
    """An audit's report, as JSON, with the `seconds` that it took, the processes that were `left` behind, and the files
    of the project that were `touched`."""

    def __init__(
        self, report: Mapping[str, Any], seconds: float, left: Collection[int], touched: Collection[str]
    ) -> None:
        self._report = report
        self.seconds = seconds
        self.left = left
        self.touched = touched

    def of(self, name: str) -> tuple[Any, ...]:
        """All that is said of the subject of that spec file, but for times."""
        subject = self._subject(name)
        checks = [(check["check"], check["status"], check["cases"], check["reason"]) for check in subject["checks"]]
        found = [
            (finding["code"], finding["message"], finding["line"])
            for finding in self._report["findings"]
            if f"audit_{name}.py" in str(finding.get("witness"))
        ]
        return subject["cases"], checks, found

    def said(self, deed: str) -> Sequence[str]:
        """The checks of the subject that failed or could not be made, and the errors of its file."""
        errors = [error["message"] for error in self._report["errors"] if error["path"] == f"audit_{deed}.py"]
        subject = self._subject(deed)
        reported = [
            f"{check['check']} ({check['status']}): {check['reason']}"
            for check in subject["checks"]
            if check["status"] in ("fail", "warn") or (check["status"] == "pass" and check["reason"])
        ]
        return [*errors, *reported]

    def _subject(self, name: str) -> Mapping[str, Any]:
        named = (one for one in self._report["ran"]["subjects"] if Path(one["path"]).name == f"audit_{name}.py")
        return next(named, {"checks": [], "cases": 0})


def audited(deeds: Sequence[str], budget: float, jobs: int) -> Audited:
    """The audit of the honest subjects, and of those that do these deeds."""
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        project = Path(folder, "project")
        write(project, {**honest(), **{deed: hostile(deed) for deed in deeds}})
        (project / "report.json").write_text("true")
        before = _files(project)
        mark = f"{_MARK}={folder}"
        options = (
            "--only",
            "correctness,memory,stability,integrity",
            "--device",
            "cpu",
            "--output-format",
            "json",
            "--seed",
            "7",
        )
        began = time.monotonic()
        done = subprocess.run(
            [*map(str, tritonaudit("audit", *options, "--budget", str(budget), "--jobs", str(jobs), "."))],
            cwd=project,
            env={**environment(), **_paths(), "TRITONAUDIT_CACHE": f"{folder}/cache", _MARK: folder},
            stdout=subprocess.PIPE,
            check=False,
        )
        seconds = time.monotonic() - began
        after = _files(project)
        touched = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
        return Audited(json.loads(done.stdout), seconds, marked(mark), touched)


def _files(folder: Path) -> dict[str, bytes]:
    """The files of a project, but for what Python keeps of its modules."""
    found = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def _paths() -> dict[str, str]:
    """Where modules are looked for, as here: Triton may be in a folder of its own."""
    return {"PYTHONPATH": os.pathsep.join((environment()["PYTHONPATH"], os.environ.get("PYTHONPATH", "")))}


if __name__ == "__main__":
    main()
