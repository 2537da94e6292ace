"""What relations are called, and what they come to together. Imports neither torch nor triton."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tritonaudit.finding import Outcome, Status
from tritonaudit.suites.journal import Ended

_RELATION = "relation: "
_CALL = f"{_RELATION}it can be called"


def check_of(relation: str) -> str:
    """The check that tries a relation of that name."""
    return f"{_RELATION}{relation}"


def check_of_call(way: int) -> str:
    """The check that calls the wrapper at all, in the way of that number."""
    return f"{_CALL} in way {way + 1}" if way else _CALL


def is_relation(check: str) -> bool:
    """Whether the check tries a relation, or whether the wrapper can be called for it."""
    return check.startswith(_RELATION)


def is_call(check: str) -> bool:
    """Whether the check calls the wrapper at all."""
    return check.startswith(_CALL)


def silent_relations(ended: Sequence[Ended]) -> tuple[tuple[str, str], ...]:
    """The checks of relations that say nothing of the wrapper, each with the reason.

    Of the ways to call it that fail, all are silent once one does not, else all but the first.
    """
    none = [entry for entry in ended if is_relation(entry.trial.check) and not _says(entry)]
    calls = [entry for entry in ended if is_call(entry.trial.check)]
    told = [] if any(map(_says, calls)) else calls[:1]
    return tuple((entry.trial.check, _reason(entry)) for entry in none if entry not in told)


def _says(entry: Ended) -> bool:
    return bool(entry.outcome.checked or entry.outcome.sightings)


def _reason(entry: Ended) -> str:
    return next((reason for _, reason in entry.outcome.unchecked), "it came to no result")


def shown_relations(checks: Iterable[Outcome]) -> str:
    """`no reference: 7 relations hold`; nothing where none was tried."""
    tried = [one for one in checks if is_relation(one.check) and not is_call(one.check)]
    hold = sum(one.status is Status.PASS for one in tried)
    return f"no reference: {hold} {'relation holds' if hold == 1 else 'relations hold'}" if tried else ""
