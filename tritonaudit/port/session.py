"""Selecting for several operations: each has its log when it is done, all have a summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tritonaudit.config import Config
from tritonaudit.finding import Problem
from tritonaudit.hardware.parts import Part
from tritonaudit.port.folders import Operation
from tritonaudit.port.keeping import NotOurs, write_log
from tritonaudit.port.log import log_text, summary_text
from tritonaudit.port.selecting import Selected, SelectRequest, select_all
from tritonaudit.progress import SILENT, Progress

SUMMARY = "summary.md"
INTERRUPTED = "interrupted"


@dataclass
class Session:
    """What became of operations: those that were done, and the problems of the others and of their logs."""

    selected: list[Selected] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    is_interrupted: bool = False

    @property
    def summary(self) -> str:
        return summary_text(self.selected, [(problem.path, problem.message) for problem in self.problems])

    @property
    def has_choices(self) -> bool:
        """Whether every operation that was done has one."""
        return all(one.chosen is not None for one in self.selected)


def run_session(
    operations: Sequence[Operation],
    config: Config,
    request: SelectRequest,
    parts: Mapping[str, Part],
    problems: Sequence[Problem] = (),
    progress: Progress = SILENT,
) -> Session:
    """Select for each operation and write its log, until that is interrupted (KeyboardInterrupt), then the summary.

    `problems` are those that are known before.
    """
    session = Session(problems=list(problems))
    try:
        for operation, result in select_all(operations, config, request, progress):
            if isinstance(result, Problem):
                session.problems.append(result)
                continue
            session.selected.append(result)
            _log(session, f"{operation.name}_log.md", log_text(result, parts), request)
    except KeyboardInterrupt:
        session.is_interrupted = True
        done = {one.operation.name for one in session.selected} | {problem.path for problem in session.problems}
        left = [operation for operation in operations if not {operation.name, str(operation.folder)} & done]
        session.problems += [Problem(operation.name, INTERRUPTED) for operation in left]
    _log(session, SUMMARY, session.summary, request)
    return session


def _log(session: Session, name: str, text: str, request: SelectRequest) -> None:
    path = request.logs / name
    try:
        write_log(path, text)
    except NotOurs as error:
        session.problems.append(Problem(str(path), str(error)))
    except OSError as error:
        session.problems.append(Problem(str(path), f"cannot be written: {error.strerror or error}"))
