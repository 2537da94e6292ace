"""The compile stage under several versions of Triton, each in an environment of its own: does it give the same columns?

    python bench/versions --folder DIR [--triton VERSION …] [PATH …]

Each version is installed into DIR beside the others, and found there by a process of its own; torch is the one that
is installed. The paths are audited with `tritonaudit compile`, the subjects among the fixtures unless some are given.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
_VERSIONS = ("3.2.0", "3.3.1", "3.6.0", "3.9.0")
_COLUMNS = ("registers", "spill_stores", "stack", "shared", "occupancy", "accesses", "matrix")


def main() -> int:
    """Run every version, print what each compiled and which columns it filled."""
    parser = argparse.ArgumentParser(
        prog="python bench/versions", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, required=True, metavar="DIR", help="where the versions are installed")
    parser.add_argument("--triton", action="append", metavar="VERSION", help=f"[default: {' '.join(_VERSIONS)}]")
    parser.add_argument("paths", nargs="*", type=Path, default=[ROOT / "fixtures" / "subjects"], metavar="PATH")
    arguments = parser.parse_args()
    print("| Triton | target | variants | compiled | columns that are filled |\n| --- | --- | ---: | ---: | --- |")
    gaps: list[str] = []
    for version in arguments.triton or _VERSIONS:
        report = _report(version, arguments.folder.resolve(), arguments.paths)
        for target in report["compiled"]["targets"]:
            print(_row(version, target, _variants(report, target)), flush=True)
        gaps += [f"* {version}: {gap}" for gap in dict.fromkeys(entry["reason"] for entry in report["not_analysed"])]
        gaps += [f"* {version}: {error['path']}: {error['message']}" for error in report["errors"]]
    print("\nNot run:\n\n" + "\n".join(gaps) if gaps else "\nNothing was left out.")
    return 0


def _report(version: str, folder: Path, paths: Sequence[Path]) -> dict[str, Any]:
    """The report of one version, as JSON. Raises CalledProcessError where there is none."""
    site = folder / f"triton-{version}"
    if not site.exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(site)]
        subprocess.run([*pip, f"triton=={version}"], check=True)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(site)])}
    command = [sys.executable, "-m", "tritonaudit", "compile", "--output-format", "json", *map(str, paths)]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if not ran.stdout:
        raise subprocess.CalledProcessError(ran.returncode, command, stderr=ran.stderr)
    report: dict[str, Any] = json.loads(ran.stdout)
    return report


def _variants(report: dict[str, Any], target: str) -> list[dict[str, Any]]:
    kernels = report["compiled"]["kernels"]
    return [variant for kernel in kernels for variant in kernel["variants"] if variant["target"] == target]


def _row(version: str, target: str, variants: Sequence[dict[str, Any]]) -> str:
    compiled = [variant for variant in variants if variant["resources"] is not None]
    return f"| {version} | {target} | {len(variants)} | {len(compiled)} | {', '.join(_filled(compiled)) or 'none'} |"


def _filled(variants: Iterable[dict[str, Any]]) -> list[str]:
    """The columns that at least one variant has."""
    merged = [{**variant["resources"], **{key: variant[key] for key in ("accesses", "matrix")}} for variant in variants]
    return [column for column in _COLUMNS if any(one.get(column) not in (None, [], ()) for one in merged)]


if __name__ == "__main__":
    sys.exit(main())
