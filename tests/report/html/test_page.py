"""The page in HTML as it is written: whole, safe, and the same in words as the report in Markdown."""

from __future__ import annotations

import base64
import hashlib
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from hypothesis import given, settings

from tests.ran import FILE, run, section, trial
from tests.report.html import timed
from tests.report.html.page import Element, read
from tests.report.test_hostile_text import audits, unprintable
from tritonaudit.finding import (
    Audit,
    Edit,
    Finding,
    Fix,
    Outcome,
    Problem,
    Related,
    Severity,
    Span,
    Stage,
    Status,
    Witness,
)
from tritonaudit.report import render
from tritonaudit.report.about import About
from tritonaudit.report.section import Section
from tritonaudit.suites.coverage import Coverage, Missed
from tritonaudit.suites.facts import Symptom

MakeFinding = Callable[..., Finding]
EVERY = frozenset(Stage)
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&lt;\u202egnp.exe\u202c`x` ]]>-->"


def page(*sections: Section, audit: Audit | None = None) -> Element:
    reported = About("tritonaudit audit", EVERY)
    return read(render(audit or Audit(files=1, kernels=1), "html", color=False, sections=sections, about=reported))


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
        "What the Rules Say",
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
    reported = [
        line.replace("`", "").strip("| ").split(" | ") for line in markdown.splitlines() if line.startswith("| ")
    ]
    standings, *_ = root.one("section", id="summary").all("table")
    assert rows(standings)[1:] == reported[1:6]
    answers = [row[:2] for table in root.one("section", id="checklists").all("table")[:-1] for row in rows(table)]
    first = next(number for number, row in enumerate(reported) if row[0] == "Item")
    assert answers == [[item.replace("\\", ""), said] for item, said, *_ in reported[first : first + len(answers)]]
    assert len(answers) > 80


def test_a_finding_is_shown_in_its_source(audit: Audit) -> None:
    root = page(audit=audit)
    first = root.all("article")[0]
    assert first.one("h4").text == "HIGH TAM101 unmasked-access"
    assert first.one("p", class_="where").text == "kernels/softmax.py:8 in softmax_kernel (error, high confidence)"
    assert first.one("mark").text == "x_ptr + offsets"
    above, found, below = (one for one in first.one("div", class_="frame").children if isinstance(one, Element))
    assert above.text.endswith("7     offsets = tl.arange(0, BLOCK)\n 8     x = tl.load(x_ptr + offsets)\n")
    assert (found.name, found.text) == ("p", "x_ptr + offsets is not bounded by any mask.")
    assert [line.split()[0] for line in below.text.splitlines()] == ["9", "10", "11"]
    facts = {one.one("dt").text: one.one("dd").text for one in first.one("dl").all("div")}
    assert facts == {
        "See": "kernels/launch me.py:40: launched with x[0] here",
        "Witness": "n = 1000 reads 24 lanes past the end of x.",
        "Run": "tritonaudit run kernels/softmax.py --case n=1000",
        "Remedy": "Pass mask=offsets < n, other=-float('inf').",
    }


def test_a_fix_is_a_diff(audit: Audit, make_finding: MakeFinding) -> None:
    fix = page(audit=audit).all("article")[0].one("figure", class_="fix")
    assert fix.one("figcaption").text == "Fix: Add the mask. (unsafe: check what it changes)"
    assert fix.one("del").text == "-    x = tl.load(x_ptr + offsets)\n"
    assert fix.one("ins").text == "+    x = tl.load(x_ptr + offsets, mask=offsets < n)\n"
    edits = (Edit(Span(1, 1, 1, 1), "import c\n"), Edit(Span(3, 1, 3, 2), "<c>"), Edit(Span(3, 5, 4, 2), ""))
    found = make_finding(fix=Fix("Call `c`.", edits, safe=True))
    root = page(audit=Audit(findings=(found,), texts={"a.py": "import a\n\nb + b\nb\n"}))
    fix = root.one("figure", class_="fix")
    assert fix.one("pre").text == "line 1\n+import c\nline 3\n-b + b\n-b\n+<c> + \n"
    check(root)


def test_a_fix_of_a_text_that_is_not_known_is_reported(make_finding: MakeFinding) -> None:
    found = make_finding(fix=Fix("Call `c`.", (Edit(Span(9, 1, 9, 1), "c"),), safe=True))
    for texts in ({}, {"a.py": "one line"}):
        fix = page(audit=Audit(findings=(found,), texts=texts)).one("figure", class_="fix")
        assert fix.text == "Fix: Call c. (safe)"


def test_the_verdict_comes_first(make_finding: MakeFinding) -> None:
    found = make_finding(code="TAC401"), make_finding(code="TAN102", severity=Severity.WARNING)
    root = page(section(run("op")), audit=Audit(findings=found, files=1, kernels=1))
    verdict = root.one("p", class_="verdict")
    assert verdict.has("class_", "fail")
    assert verdict.text == (
        "❌ FAIL 2 findings: 1 CRITICAL, 1 MEDIUM. Fails: Correctness. Warns: Numerical stability. "
        "Not run: Performance. Passes: Memory patterns and Best practices."
    )
    order = list(map(id, root.elements))
    assert order.index(id(verdict)) < order.index(id(root.one("nav")))


def test_what_passes_but_for_what_did_not_run_is_incomplete() -> None:
    reported = page(section(run("op"))).one("p", class_="verdict").text
    assert reported.startswith("🟡 INCOMPLETE No findings. Not run: Performance. Passes: ")
    nothing = render(Audit(), "html", color=False, about=About("tritonaudit", frozenset()))
    assert read(nothing).one("p", class_="verdict").text.startswith("➖ NOT RUN No findings. Not run: ")
    unread = Audit(problems=(Problem("a.py", "it does not parse", 1),))
    reported = page(section(run("op")), timed.section(timed.subject("op", *timed.copy())), audit=unread)
    assert reported.one("p", class_="verdict").text.startswith("🟡 INCOMPLETE ")
    assert reported.one("p", class_="verdict").text.endswith(". Not all could be read or done.")


def test_findings_stand_kernel_by_kernel_and_a_kernels_row_leads_to_them(make_finding: MakeFinding) -> None:
    said = ((Severity.INFO, "a", 1), (Severity.WARNING, "b", 5), (Severity.ERROR, "a", 2), (Severity.INFO, None, 9))
    found = tuple(make_finding(severity=how, kernel=kernel, span=Span(n, 1, n, 2)) for how, kernel, n in said)
    root = page(audit=Audit(findings=found, kernels=2))
    groups = {one.one("h3").text: one for one in root.all("div", class_="group")}
    assert list(groups) == ["a a.py", "b a.py", "a.py"]
    assert [one.all("span", class_="badge")[0].text for one in groups["a a.py"].all("article")] == ["HIGH", "LOW"]
    _, kernels = root.one("section", id="summary").all("table")
    links = {one.text: (one.attributes["href"] or "")[1:] for one in kernels.all("a")}
    assert links == {"a a.py": groups["a a.py"].attributes["id"], "b a.py": groups["b a.py"].attributes["id"]}
    assert [row[1] for row in rows(kernels)] == ["Findings", "2", "1"]


def test_what_has_nothing_to_say_is_one_line() -> None:
    root = page()
    said = {one.one("h2").text: one.one("p").text for one in root.all("section", class_="nothing")}
    assert list(said) == [
        "Detailed Findings",
        "Where Results Are Wrong",
        "Performance Audit: none named (1 read)",
        "Roofline",
        "Every Case",
        "What the Rules Say",
    ]
    assert said["Roofline"] == "NOT RUN: nothing was measured: tritonaudit audit measures them on a GPU."
    lists = {one.one("h3").text: one for one in root.one("section", id="checklists").all("details")}
    assert "open" not in lists["4. Performance"].attributes
    assert "open" in lists["5. Best practices"].attributes
    assert "18 open: nothing was measured" in lists["4. Performance"].one("summary").text


def many(make_finding: MakeFinding, number: int) -> Audit:
    """Findings as a large project has them: ten in each kernel, two kernels in each file."""
    text = "\n".join(f"    x{line} = tl.load(x_ptr + offsets_{line} * stride, mask=cols < n)" for line in range(60))
    codes = (("TAM101", Severity.ERROR), ("TAN102", Severity.WARNING), ("TAB103", Severity.INFO))
    found = tuple(
        make_finding(
            code=code,
            severity=severity,
            path=f"src/kernels/family_{which // 100}/module_{which // 20}.py",
            span=Span(which % 50 + 2, 10, which % 50 + 2, 46),
            kernel=f"kernel_{which // 10}",
            message=f"this load can run past the end: `offsets_{which}` is not bounded by any mask of `cols`",
            remedy="pass `mask=offsets < n`",
            fix=Fix("Add the mask.", (Edit(Span(which % 50 + 2, 46, which % 50 + 2, 46), ", other=0"),), safe=True),
        )
        for which in range(number)
        for code, severity in (codes[which % 3],)
    )
    return Audit(findings=found, texts={one.path: text for one in found}, files=number // 20, kernels=number // 10)


def test_ten_thousand_findings_are_written_soon_and_fit_into_five_megabytes(make_finding: MakeFinding) -> None:
    audit = many(make_finding, 10_000)
    render(Audit(), "html", color=False)  # which imports what it needs
    began = time.process_time()
    text = render(audit, "html", color=False, about=About("tritonaudit audit", EVERY))
    assert time.process_time() - began < 5
    assert len(text.encode()) < 5_000_000
    assert text.count("<article") == 10_000
    assert 300 < text.count('<figure class="fix">') < 9000
    assert re.search(r"Of 10000 findings the \d+ least severe are shown in short\.", text)


def test_a_rule_is_explained_once(make_finding: MakeFinding) -> None:
    found = tuple(make_finding(span=Span(line, 1, line, 2)) for line in (1, 2, 3))
    root = page(audit=Audit(findings=found, texts={"a.py": "x\ny\nz"}))
    check(root)
    explained = root.one("section", id="rules").one("details", id="rule-TAM101")
    assert "What it does" in [one.text for one in explained.all("h4")]
    assert len(root.all("a", href="#rule-TAM101")) == 3


def test_every_case_has_a_row() -> None:
    seen = trial({"n": 65}, dtype="float16", fill="1e6")
    root = page(section(run("op", trial({"n": 64}), seen), run("other")))
    table = root.one("table", id="case-table")
    assert len(table.one("tbody").all("tr")) == 3
    cells = dict(zip(*(rows(table)[number] for number in (0, 2)), strict=True))
    assert cells["Subject"] == "op"
    assert cells["Case"] == "n=65"
    assert (cells["Dtype"], cells["Fill"], cells["Status"]) == ("float16", "1e6", "✅ pass")


def test_without_scripts_nothing_is_hidden_but_what_needs_them(make_finding: MakeFinding) -> None:
    found = make_finding(), make_finding(span=Span(2, 1, 2, 2))
    root = page(section(run("op")), audit=Audit(findings=found, kernels=1))
    hidden = [one.attributes["id"] for one in root.elements if "hidden" in one.attributes]
    assert hidden == ["finding-controls", "case-controls"]


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
        fix=Fix(HOSTILE, (Edit(Span(1, 1, 1, 2), HOSTILE),), safe=True),
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


def test_no_tick_of_a_message_is_left(make_finding: MakeFinding) -> None:
    said = "`x < y & z` is odd"
    finding = make_finding(
        message=said, remedy=said, witness=Witness(said), related=(Related("a.py", Span(1, 1, 1, 2), said),)
    )
    audit = Audit(
        (finding,),
        problems=(Problem("a.py", said),),
        outcomes=(Outcome("source", "a.py", Status.NOT_RUN, reason=said),),
        texts={"a.py": "x\n"},
        files=1,
    )
    missing = Coverage(2, 1, (Missed("memory", said, said),))
    tried = run(
        "op",
        replace(trial(), checked=frozenset(), unchecked=((Symptom.CRASH, said),)),
        checks={Symptom.CRASH.value: Status.NOT_RUN},
        left_out=((said, said),),
        coverage=missing,
    )
    untimed = replace(timed.subject("op", *timed.copy()), reason=said)
    for sections in ((), (section(tried), timed.section(untimed))):
        for stages in (frozenset((Stage.SOURCE,)), EVERY):
            about = About("tritonaudit audit", stages)
            text = render(audit, "html", color=False, sections=sections, about=about)
            shown = re.sub(r"<(script|style|code|details)\b.*?</\1>", "", text, flags=re.DOTALL)
            assert re.findall(r"[^>]*`[^<]*", shown) == []
    assert "<code>x &lt; y &amp; z</code> is odd" in text
