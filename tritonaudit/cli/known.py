"""`--baseline`, `--changed-since` and their like: which findings are known, and which are new."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tritonaudit.cli import terminal
from tritonaudit.finding import Audit
from tritonaudit.report.known import shown_count

if TYPE_CHECKING:
    from tritonaudit.baseline import Baseline, Entry
    from tritonaudit.config import Config
    from tritonaudit.selection import Selection

Command = TypeVar("Command", bound=Callable[..., Any])

_FILE = click.Path(path_type=Path, dir_okay=False)
_OPTIONS = (
    click.option("--baseline", type=_FILE, help="Findings in this file are not shown and do not fail the run."),
    click.option("--show-known", is_flag=True, help="Show the findings in the baseline as well, marked."),
    click.option("--write-baseline", type=_FILE, help="Write the findings to this file, for --baseline."),
    click.option("--changed-since", metavar="REV", help="Show only findings that a git revision did not have."),
    click.option("--changed-lines", metavar="REV", help="Show only findings on lines changed since a git revision."),
)
_MOST_NAMED = 5


def known_options(command: Command) -> Command:
    """Adds the options about findings that are known."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True)
class Known:
    """What was asked for of findings that are known, and whether what is no longer found `is_reported`.

    `audited` audits other sources as these were, with the configuration of the project that those are in.
    """

    sources: tuple[Path, ...]
    config: Config
    audited: Callable[[tuple[Path, ...]], Audit]
    baseline: Path | None
    write_baseline: Path | None
    changed_since: str | None
    changed_lines: str | None
    is_reported: bool = True

    def applied(self, audit: Audit) -> Audit:
        """The audit with its findings marked, and without those that did not come with a change."""
        if self.write_baseline is not None:
            audit = self._written(audit, self.write_baseline)
        elif self.baseline is not None:
            audit = self._marked(audit, self.baseline)
        if self.changed_since is not None:
            audit = self._new(audit, self.changed_since)
        return audit if self.changed_lines is None else self._on_changed_lines(audit, self.changed_lines)

    def _written(self, audit: Audit, file: Path) -> Audit:
        from tritonaudit.baseline import Baseline

        baseline = Baseline.of(audit.findings, self.config.root)
        terminal.write_file(file, baseline.written())
        return replace(audit, findings=baseline.marked(audit.findings, self.config.root))

    def _marked(self, audit: Audit, file: Path) -> Audit:
        from tritonaudit.baseline import Baseline, BaselineError

        try:
            baseline = Baseline.read(file.read_bytes().decode("utf-8"))
        except OSError as error:
            raise click.ClickException(f"cannot read {file}: {error.strerror}") from error
        except (BaselineError, UnicodeDecodeError) as error:
            raise click.ClickException(f"{file}: {error}") from error
        if self.is_reported:
            self._report_gone(audit, baseline, file)
        return replace(audit, findings=baseline.marked(audit.findings, self.config.root))

    def _report_gone(self, audit: Audit, baseline: Baseline, file: Path) -> None:
        from tritonaudit.rules import all_rules
        from tritonaudit.selection import Selection

        selection = cache(lambda config: Selection.of(config, all_rules()))
        gone = [
            (path, entry)
            for path, entry in baseline.gone(audit.findings, self.config.root)
            if self._asked(path, entry, selection)
        ]
        if gone:
            reported = [
                f"{path} {entry.code}" + (f" ({entry.count} times)" if entry.count > 1 else "") for path, entry in gone
            ]
            more = [f"{len(reported) - _MOST_NAMED} more"] if len(reported) > _MOST_NAMED else []
            what = ", ".join([*reported[:_MOST_NAMED], *more])
            click.echo(f"tritonaudit: no longer found of what {file} holds: {what}", err=True)

    def _asked(self, path: str, entry: Entry, selection: Callable[[Config], Selection]) -> bool:
        """Whether this run would have found it again: its file is looked at or is no more, and its rule is on there."""
        place = Path(os.path.abspath(self.config.root / path))
        looked_at = any(place.is_relative_to(os.path.abspath(source)) for source in self.sources)
        chosen = selection(self.config.of(place))
        is_on = entry.code in chosen.codes - chosen.ignored_in(place)
        return is_on and chosen.shown(entry.code, entry.confidence) and (looked_at or not place.exists())

    def _new(self, audit: Audit, revision: str) -> Audit:
        """Without what was found in the revision as well, which is counted."""
        from tritonaudit.earlier import checked_out

        with _said("--changed-since", revision), checked_out(revision, self.config.root) as earlier:
            sources = tuple(filter(None, map(earlier.of, self.sources)))
            found = self.audited(sources).findings if sources else ()
            known = earlier.baseline(found, self.config.root)
        marked = known.marked(audit.findings, self.config.root)
        pairs = list(zip(audit.findings, marked, strict=True))
        new = tuple(finding for finding, one in pairs if not one.in_baseline)
        old = (finding for finding, one in pairs if one.in_baseline)
        return replace(audit, findings=new, earlier=shown_count(audit, old))

    def _on_changed_lines(self, audit: Audit, revision: str) -> Audit:
        from tritonaudit.changed import Changed
        from tritonaudit.report.sources import Sources

        with _said("--changed-lines", revision):
            changed = Changed.since(revision, self.config.root)
        sources = Sources(audit.texts)
        kept = tuple(finding for finding in audit.findings if changed.holds(finding, sources))
        return replace(audit, findings=kept)


@contextmanager
def _said(option: str, revision: str) -> Iterator[None]:
    """What git refuses is an error of the option."""
    from tritonaudit.revisions import NoRevision

    try:
        yield
    except NoRevision as error:
        raise click.ClickException(f"{option} {revision}: {error}") from error
