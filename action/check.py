"""The source stage: its SARIF log, the step's outputs, annotations where no log is uploaded, and a summary."""

from __future__ import annotations

import json
import os
import shlex
from typing import Any
from urllib.parse import unquote

import runner

_MOST_LISTED = 30


def main() -> int:
    """Do the stage. The step fails only where there is no log: findings fail the job later, once they are uploaded."""
    log = runner.scratch("tritonaudit.sarif")
    log.unlink(missing_ok=True)
    try:
        arguments = shlex.split(os.environ["INPUT_ARGS"])
    except ValueError as error:
        return _failed(f"args: {error}")
    fail_on = runner.option("--fail-on", "INPUT_FAIL_ON")
    ran = runner.tritonaudit(
        "check", *arguments, *fail_on, "--output-format", "sarif", "--output-file", log, "--", *runner.paths()
    )
    if not log.exists():
        return _failed(ran.stderr.strip() or f"tritonaudit left with {ran.returncode}")
    (run,) = json.loads(log.read_text(encoding="utf-8"))["runs"]
    new = [result for result in run["results"] if result.get("baselineState") != "unchanged"]
    for notification in run["invocations"][0].get("toolExecutionNotifications", []):
        _annotate(notification)
    if os.environ["INPUT_UPLOAD"] != "true":
        for result in new:
            _annotate(result)
    runner.output("sarif", log)
    runner.output("findings", len(new))
    runner.output("exit-code", ran.returncode)
    failed = ["", "Not all could be read or done: the log of the job says what."] if ran.returncode == 2 else []
    table = runner.counted((result["ruleId"], result["level"]) for result in new)
    runner.summarise(["### tritonaudit: source", "", *table, *_listed(new), *failed])
    return 0


def _listed(results: list[dict[str, Any]]) -> list[str]:
    """A table of the findings, the most severe first, as far as a summary is read."""
    if not results:
        return []
    worst = sorted(results, key=lambda result: list(runner.LEVELS).index(result["level"]))
    more = [f"{len(worst) - _MOST_LISTED} more are in the log."] if len(worst) > _MOST_LISTED else []
    rows = map(_row, worst[:_MOST_LISTED])
    return ["", "| Place | Rule | Level | What is found |", "|---|---|---|---|", *rows, "", *more]


def _row(result: dict[str, Any]) -> str:
    place = result["locations"][0]["physicalLocation"]
    path = f"{unquote(place['artifactLocation']['uri'])}:{place['region']['startLine']}"
    first = result["message"]["text"].partition("\n")[0]
    return f"| {runner.cell(path)} | {result['ruleId']} | {result['level']} | {runner.cell(first)} |"


def _failed(message: str) -> int:
    """What is wrong is not the kernels: the job ends here."""
    runner.annotate("error", message)
    runner.output("exit-code", 2)
    runner.summarise(["### tritonaudit: source", "", "The audit was not done:", "", *_quoted(message)])
    return 2


def _quoted(message: str) -> list[str]:
    return [f"    {line}" for line in message.splitlines()]


def _annotate(reported: dict[str, Any]) -> None:
    """A result or a notification of the log as an annotation."""
    place = reported["locations"][0]["physicalLocation"] if reported.get("locations") else {}
    path = unquote(place.get("artifactLocation", {}).get("uri", ""))
    line = place.get("region", {}).get("startLine")
    runner.annotate(reported["level"], reported["message"]["text"], reported.get("ruleId", "tritonaudit"), path, line)


if __name__ == "__main__":
    raise SystemExit(main())
