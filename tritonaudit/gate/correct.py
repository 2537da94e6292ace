"""Stage 1: the kernels compile, and what they give is right."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from tritonaudit.compile import phrases
from tritonaudit.compile.explanations import explain
from tritonaudit.compile.facts import CompiledKernel, Variant
from tritonaudit.finding import Status
from tritonaudit.gate.checklist import Answer, failed, not_run, passed
from tritonaudit.gate.material import Material
from tritonaudit.report.evidence import ASKED, applies, outcome_of, shown_check, suite_of, why_unknown
from tritonaudit.subject.model import Case
from tritonaudit.suites.coverage import shown_missing
from tritonaudit.suites.facts import NOT_COMPILED, Symptom
from tritonaudit.suites.gather import SubjectRun
from tritonaudit.suites.outcome import CaseOutcome, Sighting
from tritonaudit.suites.suite import Suite

_RESULT = frozenset(
    (
        Symptom.WRONG_RESULT,
        Symptom.NEW_NON_FINITE,
        Symptom.NONDETERMINISTIC,
        Symptom.INPUT_CHANGED,
        Symptom.NOT_WRITTEN,
    )
)
"""What says that a result is not the reference's."""
_AT_EDGES = frozenset((Symptom.WRONG_AT_BOUNDARY, Symptom.OUT_OF_BOUNDS, Symptom.UNSTABLE))
"""What belongs to the edges, in whichever case it is seen."""
_GENUINE = tuple(symptom.value for symptom in Symptom if suite_of(symptom.value) is Suite.INTEGRITY)
_DEFECTS = frozenset(Symptom) - {Symptom(check) for check in _GENUINE}
"""All but what says that it is not the kernels which do the work: that has an item of its own."""
_EDGE_SIZES = (0, 1)
_MISSED = re.compile(r"\d+ cases?, (?P<values>.*) in none before")
_SIZE = re.compile(r"\w+=\d+")
_REST = "the rest"
_MOST_NAMED = 3


def compiles(material: Material) -> Answer:
    """Whether every kernel compiles for every target, as each case and config launches it."""
    if rejected := [text for kernel in material.kernels for text in _rejected(kernel)]:
        return failed("; ".join(rejected))
    if said := _not_compiled(material.run.trials):
        return failed(said)
    if material.uncompiled or not material.kernels:
        return not_run("; ".join(material.uncompiled) or "nothing was compiled")
    variants = [variant for kernel in material.kernels for variant in kernel.compiled]
    return passed(f"{phrases.counted(len(material.kernels), 'kernel')}, for {phrases.targets(variants)}")


def matches(material: Material) -> Answer:
    """Whether ordinary numbers give what the reference gives, in every such case."""
    ordinary = [trial for trial in material.run.trials if _is_plain(trial.case) and not _is_edge(trial.case)]
    if wrong := list(_seen(ordinary, _RESULT)):
        return failed(_sighted(wrong))
    if _not_compiled(ordinary):
        return not_run(NOT_COMPILED)
    if why := _inconclusive(material.run, _RESULT):
        return not_run(why)
    if missing := material.run.coverage.missing_of(Suite.CORRECTNESS):
        return not_run(shown_missing(missing))
    compared = [trial for trial in ordinary if Symptom.WRONG_RESULT in trial.checked]
    if not compared:
        return not_run(_why_not_compared(material.run, ordinary))
    return passed(f"{_cases(compared)} compared{_doubts(ordinary, _RESULT)}")


def genuine(material: Material) -> Answer:
    """Whether the results are of the kernels, made by each call itself, and judged by what can judge them."""
    outcomes = {check: outcome_of(material.run, check) for check in _GENUINE}
    known = [outcome for outcome in outcomes.values() if outcome is not None]
    if wrong := [f"{one.check}: {one.reason}" for one in known if one.status is Status.FAIL]:
        return failed("; ".join(wrong))
    if _not_compiled(material.run.trials):
        return not_run(NOT_COMPILED)
    unknown = [f"{check}: {why}" for check in _GENUINE if (why := why_unknown(check, material.run))]
    if unknown:
        return not_run("; ".join(unknown[:_MOST_NAMED]))
    if missing := material.run.coverage.missing_of(Suite.INTEGRITY):
        return not_run(shown_missing(missing))
    return passed("no work of torch's, no result kept or shared, nothing beside the call")


def edges(material: Material) -> Answer:
    """Whether empty and single elements, special numbers, layouts, boundaries and hardships hold."""
    run = material.run
    at_edges = [trial for trial in run.trials if _is_edge(trial.case)]
    if wrong := [*_seen(at_edges), *_seen(run.trials, _AT_EDGES)]:
        return failed(_sighted(wrong))
    if _not_compiled(run.trials):
        return not_run(NOT_COMPILED)
    if missed := [*_missed(run, of_sizes=False), *_hardships_missed(run)]:
        return not_run(phrases.listed(missed))
    if missing := run.coverage.missing_of(Suite.STABILITY, Suite.MEMORY):
        return not_run(shown_missing(missing))
    if not any(trial.checked for trial in at_edges):
        return not_run("no edge case was tried")
    return passed(f"{_cases(at_edges)}{_doubts(at_edges)}")


def shapes(material: Material) -> Answer:
    """Whether nothing is wrong at any shape that an audit tries."""
    trials = [trial for trial in material.run.trials if _is_plain(trial.case)]
    tried = list(dict.fromkeys(_shape(trial.case) for trial in trials if trial.checked))
    wrong = list(_seen(trials))
    if wrong:
        bad = list(dict.fromkeys(_shape(trial.case) for trial, _ in wrong))
        named = ", ".join(bad[:_MOST_NAMED]) + (" …" if len(bad) > _MOST_NAMED else "")
        return failed(f"{len(bad)} of {phrases.counted(len(tried), 'shape')}: {named}: {_sighted(wrong)}")
    if _not_compiled(trials):
        return not_run(NOT_COMPILED)
    if missed := list(_missed(material.run, of_sizes=True)):
        return not_run(phrases.listed(missed))
    if not tried:
        return not_run("no shape was tried")
    if uncompared := list(_uncompared(trials)):
        return not_run(phrases.listed(uncompared))
    return passed(phrases.counted(len(tried), "shape") + _too_large(material.run) + _doubts(trials))


# -- compiling -----------------------------------------------------------------------------------------------------


def _rejected(kernel: CompiledKernel) -> Iterator[str]:
    """What the compiler rejects, but for what a config or an older target may be spared."""
    wrong = [variant for variant in kernel.variants if variant.error is not None and not _is_spared(kernel, variant)]
    if wrong:
        assert wrong[0].error is not None
        said = " ".join(wrong[0].error.message.split())
        yield f"`{kernel.name}` does not compile {phrases.where(wrong, kernel)}: {said}"


def _is_spared(kernel: CompiledKernel, variant: Variant) -> bool:
    """Whether an autotuner passes over the config, or the target alone lacks what another one has."""
    assert variant.error is not None
    known = explain(variant.error.message)
    if known is None:
        return False
    same_target = any(other.target == variant.target for other in kernel.compiled)
    return (known.prunes and bool(variant.config) and same_target) or (known.is_hardware and bool(kernel.compiled))


# -- cases ---------------------------------------------------------------------------------------------------------


def _is_plain(case: Case) -> bool:
    return case.is_plain


def _is_edge(case: Case) -> bool:
    return not _is_plain(case) or any(size in _EDGE_SIZES for size in case.sizes.values())


def _shape(case: Case) -> str:
    return " ".join(f"{name}={size}" for name, size in case.sizes.items()) or "the only one"


def _cases(trials: Iterable[CaseOutcome]) -> str:
    return phrases.counted(len({trial.case.label for trial in trials}), "case")


_Seen = tuple[CaseOutcome, Sighting]


def _seen(trials: Iterable[CaseOutcome], symptoms: frozenset[Symptom] = _DEFECTS) -> Iterator[_Seen]:
    """What is certain to be wrong, of these symptoms; that it does not compile is reported once."""
    for trial in trials:
        for sighting in trial.sightings:
            if sighting.symptom in symptoms and sighting.is_certain and not sighting.text.startswith(NOT_COMPILED):
                yield trial, sighting


def _not_compiled(trials: Iterable[CaseOutcome]) -> str:
    """What the compiler says, in the first case where it rejects a kernel; empty where it does not."""
    for trial in trials:
        for sighting in trial.sightings:
            if sighting.text.startswith(NOT_COMPILED):
                return f"{sighting.text}, at {trial.case.label}"
    return ""


def _sighted(seen: Sequence[_Seen]) -> str:
    trial, first = seen[0]
    cases = len({other.case.label for other, _ in seen})
    others = f" and {phrases.counted(cases - 1, 'other case')}" if cases > 1 else ""
    return f"{first.symptom.value} at {trial.case.label}{others}: {first.text}"


def _doubts(trials: Iterable[CaseOutcome], symptoms: frozenset[Symptom] = frozenset(Symptom)) -> str:
    """What may be harmless, and is reported."""
    doubtful = [
        f"{sighting.symptom.value} at {trial.case.label}"
        for trial in trials
        for sighting in trial.sightings
        if not sighting.is_certain and sighting.symptom in symptoms
    ]
    return f"; may be harmless: {doubtful[0]}" if doubtful else ""


# -- what was not tried --------------------------------------------------------------------------------------------


def _inconclusive(run: SubjectRun, symptoms: Iterable[Symptom]) -> str:
    outcomes = (outcome_of(run, symptom.value) for symptom in symptoms)
    reasons = (f"{one.check}: {one.reason}" for one in outcomes if one and one.status is Status.INCONCLUSIVE)
    return next(reasons, "")


def _why_not_compared(run: SubjectRun, ordinary: Sequence[CaseOutcome]) -> str:
    if broken := list(_seen(ordinary)):
        return f"there is no result to compare: {_sighted(broken)}"
    return why_unknown(Symptom.WRONG_RESULT.value, run) or "no ordinary case was tried"


def _uncompared(trials: Iterable[CaseOutcome]) -> Iterator[str]:
    """The shapes whose results were compared with nothing: a wrapper may refuse them."""
    for trial in trials:
        reasons = (why for symptom, why in trial.unchecked if symptom is Symptom.WRONG_RESULT)
        if Symptom.WRONG_RESULT not in trial.checked and (why := next(reasons, "")):
            yield f"{_shape(trial.case)}: {why}"


def _missed(run: SubjectRun, *, of_sizes: bool) -> Iterator[str]:
    """Values that were in no case for want of time: those of shapes, or the others and the sizes that are edges."""
    for what, why in run.left_out:
        if what == _REST:
            yield f"{what}: {why}"
        elif found := _MISSED.match(what):
            values = [value for value in found["values"].split(", ") if _is_size(value, of_sizes)]
            if values:
                yield f"{phrases.listed(values)} not tried: {why}"


def _too_large(run: SubjectRun) -> str:
    """The sizes that no case has, as it would be too large for one: where they are timed, they are verified there."""
    sizes = [what for what, _ in run.left_out if _SIZE.fullmatch(what)]
    return f"; not tried, since too large for that: {phrases.listed(sizes)}" if sizes else ""


def _is_size(value: str, of_sizes: bool) -> bool:
    name, _, size = value.partition("=")
    is_edge = not size or int(size) in _EDGE_SIZES
    return bool(size) if of_sizes else is_edge and name != "dtype"


def _hardships_missed(run: SubjectRun) -> Iterator[str]:
    checks = [check for check in sorted(ASKED) if suite_of(check) is Suite.STABILITY and applies(check, run)]
    missed = [(check, why) for check in checks if (why := why_unknown(check, run))]
    if missed:
        check, why = missed[0]
        others = f" and {len(missed) - 1} others" if len(missed) > 1 else ""
        yield f"{shown_check(check)}{others}: {why}"
