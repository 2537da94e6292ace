"""The documentation as a site: it builds without a warning, has every page, and its links lead somewhere."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.checkout import ROOT, run
from tritonaudit.rules import all_rules

LINK = re.compile(r'<a [^>]*?href="([^"#?:]*)(?:[#?][^"]*)?"')
LINKED_TO = ("CONTRIBUTING", "bench/judge", "editors/vscode")
"""Pages of the repository outside docs/ and rules/."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocs", reason="mkdocs builds the site: pip install '.[docs]'")
    pytest.importorskip("material", reason="mkdocs-material is the site's theme: pip install '.[docs]'")
    folder = tmp_path_factory.mktemp("site")
    run(sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder, cwd=ROOT)
    return folder


def test_every_page_is_there(site: Path) -> None:
    docs = {page.stem for page in (ROOT / "docs").glob("*.md")} - {"README"}
    rules = {page.relative_to(ROOT).with_suffix("").as_posix() for page in (ROOT / "rules").rglob("*.md")}
    assert len(rules) >= 100
    wanted = {*docs, *rules, *LINKED_TO, "."}
    assert [page for page in sorted(wanted) if not (site / page / "index.html").is_file()] == []


def test_a_rule_s_page_is_found_from_the_navigation(site: Path) -> None:
    index = (site / "index.html").read_text(encoding="utf-8")
    linked = {link for link in LINK.findall(index) if link.startswith("rules/")}
    for rule in all_rules():
        if rule.__module__.startswith("tritonaudit.rules."):
            page = "/".join(rule.__module__.split(".")[1:])
            assert f"{page}/" in linked
            assert rule.code in (site / page / "index.html").read_text(encoding="utf-8")


def test_the_links_of_every_page_lead_to_a_file_of_the_site(site: Path) -> None:
    pages = list(site.rglob("index.html"))
    dead = {
        f"{page.relative_to(site)}: {link}"
        for page in pages
        for link in LINK.findall(page.read_text(encoding="utf-8"))
        if link and not _leads_somewhere(page.parent / unquote(link))
    }
    assert len(pages) >= 120
    assert dead == set()


def _leads_somewhere(path: Path) -> bool:
    return path.is_file() or (path / "index.html").is_file()
