"""Runs rules over facts: a file in, findings out; many files, in several processes where that pays."""

from __future__ import annotations

import gc
import os
import re
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from tritonaudit.config import Config
from tritonaudit.finding import Audit, Elsewhere, Finding, Outcome, Problem, Related, Span, Stage, Status
from tritonaudit.guards import guarded_target
from tritonaudit.requirements import asked_target
from tritonaudit.rule import Hit, Rule
from tritonaudit.rules import all_rules
from tritonaudit.selection import Selection
from tritonaudit.shown import shown_path
from tritonaudit.source.basis import Basis, digest
from tritonaudit.source.decode import Undecodable, decode
from tritonaudit.source.discover import discover, project_root
from tritonaudit.source.glances import Glances, Users
from tritonaudit.source.outline import JitFunction, Module, Unparsable, may_hold_kernels, outline
from tritonaudit.source.suppressions import Malformed, Suppressions, Unused, Use, read_suppressions
from tritonaudit.target import Target

if TYPE_CHECKING:
    from tritonaudit.domains.analysis import Types
    from tritonaudit.file_cache import FileCache

SOURCE = "source"
"""What is asked of a function by reading it."""
_PARALLEL_FROM = 150_000  # bytes of kernel-holding files; below, starting processes costs more than it saves
_MAX_EXPRESSION = 400


def check(paths: Sequence[Path], config: Config, *, jobs: int | None = None, cache: FileCache | None = None) -> Audit:
    """Audit the files, and the Python files of the folders, that `paths` names.

    What the cache holds of a file is taken from there, and what it does not hold yet is kept in it.
    """
    found = discover(paths, config)
    glances = Glances() if cache is None else cache.glances
    candidates, results = _candidates(found.files, glances)
    if cache is not None:
        with _uncollected():
            candidates, known = _remembered(candidates, cache)
        results.extend(known)
    for path, result in _run(candidates, config, jobs, glances):
        results.append(result)
        if cache is not None and result.basis is not None:
            cache.put(path, result.basis, replace(result, text=None, basis=None))
    if cache is not None:
        cache.close()
    results.extend(_template(path) for path in found.templates)
    merged = _merge(results)
    return replace(merged, files=len(found.files), problems=(*found.problems, *merged.problems))


def check_text(data: bytes, path: Path, config: Config) -> Audit:
    """Audit one text under the name of `path`."""
    return text_checker(config)(data, path)


def text_checker(config: Config, glances: Glances | None = None) -> Callable[[bytes, Path], Audit]:
    """As `check_text`, for many texts: the projects that they belong to are read once."""
    checker = _Checker(config, glances=glances)
    return lambda data, path: replace(_merge([checker.file(path, data)]), files=1)


class KernelFacts(Protocol):
    """What a later stage learnt of one kernel, by its name."""

    @property
    def name(self) -> str: ...


def judge(learnt: Mapping[Path, Sequence[KernelFacts]], config: Config) -> Audit:
    """Run the rules over what later stages learnt of the kernels of each file; comments suppress as ever."""
    checker = _Checker(config)
    results = [checker.learnt(path, facts) for path, facts in learnt.items()]
    return replace(_merge(results), files=len(learnt))


def check_typed(path: Path, config: Config, types: Types) -> Audit:
    """Audit one file, its kernels' parameters having these types; findings of every confidence are in it."""
    return _merge([_Checker(replace(config, pedantic=True), types).file(path)])


@dataclass(frozen=True)
class FileResult:
    """What one file came to."""

    findings: tuple[Finding, ...] = ()
    problems: tuple[Problem, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    text: tuple[str, str] | None = None
    kernels: int = 0
    basis: Basis | None = None


@dataclass
class _Found:
    """What the kernels of one file came to."""

    findings: list[Finding] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    kernels: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether every rule was asked of every kernel."""
        return not self.outcomes and not self.problems

    def failed(self, shown: str, function: JitFunction, error: Exception, rule: Rule | None = None) -> None:
        """A defect of ours ended the analysis of a function, or a rule on it."""
        asked = "" if rule is None else f" when it asked {rule.code}"
        self.problems.append(_defect(shown, f"`{function.qualname}`{asked}", error, function.first_line))


def _merge(results: Sequence[FileResult]) -> Audit:
    findings = sorted((f for result in results for f in result.findings), key=lambda f: f.sort_key)
    problems = sorted((p for result in results for p in result.problems), key=lambda p: (p.path, p.line or 0))
    outcomes = sorted((o for result in results for o in result.outcomes), key=lambda o: (o.subject, o.case))
    return Audit(
        findings=tuple(findings),
        problems=tuple(problems),
        outcomes=tuple(outcomes),
        texts=dict(result.text for result in results if result.text is not None),
        kernels=sum(result.kernels for result in results),
    )


@contextmanager
def _uncollected() -> Iterator[None]:
    """Checking a file makes many objects and no garbage, as imports do: looking for it would cost a sixth of it."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


# -- one file ----------------------------------------------------------------------------------------------------


class _Checker:
    """Checks files one after the other with one configuration; projects that they belong to are read once."""

    def __init__(self, config: Config, types: Types | None = None, glances: Glances | None = None) -> None:
        self._config = config
        self._types = types or {}
        self._rules = all_rules()
        self._selection = Selection.of(config, self._rules)
        self._projects: dict[Path, Any] = {}
        self._users = Users(glances or Glances())
        self._targets: dict[Path, Target | None] = {}
        self._examiners: dict[Path, Any] = {}

    @cached_property
    def _by_facts(self) -> dict[type, list[Rule]]:
        table: dict[type, list[Rule]] = {}
        for rule in self._rules:
            if self._selection.enabled(rule):
                table.setdefault(rule.facts(), []).append(rule())
        return table

    def file(self, path: Path, data: bytes | None = None) -> FileResult:
        """What the file comes to; `data` when it is not to be read from the disk."""
        shown = shown_path(path)
        try:
            with _uncollected():
                return self._checked(path, shown, data)
        except Exception as error:  # a defect of ours costs one file, not the run
            return FileResult(problems=(_defect(shown, "this file", error),))

    def _checked(self, path: Path, shown: str, data: bytes | None) -> FileResult:
        try:
            read = path.read_bytes() if data is None else data
            text = decode(read)
        except Undecodable as error:
            return FileResult(problems=(Problem(shown, f"cannot be decoded: {error.message}", error.line),))
        except OSError as error:
            return FileResult(problems=(Problem(shown, f"cannot be read: {error.strerror or error}"),))
        if data is not None and not may_hold_kernels(data):
            return FileResult()
        try:
            module = outline(os.path.abspath(path), text)
        except Unparsable as error:
            return self._unparsable(path, shown, text, error)
        return self._module(path, shown, module, digest(read))

    def learnt(self, path: Path, facts: Sequence[KernelFacts]) -> FileResult:
        """What facts of a later stage come to in a file."""
        shown = shown_path(path)
        try:
            module = outline(os.path.abspath(path), decode(path.read_bytes()))
        except (Undecodable, Unparsable) as error:
            return FileResult(problems=(Problem(shown, f"cannot be read: {error.message}", error.line),))
        except OSError as error:
            return FileResult(problems=(Problem(shown, f"cannot be read: {error.strerror or error}"),))
        ignored = self._selection.ignored_in(path)
        findings = [
            replace(found, expression=_text_at(module.lines, found.span))
            for fact in facts
            for rule in self._by_facts.get(type(fact), ())
            if rule.code not in ignored
            for hit in rule.check(fact)
            for found in (self._finding(rule, hit, shown, None, fact.name),)
        ]
        kept, _ = _suppressed(findings, read_suppressions(module.text, module.tree, self._rules))
        visible = tuple(f for f in _numbered(kept) if self._selection.shown(f.code, f.confidence))
        return FileResult(visible, text=(shown, module.text) if visible else None, kernels=len(facts))

    def _unparsable(self, path: Path, shown: str, text: str, error: Unparsable) -> FileResult:
        line = error.line or 1
        span = Span(line, error.column or 1, line, (error.column or 1) + 1)
        hits = [(rule, hit) for rule in self._by_facts.get(Unparsable, ()) for hit in rule.check(error)]
        findings = tuple(
            self._finding(rule, replace(hit, where=span), shown, None, None)
            for rule, hit in hits
            if rule.code not in self._selection.ignored_in(path)
        )
        problem = Problem(shown, f"cannot be parsed: {error.message}", error.line)
        return FileResult(findings, (problem,), text=(shown, text) if findings else None)

    def _module(self, path: Path, shown: str, module: Module, text: str) -> FileResult:
        suppressions = read_suppressions(module.text, module.tree, self._rules)
        found = self._kernels(path, shown, module, every=bool(suppressions.directives))
        kept, uses = _suppressed(found.findings, suppressions)
        kept.extend(self._suppression_findings(path, shown, suppressions, uses if found.is_whole else None))
        shown_findings = tuple(f for f in _numbered(kept) if self._selection.shown(f.code, f.confidence))
        return FileResult(
            shown_findings,
            tuple(found.problems),
            (*found.outcomes, *_embedded(shown, module)),
            text=(shown, module.text) if shown_findings else None,
            kernels=found.kernels,
            basis=None if found.problems else self._project(path).basis(module, text) if module.jit else Basis(text),
        )

    def _kernels(self, path: Path, shown: str, module: Module, every: bool) -> _Found:
        """What the file's kernels come to: what is to be shown, or `every` finding where comments may suppress some."""
        found = _Found()
        if not module.jit:
            return found
        from tritonaudit.domains.analysis import NotAnalysed, analyse

        ignored = self._selection.ignored_in(path)
        project = self._project(path)
        for facts in analyse(module, project, self._target(path, module), self._types):
            if not isinstance(facts, NotAnalysed):
                found.kernels += 1
                self._check_kernel(facts, shown, ignored, every, found)
            elif facts.defect is None:
                found.outcomes.append(_not_run(shown, facts.function, facts.reason))
            else:
                found.failed(shown, facts.function, facts.defect)
        found.findings.extend(self._checked_names(path, shown, module, ignored, every))
        project.forget(module)
        return found

    def _check_kernel(self, facts: Any, shown: str, ignored: frozenset[str], every: bool, found: _Found) -> None:
        """Adds what each rule finds in the kernel, or that it could not be asked."""
        for rule in self._by_facts.get(type(facts), ()):
            if rule.code in ignored or not (every or self._may_show(rule)):
                continue
            try:
                found.findings.extend(
                    self._finding(rule, hit, shown, facts.tree, facts.function.qualname)
                    for hit in rule.check(facts)
                    if every or self._selection.shown(rule.code, hit.confidence or rule.confidence)
                )
            except RecursionError:
                reason = f"nested too deeply to be checked by {rule.code}"
                found.outcomes.append(_not_run(shown, facts.function, reason))
            except Exception as error:  # a defect of a rule costs what it would find in one kernel
                found.failed(shown, facts.function, error, rule)

    def _may_show(self, rule: Rule) -> bool:
        return not rule.is_pedantic() or self._selection.shown(rule.code, rule.confidence)

    def _checked_names(
        self, path: Path, shown: str, module: Module, ignored: frozenset[str], every: bool
    ) -> Iterator[Finding]:
        """The findings of the rules that read how a file uses Triton's names."""
        from tritonaudit.api.facts import ApiFacts, Examiner

        rules = [rule for rule in self._by_facts.get(ApiFacts, ()) if rule.code not in ignored]
        if not rules:
            return
        project = self._project(path)
        if project.root not in self._examiners:
            self._examiners[project.root] = Examiner(project)
        facts = self._examiners[project.root].examine(module, self._target(path, module))
        for rule in rules:
            for hit in rule.check(facts):
                if every or self._selection.shown(rule.code, hit.confidence or rule.confidence):
                    kernel = facts.kernel_at(hit.where.line) if isinstance(hit.where, Span) else None
                    found = self._finding(rule, hit, shown, None, kernel)
                    yield replace(found, expression=_text_at(module.lines, found.span))

    def _project(self, path: Path) -> Any:
        from tritonaudit.kernel.project import Project

        root = project_root(Path(os.path.abspath(path)).parent)
        if root not in self._projects:
            self._projects[root] = Project(root, self._users)
        return self._projects[root]

    def _target(self, path: Path, module: Module) -> Target:
        """The releases that the configuration names, or else the project of the file, or the file itself."""
        if self._config.target_triton is not None:
            return self._config.target
        root = project_root(Path(os.path.abspath(path)).parent)
        if root not in self._targets:
            self._targets[root] = asked_target(root)
        return self._targets[root] or guarded_target(module, self._config.target) or self._config.target

    def _finding(self, rule: Rule, hit: Hit, shown: str, tree: Any, kernel: str | None) -> Finding:
        where, related = hit.where, hit.related
        if isinstance(where, Elsewhere):
            where, related = tree.function.name, ((where, "it is here"), *related)
        span = where if isinstance(where, Span) else tree.span(where)
        expression = "" if isinstance(where, Span) else " ".join(tree.code(where).split())
        return Finding(
            code=rule.code,
            name=rule.name,
            severity=hit.severity or rule.severity,
            confidence=hit.confidence or rule.confidence,
            message=hit.message,
            path=shown,
            span=span,
            kernel=kernel,
            remedy=hit.remedy,
            related=tuple(
                Related(shown_path(Path(place.path)), place.span, text)
                if isinstance(place, Elsewhere)
                else Related(shown, place if isinstance(place, Span) else tree.span(place), text)
                for place, text in related
            ),
            fix=None if isinstance(hit.where, Elsewhere) else hit.fix,
            witness=hit.witness,
            cause=hit.cause,
            expression=expression[:_MAX_EXPRESSION],
            once_in=rule.once_in,
        )

    def _suppression_findings(
        self, path: Path, shown: str, suppressions: Suppressions, uses: frozenset[Use] | None
    ) -> Iterator[Finding]:
        """What is wrong with the comments; with no `uses`, where not all was checked, not which of them do nothing."""
        ignored = self._selection.ignored_in(path)
        enabled = [rule for rules in self._by_facts.values() for rule in rules]
        ran = [rule.code for rule in enabled if rule.stage() is Stage.SOURCE and rule.code not in ignored]
        facts: list[Unused | Malformed] = [
            *(() if uses is None else suppressions.unused(uses, ran)),
            *suppressions.malformed,
        ]
        for fact in facts:
            for rule in self._by_facts.get(type(fact), ()):
                if rule.code not in ignored:
                    yield from (self._finding(rule, hit, shown, None, None) for hit in rule.check(fact))


def _text_at(lines: Sequence[str], span: Span) -> str:
    """The text that a span covers, its whitespace folded."""
    covered = [*lines[span.line - 1 : span.end_line]]
    if covered:
        covered[-1] = covered[-1][: span.end_column - 1]
        covered[0] = covered[0][span.column - 1 :]
    return " ".join(" ".join(covered).split())[:_MAX_EXPRESSION]


def _defect(shown: str, what: str, error: Exception, line: int | None = None) -> Problem:
    place = traceback.extract_tb(error.__traceback__)[-1]
    said = f"{type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})"
    return Problem(shown, f"tritonaudit failed on {what}, please report it: {said}", line)


def _not_run(shown: str, function: JitFunction, reason: str) -> Outcome:
    where = f"{shown}:{function.first_line}"
    return Outcome(SOURCE, where, Status.NOT_RUN, reason=f"`{function.qualname}` is {reason}")


def _suppressed(findings: list[Finding], suppressions: Suppressions) -> tuple[list[Finding], frozenset[Use]]:
    kept: list[Finding] = []
    uses: frozenset[Use] = frozenset()
    for finding in findings:
        used = suppressions.suppress(finding.code, finding.span)
        uses |= used
        if not used:
            kept.append(finding)
    return kept, uses


def _numbered(findings: list[Finding]) -> Iterator[Finding]:
    """Each finding once, equal ones numbered in the order of the text; what was measured is of a subject each."""
    seen: set[tuple[str, Span, str]] = set()
    counts: Counter[tuple[str, str, str]] = Counter()
    for finding in sorted(findings, key=lambda f: f.sort_key):
        place = finding.code, finding.span, finding.message if finding.stage is Stage.MEASURE else ""
        if place in seen:
            continue
        seen.add(place)
        key = finding.identity[:3]
        yield replace(finding, ordinal=counts[key]) if counts[key] else finding
        counts[key] += 1


def _embedded(shown: str, module: Module) -> Iterator[Outcome]:
    for line in module.embedded:
        yield Outcome(SOURCE, f"{shown}:{line}", Status.NOT_RUN, reason="a kernel in a string is not analysed")


_TEMPLATE_KERNEL = re.compile(rb"triton[\s\S]*\.jit|\.jit[\s\S]*triton|\btl\.load\b")


def _template(path: Path) -> FileResult:
    """A Jinja template is looked at only to say that the kernels in it were not analysed."""
    shown = shown_path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        return FileResult(problems=(Problem(shown, f"cannot be read: {error.strerror or error}"),))
    if b"tl." not in data or _TEMPLATE_KERNEL.search(data) is None:
        return FileResult()
    return FileResult(
        outcomes=(Outcome(SOURCE, shown, Status.NOT_RUN, reason="kernels in a template are not analysed"),)
    )


# -- many files --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Candidate:
    """A file that may hold kernels: its bytes are so many, with this digest."""

    path: Path
    size: int
    text: str


def _candidates(files: Sequence[Path], glances: Glances) -> tuple[list[_Candidate], list[FileResult]]:
    """The files that may hold kernels, and what the unreadable ones came to."""
    found: list[_Candidate] = []
    unreadable: list[FileResult] = []
    for path in files:
        try:
            glance = glances.of(str(path))
        except OSError as error:
            problem = Problem(shown_path(path), f"cannot be read: {error.strerror or error}")
            unreadable.append(FileResult(problems=(problem,)))
            continue
        if glance.may_hold_kernels:
            found.append(_Candidate(path, glance.size, glance.digest))
    return found, unreadable


def _remembered(candidates: list[_Candidate], cache: FileCache) -> tuple[list[_Candidate], list[FileResult]]:
    """The files that the cache does not know, and what the others came to."""
    unknown: list[_Candidate] = []
    known: list[FileResult] = []
    for candidate in candidates:
        found: FileResult | None = cache.get(FileResult, candidate.path, candidate.text)
        if found is None:
            unknown.append(candidate)
        elif found.findings:
            text = decode(candidate.path.read_bytes())
            known.append(replace(found, text=(shown_path(candidate.path), text)))
        else:
            known.append(found)
    return unknown, known


def _run(
    candidates: list[_Candidate], config: Config, jobs: int | None, glances: Glances
) -> list[tuple[Path, FileResult]]:
    if not candidates:
        return []
    workers = min(jobs or os.cpu_count() or 1, len(candidates))
    if workers <= 1 or (jobs is None and sum(candidate.size for candidate in candidates) < _PARALLEL_FROM):
        with _uncollected():
            checker = _Checker(config, glances=glances)
        return [(candidate.path, checker.file(candidate.path)) for candidate in candidates]
    import libcst  # noqa: F401  loaded before the workers are forked, so that they share it

    from tritonaudit.pool import spread

    paths = [candidate.path for candidate in sorted(candidates, key=lambda candidate: -candidate.size)]
    done = spread(_work, paths, workers, _start_worker, (config, glances))
    return [(path, result or _died(path)) for path, result in done]


def _died(path: Path) -> FileResult:
    return FileResult(problems=(Problem(shown_path(path), "the process that analysed it died"),))


_checker: _Checker | None = None


def _start_worker(config: Config, glances: Glances) -> None:
    global _checker
    _checker = _Checker(config, glances=glances)


def _work(path: Path) -> FileResult:
    assert _checker is not None
    return _checker.file(path)
