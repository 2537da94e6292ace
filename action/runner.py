"""What a step of the action and the runner say to each other: inputs, outputs, annotations and the job's summary."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

LEVELS = {"error": "error", "warning": "warning", "note": "notice", "info": "notice"}
"""What an annotation is called, by the severity of JSON or the level of SARIF."""


def paths() -> list[str]:
    """The paths that the job names, one a line."""
    return [line.strip() for line in os.environ["INPUT_PATHS"].splitlines() if line.strip()]


def option(name: str, variable: str) -> list[str]:
    """The option with the input that the variable holds; none where that is empty."""
    value = os.environ[variable].strip()
    return [f"{name}={value}"] if value else []


def scratch(name: str) -> Path:
    """A file or folder that goes when the job ends."""
    return Path(os.environ["RUNNER_TEMP"]) / name


def tritonaudit(*arguments: str | Path, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the tool; what it says on its standard error goes to the log, too."""
    ran = subprocess.run(
        ["tritonaudit", *map(str, arguments)], cwd=folder, stderr=subprocess.PIPE, encoding="utf-8", check=False
    )
    sys.stderr.write(ran.stderr)
    return ran


def output(name: str, value: object) -> None:
    """Sets an output of the step."""
    _append("GITHUB_OUTPUT", f"{name}={value}\n")


def summarise(lines: Iterable[str]) -> None:
    """Adds Markdown to the summary of the job."""
    _append("GITHUB_STEP_SUMMARY", "".join(f"{line}\n" for line in (*lines, "")))


def annotate(level: str, text: str, title: str = "tritonaudit", path: str = "", line: int | None = None) -> None:
    """Writes an annotation, of a line where one is given."""
    place = {"file": path, "line": line, "title": title}
    properties = ",".join(f"{name}={_property(str(value))}" for name, value in place.items() if value)
    print(f"::{LEVELS[level]} {properties}::{_data(text)}", flush=True)


def counted(rules: Iterable[tuple[str, str]]) -> list[str]:
    """A table of how many findings each rule has, of their codes and levels; without any, a sentence."""
    counts = Counter(rules)
    if not counts:
        return ["No findings."]
    rows = (f"| {code} | {level} | {count} |" for (code, level), count in sorted(counts.items()))
    return ["| Rule | Level | Findings |", "|---|---|---|", *rows]


def cell(text: str) -> str:
    """The text as a cell of a table shows it."""
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def _append(variable: str, text: str) -> None:
    with open(os.environ[variable], "a", encoding="utf-8") as file:
        file.write(text)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
