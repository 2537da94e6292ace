"""What the source stage was unsure of, settled by the types that launches were seen to pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from pathlib import Path

from tritonaudit.capture.launch import Launch
from tritonaudit.config import Config
from tritonaudit.engine import check_typed
from tritonaudit.finding import Finding, Span, Witness
from tritonaudit.rules import all_rules
from tritonaudit.selection import Selection

Signature = Mapping[str, str]
"""The type of each parameter of a kernel, as Triton writes it."""


@dataclass(frozen=True)
class Settled:
    """Source findings that types decide: those that they make surer, or first show, and those that they refute.

    `texts` holds the text of every file with a confirmed one, by its path.
    """

    confirmed: tuple[Finding, ...] = ()
    refuted: tuple[Finding, ...] = ()
    texts: dict[str, str] = field(default_factory=dict)


def settle_all(launches: Iterable[Launch], config: Config) -> Settled:
    """The source findings that the captured launches settle, in all of their files; what was inferred settles none."""
    shown: dict[str, dict[str, dict[_Shown, None]]] = {}
    for launch in launches:
        if launch.signature and not launch.is_inferred:
            ones = {name for name, what in launch.specialisation if what == "one"}
            untyped = frozenset(name for name, kind in launch.signature if name in ones and kind == "constexpr")
            kernels = shown.setdefault(launch.kernel.path, {})
            kernels.setdefault(launch.kernel.name, {})[launch.signature, untyped] = None
    found = [
        settle(Path(path), {kernel: _most_telling([*given]) for kernel, given in kernels.items()}, config)
        for path, kernels in sorted(shown.items())
    ]
    return Settled(
        confirmed=tuple(finding for one in found for finding in one.confirmed),
        refuted=tuple(finding for one in found for finding in one.refuted),
        texts={path: text for one in found for path, text in one.texts.items()},
    )


_Shown = tuple[tuple[tuple[str, str], ...], frozenset[str]]
"""A signature, and the parameters for which a 1 was taken for a constant, so that it has no type for them."""


def _most_telling(shown: Sequence[_Shown]) -> list[Signature]:
    """The signatures that no other tells more than: that of a 1 does not say which type is passed there otherwise."""
    told = [signature for signature, _ in shown]
    telling = {
        signature: None
        for signature, ones in shown
        if not any(_tells_more(other, dict(signature), ones) for other in map(dict, told) if other != dict(signature))
    }
    return list(map(dict, telling))


def _tells_more(other: Signature, signature: Signature, ones: AbstractSet[str]) -> bool:
    """Whether all that tells them apart is what is passed for these; kernels of one name may have other parameters."""
    return list(other) == list(signature) and all(
        name in ones for name, kind in signature.items() if other[name] != kind
    )


def settle(path: Path, signatures: Mapping[str, Sequence[Signature]], config: Config) -> Settled:
    """Judge a file's kernels again with the signatures that each was launched with, by the kernel's qualified name.

    A finding is refuted only where every signature refutes it, and confirmed where one of them makes it surer.
    """
    untyped = check_typed(path, config, {})
    unsure = {_key(f): f for f in untyped.findings if f.kernel in signatures}
    texts = dict(untyped.texts)
    seen: set[_Key] = set()
    confirmed: dict[_Key, Finding] = {}
    for number in range(max(map(len, signatures.values()), default=0)):
        types = {kernel: given[min(number, len(given) - 1)] for kernel, given in signatures.items()}
        typed = check_typed(path, config, types)
        texts.update(typed.texts)
        for finding in typed.findings:
            if finding.kernel not in types:
                continue
            key = _key(finding)
            seen.add(key)
            before = confirmed.get(key) or unsure.get(key)
            if before is None or finding.confidence.rank < before.confidence.rank:
                confirmed[key] = replace(finding, witness=_witness(types[finding.kernel]))
    selection = Selection.of(config.of(path), all_rules())
    shown = tuple(f for f in confirmed.values() if selection.shown(f.code, f.confidence))
    refuted = tuple(finding for key, finding in unsure.items() if key not in seen)
    return Settled(shown, refuted, {f.path: texts[f.path] for f in shown})


_Key = tuple[str, Span, str | None]


def _key(finding: Finding) -> _Key:
    return (finding.code, finding.span, finding.kernel)


def _witness(signature: Signature) -> Witness:
    types = ", ".join(f"{name}: {kind}" for name, kind in signature.items() if kind != "constexpr")
    return Witness(f"seen in a launch with {types}")
