"""A hook of mkdocs: the site has the pages and pictures of docs/, the rules' pages, and whatever page these link to.

Pages keep the paths that they have in the repository, so that their links work there and on the site.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
_LINK = re.compile(r"\]\(([^()\s#:]+\.md)(?:#[^()\s]*)?\)")
_RULES = "docs/rules.md"


def on_config(config: MkDocsConfig) -> None:
    """Append the rules to the navigation: their index, then a section for each category."""
    index = (ROOT / _RULES).read_text(encoding="utf-8")
    sections = re.split(r"^## ", index, flags=re.M)[1:]
    categories: list[Any] = [{section.splitlines()[0]: list(_linked(section, _RULES))} for section in sections]
    assert config.nav is not None
    config.nav = [*config.nav, {"Rules": [_RULES, *categories]}]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Replace what mkdocs found in docs/ by files of the repository; the rest, such as the theme's files, stays."""
    pictures = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*.png"))]
    moved = {path.removeprefix("docs/") for path in pictures}
    others = [file for file in files if not file.is_documentation_page() and file.src_uri not in moved]
    return Files([*others, *(_page(path, config) for path in (*_pages(), *pictures))])


def _pages() -> list[str]:
    """The pages' paths in the repository."""
    waiting = [
        path.relative_to(ROOT).as_posix() for folder in ("docs", "rules") for path in (ROOT / folder).rglob("*.md")
    ]
    found: set[str] = set()
    while waiting:
        path = waiting.pop()
        if path not in found and (ROOT / path).is_file():
            found.add(path)
            waiting += _linked((ROOT / path).read_text(encoding="utf-8"), path)
    return sorted(found)


def _linked(text: str, path: str) -> Iterator[str]:
    """The pages to which this page links, as paths in the repository."""
    for target in _LINK.findall(text):
        linked = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        if not linked.startswith("../"):
            yield linked


def _page(path: str, config: MkDocsConfig) -> File:
    page = File.generated(config, path, abs_src_path=str(ROOT / path))
    page.dest_uri = page.dest_uri.removeprefix("docs/")
    return page
