"""The formats that an audit is written in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module

from tritonaudit.finding import Audit
from tritonaudit.report.about import About
from tritonaudit.report.causes import reported_once
from tritonaudit.report.section import Section

FORMATS = ("full", "concise", "json", "github", "gitlab", "rdjson", "junit", "sarif", "markdown", "html")


def render(
    audit: Audit, format: str, *, color: bool, sections: Sequence[Section] = (), about: About | None = None
) -> str:
    """The audit as text, ready to be written as it is: it ends with a newline unless it is empty.

    Only `full` knows colour; only `full` and `json` show the sections whole, and `sarif` nothing of them. Only
    `markdown` and `html` show what the audit is `about`: without it, all rules on the source. The findings are taken in
    the order that the audit holds them, but for these two, which have the worst first; those with one cause are one.
    """
    if format not in FORMATS:
        raise ValueError(f"{format!r} is not a format: choose from {', '.join(FORMATS)}")
    # Each format is the module of its name, imported only when asked for: rich and sarif_om are slow to import.
    renderer: Callable[..., str] = import_module(f"{__name__}.{format}").render
    return renderer(reported_once(audit), color=color, sections=sections, about=about or About())
