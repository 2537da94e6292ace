"""`tritonaudit check`, the default command: audits the source, and fixes it on request."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tritonaudit.cli import fixing, notices, shown, terminal
from tritonaudit.cli.known import Known, known_options
from tritonaudit.cli.options import about, audit_options, configure, deliver, exit_code, keep_inputs, project_of
from tritonaudit.cli.progress import late_progress
from tritonaudit.finding import Audit, Problem, Stage
from tritonaudit.report import render
from tritonaudit.report.known import without_known
from tritonaudit.report.shortfall import not_analysed_lines
from tritonaudit.report.statistics import FORMATS as COUNTED
from tritonaudit.report.statistics import statistics as counted

if TYPE_CHECKING:
    from tritonaudit.config import Config

_STDIN = Path("-")
WATCHED = ("full", "concise")
"""The formats that `--watch` can show changes in."""


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@audit_options()
@fixing.fix_options
@known_options
@click.option("--watch", is_flag=True, help="Audit again when a file changes, and show what that changed.")
@click.option("--strict", is_flag=True, help="Exit with 2 if something was not analysed.")
@click.option("-q", "--quiet", is_flag=True, help="Show the findings, with no summary and no warnings.")
@click.option("--no-cache", is_flag=True, help="Read every file again, without results of earlier runs.")
@click.option("--show-files", is_flag=True, help="Show which files would be read, and exit.")
@click.option("--show-settings", is_flag=True, help="Show which configuration governs the first path, and exit.")
@click.option("--statistics", is_flag=True, help="Show how often each rule found something, instead of the findings.")
@click.option("--stdin-filename", type=click.Path(path_type=Path), help="The name of the text read from `-`.")
def command(
    paths: tuple[Path, ...],
    exit_zero: bool,
    output_format: str,
    output_file: Path | None,
    config_file: Path | None,
    jobs: int | None,
    fix: bool,
    unsafe_fixes: bool,
    add_ignore: str | None,
    diff: bool,
    baseline: Path | None,
    show_known: bool,
    write_baseline: Path | None,
    changed_since: str | None,
    changed_lines: str | None,
    watch: bool,
    strict: bool,
    quiet: bool,
    no_cache: bool,
    show_files: bool,
    show_settings: bool,
    statistics: bool,
    stdin_filename: Path | None,
    **overrides: Any,
) -> int:
    """Audit the Triton kernels in files and folders.

    PATHS defaults to the current folder; `-` is the standard input. RULES are codes, beginnings of codes or
    names, separated by commas.

    The exit code is 0 if nothing is found at the level of --fail-on, 1 if something is, 2 if something could not
    be read or done. With --fix only what remains counts; with --diff it is 1 if there is something to change.
    """
    _refuse(paths, stdin_filename)
    is_written = fix or add_ignore is not None
    _refuse_together(is_written or diff, baseline, write_baseline, paths, since=changed_since, lines=changed_lines)
    if show_known and not (baseline or write_baseline):
        raise click.UsageError("--show-known needs --baseline, which says what is known")
    fixing.refuse(fix, unsafe_fixes, diff, add_ignore)
    if statistics and output_format not in COUNTED:
        raise click.UsageError(f"--statistics can be written as {' or '.join(COUNTED)}")
    if watch:
        _refuse_watching(paths, output_format, fix, diff, add_ignore, output_file, write_baseline, statistics)
    is_stdin = paths == (_STDIN,)
    sources = (stdin_filename or Path("<stdin>"),) if is_stdin else paths or (Path(),)
    config = configure(project_of(sources), config_file, overrides)
    if show_files or show_settings:
        return _show(sources, config, files=show_files, is_text=is_stdin, quiet=quiet)
    for file in (output_file, write_baseline):
        keep_inputs(file, sources, config)

    def audited(others: tuple[Path, ...]) -> Audit:
        return _Asked(others, configure(project_of(others), config_file, overrides), None, jobs, is_kept=False).audit()

    known = Known(
        sources, config, audited, baseline, write_baseline, changed_since, changed_lines, is_reported=not quiet
    )
    if watch:
        from tritonaudit.cli import watching

        def found(config: Config) -> Audit:
            marked = replace(known, config=config, is_reported=False).applied(
                _Asked(sources, config, None, jobs, not no_cache).audit()
            )
            return marked if show_known else without_known(marked)

        return watching.watch(
            watching.Watched(
                sources,
                tuple(file for file in (config_file, baseline) if file is not None),
                configured=lambda: configure(project_of(sources), config_file, overrides),
                audited=found,
                code=lambda audit, config: exit_code(audit, config, exit_zero, strict),
                format=output_format,
                is_quiet=quiet,
            )
        )
    text = sys.stdin.buffer.read() if is_stdin else None
    asked = _Asked(sources, config, text, jobs, not no_cache, add_ignore)
    audit = asked.audit()
    if not quiet:
        notices.warn_of_config(config)
        notices.warn_of_nothing(audit, sources)
    if diff:
        return _show_diff(asked, audit, unsafe_fixes, output_file, exit_zero, strict)
    if is_written and not diff:
        audit = _fixed(asked, audit, unsafe_fixes)
    audit = known.applied(audit)
    if not (show_known or statistics or output_format == "sarif"):  # whose readers know which results are unchanged
        audit = without_known(audit)
    color = not output_file and not (is_written and is_stdin) and terminal.wants_color()
    report = (
        counted(audit, output_format, is_brief=quiet)
        if statistics
        else render(audit, output_format, color=color, about=about(config, sources, Stage.SOURCE, is_brief=quiet))
    )
    if is_written and is_stdin and output_file is None:
        click.echo(report, nl=False, err=True)
    else:
        deliver(report, output_file)
    return exit_code(audit, config, exit_zero, strict)


def _show(sources: tuple[Path, ...], config: Config, *, files: bool, is_text: bool, quiet: bool) -> int:
    """Show which files would be read, or which configuration governs the first, and what is odd about those."""
    code = (
        shown.show_files(sources, config, quiet=quiet)
        if files
        else shown.show_settings(sources[0], config, is_text=is_text)
    )
    if not quiet:
        notices.warn_of_config(config)
    return code


def _refuse(paths: tuple[Path, ...], stdin_filename: Path | None) -> None:
    """Raise where the paths contradict each other."""
    if _STDIN in paths and len(paths) > 1:
        raise click.UsageError("`-` (the standard input) cannot be audited together with other paths")
    if stdin_filename and _STDIN not in paths:
        raise click.UsageError("--stdin-filename needs the path `-`")


def _refuse_watching(paths: tuple[Path, ...], output_format: str, *others: object) -> None:
    """Raise where something else is asked for than to be shown what is found."""
    if _STDIN in paths:
        raise click.UsageError("--watch does not go with the standard input, which does not change")
    if output_format not in WATCHED:
        raise click.UsageError(f"--watch shows findings as {' or '.join(WATCHED)}")
    if any(others):
        raise click.UsageError("--watch only shows what is found: it does not go with options that write or count")


def _refuse_together(
    fixes: bool,
    baseline: Path | None,
    write_baseline: Path | None,
    paths: tuple[Path, ...],
    **changed: str | None,
) -> None:
    """Raise where it would not be clear which findings are meant."""
    if baseline and write_baseline:
        raise click.UsageError("--write-baseline starts afresh, so it cannot be combined with --baseline")
    for option in (f"--changed-{name}" for name, revision in changed.items() if revision):
        if fixes or write_baseline:
            other = "--write-baseline takes all findings" if write_baseline else "fixes change lines"
            raise click.UsageError(f"{other}, so {option} cannot be combined with it")
        if _STDIN in paths:
            raise click.UsageError(f"{option} cannot be used with the standard input, which git does not track")


@dataclass(frozen=True)
class _Asked:
    """What is audited: the sources, or the text of the standard input under the name of the only one.

    With a `reason` what is found is to be suppressed, not fixed.
    """

    sources: tuple[Path, ...]
    config: Config
    text: bytes | None
    jobs: int | None
    is_kept: bool = True
    reason: str | None = None

    def audit(self) -> Audit:
        from tritonaudit.engine import check, check_text
        from tritonaudit.file_cache import open_cache

        if self.text is not None:
            return check_text(self.text, self.sources[0], self.config)
        cache = open_cache(self.config) if self.is_kept else None
        with late_progress() as progress:
            return check(self.sources, self.config, jobs=self.jobs, cache=cache, progress=progress)

    def remaining(self, audit: Audit, done: int, problems: tuple[Problem, ...]) -> Audit:
        """What is left, with what was done of it and what could not be."""
        fixed, suppressed = (done, 0) if self.reason is None else (0, done)
        return replace(audit, fixed=fixed, suppressed=suppressed, problems=(*audit.problems, *problems))

    def changes(self, audit: Audit, unsafe: bool) -> list[fixing.Change]:
        """What fixes make of the files, or of the text."""
        from tritonaudit.engine import text_checker

        if self.text is None:
            return list(fixing.changes(audit, self.config, unsafe, self.reason))
        if not audit.findings:
            return [fixing.Change(self.sources[0], self.text, self.text)]
        check: Callable[[bytes, Path], Audit] = text_checker(self.config)
        return [fixing.change(self.sources[0], self.text, check, unsafe, self.reason)]


def _fixed(asked: _Asked, audit: Audit, unsafe: bool) -> Audit:
    """Write what fixes make of the files, or the text to the standard output; what remains."""
    changed = asked.changes(audit, unsafe)
    if asked.text is None:
        fixed, problems = fixing.write(changed, asked.config.root)
        return asked.remaining(asked.audit() if fixed else audit, fixed, problems)
    (one,) = changed
    fixing.to_standard_output(one.after)
    return asked.remaining(replace(asked, text=one.after).audit(), one.fixed, one.problems)


def _show_diff(
    asked: _Asked, audit: Audit, unsafe: bool, output_file: Path | None, exit_zero: bool, strict: bool
) -> int:
    """Show what fixes would change: 2 where something could not be read or done, 1 where there is a change."""
    changed = asked.changes(audit, unsafe)
    problems = (*audit.problems, *(problem for one in changed for problem in one.problems))
    notices.complain(problems)
    missed = not_analysed_lines(audit)
    for line in missed:
        click.echo(f"tritonaudit: {line}", err=True)
    deliver(fixing.diff(changed), output_file)
    would = any(one.before != one.after for one in changed)
    return 2 if problems or (strict and missed) else int(would and not exit_zero)
