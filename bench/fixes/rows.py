"""The table of fixtures, and what is said below it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench.fidelity.tables import table as markdown
from bench.fixes.reasons import OTHER_DEFECTS

_RIGHT = "right"


@dataclass(frozen=True)
class Row:
    """A fixed kernel: why it does not compile (None: it is not known), what it computed before and after.

    The last three are None where no case says what is right; `safe` is of the safe fixes only, None where it has none.
    """

    code: str
    kernel: str
    complaint: str | None
    before: str | None
    after: str | None
    safe: str | None = None

    @property
    def compiles(self) -> bool:
        """Whether it does as the compile stage launches it, or as its case does."""
        return self.complaint == "" or self.after == _RIGHT

    @property
    def is_right(self) -> bool:
        """Whether it compiles, and computes what its case wants where there is one."""
        return self.compiles and self.after in (None, _RIGHT) and self.safe in (None, _RIGHT)

    @property
    def reason(self) -> str | None:
        """Why it need not be right, where it is not."""
        return None if self.is_right else OTHER_DEFECTS.get((self.code, self.kernel))

    @property
    def is_bad(self) -> bool:
        return not self.is_right and self.reason is None


def table(codes: Sequence[str], rows: Sequence[Row]) -> str:
    """For each rule its fixed kernels: of those in which nothing else is wrong, how many compile and are right."""
    head = (
        "code",
        "kernels fixed:",
        "wrong besides:",
        "compile:",
        "with a case:",
        "right before:",
        "right after:",
        "after the safe ones:",
    )
    return markdown(head, (_line(code, [row for row in rows if row.code == code]) for code in codes))


def _line(code: str, rows: Sequence[Row]) -> tuple[object, ...]:
    if not rows:
        return (code, "does not apply", *("",) * 6)
    plain = [row for row in rows if row.reason is None]
    cases = [row for row in plain if row.after is not None]
    safe = [row for row in plain if row.safe is not None]
    return (
        code,
        len(rows),
        len(rows) - len(plain),
        f"{sum(row.compiles for row in plain)} of {len(plain)}",
        len(cases),
        sum(row.before == _RIGHT for row in cases),
        f"{sum(row.after == _RIGHT for row in cases)} of {len(cases)}",
        f"{sum(row.safe == _RIGHT for row in safe)} of {len(safe)}",
    )


def notes(rows: Sequence[Row]) -> str:
    """What does not compile or is not right, and why some need not."""
    return "\n".join(f"{row.code} {row.kernel}: {text}" for row in rows for text in _said(row))


def _said(row: Row) -> Iterator[str]:
    complaint = row.complaint or "the compile stage does not know it"
    if row.reason is not None:
        yield f"wrong besides: {row.reason} ({row.complaint or row.after})"
        return
    if not row.compiles:
        yield f"does not compile: {complaint}"
    elif row.complaint != "":
        yield f"compiles as its case launches it; else: {complaint}"
    if row.after is None:
        yield "no case says what is right"
    elif row.after != _RIGHT:
        yield f"not right: {row.after}"
    if row.safe not in (None, _RIGHT):
        yield f"not right after its safe fixes: {row.safe}"
