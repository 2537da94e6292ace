"""What a file, or several, came to: findings in their order, what could not be done, what was not looked at."""

from __future__ import annotations

import re
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tritonaudit.finding import Audit, Finding, Outcome, Problem, Related, Span, Stage, Status
from tritonaudit.rule import Rule
from tritonaudit.shown import shown_path
from tritonaudit.source.basis import Basis
from tritonaudit.source.notebook import Notebook
from tritonaudit.source.outline import JitFunction, Module, may_hold_kernels
from tritonaudit.source.suppressions import Suppressions, Use

SOURCE = "source"
"""What is asked of a function by reading it."""
MAX_EXPRESSION = 400


@dataclass(frozen=True)
class FileResult:
    """What one file came to; it was not read where it is no text, no Python, or too much of it."""

    findings: tuple[Finding, ...] = ()
    problems: tuple[Problem, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    text: tuple[str, str] | None = None
    kernels: int = 0
    basis: Basis | None = None
    is_read: bool = True


Placing = Callable[[int], str]
"""How a line of a module is shown: after its path, or its cell where the module is a notebook's."""


def unread(problem: Problem) -> FileResult:
    """A file of which nothing could be read."""
    return FileResult(problems=(problem,), is_read=False)


@dataclass
class Found:
    """What the kernels of one file came to."""

    place: Placing
    findings: list[Finding] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    kernels: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether every rule was asked of every kernel."""
        return not self.outcomes and not self.problems

    def add(self, findings: Iterable[Finding], outcomes: Iterable[Outcome], *, is_kernel: bool) -> None:
        """What one kernel came to."""
        self.findings.extend(findings)
        self.outcomes.extend(outcomes)
        self.kernels += is_kernel

    def failed(self, shown: str, function: JitFunction, error: Exception, rule: Rule | None = None) -> None:
        """The analysis of a function raised, or a rule on it, which may be of another package than ours."""
        if rule is not None and not rule.__module__.startswith("tritonaudit."):
            said = f"the rule {rule.code} of `{rule.__module__}` failed on `{function.qualname}`: {_raised(error)}"
            self.problems.append(Problem(shown, said, function.first_line))
            return
        asked = "" if rule is None else f" while running {rule.code}"
        self.problems.append(defect(shown, f"`{function.qualname}`{asked}", error, function.first_line))


def merged(results: Sequence[FileResult]) -> Audit:
    """What several files came to, all in order."""
    findings = sorted((f for result in results for f in result.findings), key=lambda f: f.sort_key)
    problems = sorted(
        (p for result in results for p in result.problems), key=lambda p: (p.path, p.cell or 0, p.line or 0)
    )
    outcomes = sorted((o for result in results for o in result.outcomes), key=lambda o: (o.subject, o.case))
    return Audit(
        findings=tuple(findings),
        problems=tuple(problems),
        outcomes=tuple(outcomes),
        texts=dict(result.text for result in results if result.text is not None),
        kernels=sum(result.kernels for result in results),
        unread=sum(not result.is_read for result in results),
    )


def in_cells(result: FileResult, notebook: Notebook, shown: str) -> FileResult:
    """What the module of a notebook came to, with its places in the notebook's cells."""

    def problem(one: Problem) -> Problem:
        if one.line is None:
            return one
        cell, line = notebook.place(one.line)
        return replace(one, line=line, cell=cell)

    def related(one: Related) -> Related:
        return replace(one, span=notebook.placed(one.span)) if one.path == shown else one

    findings = tuple(
        replace(
            found,
            span=notebook.placed(found.span),
            related=tuple(map(related, found.related)),
            way=tuple(map(related, found.way)),
            fix=found.fix and replace(found.fix, edits=tuple(map(notebook.placed_edit, found.fix.edits))),
        )
        for found in result.findings
    )
    text = (shown, notebook.raw) if findings else None
    return replace(result, findings=findings, problems=tuple(map(problem, result.problems)), text=text)


def text_at(lines: Sequence[str], span: Span) -> str:
    """The text that a span covers, its whitespace folded."""
    covered = [*lines[span.line - 1 : span.end_line]]
    if covered:
        covered[-1] = covered[-1][: span.end_column - 1]
        covered[0] = covered[0][span.column - 1 :]
    return " ".join(" ".join(covered).split())[:MAX_EXPRESSION]


def defect(shown: str, what: str, error: Exception, line: int | None = None) -> Problem:
    return Problem(shown, f"tritonaudit failed on {what}, please report it: {_raised(error)}", line)


def _raised(error: Exception) -> str:
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})"


def not_run(place: Placing, function: JitFunction, reason: str) -> Outcome:
    where = place(function.first_line)
    return Outcome(SOURCE, where, Status.NOT_RUN, reason=f"`{function.qualname}` is {reason}")


def suppressed(findings: list[Finding], suppressions: Suppressions) -> tuple[list[Finding], frozenset[Use]]:
    kept: list[Finding] = []
    uses: frozenset[Use] = frozenset()
    for finding in findings:
        used = suppressions.suppress(finding.code, finding.span)
        uses |= used
        if not used:
            kept.append(finding)
    return kept, uses


IT_IS_HERE = "it is here"
"""What is said of the place of a finding that stands in another file than the kernel."""


def numbered(findings: list[Finding]) -> Iterator[Finding]:
    """Each finding once, equal ones numbered in the order of the text; what was measured is of a subject each."""
    seen: set[tuple[object, ...]] = set()
    counts: Counter[tuple[str, str, str]] = Counter()
    for finding in sorted(findings, key=lambda f: f.sort_key):
        elsewhere = [one for one in finding.related[:1] if one.message == IT_IS_HERE]
        place = finding.code, finding.span, *elsewhere, finding.message if finding.stage is Stage.MEASURE else ""
        if place in seen:
            continue
        seen.add(place)
        key = finding.identity[:3]
        yield replace(finding, ordinal=counts[key]) if counts[key] else finding
        counts[key] += 1


def not_read(place: Placing, module: Module) -> Iterator[Outcome]:
    """The kernels of a file that are in no language, or in none that this tool reads."""
    for line in module.embedded:
        yield Outcome(SOURCE, place(line), Status.NOT_RUN, reason="a kernel in a string is not analysed")
    for name, line in module.gluon:
        yield Outcome(SOURCE, place(line), Status.NOT_RUN, reason=f"`{name}` is written in Gluon")


def notebooks_passed_over(notebooks: Iterable[Path], stage: str) -> Iterator[Outcome]:
    """That a later stage does nothing about the kernels of notebooks, which nothing can import."""
    for path in notebooks:
        try:
            holds_kernels = may_hold_kernels(path.read_bytes())
        except OSError:  # which the source stage says
            continue
        if holds_kernels:
            reason = "the kernels of a notebook are only read, not compiled or run"
            yield Outcome(stage, shown_path(path), Status.NOT_RUN, reason=reason)


_TEMPLATE_KERNEL = re.compile(rb"triton[\s\S]*\.jit|\.jit[\s\S]*triton|\btl\.load\b")


def of_template(path: Path) -> FileResult:
    """A Jinja template is looked at only to say that the kernels in it were not analysed."""
    shown = shown_path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        return unread(Problem(shown, f"cannot be read: {error.strerror or error}"))
    if b"tl." not in data or _TEMPLATE_KERNEL.search(data) is None:
        return FileResult()
    return FileResult(
        outcomes=(Outcome(SOURCE, shown, Status.NOT_RUN, reason="kernels in a template are not analysed"),)
    )
