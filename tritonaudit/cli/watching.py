"""`check --watch`: audits again when files change, and shows what came of it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from tritonaudit.changing import changed, look, until_changed
from tritonaudit.cli import INTERRUPTED, notices, terminal
from tritonaudit.config import Config, ConfigError
from tritonaudit.finding import Audit, Finding, sentence_of
from tritonaudit.report import render
from tritonaudit.report.about import About
from tritonaudit.report.causes import reported_once
from tritonaudit.report.escape import visible
from tritonaudit.report.full import summary
from tritonaudit.shown import shown_path

if TYPE_CHECKING:
    from tritonaudit.finding import Outcome, Problem

_COULD_NOT = 2
_MOST_FILES = 3

Thing = TypeVar("Thing")


@dataclass(frozen=True)
class Watched:
    """What is watched: how the sources are configured and audited, and what the exit code of an audit is.

    `also` are files beside the sources and their configurations, such as a baseline.
    """

    sources: tuple[Path, ...]
    also: tuple[Path, ...]
    configured: Callable[[], Config]
    audited: Callable[[Config], Audit]
    code: Callable[[Audit, Config], int]
    format: str
    is_quiet: bool


def watch(watched: Watched) -> int:
    """Audit, and again after each change, until Ctrl-C; the exit code of the last audit. Raises ConfigError at first.

    What is on the terminal stays there: a state is written below the one before it.
    """
    code = INTERRUPTED
    try:
        config = watched.configured()
        also = set(watched.also)
        seen = look(watched.sources, config, also)
        audit = reported_once(watched.audited(config))
        code = watched.code(audit, config)
        is_read = _show_first(watched, audit, config)
        while is_read:
            now = until_changed(partial(look, watched.sources, config, also), seen)
            files, seen = changed(seen, now), now
            if not files:  # what came is gone again
                continue
            before = audit
            try:
                config = watched.configured()
                seen = look(watched.sources, config, also)  # which may be of other files now
                audit = reported_once(watched.audited(config))
            except (ConfigError, click.ClickException) as error:
                code = _COULD_NOT
                if isinstance(error, ConfigError):  # of a file that is not known to belong to them yet
                    also |= {Path(problem.path) for problem in error.problems}
                    seen = look(watched.sources, config, also)
                is_read = terminal.write(_header(files) + _reason(error))
                continue
            code = watched.code(audit, config)
            is_read = terminal.write(_header(files) + _differences(watched, before, audit))
    except KeyboardInterrupt:
        pass
    return code


def _show_first(watched: Watched, audit: Audit, config: Config) -> bool:
    if not watched.is_quiet:
        notices.warn_of_config(config)
        notices.warn_of_nothing(audit, watched.sources)
    is_read = terminal.write(_rendered(watched, audit, is_brief=watched.is_quiet))
    if not watched.is_quiet:
        click.echo("tritonaudit: watching; Ctrl-C ends it", err=True)
    return is_read


def _rendered(watched: Watched, audit: Audit, *, is_brief: bool) -> str:
    return render(audit, watched.format, color=terminal.wants_color(), about=About(is_brief=is_brief))


def _header(files: Sequence[str]) -> str:
    """When the audit began, and what had changed before it."""
    named = [shown_path(Path(file)) for file in files[:_MOST_FILES]]
    more = [f"{len(files) - _MOST_FILES} more"] if len(files) > _MOST_FILES else []
    return f"\n{time.strftime('%H:%M:%S')} {visible(', '.join([*named, *more]))} changed\n"


def _reason(error: ConfigError | click.ClickException) -> str:
    said = map(sentence_of, error.problems) if isinstance(error, ConfigError) else [error.format_message()]
    return "".join(f"tritonaudit: {visible(line)}\n" for line in said)


def _differences(watched: Watched, before: Audit, after: Audit) -> str:
    """What is new, what is gone, and the totals."""
    new = replace(
        after,
        findings=tuple(_without(after.findings, before.findings, _identity)),
        problems=tuple(_without(after.problems, before.problems, _itself)),
        outcomes=tuple(_without(after.outcomes, before.outcomes, _itself)),
    )
    gone = "".join(f"{_gone(finding)}\n" for finding in _without(before.findings, after.findings, _identity))
    totals = "" if watched.is_quiet else f"{summary(after)}\n"
    return _rendered(watched, new, is_brief=True) + gone + totals


def _gone(finding: Finding) -> str:
    place = f"{finding.path}:{finding.span.shown_start}"
    return visible(f"{place}: no longer found: {finding.code} {finding.name}")


def _identity(finding: Finding) -> Hashable:
    return finding.path, finding.fingerprint


def _itself(thing: Problem | Outcome) -> Hashable:
    return repr(thing)


def _without(
    things: Iterable[Thing], others: Iterable[Thing], identity: Callable[[Thing], Hashable]
) -> Iterator[Thing]:
    """The things that are not among the others, each as often as it is there more often."""
    left = Counter(map(identity, others))
    for thing in things:
        key = identity(thing)
        if left[key]:
            left[key] -= 1
        else:
            yield thing
