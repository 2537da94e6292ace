"""What an autotuner can avoid by choosing among its configs, and what remains whichever it chooses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tritonaudit.compile.facts import CompiledKernel, Variant


@dataclass(frozen=True)
class Troubled:
    """The variants in which something is wrong: those that no choice avoids, and those that the autotuner can."""

    unavoidable: tuple[Variant, ...]
    avoidable: tuple[Variant, ...]


def troubled(kernel: CompiledKernel, is_wrong: Callable[[Variant], bool]) -> Troubled:
    """The compiled variants of which it is so.

    An autotuner chooses for one target and for tensors of certain types: it can avoid what is wrong if one of the
    configs that it has there is never wrong. A launch without an autotuner has no choice.
    """
    unavoidable: list[Variant] = []
    avoidable: list[Variant] = []
    for variants in _choices(kernel):
        wrong = [variant for variant in variants if is_wrong(variant)]
        wrong_configs = {variant.config for variant in wrong}
        has_choice = any(variant.config and variant.config not in wrong_configs for variant in variants)
        for variant in wrong:
            (avoidable if has_choice and variant.config else unavoidable).append(variant)
    return Troubled(tuple(unavoidable), tuple(avoidable))


def spilled_bytes(variant: Variant) -> int:
    """What a thread of a compiled variant stores to spill registers and loads back; 0 where that is unknown."""
    assert variant.resources is not None
    return variant.resources.spilled or 0


def _choices(kernel: CompiledKernel) -> Iterator[list[Variant]]:
    by_choice: dict[tuple[str, tuple[str, ...]], list[Variant]] = {}
    for variant in kernel.compiled:
        by_choice.setdefault(choice_of(variant), []).append(variant)
    yield from by_choice.values()


def choice_of(variant: Variant) -> tuple[str, tuple[str, ...]]:
    """What an autotuner chooses a config for: a target, and tensors of certain types."""
    return variant.target, tuple(kind for _, kind in variant.signature if kind.startswith("*"))
