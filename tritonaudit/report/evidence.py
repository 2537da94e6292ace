"""All that a report for people is made of, and what it may conclude from its absence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tritonaudit.compile.audit import CompileAudit
from tritonaudit.compile.phrases import counted
from tritonaudit.finding import Audit, Category, Finding, Outcome, Severity, Stage, Status
from tritonaudit.measure.gather import MeasuredSubject
from tritonaudit.measure.stage import MeasureAudit
from tritonaudit.report.about import About
from tritonaudit.report.checklists import CHECKLISTS, Done, Item, stability
from tritonaudit.report.compiled import CompiledSection
from tritonaudit.report.measured import MeasuredSection
from tritonaudit.report.ran import RanSection
from tritonaudit.report.section import Section
from tritonaudit.report.shortfall import not_analysed
from tritonaudit.report.traced import TracedSection
from tritonaudit.report.words import Code, Words, among, words
from tritonaudit.results import SOURCE
from tritonaudit.rules import all_rules
from tritonaudit.shown import shown_path
from tritonaudit.suites.facts import WATCHED, Symptom
from tritonaudit.suites.gather import SubjectRun
from tritonaudit.suites.hollow import FAR, LARGE
from tritonaudit.suites.relation_names import is_relation
from tritonaudit.suites.stability import HARDSHIPS, NUMERIC, can_hold
from tritonaudit.suites.stage import RunAudit
from tritonaudit.suites.suite import Suite
from tritonaudit.trace.stage import TraceAudit

CATEGORIES: tuple[Category, ...] = tuple(category for category in Category if category is not Category.TOOL)
_COMMANDS = {
    Stage.SOURCE: "`tritonaudit check` reads the source",
    Stage.COMPILE: "`tritonaudit compile` compiles kernels",
    Stage.RUN: "`tritonaudit audit` runs them",
    Stage.MEASURE: "`tritonaudit audit` measures them on a GPU",
}
OF_A_TRACE = "only the launches of a command were checked: `tritonaudit audit` tries subjects"
NO_SUBJECT = "there is no subject to run: `tritonaudit init` writes one"


@dataclass(frozen=True)
class KernelName:
    """A kernel in a file, as findings show its path."""

    path: str
    name: str


@dataclass(frozen=True)
class Evidence:
    """An audit with what its stages know beyond findings; None where a stage did not run."""

    audit: Audit
    about: About
    compiled: CompileAudit | None = None
    ran: RunAudit | None = None
    measured: MeasureAudit | None = None
    traced: TraceAudit | None = None

    @property
    def timed(self) -> tuple[MeasuredSubject, ...]:
        """The subjects of the measure stage."""
        return self.measured.subjects if self.measured is not None else ()

    @property
    def runs(self) -> tuple[SubjectRun, ...]:
        return self.ran.runs if self.ran is not None else ()

    @cached_property
    def kernels(self) -> tuple[KernelName, ...]:
        """The kernels that were launched, compiled or found fault with, by file and in the order of its lines."""
        lines: dict[KernelName, int] = {}
        for path, name, line in self._places():
            lines.setdefault(KernelName(path, name), line)
        return tuple(sorted(lines, key=lambda kernel: (kernel.path, lines[kernel], kernel.name)))

    def _places(self) -> Iterator[tuple[str, str, int]]:
        for run in self.runs:
            for ref in run.launched:
                yield shown_path(Path(ref.path)), ref.name, ref.line
        for traced in self.traced.kernels if self.traced is not None else ():
            yield shown_path(Path(traced.kernel.path)), traced.kernel.name, traced.kernel.line
        for kernel in self.compiled.kernels if self.compiled is not None else ():
            yield shown_path(Path(kernel.path)), kernel.name, kernel.span.line
        for finding in self.audit.findings:
            if finding.kernel and stage_of(finding.code) is not Stage.RUN:  # which may blame a wrapper
                yield finding.path, finding.kernel, finding.span.line

    @cached_property
    def findings_by_kernel(self) -> dict[KernelName, list[Finding]]:
        """The findings of each kernel; those of no kernel are of the empty name in their file."""
        found: dict[KernelName, list[Finding]] = {}
        for finding in self.audit.findings:
            found.setdefault(KernelName(finding.path, finding.kernel or ""), []).append(finding)
        return found

    @cached_property
    def runs_by_kernel(self) -> dict[KernelName, list[SubjectRun]]:
        """The runs of the subjects that launch each kernel."""
        found: dict[KernelName, list[SubjectRun]] = {}
        for run in self.runs:
            for kernel in launched_by(run):
                found.setdefault(kernel, []).append(run)
        return found

    @cached_property
    def launched(self) -> frozenset[KernelName]:
        """The kernels that some subject launches."""
        return frozenset(self.runs_by_kernel)

    @property
    def never_launched(self) -> tuple[KernelName, ...]:
        """The kernels that no subject launches."""
        return tuple(kernel for kernel in self.kernels if kernel not in self.launched)

    def label(self, run: SubjectRun) -> str:
        """The name of a subject, after its file where another one has the same."""
        is_alone = sum(other.name == run.name for other in self.runs) == 1
        return run.name if is_alone else f"{shown_path(run.path)}: {run.name}"

    def findings(self, codes: Iterable[str]) -> list[Finding]:
        wanted = frozenset(codes)
        return [finding for finding in self.audit.findings if finding.code in wanted]

    def why_rule_did_not_run(self, code: str) -> Words:
        """Why the rule did not run, or not on every kernel; empty where it did."""
        if code not in self._installed:
            return words(f"{code} is not installed")
        if self.about.rules is not None and code not in self.about.rules:
            return words(f"{code} was turned off")
        stage = stage_of(code)
        if stage not in self.about.stages:
            return words(f"{code} did not run: {_COMMANDS[stage]}")
        unseen = {Stage.SOURCE: self._unread, Stage.COMPILE: self._uncompiled}.get(stage, ())
        return words(f"{code} did not see everything: ", unseen) if unseen else ()

    @cached_property
    def _installed(self) -> frozenset[str]:
        return frozenset(rule.code for rule in all_rules())

    @cached_property
    def _unread(self) -> Words:
        """Which kernels the source stage did not read; empty where it read all."""
        skipped = [one.subject for one in not_analysed(self.audit) if one.check == SOURCE]
        if len(skipped) == 1:
            return words(Code(skipped[0]), " was not analysed")
        if skipped:
            return words(f"{len(skipped)} were not analysed")
        return () if self.audit.kernels else words("no kernel was found")

    @cached_property
    def _uncompiled(self) -> Words:
        """Which kernels the compile stage did not compile; empty where it compiled all."""
        kernels = self.compiled.kernels if self.compiled is not None else ()
        compiled = {KernelName(shown_path(Path(kernel.path)), kernel.name) for kernel in kernels if kernel.compiled}
        if not compiled:
            return words("no kernel was compiled")
        missing = [Code(kernel.name) for kernel in self.kernels if kernel not in compiled]
        return words(among(missing), " not compiled") if missing else ()

    @property
    def why_nothing_ran(self) -> str:
        """Empty where some subject was run."""
        if Stage.RUN not in self.about.stages:
            return f"no kernel was run: {_COMMANDS[Stage.RUN]}"
        if self.traced is not None:
            return OF_A_TRACE
        return "" if self.runs else NO_SUBJECT

    @property
    def why_nothing_measured(self) -> str:
        """Empty where some subject was measured."""
        if self.measured is None or Stage.MEASURE not in self.about.stages:
            return f"nothing was measured: {_COMMANDS[Stage.MEASURE]}"
        if self.measured.reason:
            return f"nothing was measured: {self.measured.reason}"
        return "" if self.timed else NO_SUBJECT


def evidence(audit: Audit, sections: Sequence[Section], about: About) -> Evidence:
    """What the sections show besides the findings of the audit, gathered."""
    compiled = next((section.audit for section in sections if isinstance(section, CompiledSection)), None)
    ran = next((section.ran for section in sections if isinstance(section, RanSection)), None)
    measured = next((section.measured for section in sections if isinstance(section, MeasuredSection)), None)
    traced = next((section.traced for section in sections if isinstance(section, TracedSection)), None)
    return Evidence(audit, about, compiled, ran, measured, traced)


def launched_by(run: SubjectRun) -> list[KernelName]:
    """The kernels that a subject launches."""
    return [KernelName(shown_path(Path(kernel.path)), kernel.name) for kernel in run.launched]


_CASES = re.compile(r"^(\d+)( of \d+)? cases?\b")


def cases_left_out(run: SubjectRun) -> str:
    """`73 cases`, as the audit of the subject says of what it left out; empty where it tried all."""
    found = (_CASES.match(what) for what, _ in run.left_out)
    return next((cases[0] for cases in found if cases), "")


def cases_tried(run: SubjectRun) -> str:
    """`30 cases tried, 129 left out`."""
    left = run.coverage.cases - run.coverage.called
    return f"{counted(run.cases, 'case')} tried{f', {left} left out' if left else ''}"


def outcome_of(run: SubjectRun, check: str) -> Outcome | None:
    """What a check of a subject came to; None where it is none of its checks."""
    return next((outcome for outcome in run.outcomes if outcome.check == check), None)


def stage_of(code: str) -> Stage:
    """The stage whose rules have such codes: the source stage, unless its hundreds are another's."""
    return next((stage for stage in Stage if code[3] in stage.value), Stage.SOURCE)


def codes_of(check: str) -> frozenset[str]:
    """The rules that report what a check of the run stage sees."""
    return frozenset(
        rule.code for rule in all_rules() if check in {symptom.value for symptom in getattr(rule, "symptoms", ())}
    )


def reported_by(check: str) -> frozenset[str]:
    """The rules that report it, also where a check has a name of its own: a hardship is reported as unstable.

    What one shows of other sizes than usual, in a relation, may be reported by the rules of memory.
    """
    if is_relation(check):
        of_memory = (codes_of(symptom.value) for symptom in WATCHED)
        return codes_of(Symptom.BROKEN_RELATION.value).union(*of_memory)
    return codes_of(Symptom.UNSTABLE.value) if check in _HARDSHIPS else codes_of(check)


def category_of(check: str) -> Category:
    """The category of a check of the run stage: that of the rule which reports it."""
    if check in _HARDSHIPS:
        return Category.STABILITY
    return next((Category(code[2]) for code in sorted(codes_of(check))), Category.CORRECTNESS)


SUITE_OF_CATEGORY = {Category.STABILITY: Suite.STABILITY, Category.MEMORY: Suite.MEMORY}
"""The suite whose checks are of a category, where that is one suite."""
INTEGRITY = frozenset(
    symptom.value
    for symptom in (
        Symptom.NO_KERNEL,
        Symptom.TORCH_WORK,
        Symptom.STALE,
        Symptom.ALIASED,
        Symptom.NO_TENSOR,
        Symptom.THREAD,
        Symptom.PATCHED,
        Symptom.WEAK_REFERENCE,
    )
)
"""The checks of integrity."""
_ANY_HARDSHIP = "stability: "
_OFFSETS = frozenset((Symptom.OVERFLOW.value, LARGE, FAR))


def suite_of(check: str) -> Suite:
    """The suite that a check of the run stage belongs to."""
    if check in INTEGRITY:
        return Suite.INTEGRITY
    if check.startswith(_ANY_HARDSHIP):
        return Suite.STABILITY
    return Suite.MEMORY if check in _OFFSETS else SUITE_OF_CATEGORY.get(category_of(check), Suite.CORRECTNESS)


def applies(check: str, run: SubjectRun) -> bool:
    """Whether a check can be made of a subject: it may hold no such numbers as those of a hardship."""
    if category_of(check) is Category.STABILITY and Suite.STABILITY.value in dict(run.coverage.inapplicable):
        return False
    hardship = _HARDSHIPS.get(check)
    return hardship is None or any(can_hold(trial.case.dtype, hardship) for trial in run.trials)


_HARDSHIPS = {stability(hardship.name): hardship for hardship in HARDSHIPS}


def why_unknown(check: str, run: SubjectRun) -> str:
    """Why a check that applies to a subject came to no verdict; empty where it did."""
    if suite_of(check) not in run.asked:
        return "not asked for"
    outcome = outcome_of(run, check)
    if outcome is None:
        failed = any(_fails(run, symptom.value) for symptom in NUMERIC)
        return "not tried, since ordinary inputs fail" if check in _HARDSHIPS and failed else "not tried"
    if outcome.status in (Status.NOT_RUN, Status.INCONCLUSIVE):
        return f"{outcome.status.value}: {outcome.reason}"
    return ""


def shown_check(check: str) -> str:
    """What a report calls a check: a hardship by its name alone."""
    return _HARDSHIPS[check].name if check in _HARDSHIPS else check


def _fails(run: SubjectRun, check: str) -> bool:
    outcome = outcome_of(run, check)
    return outcome is not None and outcome.status is Status.FAIL


def checks_of(entries: Iterable[object]) -> frozenset[str]:
    """The checks that entries of checklists are bound to."""
    items = [entry for entry in entries if isinstance(entry, (Item, Done))]
    return frozenset(check for item in items for check in (item.checks if isinstance(item, Item) else (item.check,)))


ASKED = checks_of(entry for asked in CHECKLISTS for entry in asked.entries)
"""The checks that a category needs to pass; of others it is only said that they did not run."""


def level(finding: Finding) -> str:
    """CRITICAL for an error that compiling or running confirmed, else by severity."""
    if finding.severity is Severity.ERROR:
        return "CRITICAL" if stage_of(finding.code) in (Stage.COMPILE, Stage.RUN, Stage.MEASURE) else "HIGH"
    return "MEDIUM" if finding.severity is Severity.WARNING else "LOW"


LEVELS = ("CRITICAL", "HIGH", "MEDIUM", "LOW")
"""The worst first."""


def by_impact(findings: Iterable[Finding]) -> list[Finding]:
    """The worst and surest first."""
    return sorted(findings, key=lambda finding: (LEVELS.index(level(finding)), finding.confidence.rank))


def rating(finding: Finding) -> str:
    """`error, high confidence`: what the terminal says where a report has its level."""
    return f"{finding.severity.value}, {finding.confidence.value} confidence"


def place(finding: Finding) -> str:
    """`softmax.py:17`."""
    return f"{finding.path}:{finding.span.shown_line}"
