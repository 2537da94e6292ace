"""The compile stage: annotations, and in the summary a table of what changed since the base of a pull request."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import runner


class NoBase(Exception):
    """There is nothing to compare with, and why."""


def main() -> int:
    """Do the stage. The step fails only where there is no report: findings fail the job later."""
    paths, targets = runner.paths(), runner.option("--target", "INPUT_TARGETS")
    report = runner.scratch("tritonaudit-compiled.json")
    report.unlink(missing_ok=True)
    try:
        compared, alone = ["--against", str(_compiled_base(paths, targets))], ""
    except NoBase as reason:
        compared, alone = [], f"Nothing to compare with: {reason}."
    fail_on = runner.option("--fail-on", "INPUT_FAIL_ON")
    ran = runner.tritonaudit(
        "compile", *targets, *fail_on, *compared, "--output-format", "json", "--output-file", report, "--", *paths
    )
    runner.output("exit-code", ran.returncode)
    if not report.exists():
        runner.annotate("error", ran.stderr.strip() or f"tritonaudit left with {ran.returncode}")
        return 2
    reported = json.loads(report.read_text(encoding="utf-8"))
    _annotate(reported)
    table = runner.counted((finding["code"], finding["severity"]) for finding in reported["findings"])
    comparison = [alone] if alone else _table(reported["compiled"]["comparison"])
    runner.summarise(["### tritonaudit: compiled", "", *table, "", "#### Since the base", "", *comparison])
    return 0


def _annotate(report: dict[str, Any]) -> None:
    for error in report["errors"]:
        runner.annotate("error", error["message"], path=error["path"], line=error["line"])
    for finding in report["findings"]:
        title = f"{finding['code']} {finding['name']}"
        runner.annotate(finding["severity"], finding["message"], title, finding["path"], finding["line"])


# -- the base ------------------------------------------------------------------------------------------------------


def _compiled_base(paths: list[str], targets: list[str]) -> Path:
    """The report on the same paths in the base of the pull request. Raises NoBase."""
    report = runner.scratch("tritonaudit-base.json")
    report.unlink(missing_ok=True)
    with _checked_out(_base_commit()) as folder:
        there = [path for path in paths if (folder / path).exists()]
        if not there:
            raise NoBase("the base has none of the paths")
        runner.tritonaudit(
            "compile", *targets, "--exit-zero", "--output-format", "json", "--output-file", report, "--", *there,
            folder=folder,
        )  # fmt: skip
    if not report.exists():
        raise NoBase("the base could not be compiled")
    return report


def _base_commit() -> str:
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    try:
        commit: str = event["pull_request"]["base"]["sha"]
    except KeyError:
        raise NoBase("this is no pull request") from None
    return commit


@contextmanager
def _checked_out(commit: str) -> Iterator[Path]:
    """The folder that stands for the current one in a work tree of that commit. Raises NoBase."""
    tree = runner.scratch("tritonaudit-base")
    shutil.rmtree(tree, ignore_errors=True)
    _git("worktree", "prune")
    if not _has(commit):
        _git("fetch", "--quiet", "--no-tags", "--depth=1", "origin", commit)
    _git("worktree", "add", "--quiet", "--detach", str(tree), commit)
    try:
        yield tree / _git("rev-parse", "--show-prefix")
    finally:
        with suppress(NoBase):  # what was found there stands; the next run prunes the tree
            _git("worktree", "remove", "--force", str(tree))


def _has(commit: str) -> bool:
    try:
        _git("cat-file", "-e", f"{commit}^{{commit}}")
    except NoBase:
        return False
    return True


def _git(*arguments: str) -> str:
    """What git answers. Raises NoBase."""
    ran = subprocess.run(["git", *arguments], capture_output=True, encoding="utf-8", check=False)
    if ran.returncode:
        said = ran.stderr.strip().splitlines() or ["it says no more"]
        raise NoBase(f"git {arguments[0]}: {runner.cell(said[0])}")
    return ran.stdout.strip()


# -- what changed --------------------------------------------------------------------------------------------------


def _table(comparison: dict[str, Any]) -> Iterator[str]:
    alone = comparison["unpaired"]
    also = f"; {alone} in one of the two only" if alone else ""
    yield f"Variants compared: {comparison['compared']}{also}. Differences: {len(comparison['differences'])}."
    configured = [difference for difference in comparison["differences"] if difference["settings"]]
    others = [difference for difference in comparison["differences"] if not difference["settings"]]
    if configured:
        yield from ("", "Launches that are configured otherwise:", "")
        yield from _rows((*_PLACE, "Configuration", *_METRICS.values(), "Also"), map(_configured, configured))
    if others:
        yield ""
        yield from _rows((*_PLACE, "Config", "Worse", "Better"), map(_changed, others))


_PLACE = ("Kernel", "Target")
_METRICS = {"registers": "Registers", "spills": "Bytes spilled", "shared": "Shared memory", "occupancy": "Occupancy"}
_SAID = (" registers", " bytes spilled", " bytes of shared memory", " warps of occupancy")
"""What the changes end in that the columns of the metrics show."""


def _rows(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(map(runner.cell, row))} |"


def _place(difference: dict[str, Any]) -> tuple[str, str]:
    return f"{difference['kernel']} ({difference['path']}:{difference['line']})", difference["target"]


def _changed(difference: dict[str, Any]) -> Sequence[str]:
    worse, better = (
        "; ".join(change["text"] for change in difference["changes"] if change["worse"] is is_worse)
        for is_worse in (True, False)
    )
    return (*_place(difference), difference["config"], worse, better)


def _configured(difference: dict[str, Any]) -> Sequence[str]:
    settings = (f"{one['name']} {_or_dash(one['before'])} → {_or_dash(one['now'])}" for one in difference["settings"])
    figures = {one["metric"]: (one["before"], one["now"]) for one in difference["figures"]}
    also = (change["text"] for change in difference["changes"] if not change["text"].endswith(_SAID))
    return (
        *_place(difference),
        ", ".join(settings) + (f" ({difference['config']})" if difference["config"] else ""),
        *(_figure(*figures.get(metric, (None, None))) for metric in _METRICS),
        "; ".join(also),
    )


def _figure(before: int | None, now: int | None) -> str:
    return _or_dash(now) if before == now else f"{_or_dash(before)} → {_or_dash(now)}"


def _or_dash(value: object) -> str:
    """The value, with a dash for one that is not set, or is unknown."""
    return "—" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


if __name__ == "__main__":
    raise SystemExit(main())
