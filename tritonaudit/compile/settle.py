"""What the source stage was unsure of, settled by the types that launches were seen to pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tritonaudit.config import Config
from tritonaudit.engine import kernel_findings
from tritonaudit.finding import Finding, Span, Witness

Signature = Mapping[str, str]
"""The type of each parameter of a kernel, as Triton writes it."""


@dataclass(frozen=True)
class Settled:
    """Source findings that types decide: those that they make surer, or first show, and those that they refute."""

    confirmed: tuple[Finding, ...] = ()
    refuted: tuple[Finding, ...] = ()


def settle(path: Path, signatures: Mapping[str, Sequence[Signature]], config: Config) -> Settled:
    """Judge a file's kernels again with the signatures that each was launched with, by the kernel's qualified name.

    A finding is refuted only where every signature refutes it, and confirmed where one of them makes it surer.
    """
    unsure = {_key(f): f for f in kernel_findings(path, config, {}) if f.kernel in signatures}
    seen: set[_Key] = set()
    confirmed: dict[_Key, Finding] = {}
    for number in range(max(map(len, signatures.values()), default=0)):
        types = {kernel: given[min(number, len(given) - 1)] for kernel, given in signatures.items()}
        for finding in kernel_findings(path, config, types):
            if finding.kernel not in types:
                continue
            key = _key(finding)
            seen.add(key)
            before = confirmed.get(key) or unsure.get(key)
            if before is None or finding.confidence.rank < before.confidence.rank:
                confirmed[key] = replace(finding, witness=_witness(types[finding.kernel]))
    refuted = tuple(finding for key, finding in unsure.items() if key not in seen)
    return Settled(tuple(confirmed.values()), refuted)


_Key = tuple[str, Span, str | None]


def _key(finding: Finding) -> _Key:
    return (finding.code, finding.span, finding.kernel)


def _witness(signature: Signature) -> Witness:
    types = ", ".join(f"{name}: {kind}" for name, kind in signature.items() if kind != "constexpr")
    return Witness(f"seen in a launch with {types}")
