"""TAC110: an address lacks a term that the kernel shows to belong to it."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import Access, KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.queries.missing_terms import missing_term
from tritonaudit.queries.strays import astray
from tritonaudit.rule import Hit, Rule


class MissingAddressTerm(Rule):
    code, name = "TAC110", "missing-address-term"
    summary = "An address lacks a term: a stride, the tile of the program, or its head."
    severity, confidence, since = Severity.ERROR, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for access in kernel.accesses:
            missing = missing_term(kernel, access)
            if missing is not None and (missing.launch is None or not _is_shown(kernel, access)):
                related = [] if missing.sibling is None else [(missing.sibling.node, "this access has the term")]
                launches = [] if missing.launch is None else [(kernel.place(missing.launch), "this is the launch")]
                yield Hit(
                    access.node,
                    f"this {access.what} is at the wrong place: {missing.why}",
                    remedy=missing.remedy,
                    severity=Severity.WARNING if missing.latent else None,
                    related=(*related, *launches),
                )


def _is_shown(kernel: KernelFlow, access: Access) -> bool:
    """Whether a launch shows where the access goes, which the rule on such accesses tells."""
    return any(found.shown.access is access for found in astray(kernel))
