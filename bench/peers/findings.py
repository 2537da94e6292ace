"""What each tool finds in the same kernels: counted where both were run, and as documented where nothing is counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bench.agreement.facts import Compiled
from bench.peers.cuxray import Reported

NO = "no"


@dataclass(frozen=True)
class Pair:
    """One launch: what tritonaudit says of its kernel, and what cuxray does."""

    ours: Compiled
    theirs: Reported

    @property
    def narrow(self) -> tuple[str, ...]:
        """The accesses that tritonaudit says are narrower than they could be: `line 14: 4 bytes, alignment`."""
        return tuple(
            f"line {access.line}: {access.kind} {access.bytes} of {access.could_be} bytes, {access.cause}"
            for access in self.ours.accesses
            if access.cause
        )

    @property
    def uncoalesced(self) -> tuple[str, ...]:
        """The accesses that cuxray says are uncoalesced: `line 14: 23.5 % of the sectors used`."""
        return tuple(f"line {line}: {used:g} % of sectors used" for line, used in self.theirs.uncoalesced)


@dataclass(frozen=True)
class Figure:
    """A figure that both tools give: what it is called, and how to read it from each."""

    name: str
    ours: Callable[[Compiled], object]
    theirs: Callable[[Reported], object]

    def both(self, pair: Pair) -> tuple[object, object]:
        return self.ours(pair.ours), self.theirs(pair.theirs)


FIGURES = (
    Figure("registers per thread", lambda one: one.registers, lambda one: one.registers),
    Figure("bytes of stack per thread", lambda one: one.local, lambda one: one.stack),
    Figure("bytes of spill stores", lambda one: one.spill_stores, lambda one: one.spill_stores),
    Figure("bytes of spill loads", lambda one: one.spill_loads, lambda one: one.spill_loads),
    Figure("resident warps (occupancy)", lambda one: one.occupancy, lambda one: one.occupancy),
)


def counted(pairs: Sequence[Pair]) -> Iterator[tuple[str, str, str]]:
    """Rows of the table whose cells say in how many launches a tool reported something."""
    for figure in FIGURES:
        reported = [figure.both(pair) for pair in pairs]
        equal = sum(ours is not None and ours == theirs for ours, theirs in reported)
        yield (
            figure.name,
            _of(sum(ours is not None for ours, _ in reported), pairs),
            f"{_of(sum(theirs is not None for _, theirs in reported), pairs)}, equal in {equal}",
        )
    yield (
        "bytes per lane of each load and store, by source line",
        _of(sum(bool(pair.ours.accesses) for pair in pairs), pairs),
        f"{NO}: sectors in place of widths",
    )
    yield (
        "part of the sectors used by each access, by source line",
        NO,
        _of(sum(pair.theirs.analysed > 0 for pair in pairs), pairs) + _gaps(pairs),
    )
    narrow = [pair for pair in pairs if pair.narrow]
    both = sum(bool(pair.uncoalesced) for pair in narrow)
    yield (
        "accesses narrower than they could be",
        f"{_in(len(narrow))}, with the argument to blame",
        f"{_in(both)}, as uncoalesced; the others use all of their sectors, or cannot be analysed",
    )
    yield (
        "accesses at their full width whose lanes lie apart",
        NO,
        _in(sum(bool(pair.uncoalesced and not pair.narrow) for pair in pairs)),
    )
    yield "matrix instruction", _in(sum(bool(pair.ours.matrix) for pair in pairs)), NO
    yield "bank conflicts of shared memory", NO, _in(sum(bool(pair.theirs.conflicts) for pair in pairs))
    yield (
        "live registers, by source line",
        NO,
        _of(sum(pair.theirs.pressure is not None for pair in pairs), pairs),
    )
    yield (
        "source lines of spills",
        f"{NO}: bytes of the kernel",
        _in(sum(pair.theirs.spilling_lines > 0 for pair in pairs)),
    )


DOCUMENTED = (
    ("what it starts from", "Python: wrappers and kernels", "compiled binaries: Triton's cache, .cubin, .so, .ptx"),
    ("needs a GPU", "no", "no, but something must have compiled the kernels"),
    ("languages", "Triton", "Triton, CUDA C++, whatever becomes a cubin"),
    (
        "targets from one machine",
        "NVIDIA sm_75 to sm_120, AMD gfx90a to gfx950",
        "those the binaries are for; no AMD",
    ),
    ("shared memory per block", "yes, and over the target's limit", "yes, from Triton's metadata"),
    ("what limits the occupancy", "yes", "yes"),
    ("autotuner's configs", "all, compiled", "those in the cache (`triton --group`)"),
    ("why a kernel does not compile, at its line", "yes", NO),
    ("recompilation for every size", "yes", NO),
    ("matrix product without a matrix instruction", "yes", "SIMT loops that tensor cores would speed up (`advise`)"),
    ("a swizzle that avoids bank conflicts", NO, "yes (`solve`)"),
    ("estimate of cycles, stalls, roofline", NO, "yes (`sched`, `roofline`)"),
    (
        "registers or shared bytes at which one more block fits",
        NO,
        "yes (cliffs; `tune-regs` assembles with other limits)",
    ),
    ("where an address came from", NO, "yes (`why`: a slice of the machine code)"),
    ("comparison of two builds", "yes (`--against`)", "yes (`diff`, `compare`)"),
    ("limits for CI", "yes (`--budget`)", "yes (`gate`)"),
    ("SARIF", "yes, every finding", "yes, what breaks a `gate`"),
    ("JSON", "yes", "yes"),
)
"""What neither run counts, by each tool's documentation."""


def _of(count: int, pairs: Sequence[Pair]) -> str:
    return f"{count} of {len(pairs)}"


def _in(count: int) -> str:
    return f"in {count} launch{'' if count == 1 else 'es'}"


def _gaps(pairs: Sequence[Pair]) -> str:
    unanalysed = sum(pair.theirs.unanalysed for pair in pairs)
    analysed = sum(pair.theirs.analysed for pair in pairs)
    return f", {analysed} instructions analysed and {unanalysed} not"
