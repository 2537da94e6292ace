"""Runs rules over facts: a file in, findings out; many files, in several processes where that pays."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from tritonaudit.config import Config, overlaid
from tritonaudit.finding import Audit, Elsewhere, Finding, Outcome, Problem, Related, Span, Status, shown_line
from tritonaudit.guards import guarded_target
from tritonaudit.progress import SILENT, Progress
from tritonaudit.requirements import asked_target
from tritonaudit.results import (
    IT_IS_HERE,
    MAX_EXPRESSION,
    SOURCE,
    FileResult,
    Found,
    Placing,
    defect,
    in_cells,
    merged,
    not_read,
    not_run,
    numbered,
    of_template,
    suppressed,
    text_at,
    unread,
)
from tritonaudit.rule import Hit, Rule
from tritonaudit.rules import all_rules, broken_packages, installed
from tritonaudit.selection import Chosen, unknown_selectors
from tritonaudit.shown import shown_path
from tritonaudit.source.basis import Basis, digest
from tritonaudit.source.decode import Undecodable, decode
from tritonaudit.source.discover import discover, project_root
from tritonaudit.source.glances import Glances, Users
from tritonaudit.source.notebook import Broken, NotANotebook, Notebook, is_notebook
from tritonaudit.source.outline import Module, Unparsable, may_hold_kernels, outline, outline_uncached
from tritonaudit.source.suppressions import Malformed, Suppressions, Unused, Use, read_suppressions
from tritonaudit.target import Target

if TYPE_CHECKING:
    from tritonaudit.domains.analysis import NotAnalysed, Types
    from tritonaudit.domains.facts import KernelFlow
    from tritonaudit.file_cache import FileCache
    from tritonaudit.resuming import Earlier

_NO_TEXTS: Mapping[str, bytes] = MappingProxyType({})
_MOST_BYTES = 10 * 10**6
_MOST_BYTES_OF_NOTEBOOK = 10 * _MOST_BYTES  # most of which are pictures
_PARALLEL_FROM = 150_000  # bytes of kernel-holding files; below, starting processes costs more than it saves


def check(
    paths: Sequence[Path],
    config: Config,
    *,
    jobs: int | None = None,
    cache: FileCache | None = None,
    progress: Progress = SILENT,
) -> Audit:
    """Audit the files, and the Python files and notebooks of the folders, that `paths` names.

    What the cache holds of a file is taken from there, and what it does not hold yet is kept in it, as soon as it is
    known: who is interrupted has that next time.
    """
    found = discover(paths, config)
    glances = Glances() if cache is None else cache.glances
    candidates, results = _candidates(found.sources, glances)
    if cache is not None:
        with _uncollected():
            candidates, known = _remembered(candidates, cache)
        results.extend(known)
    progress.stage("reading the source", len(candidates))
    try:
        for path, result in _run(candidates, config, jobs, glances):
            results.append(result)
            progress.done("", "")
            if cache is not None and result.basis is not None:
                cache.put(path, result.basis, replace(result, text=None, basis=None))
    finally:
        if cache is not None:
            cache.close()
    results.extend(of_template(path) for path in found.templates)
    audit = merged(results)
    return replace(audit, files=len(found.sources), problems=(*_left_out(config), *found.problems, *audit.problems))


def _left_out(config: Config) -> tuple[Problem, ...]:
    """The packages of rules that are broken, and what is asked of rules that may be theirs."""
    packages = broken_packages() if installed() else ()
    return (*packages, *unknown_selectors(config, all_rules())) if packages else ()


def check_text(data: bytes, path: Path, config: Config) -> Audit:
    """Audit one text under the name of `path`."""
    return text_checker(config)(data, path)


class Watch(Protocol):
    """Follows the check of a text. What `step` raises ends it, if that is no `Exception`; another text may follow."""

    def step(self) -> None:
        """Called before each rule and each kernel."""

    def met(self, kernel: KernelFlow) -> None:
        """Called with the facts of each kernel that could be analysed."""


def text_checker(
    config: Config, glances: Glances | None = None, watch: Watch | None = None
) -> Callable[[bytes, Path], Audit]:
    """As `check_text`, for many texts: the projects that they belong to are read once.

    With a `watch`, a text that is an edit of the one before it, of the same path, is checked where it differs.
    """
    checker = _Checker(config, glances=glances, watch=watch)

    def checked(data: bytes, path: Path) -> Audit:
        audit = merged([checker.file(path, data)])
        return replace(audit, files=1, problems=(*_left_out(config), *audit.problems))

    return checked


class KernelFacts(Protocol):
    """What a later stage learnt of one kernel, by its name."""

    @property
    def name(self) -> str: ...


def judge(
    learnt: Mapping[Path, Sequence[KernelFacts]], config: Config, texts: Mapping[str, bytes] = _NO_TEXTS
) -> Audit:
    """Run the rules over what later stages learnt of the kernels of each file; comments suppress as ever.

    `texts` are what files held then, by their absolute paths; the others are read.
    """
    checker = _Checker(config)
    results = [checker.learnt(path, facts, texts.get(str(path))) for path, facts in learnt.items()]
    audit = merged(results)
    return replace(audit, files=len(learnt), problems=(*_left_out(config), *audit.problems))


def check_typed(path: Path, config: Config, types: Types) -> Audit:
    """Audit one file, its kernels' parameters having these types; findings of every confidence are in it."""
    return merged([_Checker(overlaid(config, {"pedantic": True}), types).file(path)])


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

    def __init__(
        self,
        config: Config,
        types: Types | None = None,
        glances: Glances | None = None,
        watch: Watch | None = None,
    ) -> None:
        self._config = config
        self._types = types or {}
        self._watch = watch
        self._rules = all_rules()
        self._chosen = cache(lambda config: Chosen(config, self._rules))
        self._projects: dict[Path, Any] = {}
        self._users = Users(glances or Glances())
        self._targets: dict[Path, Target | None] = {}
        self._examiners: dict[Path, Any] = {}
        self._earlier: Earlier | None = None

    def _at(self, path: Path) -> Chosen:
        """What is asked of a file, by the configuration that governs it."""
        chosen: Chosen = self._chosen(self._config.of(path))
        return chosen

    def file(self, path: Path, data: bytes | None = None) -> FileResult:
        """What the file comes to; `data` when it is not to be read from the disk."""
        shown = shown_path(path)
        try:
            with _uncollected():
                return self._checked(path, shown, data)
        except Exception as error:  # a defect of ours costs one file, not the run
            return unread(defect(shown, "this file", error))

    def _checked(self, path: Path, shown: str, data: bytes | None) -> FileResult:
        try:
            read = path.read_bytes() if data is None else data
            text = decode(read)
        except Undecodable as error:
            return unread(Problem(shown, f"cannot be decoded: {error.message}", error.line))
        except OSError as error:
            return unread(Problem(shown, f"cannot be read: {error.strerror or error}"))
        if data is not None and not may_hold_kernels(data):
            return FileResult()
        if is_notebook(path):
            return self._notebook(path, shown, text, digest(read))
        try:
            read_as = outline if self._watch is None else outline_uncached
            module = read_as(os.path.abspath(path), text)
        except Unparsable as error:
            return self._unparsable(path, shown, text, error)
        return self._module(path, shown, module, digest(read))

    def _notebook(self, path: Path, shown: str, raw: str, digest: str) -> FileResult:
        """What the cells of a notebook come to; one that Python cannot parse costs the others nothing."""
        try:
            notebook = Notebook.read(raw)
            module = outline(os.path.abspath(path), notebook.module)
        except NotANotebook as error:
            return unread(Problem(shown, f"cannot be read as a notebook: {error.message}", error.line))
        except Unparsable as error:
            return unread(Problem(shown, f"cannot be parsed: {error.message}"))

        def place(line: int) -> str:
            cell, line = notebook.place(line)
            return f"{shown}:{shown_line(line, cell)}"

        broken = [found for cell in notebook.broken for found in self._broken(path, shown, cell, notebook)]
        found = in_cells(self._module(path, shown, module, digest, place, broken), notebook, shown)
        problems = (
            Problem(shown, f"cannot be parsed: {cell.message}", cell.line, cell.cell) for cell in notebook.broken
        )
        return replace(
            found,
            problems=(*found.problems, *problems),
            outcomes=(*found.outcomes, *(_for_others(shown, cell, magic) for cell, magic in notebook.elsewhere)),
            basis=None if notebook.broken else found.basis,
            is_read=bool(module.text) or not notebook.broken,
        )

    def _broken(self, path: Path, shown: str, cell: Broken, notebook: Notebook) -> Iterator[Finding]:
        """The findings of a cell that Python cannot parse, which its line tells from those of other cells."""
        error = Unparsable(cell.message, cell.line, cell.column)
        span = Span(cell.line, cell.column, cell.line, cell.column + 1, cell.cell)
        line = text_at(notebook.cell(cell.cell).lines, Span(cell.line, 1, cell.line, MAX_EXPRESSION))
        for found in self._syntax_findings(path, shown, error, span):
            yield replace(found, expression=line)

    def learnt(self, path: Path, facts: Sequence[KernelFacts], data: bytes | None = None) -> FileResult:
        """What facts of a later stage come to in a file; `data` when it is not to be read from the disk."""
        shown = shown_path(path)
        try:
            module = outline(os.path.abspath(path), decode(path.read_bytes() if data is None else data))
        except (Undecodable, Unparsable) as error:
            return FileResult(problems=(Problem(shown, f"cannot be read: {error.message}", error.line),))
        except OSError as error:
            return FileResult(problems=(Problem(shown, f"cannot be read: {error.strerror or error}"),))
        chosen = self._at(path)
        findings = [
            replace(found, expression=text_at(module.lines, found.span))
            for fact in facts
            for rule in chosen.rules(type(fact), path)
            for hit in rule.check(fact)
            for found in (self._finding(rule, hit, shown, None, fact.name),)
        ]
        kept, _ = suppressed(findings, read_suppressions(module.text, module.tree, self._rules))
        visible = tuple(f for f in numbered(kept) if chosen.shown(f.code, f.confidence))
        return FileResult(visible, text=(shown, module.text) if visible else None, kernels=len(facts))

    def _unparsable(self, path: Path, shown: str, text: str, error: Unparsable) -> FileResult:
        line = error.line or 1
        span = Span(line, error.column or 1, line, (error.column or 1) + 1)
        findings = self._syntax_findings(path, shown, error, span)
        problem = Problem(shown, f"cannot be parsed: {error.message}", error.line)
        return FileResult(findings, (problem,), text=(shown, text) if findings else None, is_read=False)

    def _syntax_findings(self, path: Path, shown: str, error: Unparsable, span: Span) -> tuple[Finding, ...]:
        return tuple(
            self._finding(rule, replace(hit, where=span), shown, None, None)
            for rule in self._at(path).rules(Unparsable, path)
            for hit in rule.check(error)
        )

    def _module(
        self,
        path: Path,
        shown: str,
        module: Module,
        text: str,
        place: Placing | None = None,
        broken: Sequence[Finding] = (),
    ) -> FileResult:
        """What a module comes to, and what is `broken` beside it; `place` shows its lines where the file has others."""
        place = place or (lambda line: f"{shown}:{line}")
        suppressions = read_suppressions(module.text, module.tree, self._rules)
        found = self._kernels(path, shown, module, Found(place), every=bool(suppressions.directives))
        kept, uses = suppressed([*found.findings, *broken], suppressions)
        kept.extend(self._suppression_findings(path, shown, suppressions, uses if found.is_whole else None))
        shown_findings = tuple(f for f in numbered(kept) if self._at(path).shown(f.code, f.confidence))
        return FileResult(
            shown_findings,
            tuple(found.problems),
            (*found.outcomes, *not_read(place, module)),
            text=(shown, module.text) if shown_findings else None,
            kernels=found.kernels,
            basis=None if found.problems else self._project(path).basis(module, text) if module.jit else Basis(text),
        )

    def _kernels(self, path: Path, shown: str, module: Module, found: Found, every: bool) -> Found:
        """What the file's kernels come to: what is to be shown, or `every` finding where comments may suppress some."""
        if not module.jit:
            return found
        from tritonaudit.domains.analysis import analyse

        if self._watch is not None:
            return self._resumed(path, shown, module, found, every, self._watch)
        project = self._project(path)
        for facts in analyse(module, project, self._target(path, module), self._types):
            self._add(facts, path, shown, found, every)
        found.findings.extend(self._checked_names(path, shown, module, every))
        project.forget(module)
        return found

    def _add(self, facts: KernelFlow | NotAnalysed, path: Path, shown: str, found: Found, every: bool) -> None:
        """Adds what one kernel comes to."""
        from tritonaudit.domains.analysis import NotAnalysed

        if not isinstance(facts, NotAnalysed):
            found.kernels += 1
            self._check_kernel(facts, path, shown, every, found)
        elif facts.defect is None:
            found.outcomes.append(not_run(found.place, facts.function, facts.reason))
        else:
            found.failed(shown, facts.function, facts.defect)

    def _resumed(self, path: Path, shown: str, module: Module, found: Found, every: bool, watch: Watch) -> Found:
        """The same for one text after another: what an edit cannot have changed is taken from the text before it."""
        from tritonaudit.domains.analysis import NotAnalysed, analyse
        from tritonaudit.resuming import Earlier, OfKernel, resumed

        project, target = self._project(path), self._target(path, module)
        earlier, self._earlier = self._earlier if self._earlier and self._earlier.path == path else None, None
        now = resumed(earlier, module, target, every, shown)
        module = now.module
        if now.replaced is None or module.has_inner_kernels:
            project.forget_host()  # which may have read another text of this file
        else:
            project.host.follow(module, now.replaced)
        project.forget_kernels(module, module.jit)
        kernels = dict(zip(module.jit, now.kernels, strict=True))
        try:
            for facts in analyse(module, project, target, self._types, {jit for jit in kernels if kernels[jit]}):
                watch.step()
                own = Found(found.place)
                self._add(facts, path, shown, own, every)
                known = None if isinstance(facts, NotAnalysed) else facts
                kernels[facts.function] = OfKernel(tuple(own.findings), tuple(own.outcomes), known)
                found.problems.extend(own.problems)
            for one in filter(None, kernels.values()):
                found.add(one.findings, one.outcomes, is_kernel=one.facts is not None)
                if one.facts is not None:
                    watch.met(one.facts)
            found.findings.extend(self._checked_names(path, shown, module, every))
        finally:
            if not found.problems:
                self._earlier = Earlier(path, module, target, every, tuple(kernels.values()))
        return found

    def _check_kernel(self, facts: Any, path: Path, shown: str, every: bool, found: Found) -> None:
        """Adds what each rule finds in the kernel, or that it could not be asked."""
        chosen = self._at(path)
        for rule in chosen.rules(type(facts), path):
            if not (every or chosen.may_show(rule)):
                continue
            if self._watch is not None:
                self._watch.step()
            try:
                found.findings.extend(
                    self._finding(rule, hit, shown, facts.tree, facts.function.qualname)
                    for hit in rule.check(facts)
                    if every or chosen.shown(rule.code, hit.confidence or rule.confidence)
                )
            except RecursionError:
                reason = f"nested too deeply to be checked by {rule.code}"
                found.outcomes.append(not_run(found.place, facts.function, reason))
            except Exception as error:  # a defect of a rule costs what it would find in one kernel
                found.failed(shown, facts.function, error, rule)

    def _checked_names(self, path: Path, shown: str, module: Module, every: bool) -> Iterator[Finding]:
        """The findings of the rules that read how a file uses Triton's names."""
        from tritonaudit.api.facts import ApiFacts, Examiner

        chosen = self._at(path)
        rules = chosen.rules(ApiFacts, path)
        if not rules:
            return
        project = self._project(path)
        if project.root not in self._examiners:
            self._examiners[project.root] = Examiner(project)
        facts = self._examiners[project.root].examine(module, self._target(path, module))
        for rule in rules:
            for hit in rule.check(facts):
                if every or chosen.shown(rule.code, hit.confidence or rule.confidence):
                    kernel = facts.kernel_at(hit.where.line) if isinstance(hit.where, Span) else None
                    found = self._finding(rule, hit, shown, None, kernel)
                    yield replace(found, expression=text_at(module.lines, found.span))

    def _project(self, path: Path) -> Any:
        from tritonaudit.kernel.project import Project

        root = project_root(Path(os.path.abspath(path)).parent)
        if root not in self._projects:
            self._projects[root] = Project(root, self._users)
        return self._projects[root]

    def _target(self, path: Path, module: Module) -> Target:
        """The releases that the configuration names, or else the project of the file, or the file itself."""
        config = self._at(path).config
        if config.target_triton is not None:
            return config.target
        root = project_root(Path(os.path.abspath(path)).parent)
        if root not in self._targets:
            self._targets[root] = asked_target(root)
        return self._targets[root] or guarded_target(module, config.target) or config.target

    def _finding(self, rule: Rule, hit: Hit, shown: str, tree: Any, kernel: str | None) -> Finding:
        where, related = hit.where, hit.related
        if isinstance(where, Elsewhere):
            where, related = tree.function.name, ((where, IT_IS_HERE), *related)
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
            related=tuple(_related(place, text, shown, tree) for place, text in related),
            fix=None if isinstance(hit.where, Elsewhere) else hit.fix,
            witness=hit.witness,
            cause=hit.cause,
            expression=expression[:MAX_EXPRESSION],
            once_in=rule.once_in,
            way=tuple(_related(place, text, shown, tree) for place, text in hit.way),
        )

    def _suppression_findings(
        self, path: Path, shown: str, suppressions: Suppressions, uses: frozenset[Use] | None
    ) -> Iterator[Finding]:
        """What is wrong with the comments; with no `uses`, where not all was checked, not which of them do nothing."""
        chosen = self._at(path)
        ran = [rule.code for rule in chosen.of_source(path)]
        facts: list[Unused | Malformed] = [
            *(() if uses is None else suppressions.unused(uses, ran)),
            *suppressions.malformed,
        ]
        for fact in facts:
            for rule in chosen.rules(type(fact), path):
                yield from (self._finding(rule, hit, shown, None, None) for hit in rule.check(fact))


def _for_others(shown: str, cell: int, magic: str) -> Outcome:
    """A cell with kernels that are not for Python to run, such as one that is written to a file."""
    return Outcome(SOURCE, f"{shown}:cell {cell}", Status.NOT_RUN, reason=f"the cell is for {magic}, not for Python")


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
            unreadable.append(unread(Problem(shown_path(path), f"cannot be read: {error.strerror or error}")))
            continue
        if not glance.may_hold_kernels:
            continue
        most = _MOST_BYTES_OF_NOTEBOOK if is_notebook(path) else _MOST_BYTES
        if glance.size > most:
            unreadable.append(_too_large(path, glance.size, most))
        else:
            found.append(_Candidate(path, glance.size, glance.digest))
    return found, unreadable


def _too_large(path: Path, size: int, most: int) -> FileResult:
    reason = f"too large, {size / 1e6:,.1f} MB of at most {most // 10**6} MB"
    return FileResult(outcomes=(Outcome(SOURCE, shown_path(path), Status.NOT_RUN, reason=reason),), is_read=False)


def _remembered(candidates: list[_Candidate], cache: FileCache) -> tuple[list[_Candidate], list[FileResult]]:
    """The files that the cache does not know, and what the others came to."""
    unknown: list[_Candidate] = []
    known: list[FileResult] = []
    for candidate in candidates:
        found: FileResult | None = cache.get(FileResult, candidate.path, candidate.text)
        if found is None:
            unknown.append(candidate)
        elif not found.findings:
            known.append(found)
        else:
            try:
                text = decode(candidate.path.read_bytes())
            except (OSError, Undecodable):  # it has changed since
                unknown.append(candidate)
            else:
                known.append(replace(found, text=(shown_path(candidate.path), text)))
    return unknown, known


def _run(
    candidates: list[_Candidate], config: Config, jobs: int | None, glances: Glances
) -> Iterator[tuple[Path, FileResult]]:
    """What each file comes to, as it is known."""
    if not candidates:
        return
    workers = min(jobs or os.cpu_count() or 1, len(candidates))
    if workers <= 1 or (jobs is None and sum(candidate.size for candidate in candidates) < _PARALLEL_FROM):
        with _uncollected():
            checker = _Checker(config, glances=glances)
        for candidate in candidates:
            yield candidate.path, checker.file(candidate.path)
        return
    import libcst  # noqa: F401  loaded before the workers are forked, so that they share it

    from tritonaudit.pool import spread

    paths = [candidate.path for candidate in sorted(candidates, key=lambda candidate: -candidate.size)]
    for path, result in spread(_work, paths, workers, _start_worker, (config, glances)):
        yield path, result or _died(path)


def _died(path: Path) -> FileResult:
    return unread(Problem(shown_path(path), "the process that analysed it died"))


_checker: _Checker | None = None


def _start_worker(config: Config, glances: Glances) -> None:
    global _checker
    _checker = _Checker(config, glances=glances)


def _work(path: Path) -> FileResult:
    assert _checker is not None
    return _checker.file(path)


def _related(place: Any, text: str, shown: str, tree: Any) -> Related:
    """A place that a rule names: a node, or a stretch of this file or of another."""
    if isinstance(place, Elsewhere):
        return Related(shown_path(Path(place.path)), place.span, text)
    return Related(shown, place if isinstance(place, Span) else tree.span(place), text)
