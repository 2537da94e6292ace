"""What is printed of the mutants: how many there are, and who notices them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bench.mutation.auditing import Audited
from bench.mutation.mutants import Mutant
from bench.mutation.trying import Tried


@dataclass(frozen=True)
class Judged:
    """A mutant with what it came to, and the audit of the original; None where that is not known."""

    mutant: Mutant
    tried: Tried | None
    audited: Audited | None
    gpucheck: str | None = None
    is_declared: bool = False
    original: Audited | None = None

    @property
    def codes(self) -> list[str]:
        """What the audit finds in it, and not in the original."""
        return new_codes(self.audited, self.original)

    @property
    def is_left(self) -> bool:
        """Whether it is a fault that somebody might notice."""
        return self.tried is not None and not self.tried.rejected and not self.is_equivalent

    @property
    def is_equivalent(self) -> bool:
        return self.is_declared or (self.tried is not None and self.tried.is_equal)


Sides = dict[str, Callable[[Judged], bool]]
PLAIN: Sides = {
    "allclose float32": lambda one: one.tried is not None and bool(one.tried.float32),
    "allclose float16": lambda one: one.tried is not None and bool(one.tried.float16),
    "allclose either": lambda one: one.tried is not None and bool(one.tried.float32 or one.tried.float16),
}
GPUCHECK: Sides = {"gpucheck": lambda one: bool(one.gpucheck)}
AUDIT: Sides = {"audit": lambda one: bool(one.codes)}
"""Who may notice a mutant."""


def new_codes(audited: Audited | None, original: Audited | None) -> list[str]:
    """What an audit finds that another does not."""
    return sorted(_codes(audited) - _codes(original))


def _codes(audited: Audited | None) -> frozenset[str]:
    return frozenset((*audited.errors, *audited.warnings)) if audited else frozenset()


def counted(judged: Sequence[Judged], sides: Sides, by: Callable[[Mutant], str], title: str) -> str:
    """A table of the mutants and of how many each side notices, by what `by` tells of them."""
    groups = [*dict.fromkeys(by(one.mutant) for one in judged)]
    rows = [_row(group, [one for one in judged if by(one.mutant) == group], sides) for group in groups]
    header = [title, "mutants", "do not compile", "equivalent", "left", *sides]
    return _table([header, *rows, _row("all", judged, sides)])


def _row(name: str, judged: Sequence[Judged], sides: Sides) -> list[str]:
    left = [one for one in judged if one.is_left]
    rejected = sum(one.tried is not None and bool(one.tried.rejected) for one in judged)
    equivalent = sum(one.is_equivalent for one in judged)
    noticed = [_share(sum(map(side, left)), len(left)) for side in sides.values()]
    return [name, str(len(judged)), str(rejected), str(equivalent), str(len(left)), *noticed]


def _share(count: int, of: int) -> str:
    return f"{count} ({100 * count / of:.1f} %)" if of else "-"


def original(name: str, tried: Tried, audited: Audited | None) -> str:
    """What is wrongly said of a kernel that is right; empty where that is nothing."""
    plain = [
        f"allclose {dtype}: {why}" for dtype, why in (("float32", tried.float32), ("float16", tried.float16)) if why
    ]
    codes = new_codes(audited, None)
    found = [f"audit: {', '.join(codes)}"] if codes else []
    said = [*([tried.rejected] if tried.rejected else []), *plain, *found]
    return f"{name}: {'; '.join(said)}" if said else ""


def codes(judged: Sequence[Judged]) -> str:
    """Which codes notice how many mutants, and how many no other code notices."""
    found = [one.codes for one in judged if one.is_left and one.codes]
    every = Counter(code for codes in found for code in codes)
    alone = Counter(codes[0] for codes in found if len(codes) == 1)
    rows = [[code, str(count), str(alone[code])] for code, count in every.most_common()]
    return _table([["code", "mutants", "alone"], *rows])


def survivors(judged: Sequence[Judged]) -> str:
    """The mutants that the audit was run on and did not notice, with what is changed in them."""
    return "\n".join(_survivor(one) for one in judged if one.is_left and one.audited and not one.codes)


def unaudited(judged: Sequence[Judged]) -> str:
    """The mutants that the audit tried in no case."""
    return "\n".join(one.mutant.id for one in judged if one.is_left and one.audited is None)


def _survivor(one: Judged) -> str:
    assert one.audited is not None
    noticed = [name for name, side in {**PLAIN, **GPUCHECK}.items() if side(one)]
    remarks = [f"{one.audited.cases} cases", *one.audited.warnings, *one.audited.problems, *noticed]
    return f"{one.mutant.id}  ({'; '.join(remarks)})\n    - {one.mutant.before}\n    + {one.mutant.after}"


def _table(rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(_lines(rows)) + "\n"


def _lines(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for number, row in enumerate(rows):
        yield f"| {' | '.join(row)} |"
        if number == 0:
            yield "|" + " --- |" * len(row)
