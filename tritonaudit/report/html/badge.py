"""Words of a verdict on a ground whose colour repeats what they say."""

from __future__ import annotations

from tritonaudit.finding import Status
from tritonaudit.report.html.markup import Markup, element

_OF_STATUS = {
    Status.FAIL: ("❌", "fail"),
    Status.WARN: ("⚠️", "warn"),
    Status.INCONCLUSIVE: ("⚠️", "warn"),
    Status.INCOMPLETE: ("🟡", "warn"),
    Status.NOT_RUN: ("➖", "none"),
    Status.PASS: ("✅", "pass"),
}
_OF_LEVEL = {"CRITICAL": "fail", "HIGH": "fail", "MEDIUM": "warn", "LOW": "none"}


def badge(text: str, kind: str) -> Markup:
    """Words on a ground: that of "fail", "warn", "none" or "pass"."""
    return element("span", text, class_=f"badge {kind}")


def badge_of_status(status: Status) -> Markup:
    mark, kind = _OF_STATUS[status]
    return badge(f"{mark} {status.value}", kind)


def badge_of_level(level: str) -> Markup:
    return badge(level, _OF_LEVEL[level])
