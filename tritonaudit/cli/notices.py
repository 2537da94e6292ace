"""What is said on stderr beside the report: problems, and warnings of what could be mistaken for a clean bill."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tritonaudit.finding import Audit, Problem, sentence_of
from tritonaudit.report.escape import visible
from tritonaudit.report.shortfall import not_analysed
from tritonaudit.shown import shown_path

if TYPE_CHECKING:
    from tritonaudit.config import Config


def complain(problems: Iterable[Problem]) -> None:
    """Say what could not be read or done, where no report does."""
    for problem in problems:
        click.echo(f"tritonaudit: {_sentence(problem)}", err=True)


def warn_of_config(config: Config) -> None:
    """Say what is odd about the configuration files that were read."""
    found = (*config.warnings, *(config.nearest.warnings if config.nearest is not None else ()))
    for problem in dict.fromkeys(found):
        click.echo(f"tritonaudit: warning: {_sentence(problem)}", err=True)


def warn_of_nothing(audit: Audit, sources: Sequence[Path]) -> None:
    """Say that there was nothing to find fault with, which is no clean bill."""
    if audit.findings or audit.problems or audit.kernels or not_analysed(audit):
        return
    where = ", ".join(visible(str(source)) for source in sources)
    found = f"{audit.files} file{'s' * (audit.files != 1)}"
    said = f"no Triton kernels found in {found}" if audit.files else f"no Python files or notebooks found in {where}"
    click.echo(f"tritonaudit: warning: {said}", err=True)


def _sentence(problem: Problem) -> str:
    return visible(sentence_of(replace(problem, path=shown_path(Path(problem.path)))))
