"""The configuration of a launch, an autotuner's or what the wrapper passes, and how it differs from another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tritonaudit.compile.facts import Variant

_NAMED = re.compile(r"(\w+)=(.*?)(?= \w+=|$)")


@dataclass(frozen=True)
class Setting:
    """What a constant, the warps or the stages were and are; None where there was or is no such."""

    name: str
    before: str | None
    now: str | None

    @property
    def shown(self) -> str:
        """`num_warps 4 → 8`."""
        return f"{self.name} {self.before or 'not set'} → {self.now or 'not set'}"


def settings_of(variant: Variant) -> dict[str, str]:
    """What its launch sets, by name; the constants and what the config says of the rest."""
    found = dict(variant.constants)
    if variant.resources is not None:
        found["num_warps"] = str(variant.resources.warps)
        if variant.resources.stages is not None:
            found["num_stages"] = str(variant.resources.stages)
    return {**found, **dict(_NAMED.findall(variant.config))}


def changed(old: Variant, young: Variant) -> tuple[Setting, ...]:
    """The settings that differ; what only compiling tells is left out where one of the two does not compile."""
    before, now = settings_of(old), settings_of(young)
    unknown = () if old.resources and young.resources else ("num_warps", "num_stages")
    names = [name for name in dict.fromkeys((*before, *now)) if name not in unknown or (name in before and name in now)]
    return tuple(Setting(name, before.get(name), now.get(name)) for name in names if before.get(name) != now.get(name))


def most_alike(olds: Sequence[Variant], youngs: Sequence[Variant]) -> Iterator[tuple[int, int]]:
    """Pairs of places in the two, those first that differ in the fewest settings, as far as there are any left."""
    ways = sorted(
        (len(changed(old, young)), abs(first - second), first, second)
        for first, old in enumerate(olds)
        for second, young in enumerate(youngs)
    )
    taken_old: set[int] = set()
    taken_young: set[int] = set()
    for *_, first, second in ways:
        if first not in taken_old and second not in taken_young:
            taken_old.add(first)
            taken_young.add(second)
            yield first, second
