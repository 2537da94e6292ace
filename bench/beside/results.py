"""What each checker comes to, and the tables that show it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.accuracy.sampling import LARGEST
from bench.beside.noise import Noise, inside
from bench.beside.ours import LANGUAGE
from bench.beside.recall import Bug, Tried
from bench.beside.reports import Report
from bench.corpus import kernel_modules, packages

TARGETED = frozenset(
    {
        "int32-overflow",
        "missing-mask",
        "wrong-mask",
        "low-precision",
        "recompile",
        "dtype-mismatch",
        "race",
        "grid-limit",
    }
)
"""The kinds of bugs that a reader of the source has the best chance to see."""

_ROWS: tuple[tuple[str, Callable[[Bug], bool]], ...] = (
    ("all", lambda bug: True),
    ("visible in source or launch", lambda bug: bug.visible != "c:run"),
    ("the eight targeted kinds", lambda bug: bug.kind in TARGETED),
)


@dataclass(frozen=True)
class Kernels:
    """Some packages of a corpus and how many jit functions they hold."""

    folders: tuple[Path, ...]
    count: int

    @classmethod
    def below(cls, folders: Sequence[Path]) -> Kernels:
        count = sum(len(module.jit) for folder in folders for _, module in kernel_modules(folder))
        return cls(tuple(folders), count)


@dataclass(frozen=True)
class Result:
    """What one checker says: of the bugs' files, and of the corpus."""

    name: str
    tried: tuple[Tried, ...]
    reports: tuple[Report, ...]

    def only(self, name: str, wanted: Callable[[Report], bool]) -> Result:
        """The same with some of the findings alone."""
        tried = tuple(one.only(wanted) for one in self.tried)
        return Result(name, tried, tuple(filter(wanted, self.reports)))

    def caught(self, wanted: Callable[[Bug], bool]) -> tuple[int, int]:
        """How many of those bugs it sees, and how many there are."""
        chosen = [one for one in self.tried if wanted(one.bug)]
        return sum(bool(one.caught) for one in chosen), len(chosen)


def parted(ours: Result) -> list[Result]:
    """Our result, and the same by what the rules are about."""
    return [
        ours,
        ours.only("  without language and names", lambda report: report.code not in LANGUAGE),
        ours.only("  language and names alone", lambda report: report.code in LANGUAGE),
    ]


def corpus_parts(corpus: Path) -> tuple[Kernels, Kernels]:
    """The packages but for the largest, and the largest."""
    folders = packages(corpus)
    largest = [folder for folder in folders if folder.name.rpartition("-")[0] == LARGEST]
    return Kernels.below([folder for folder in folders if folder not in largest]), Kernels.below(largest)


def summary(results: Sequence[Result], fixed: int, parts: tuple[Kernels, Kernels]) -> Iterator[str]:
    """One line a checker: what it sees of the bugs, and how often it speaks up elsewhere."""
    outside, largest = parts
    yield (
        f"| checker | bugs seen | of those visible | of the eight kinds | findings a fixed kernel "
        f"| elsewhere: error | any | findings a kernel | {LARGEST}: error | any | findings a kernel |"
    )
    yield "| --- |" + " ---: |" * 10
    for result in results:
        seen = [_share(*result.caught(wanted)) for _, wanted in _ROWS]
        after = sum(len(one.after) for one in result.tried) / max(fixed, 1)
        cells = [*seen, f"{after:.2f}"]
        for part in (outside, largest):
            noise = Noise.of(inside(result.reports, part.folders), part.count)
            cells += [f"{noise.errors:.1%}", f"{noise.any:.1%}", f"{noise.findings:.2f}"]
        yield f"| {result.name} | " + " | ".join(cells) + " |"


def by_kind(results: Sequence[Result]) -> Iterator[str]:
    """How many bugs of each kind every checker sees."""
    bugs = [one.bug for one in results[0].tried]
    yield "| bugs | number | " + " | ".join(result.name.strip() for result in results) + " |"
    yield "| --- |" + " ---: |" * (len(results) + 1)
    for name, wanted in _ROWS:
        yield _kind_row(name, results, wanted)
    kinds = sorted({bug.kind for bug in bugs}, key=lambda kind: (-sum(bug.kind == kind for bug in bugs), kind))
    for kind in kinds:
        yield _kind_row(kind, results, _of_kind(kind))


def missed(ours: Result) -> Iterator[str]:
    """The bugs that our result does not see, with what it says near them all the same."""
    for one in sorted(ours.tried, key=lambda one: (one.bug.kind, one.bug.name)):
        if not one.caught:
            near = sorted({report.code for report in one.before if report.line in one.bug.lines})
            yield f"{one.bug.kind}\t{one.bug.name}\t{one.bug.visible}\t{' '.join(near) or '-'}"


def _of_kind(kind: str) -> Callable[[Bug], bool]:
    return lambda bug: bug.kind == kind


def _kind_row(name: str, results: Sequence[Result], wanted: Callable[[Bug], bool]) -> str:
    counts = [result.caught(wanted) for result in results]
    return f"| {name} | {counts[0][1]} | " + " | ".join(str(seen) for seen, _ in counts) + " |"


def _share(seen: int, number: int) -> str:
    return f"{seen} of {number} ({seen / number:.0%})" if number else "-"
