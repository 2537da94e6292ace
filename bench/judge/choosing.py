"""Finds the calls in which a wrapper shows most of what it can do, as long as that may take.

Ways to call it are tried on the wrapper as it is, those first that tell most; one that it refuses, in which the engine
sees a fault, or that does not come to the same twice, is no call. What is kept reaches something that no other does.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bench.judge.executing import Execution, difference, executed
from bench.judge.noted import Change, Noted
from bench.judge.reaching import Feature, Reached, reached, worth
from bench.judge.varying import laid_out, longer, optional, options, other_sizes, otherwise

if TYPE_CHECKING:
    from tritonaudit.subject.model import Subject

_SECONDS = 4.0
"""What a call may take."""
_SEARCHED = 10.0
"""What looking for calls may take, in processor time."""
_MOST_CALLS, _MOST_SECONDS = 9, 4.0
"""What is used: so many, and all together no longer."""
_LEAST = 0.5
"""What a call must add."""
_MOST_GIVEN = 6
_LARGEST_TILE = 1 << 14


@dataclass(frozen=True, eq=False)
class Used:
    """A call that is used, what it comes to on the wrapper as it is, and what it reaches."""

    noted: Noted
    healthy: Execution
    reached: Reached
    seconds: float


def used_calls(subject: Subject, known: Sequence[Noted], root: Path, seconds: float = _SEARCHED) -> list[Used]:
    """The calls of a subject, what tells most in the least time first; `known` are some that it is said to take."""
    search = _Search(subject, root, seconds)
    search.run(known)
    return [used for one in search.covering() if (used := search.again(one)) is not None]


@dataclass(frozen=True, eq=False)
class _Found:
    noted: Noted
    reached: Reached
    seconds: float


class _Search:
    """What was tried, and what it reached together."""

    def __init__(self, subject: Subject, root: Path, seconds: float) -> None:
        self._subject, self._root = subject, root
        self._until = time.process_time() + seconds
        self._tried: set[Noted] = set()
        self._found: list[_Found] = []
        self._features: frozenset[Feature] = frozenset()

    def run(self, known: Sequence[Noted]) -> None:
        """Try other sizes first, with these what is optional, then flags, and other ways for tensors to lie."""
        for one in known:
            self._adds(one)
        if not self._found:
            return
        plain = self._sizes(self._found[0].noted)
        rich = self._optional(plain)
        if (found := self._execution(plain)) is not None:
            for one in laid_out(self._subject, plain):
                self._adds(one, like=found)
        self._options(rich, plain)
        for one in (*otherwise(self._subject, rich), *self._longer(plain)):
            self._adds(one)

    def _sizes(self, base: Noted) -> Noted:
        """The call with sizes that differ, as far as the wrapper takes them, of which most follow from one another."""
        best, is_whole = base, False
        for one in other_sizes(self._subject, base):
            is_whole_one = len(set(one.sizes) - set(base.sizes)) > 1 or len(base.sizes) == 1
            if is_whole and not is_whole_one:
                break
            if not is_whole_one:
                one = best.of_sizes(dict(set(one.sizes) - set(base.sizes)))
            if self._adds(one) and not is_whole:
                best, is_whole = one, is_whole_one
        return best

    def _optional(self, plain: Noted) -> Noted:
        """The call with all that may be left out, as far as that is found."""
        rich = plain
        for name, calls in optional(self._subject, plain):
            changes = [(call, change) for call in calls for change in call.changes if change.parameter == name]
            for call, change in changes[:_MOST_GIVEN]:
                one = rich.of_sizes(dict(call.sizes)).changed(change)
                if self._adds(one):
                    rich = one if one.sizes == rich.sizes else rich
                    break
        return rich

    def _options(self, rich: Noted, plain: Noted) -> None:
        """Each flag and number, where all is given, or where that is refused without; then all that were taken."""
        taken: list[Change] = []
        for name, calls in options(self._subject, rich):
            for call in calls:
                (change,) = (one for one in call.changes if one.parameter == name)
                if self._adds(call) or (rich != plain and self._adds(plain.changed(change))):
                    taken.append(change)
                    break
        if len(taken) > 1:
            self._adds(rich.changed(*taken))

    def _longer(self, plain: Noted) -> Iterator[Noted]:
        tiles = [
            value
            for one in self._found
            for executed_ in one.reached.execution.launches
            for name, value in executed_.launch.arguments
            if type(value) is int and value <= _LARGEST_TILE and dict(executed_.launch.signature)[name] == "constexpr"
        ]
        yield from longer(plain, max(tiles, default=0))
        yield from longer(plain, _LARGEST_TILE)

    def _execution(self, one: Noted) -> Execution | None:
        return next((found.reached.execution for found in self._found if found.noted == one), None)

    def _adds(self, one: Noted, like: Execution | None = None) -> bool:
        """Whether a call is healthy and reaches something new; where it is to be like another, comes to the same."""
        if one in self._tried or time.process_time() > self._until:
            return False
        self._tried.add(one)
        began = time.process_time()
        found = reached(self._subject, one, _SECONDS, self._root)
        if not found.execution.is_healthy:
            return False
        if like is not None and difference(like.results, found.execution.results) == "result":
            return False
        own = found.features | {("layout", one.layout), ("type", one.dtype), ("fill", one.fill)}
        is_new = worth(own - self._features) >= _LEAST
        if is_new:
            self._features |= own
            whole = Reached(found.execution, own, found.ran, found.located)
            self._found.append(_Found(one, whole, time.process_time() - began))
        return is_new

    def covering(self) -> Iterator[_Found]:
        """Calls that reach all, each of which adds most for its time; as many as may be used."""
        left, missing, spent = list(self._found), self._features, 0.0
        for _ in range(_MOST_CALLS):
            best = max(left, key=partial(_gain, missing), default=None)
            if best is None or worth(best.reached.features & missing) < _LEAST:
                return
            left.remove(best)
            if not spent or spent + best.seconds <= _MOST_SECONDS:
                missing, spent = missing - best.reached.features, spent + best.seconds
                yield best

    def again(self, one: _Found) -> Used | None:
        """The call once more; None where it does not come to the same."""
        began = time.process_time()
        found = executed(self._subject, one.noted, _SECONDS)
        first = one.reached.execution
        if not found.is_healthy or difference(first.results, found.results) != "equal":
            return None
        return Used(one.noted, found, one.reached, time.process_time() - began)


def _gain(missing: frozenset[Feature], one: _Found) -> float:
    """What a call adds in its time."""
    return worth(one.reached.features & missing) / (0.1 + one.seconds)
