"""The page in HTML as it is written: whole, safe, and the same in words as the report in Markdown."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Callable

from hypothesis import given, settings

from tests.ran import FILE, run, section, trial
from tests.report.html.page import Element, read
from tests.report.test_hostile_text import audits, unprintable
from tritonaudit.finding import Audit, Finding, Related, Severity, Span, Stage, Witness
from tritonaudit.report import render
from tritonaudit.report.about import About
from tritonaudit.report.section import Section

MakeFinding = Callable[..., Finding]
EVERY = frozenset(Stage)
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&lt;\u202egnp.exe\u202c`x` ]]>-->"


def page(*sections: Section, audit: Audit | None = None) -> Element:
    told = About("tritonaudit audit", EVERY)
    return read(render(audit or Audit(files=1, kernels=1), "html", color=False, sections=sections, about=told))


def rows(table: Element) -> list[list[str]]:
    return [[cell.text for cell in row.children if isinstance(cell, Element)] for row in table.all("tr")]


def check(root: Element) -> None:
    """What holds of every page."""
    ids = Counter(one.attributes["id"] for one in root.elements if "id" in one.attributes)
    assert [name for name, times in ids.items() if times > 1] == []
    for one in root.elements:
        assert not [name for name in one.attributes if name.startswith("on") or name == "style"], one
        for attribute in ("for", "aria-labelledby", "aria-describedby"):
            assert set((one.attributes.get(attribute) or "").split()) <= set(ids), one
        link = one.attributes.get("href") or ""
        assert not link.startswith("#") or link[1:] in ids, link
    assert [one.name for one in root.elements if one.name in ("img", "iframe", "object", "embed", "base")] == []
    assert len(root.all("script")) == len(root.all("style")) == 1


def test_every_part_is_there_and_listed(audit: Audit) -> None:
    root = page(audit=audit)
    check(root)
    headings = [one.text for one in root.all("h2")]
    assert headings == [
        "Summary",
        "Detailed Findings",
        "Where Results Are Wrong",
        "Performance Audit: softmax_kernel",
        "Roofline",
        "Every Case",
        "Checklists",
        "Recommendations",
        "Test Commands",
    ]
    links = [one.attributes["href"] for one in root.one("nav").all("a")]
    assert links == [f"#{one.attributes['id']}" for one in root.all("section")]


def test_only_its_own_style_and_script_are_allowed() -> None:
    root = page()
    policy = root.one("meta", http_equiv="Content-Security-Policy").attributes["content"]
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for name in ("style", "script"):
        digest = hashlib.sha256(root.one(name).text.encode()).digest()
        assert f"{name}-src 'sha256-{base64.b64encode(digest).decode()}'" in policy
    assert not re.search(
        r"https?:|url\(|@import|fetch|XMLHttp|innerHTML", root.one("style").text + root.one("script").text
    )


def test_the_summary_says_what_markdown_says(make_finding: MakeFinding) -> None:
    finding = make_finding(code="TAC401", path=FILE, kernel="kernel")
    audit = Audit(findings=(finding,), kernels=1)
    sections = (section(run("op"), run("other")),)
    root = page(*sections, audit=audit)
    about = About("tritonaudit audit", EVERY)
    markdown = render(audit, "markdown", color=False, sections=sections, about=about)
    told = [line.replace("`", "").strip("| ").split(" | ") for line in markdown.splitlines() if line.startswith("| ")]
    standings, *_ = root.one("section", id="summary").all("table")
    assert rows(standings)[1:] == told[1:6]
    answers = [row[:2] for table in root.one("section", id="checklists").all("table")[:-1] for row in rows(table)]
    first = next(number for number, row in enumerate(told) if row[0] == "Item")
    assert answers == [[item.replace("\\", ""), said] for item, said, *_ in told[first : first + len(answers)]]
    assert len(answers) > 80


def test_a_finding_is_shown_in_its_source(audit: Audit) -> None:
    root = page(audit=audit)
    first = root.all("article")[0]
    assert first.one("h4").text == "HIGH TAM101 unmasked-access"
    assert first.one("mark").text == "x_ptr + offsets"
    assert (
        "7     offsets = tl.arange(0, BLOCK)\n8     x = tl.load(x_ptr + offsets)\n9"
        in first.one("figure").one("pre").text
    )
    facts = {one.one("dt").text: one.one("dd").text for one in first.one("dl").all("div")}
    assert facts == {
        "Where": "kernels/softmax.py:8 in softmax_kernel",
        "See": "kernels/launch me.py:40: launched with x[0] here",
        "Witness": "n = 1000 reads 24 lanes past the end of x.",
        "Run": "tritonaudit run kernels/softmax.py --case n=1000",
        "Remedy": "Pass mask=offsets < n, other=-float('inf').",
    }


def test_a_rule_is_explained_once(make_finding: MakeFinding) -> None:
    found = tuple(make_finding(span=Span(line, 1, line, 2)) for line in (1, 2, 3))
    root = page(audit=Audit(findings=found, texts={"a.py": "x\ny\nz"}))
    check(root)
    (explained,) = [one for one in root.all("details") if one.attributes.get("id") == "rule-TAM101"]
    assert "What it does" in [one.text for one in explained.all("h5")]
    assert len(root.all("a", href="#rule-TAM101")) == 2


def test_every_case_has_a_row() -> None:
    seen = trial({"n": 65}, dtype="float16", fill="1e6")
    root = page(section(run("op", trial({"n": 64}), seen), run("other")))
    table = root.one("table", id="case-table")
    assert len(table.one("tbody").all("tr")) == 3
    cells = dict(zip(*(rows(table)[number] for number in (0, 2)), strict=True))
    assert cells["Subject"] == "op"
    assert cells["Case"] == "n=65"
    assert (cells["Dtype"], cells["Fill"], cells["Status"]) == ("float16", "1e6", "✅ pass")


def test_without_scripts_nothing_is_hidden_but_what_needs_them() -> None:
    root = page(section(run("op")))
    assert [one.attributes["id"] for one in root.elements if "hidden" in one.attributes] == ["case-controls"]


# text of users


@settings(deadline=None, max_examples=60)
@given(audits())
def test_no_text_breaks_it(audit: Audit) -> None:
    text = render(audit, "html", color=False)
    assert not unprintable(text)
    text.encode("utf-8")
    check(read(text))


def test_no_text_becomes_markup(make_finding: MakeFinding) -> None:
    found = make_finding(
        name=HOSTILE,
        message=HOSTILE,
        path=HOSTILE,
        kernel=HOSTILE,
        remedy=HOSTILE,
        severity=Severity.INFO,
        witness=Witness(HOSTILE, HOSTILE),
        related=(Related(HOSTILE, Span(1, 1, 1, 2), HOSTILE),),
    )
    audit = Audit(findings=(found,), texts={HOSTILE: HOSTILE}, kernels=1)
    ran = section(
        run(HOSTILE, trial({HOSTILE: 64}, fill=HOSTILE), path=HOSTILE, left_out=((HOSTILE, HOSTILE),)), run("other")
    )
    text = render(audit, "html", color=False, sections=(ran,), about=About(HOSTILE, EVERY, date=HOSTILE))
    root = read(text)
    check(root)
    assert "\u202e" not in text
    assert "<img" not in text
    assert text.count("<script>") == 1
    shown = HOSTILE.replace("\u202e", "\\u202e").replace("\u202c", "\\u202c")
    assert root.one("article").one("p", class_="message").text == shown.replace("`", "")
    assert root.one("table", id="case-table").one("tbody").all("th")[0].text == shown
