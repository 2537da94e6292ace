"""Where the project is published: the metadata of its package say so, from `[project.urls]`, or nothing does."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, metadata

from tritonaudit import __version__
from tritonaudit.rule import Rule

_OURS = "tritonaudit.rules."


def repository() -> str | None:
    """The address of the repository; None where the package names none, or is not installed."""
    try:
        urls = metadata("tritonaudit").get_all("Project-URL") or ()
    except PackageNotFoundError:
        return None
    named = {name.strip().lower(): url.strip().rstrip("/") for name, _, url in (line.partition(",") for line in urls)}
    return named.get("repository")


def page_of(rule: type[Rule], base: str | None) -> str | None:
    """The address of a rule's page in this release, by that of the repository; None for a rule of another package."""
    if base is None or not rule.__module__.startswith(_OURS):
        return None
    path = rule.__module__.removeprefix(_OURS).replace(".", "/")
    return f"{base}/blob/v{__version__}/rules/{path}.md"
