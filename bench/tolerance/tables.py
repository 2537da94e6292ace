"""What the policies said, as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.fidelity.tables import table
from bench.tolerance.trial import Trial
from tritonaudit.finding import Status


@dataclass(frozen=True)
class Row:
    """What each policy said to a trial, and our reason."""

    trial: Trial
    said: Mapping[str, Status]
    reason: str


def side_by_side(rows: Sequence[Row]) -> str:
    """Of each policy, how many right kernels fail and how many wrong ones pass; and how many are warned of."""
    right = [row for row in rows if row.trial.way.is_right]
    wrong = [row for row in rows if not row.trial.way.is_right]
    head = ("policy", "right that fail:", "right, warned of:", "wrong that pass:", "wrong, warned of:")
    kernels = len({row.trial.kernel_name for row in rows})
    counted = f"{kernels} kernels in up to three dtypes: {len(right)} right, {len(wrong)} wrong"
    return f"{counted}\n\n" + table(
        head,
        (
            (
                policy,
                _count(right, policy, Status.FAIL),
                _count(right, policy, Status.WARN),
                _count(wrong, policy, Status.PASS),
                _count(wrong, policy, Status.WARN),
            )
            for policy in rows[0].said
        ),
    )


def _count(rows: Sequence[Row], policy: str, status: Status) -> str:
    count = sum(row.said[policy] is status for row in rows)
    return f"{count} ({count / len(rows):.1%})" if count else "0"


def errors_of(policy: str, rows: Sequence[Row]) -> str:
    """The kernels that a policy does not tell as they are labelled, those that it warns of included."""
    head = ("kernel", "dtype", "it is", "status", "reason")
    return table(
        head,
        (
            (
                row.trial.kernel_name,
                row.trial.dtype,
                "right" if row.trial.way.is_right else "wrong",
                row.said[policy].value,
                row.reason,
            )
            for row in rows
            if row.said[policy] is not (Status.PASS if row.trial.way.is_right else Status.FAIL)
        ),
    )


def each(rows: Sequence[Row]) -> str:
    """Every trial with what every policy said."""
    policies = list(rows[0].said)
    return table(
        ("kernel", "dtype", "it is", *policies),
        (
            (
                row.trial.kernel_name,
                row.trial.dtype,
                "right" if row.trial.way.is_right else "wrong",
                *(row.said[policy].value for policy in policies),
            )
            for row in rows
        ),
    )
