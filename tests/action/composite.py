"""Runs a composite action's own steps as GitHub's runner does: its variables, its files, its shell, its expressions.

Steps that use another action are not run, but kept with the inputs that they would get.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.S)
_TOKEN = re.compile(r"'(?:[^']|'')*'|&&|\|\||==|!=|[A-Za-z_][\w.-]*")
_OPERATORS = {"&&": " and ", "||": " or ", "==": " == ", "!=": " != "}
_SET = re.compile(r"(?P<name>[^\n=<]+)(?:=(?P<value>[^\n]*)|<<(?P<end>[^\n]+)\n(?P<lines>.*?)\n(?P=end))\n", re.S)


@dataclass(frozen=True)
class Job:
    """Where a job runs: `workspace` and `temp` are folders, `event` is what started it."""

    action: Path
    workspace: Path
    temp: Path
    event_name: str
    event: Mapping[str, Any]
    environment: Mapping[str, str]

    def variables(self) -> dict[str, str]:
        """What the runner sets for each step, besides the files of the step."""
        event_file = self.temp / "_github_workflow" / "event.json"
        event_file.parent.mkdir(parents=True, exist_ok=True)
        event_file.write_text(json.dumps(self.event), encoding="utf-8")
        pull = self.event.get("pull_request")
        return {
            **self.environment,
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": str(self.action),
            "GITHUB_ACTOR": "octocat",
            "GITHUB_API_URL": "https://api.github.com",
            "GITHUB_BASE_REF": pull["base"]["ref"] if pull else "",
            "GITHUB_EVENT_NAME": self.event_name,
            "GITHUB_EVENT_PATH": str(event_file),
            "GITHUB_HEAD_REF": pull["head"]["ref"] if pull else "",
            "GITHUB_JOB": "tritonaudit",
            "GITHUB_REF": f"refs/pull/{pull['number']}/merge" if pull else "refs/heads/main",
            "GITHUB_REPOSITORY": "octocat/kernels",
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_RUN_ID": "1",
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_WORKFLOW": "audit",
            "GITHUB_WORKSPACE": str(self.workspace),
            "RUNNER_ARCH": "X64",
            "RUNNER_OS": "Linux",
            "RUNNER_TEMP": str(self.temp),
            "RUNNER_TOOL_CACHE": str(self.temp / "tools"),
            "RUNNER_WORKSPACE": str(self.workspace.parent),
        }


@dataclass
class Ran:
    """What became of a job: `used` holds the inputs of the actions that its steps use, by their id."""

    failed: bool = False
    codes: dict[str, int] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)
    used: dict[str, dict[str, str]] = field(default_factory=dict)
    log: str = ""
    summary: str = ""

    def annotations(self, level: str) -> list[str]:
        return re.findall(rf"^::{level} (.*)$", self.log, re.M)


def run_action(job: Job, given: Mapping[str, str], without: frozenset[str] = frozenset()) -> Ran:
    """Run the action's steps with these inputs, but those `without`, and evaluate its outputs."""
    action = yaml.safe_load((job.action / "action.yml").read_text(encoding="utf-8"))
    unknown = set(given) - set(action["inputs"])
    assert not unknown, unknown
    inputs = {name: given.get(name, said.get("default", "")) for name, said in action["inputs"].items()}
    context: dict[str, Any] = {"inputs": inputs, "steps": {}, "github": {"action_path": str(job.action)}}
    ran = Ran()
    for step in action["runs"]["steps"]:
        wanted = not ran.failed and ("if" not in step or bool(_value(step["if"], context)))
        if step["id"] in without or not wanted:
            continue
        if "uses" in step:
            ran.used[step["id"]] = {name: _text(value, context) for name, value in step["with"].items()}
        else:
            _run_step(job, step, context, ran)
    ran.outputs = {name: _text(said["value"], context) for name, said in action["outputs"].items()}
    return ran


def _run_step(job: Job, step: Mapping[str, Any], context: dict[str, Any], ran: Ran) -> None:
    assert step["shell"] == "bash"
    files = {
        name: job.temp / f"{step['id']}_{name.lower()}" for name in ("OUTPUT", "STEP_SUMMARY", "ENV", "PATH", "STATE")
    }
    for file in files.values():
        file.touch()
    script = job.temp / f"{step['id']}.sh"
    script.write_text(_text(step["run"], context), encoding="utf-8")
    environment = {
        **job.variables(),
        **{f"GITHUB_{name}": str(file) for name, file in files.items()},
        **{name: _text(value, context) for name, value in step.get("env", {}).items()},
    }
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)],
        cwd=job.workspace, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
        check=False,
    )  # fmt: skip
    ran.log += done.stdout
    ran.summary += files["STEP_SUMMARY"].read_text(encoding="utf-8")
    ran.codes[step["id"]] = done.returncode
    ran.failed = done.returncode != 0
    context["steps"][step["id"]] = {"outputs": _set(files["OUTPUT"].read_text(encoding="utf-8"))}


def _set(text: str) -> dict[str, str]:
    """What a step's file says; every line of it has to say something."""
    found = {match["name"]: match["value"] if match["end"] is None else match["lines"] for match in _SET.finditer(text)}
    assert not _SET.sub("", text), text
    return found


def _text(value: str, context: Mapping[str, Any]) -> str:
    return _EXPRESSION.sub(lambda match: str(_value(match[0], context)), str(value))


def _value(expression: str, context: Mapping[str, Any]) -> Any:
    """The value of an expression of names, strings, `&&`, `||`, `==` and `!=`; what is not there is empty."""
    text = _EXPRESSION.sub(r"\1", expression)
    assert not _TOKEN.sub("", text).strip(), f"not understood: {text}"
    names: list[Any] = []
    parts = []
    for token in _TOKEN.findall(text):
        if token in _OPERATORS:
            parts.append(_OPERATORS[token])
            continue
        parts.append(f"names[{len(names)}]")
        names.append(token[1:-1].replace("''", "'") if token.startswith("'") else _named(token, context))
    return eval("".join(parts), {"names": names})


def _named(name: str, context: Mapping[str, Any]) -> Any:
    value: Any = context
    for part in name.split("."):
        value = value.get(part, "") if isinstance(value, Mapping) else ""
    return value


def environment_of(programs: Path) -> dict[str, str]:
    """This process's environment, as a job sees it, with these programs first."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GITHUB_", "RUNNER_", "INPUT_", "GIT_", "PYTEST_"))
    }
    return {**kept, "PATH": os.pathsep.join((str(programs), kept.get("PATH", "")))}
