"""What an audit was asked for, and what of two entries both were: only that can have got better, worse, new or gone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tritonaudit.finding import Stage
from tritonaudit.measure.checks import Check

Data = dict[str, Any]

_PARTS = {stage.name.lower(): stage for stage in Stage}
_MEASURED = frozenset(check.value for check in Check)


def asked_of(stages: Iterable[Stage], rules: Iterable[str], *, pedantic: bool) -> Data:
    """What an entry says of it: the stages that were done, the codes of the rules that were on, doubtful ones shown."""
    return {
        "parts": [part for part, stage in _PARTS.items() if stage in set(stages)],
        "rules": sorted(rules),
        "pedantic": pedantic,
    }


@dataclass(frozen=True)
class Both:
    """What both of two entries were asked for; all that is known of them where one does not say."""

    parts: frozenset[str] = frozenset(_PARTS)
    rules: frozenset[str] | None = None
    only_earlier: tuple[str, ...] = ()
    only_later: tuple[str, ...] = ()
    earlier_is_pedantic: bool = False
    later_is_pedantic: bool = False

    @staticmethod
    def of(earlier: Data, later: Data) -> Both:
        one, other = earlier.get("asked"), later.get("asked")
        if one is None or other is None:
            return Both()
        return Both(
            frozenset(one["parts"]) & frozenset(other["parts"]),
            frozenset(one["rules"]) & frozenset(other["rules"]),
            tuple(part for part in one["parts"] if part not in other["parts"]),
            tuple(part for part in other["parts"] if part not in one["parts"]),
            one["pedantic"] and not other["pedantic"],
            other["pedantic"] and not one["pedantic"],
        )

    def asks_for(self, code: str) -> bool:
        """Whether both would have found what a rule finds."""
        part = next((part for part, stage in _PARTS.items() if code[3:4] in stage.value), "source")
        return part in self.parts and (self.rules is None or code in self.rules)

    def subjects(self, entry: Data) -> list[Data]:
        """The subjects of an entry with what both learnt of them, where that is anything."""
        tries, measures = "run" in self.parts, "measure" in self.parts
        if tries and measures:
            return list(entry["subjects"])
        found = []
        for one in entry["subjects"]:
            checks = [check for check in one["checks"] if (measures if check["check"] in _MEASURED else tries)]
            sizes = one["sizes"] if measures else []
            if checks or sizes:
                found.append({**one, "checks": checks, "error": one["error"] if tries else None, "sizes": sizes})
        return found
