"""Finds the calls in which a wrapper shows most of what it can do, as long as that may take.

Ways to call it are tried on the wrapper as it is, those first that tell most; one that it refuses, in which the engine
sees a fault, or that does not come to the same twice, is no call. What is kept reaches something that no other does.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING

from bench.judge.executing import Execution, difference, executed
from bench.judge.forked import Outcome, outcomes
from bench.judge.noted import Change, Noted
from bench.judge.reaching import Feature, Reached, reached, worth
from bench.judge.varying import laid_out, longer, optional, options, other_size, other_sizes, otherwise

if TYPE_CHECKING:
    from tritonaudit.subject.model import Subject

_SECONDS = 2.5
"""What a call may take."""
_SEARCHED = 10.0
"""What looking for calls may take, in processor time."""
_MOST_CALLS, _MOST_SECONDS = 9, 2.0
"""What is used: so many, and all together no longer."""
_LEAST = 0.3
"""What a call must add."""
_MOST_GIVEN = 8
_LARGEST_TILE = 1 << 14


@dataclass(frozen=True, eq=False)
class Used:
    """A call that is used, what it comes to on the wrapper as it is, and what it reaches."""

    noted: Noted
    healthy: Execution
    reached: Reached
    seconds: float


def used_calls(
    subject: Subject, known: Sequence[Noted], root: Path, chosen: Sequence[Noted] = (), seconds: float = _SEARCHED
) -> list[Used]:
    """The calls of a subject, what tells most in the least time first; `known` are some that it is said to take.

    Those that were `chosen` before are not looked for.
    """
    search = _Search(subject, root, seconds)
    if chosen:
        return [used for one in chosen if (used := search.known(one)) is not None]
    search.run(known)
    found: list[Used] = []
    for one in search.covering():
        used = search.again(one)
        spent = sum(other.seconds for other in found)
        if used is not None and (not found or spent + used.seconds <= _MOST_SECONDS):
            found.append(used)
    return found


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
        self._tried: dict[Noted, _Found | None] = {}
        self._found: list[_Found] = []
        self._features: frozenset[Feature] = frozenset()

    def run(self, known: Sequence[Noted]) -> None:
        """Try other sizes first, with these what is optional, then flags, and other ways for tensors to lie."""
        for one in known:
            self._takes(one)
        if not self._found:
            return
        plain = self._sizes(self._found[0].noted)
        rich = self._optional(plain)
        for given, bare in zip(laid_out(rich), laid_out(plain), strict=True):
            if not self._takes(given, like=rich):
                self._takes(bare, like=plain)
        self._options(rich, plain)
        for one in otherwise(self._subject, rich):
            self._takes(one)
        self._longer(plain)

    def _sizes(self, base: Noted) -> Noted:
        """The call with sizes that all differ; where the wrapper refuses that, with as many changed as it takes."""
        taken = [one for one in other_sizes(self._subject, base) if self._takes(one)]
        if taken:
            return taken[0]
        best = base
        for others in other_size(self._subject, base):
            best = next((one for one in map(best.of_sizes, others) if self._takes(one)), best)
        return best

    def _optional(self, plain: Noted) -> Noted:
        """The call with all that may be left out, as far as that is found."""
        rich = plain
        for name, calls in optional(self._subject, plain):
            changes = [(call, change) for call in calls for change in call.changes if change.parameter == name]
            on_top = [rich.of_sizes(dict(call.sizes)).changed(change) for call, change in changes]
            one = self._least(on_top) or (self._least(calls) if rich != plain else None)
            if one is not None and self._adds(one) and one.sizes == rich.sizes and one in on_top:
                rich = one
        return rich

    def _least(self, calls: Sequence[Noted]) -> Noted | None:
        """The first that the wrapper takes; more is given in each than in those before, so that most are not tried."""
        low, high = 0, len(calls)
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self._probed(calls[middle]) is not None else (middle + 1, high)
        if low < len(calls):
            return calls[low]
        return next((one for one in calls[:_MOST_GIVEN] if self._probed(one) is not None), None)

    def _options(self, rich: Noted, plain: Noted) -> None:
        """Each flag and number, where all is given, or where that is refused without; then all that were taken."""
        taken: list[Change] = []
        for name, calls in options(self._subject, rich):
            for call in calls:
                (change,) = (one for one in call.changes if one.parameter == name)
                pairs = [(call, rich), (plain.changed(change), plain)]
                if any(self._adds(one) or self._is_other(one, base) for one, base in pairs):
                    taken.append(change)
                    break
        if len(taken) > 1:
            self._adds(rich.changed(*taken))

    def _longer(self, plain: Noted) -> None:
        """Sizes of several tiles; of more than any tile where a loop never took a second round."""
        constants = [
            value
            for one in self._found
            for run in one.reached.execution.launches
            for name, value in run.launch.arguments
            if type(value) is int and value <= _LARGEST_TILE and dict(run.launch.signature)[name] == "constexpr"
        ]
        for tile in dict.fromkeys((max(constants, default=0), _LARGEST_TILE)):
            loops = {loop for one in self._found for loop in one.reached.loops}
            if tile == _LARGEST_TILE and loops <= self._features and self._has_axes:
                return
            for least, other in longer(plain, tile):
                if not (self._ends(least) and self._takes(least)) and self._ends(other):
                    self._takes(other)

    def _ends(self, one: Noted) -> bool:
        """Whether a call, which may be long, is healthy in a process of its own: this one would be killed with it."""

        def work(one: Noted) -> Outcome:
            return ("healthy" if executed(self._subject, one, _SECONDS).is_healthy else "ill"), ""

        is_time = time.process_time() < self._until
        return is_time and next(outcomes(work, [one], lambda: True))[0] == "healthy"

    @property
    def _has_axes(self) -> bool:
        """Whether each kernel that was launched had several programs."""
        refs = {run.launch.kernel for one in self._found for run in one.reached.execution.launches}
        along = {feature[1] for feature in self._features if feature[0] == "axis"}
        return all(f"{ref.path}:{ref.line}" in along for ref in refs)

    def _adds(self, one: Noted) -> bool:
        """Whether the wrapper takes a call, and it reaches something new."""
        before = len(self._found)
        return self._takes(one) and len(self._found) > before

    def _is_other(self, one: Noted, base: Noted) -> bool:
        """Whether a call comes to something else than the one that it was made of; it is kept then."""
        found, before = self._probed(one), self._probed(base)
        if found is None or before is None or self._is_alike(found, before):
            return False
        self._keep(replace(found, reached=replace(found.reached, features=found.reached.features | _changed(one))))
        return True

    @staticmethod
    def _is_alike(one: _Found, other: _Found | None) -> bool:
        """Whether two calls come to the same, but for rounding."""
        if other is None:
            return False
        return difference(other.reached.execution.results, one.reached.execution.results) != "result"

    def _takes(self, one: Noted, like: Noted | None = None) -> bool:
        """Whether a call is healthy, and where it is to be like another, comes to the same; what it adds is kept."""
        found = self._probed(one)
        if found is None:
            return False
        if like is not None and not self._is_alike(found, self._probed(like)):
            return False
        if worth(found.reached.features - self._features) >= _LEAST:
            self._keep(found)
        return True

    def _keep(self, found: _Found) -> None:
        self._features |= found.reached.features
        self._found.append(found)

    def _probed(self, one: Noted) -> _Found | None:
        """A call that the wrapper takes; None where it does not, or there is no time left."""
        if one not in self._tried and time.process_time() < self._until:
            began = time.process_time()
            found = reached(self._subject, one, _SECONDS, self._root)
            is_plain = one.fill == "normal"  # numbers that are large make most results alike
            found = replace(found, features=found.features | _of_call(one) if is_plain else _of_call(one))
            seconds = time.process_time() - began
            self._tried[one] = _Found(one, found, seconds) if found.execution.is_healthy else None
        return self._tried.get(one)

    def covering(self) -> Iterator[_Found]:
        """Calls that reach all, each of which adds most for its time; as many as may be used."""
        left, missing = list(self._found), self._features
        for _ in range(_MOST_CALLS):
            best = max(left, key=partial(_gain, missing), default=None)
            if best is None or worth(best.reached.features & missing) < _LEAST:
                return
            left.remove(best)
            missing -= best.reached.features
            yield best

    def known(self, one: Noted) -> Used | None:
        """A call of an earlier search; None where the wrapper does not take it any more."""
        self._until = math.inf
        found = self._probed(one)
        return None if found is None else self.again(found)

    def again(self, one: _Found) -> Used | None:
        """The call once more; None where it does not come to the same."""
        began = time.process_time()
        found = executed(self._subject, one.noted, _SECONDS)
        first = one.reached.execution
        if not found.is_healthy or difference(first.results, found.results) != "equal":
            return None
        return Used(one.noted, found, one.reached, time.process_time() - began)


def _of_call(one: Noted) -> frozenset[Feature]:
    """What is said of a call before it is made."""
    less = {("sizes", less, name) for (less, small), (name, size) in permutations(one.sizes, 2) if small < size}
    own = (("layout", one.layout), ("type", one.dtype), ("fill", one.fill), ("made", one.made))
    return frozenset({*own, *less}) if one.fill == "normal" else frozenset({("fill", one.fill)})


def _changed(one: Noted) -> frozenset[Feature]:
    return frozenset(("changed", change.parameter) for change in one.changes)


def _gain(missing: frozenset[Feature], one: _Found) -> float:
    """What a call adds in its time."""
    return worth(one.reached.features & missing) / (0.1 + one.seconds)
