"""The page in a real browser: it renders, complains of nothing, can be read by all, and works without scripts."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.ran import FAR, FILE, run, section, trial
from tests.report.html import timed
from tests.report.html.test_page import HOSTILE, many
from tritonaudit.finding import Audit, Confidence, Finding, Related, Severity, Span, Stage, Status, Witness
from tritonaudit.report import render
from tritonaudit.report.about import About
from tritonaudit.report.section import Section
from tritonaudit.suites.error_map import ErrorMap
from tritonaudit.suites.outcome import CaseOutcome

playwright = pytest.importorskip("playwright.sync_api", reason="playwright drives the browser")

EVERY = frozenset(Stage)
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
SOURCE = "import triton\n\n\ndef f(x):\n    return x < 1\n"
WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => window.violations.push(event.violatedDirective));
"""
CONTRAST = """
() => {
  const parse = (colour) => (colour.match(/[\\d.]+/g) || []).map(Number);
  const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  const luminance = ([r, g, b]) =>
    0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
  const ground = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const [r, g, b, alpha = 1] = parse(getComputedStyle(one).backgroundColor);
      if (alpha > 0.99) return [r, g, b];
    }
    return parse(getComputedStyle(document.body).backgroundColor);
  };
  const faint = new Set();
  let read = 0;
  for (const element of document.querySelectorAll("body *")) {
    const text = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!text || !element.checkVisibility()) continue;
    read += 1;
    const style = getComputedStyle(element);
    const ink = luminance(parse(element.namespaceURI.endsWith("svg") ? style.fill : style.color));
    const paper = luminance(ground(element));
    const contrast = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
    if (contrast < 4.5) faint.add(`${element.tagName}.${element.className} ${contrast.toFixed(2)}`);
  }
  return [read, [...faint]];
}
"""

FOCUSED = """
() => {
  const focused = document.activeElement;
  return focused.id || focused.getAttribute("aria-label") || focused.tagName;
}
"""

Open = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    arguments = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with playwright.sync_playwright() as driver:
        try:
            launched = driver.chromium.launch(executable_path=program, args=arguments)
        except playwright.Error as error:
            pytest.skip(f"there is no Chromium: {str(error).splitlines()[0]}")
        yield launched
        launched.close()


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Opens a page; when the test is over, nothing may have been complained of or fetched."""
    complaints: list[str] = []
    contexts = []

    def open_page(text: str, **said: Any) -> Any:
        file = tmp_path / "report.html"
        file.write_text(text, encoding="utf-8")
        contexts.append(browser.new_context(**said))
        page = contexts[-1].new_page()
        page.add_init_script(WATCH)
        page.on("console", lambda message: complaints.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        page.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: complaints.append(request.url) if request.url != file.as_uri() else None)
        page.goto(file.as_uri())
        return page

    yield open_page
    for context in contexts:
        for page in context.pages:
            complaints += page.evaluate("window.violations || []")
        context.close()
    assert [one for one in complaints if not one.startswith("data:,")] == []


def finding(**said: Any) -> Finding:
    usual: dict[str, Any] = {
        "code": "TAM101",
        "name": "unmasked-access",
        "severity": Severity.ERROR,
        "confidence": Confidence.HIGH,
        "message": "Nothing bounds `x`.",
        "path": FILE,
        "span": Span(5, 12, 5, 13),
        "kernel": "kernel",
        "remedy": "Pass `mask=`.",
        "witness": Witness("n=65", "python -c 'pass'"),
    }
    return Finding(**usual | said)


def wrong(case: int) -> CaseOutcome:
    shares = tuple(tuple(row / 16 if column > 60 else 0.0 for column in range(64)) for row in range(16))
    made = trial({"rows": 64, "cols": case}, close=FAR, dtype="float16")
    error = ErrorMap("output", (64, case), 700, case, 4, -(-case // 64), shares)
    return CaseOutcome(made.case, made.checked, closeness=FAR, kernels=made.kernels, seconds=case / 7, errors=(error,))


def report(cases: int = 60) -> str:
    """One of everything."""
    levels = (Severity.ERROR, Severity.WARNING, Severity.INFO)
    findings = tuple(
        finding(code=code, name=name, severity=level)
        for code, name, level in zip(
            ("TAM101", "TAN101", "TAB101"), ("unmasked-access", "unstable-exp", "odd-comment"), levels, strict=True
        )
    )
    hostile = finding(
        name=HOSTILE,
        message=HOSTILE,
        path=HOSTILE,
        remedy=HOSTILE,
        related=(Related(HOSTILE, Span(1, 1, 1, 2), HOSTILE),),
    )
    audit = Audit(findings=(*findings, hostile), texts={FILE: SOURCE, HOSTILE: HOSTILE}, files=1, kernels=2)
    trials = [trial({"n": number}) for number in range(1, cases)]
    sections: tuple[Section, ...] = (
        section(
            run("op", wrong(1000), *trials, left_out=(("the rest", "the time was spent"),)),
            run(
                HOSTILE,
                trial({HOSTILE: 3}),
                checks={"crash": Status.INCONCLUSIVE, "race between programs": Status.NOT_RUN},
            ),
        ),
        timed.section(
            timed.subject("matmul", *timed.matmul(), *timed.matmul("bfloat16")), timed.subject(HOSTILE, *timed.copy())
        ),
    )
    return render(audit, "html", color=False, sections=sections, about=About("tritonaudit audit", EVERY))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read(scheme: str, opened: Open) -> None:
    page = opened(report(), color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    read, faint = page.evaluate(CONTRAST)
    assert read > 500
    assert faint == []


def test_the_policy_stops_what_is_not_of_the_page(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text(report(), encoding="utf-8")
    page = browser.new_page()
    page.add_init_script(WATCH)
    page.goto((tmp_path / "report.html").as_uri())
    page.evaluate("document.body.append(Object.assign(new Image(), { src: 'https://example.com/x.png' }))")
    page.evaluate("document.body.setAttribute('style', 'color: red')")
    with pytest.raises(playwright.Error, match="TrustedHTML"):
        page.evaluate("document.body.innerHTML = '<p onclick=alert(1)>'")
    page.wait_for_function("window.violations.length >= 3")
    stopped = {name.partition("-")[0] for name in page.evaluate("window.violations")}
    assert stopped == {"img", "style", "require"}
    assert page.evaluate("getComputedStyle(document.body).color") != "rgb(255, 0, 0)"
    page.close()


def test_the_switch_works_without_scripts(opened: Open) -> None:
    page = opened(report(), color_scheme="light", java_script_enabled=False)
    ground = page.locator("body")
    page.get_by_label("Dark").check()
    dark = page.screenshot(clip={"x": 0, "y": 0, "width": 2, "height": 2})
    page.get_by_label("Light").check()
    assert page.screenshot(clip={"x": 0, "y": 0, "width": 2, "height": 2}) != dark
    assert ground.is_visible()


def test_the_switch_is_remembered(opened: Open) -> None:
    page = opened(report(), color_scheme="light")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_label("Dark").check()
    page.reload()
    assert page.get_by_label("Dark").is_checked()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light


def test_without_scripts_all_of_it_is_there(opened: Open) -> None:
    page = opened(report(), java_script_enabled=False)
    assert page.locator("#case-table tbody tr").count() == page.locator("#case-table tbody tr:visible").count() == 61
    assert not page.locator("#case-controls").is_visible()
    summary = page.locator("#rule-TAM101 > summary")
    inside = page.locator("#rule-TAM101").get_by_role("heading", name="What it does")
    assert not inside.is_visible()
    summary.click()
    assert inside.is_visible()


def test_the_keyboard_goes_everywhere(opened: Open) -> None:
    page = opened(report())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the summary"
    assert page.locator(".skip").bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#summary"
    reached = set()
    for _ in range(120):
        page.keyboard.press("Tab")
        reached.add(page.evaluate(FOCUSED))
    assert {"finding-group-by", "finding-rule", "finding-text", "case-text", "Every case", "BUTTON"} <= reached
    focused = page.locator("summary").first
    focused.focus()
    page.keyboard.press("Space")
    assert page.locator("details").first.get_attribute("open") is not None
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def shown(page: Any) -> list[str]:
    return [str(title) for title in page.locator(".finding:visible h4").all_inner_texts()]


def test_findings_are_filtered_and_grouped(opened: Open) -> None:
    page = opened(report())
    assert len(shown(page)) == 4
    page.locator("#finding-severity").select_option("MEDIUM")
    assert shown(page) == ["MEDIUM TAN101 unstable-exp"]
    assert page.locator("#finding-count").inner_text() == "1 of 4"
    page.get_by_role("button", name="Show all").click()
    page.locator("#finding-rule").select_option(label="TAM101 (2)")
    page.locator("#finding-text").fill("kernels.py BOUNDS")
    assert shown(page) == ["HIGH TAM101 unmasked-access"]
    page.get_by_role("button", name="Show all").click()
    for key, heads in {
        "rule": ["TAB101", "TAM101", "TAN101"],
        "severity": ["HIGH", "MEDIUM", "LOW"],
        "stage": ["source"],
    }.items():
        page.get_by_label("Group by").select_option(key)
        assert page.locator(".group:visible h3").all_inner_texts() == heads
        assert len(shown(page)) == 4


def test_a_kernels_row_shows_its_findings_only(opened: Open) -> None:
    page = opened(report())
    page.get_by_label("Group by").select_option("rule")
    page.locator("#summary").get_by_role("link", name="kernel kernels.py").click()
    assert len(shown(page)) == 3
    assert page.locator(".group:visible h3").all_inner_texts() == ["kernel kernels.py"]
    assert page.evaluate("location.hash") == f"#{page.locator('.group:visible').get_attribute('id')}"


def test_a_rules_page_opens_where_a_finding_leads_to_it(opened: Open) -> None:
    page = opened(report())
    page.locator(".finding").get_by_role("link", name="TAM101").first.click()
    assert page.locator("#rule-TAM101").get_by_role("heading", name="What it does").is_visible()


def test_the_witness_can_be_copied(opened: Open) -> None:
    page = opened(report(), permissions=["clipboard-read", "clipboard-write"])
    button = page.locator(".finding").get_by_role("button", name="Copy").first
    button.click()
    page.wait_for_function("[...document.querySelectorAll('.copy')].some((one) => one.textContent === 'Copied')")
    assert page.evaluate("navigator.clipboard.readText()") == "python -c 'pass'"


def test_four_thousand_findings_are_no_burden(opened: Open, make_finding: Callable[..., Finding]) -> None:
    page = opened(render(many(make_finding, 4_000), "html", color=False, about=About("tritonaudit audit", EVERY)))
    spent = page.evaluate(
        """() => {
          const began = performance.now();
          for (const [name, value] of [["group-by", "rule"], ["severity", "LOW"], ["text", "offsets_3998"]]) {
            const control = document.getElementById(`finding-${name}`);
            control.value = value;
            control.dispatchEvent(new Event("input"));
          }
          document.body.getBoundingClientRect();
          return performance.now() - began;
        }"""
    )
    assert page.locator("#finding-count").inner_text() == "1 of 4000"
    assert spent < 3000


@pytest.fixture(scope="module")
def axe() -> str:
    """The script of axe-core, which `npm install --no-save axe-core` puts beside the sources."""
    script = Path(__file__).parents[3] / "node_modules" / "axe-core" / "axe.min.js"
    if not script.exists():
        pytest.skip("axe-core is not installed: `npm install --no-save axe-core`")
    return script.read_text(encoding="utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_axe_has_nothing_to_say(width: int, scheme: str, opened: Open, axe: str) -> None:
    page = opened(report(), color_scheme=scheme, viewport={"width": width, "height": 800})
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.evaluate(axe)
    found = page.evaluate("axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))")
    assert found == []


def test_cases_are_sorted_by_number_and_filtered(opened: Open) -> None:
    page = opened(report())
    sort = page.locator("#case-table thead").get_by_role("button", name="Seconds")
    sort.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    head = page.locator("#case-table th[aria-sort]")
    assert (head.inner_text(), head.get_attribute("aria-sort")) == ("Seconds", "descending")
    assert "cols=1000" in page.locator("#case-table tbody tr").first.inner_text()
    page.get_by_label("Show rows with").fill("float16 COLS=1000")
    assert page.locator("#case-table tbody tr:visible").count() == 1
    assert page.locator("#case-count").inner_text() == "1 of 61"
    page.get_by_label("Show rows with").fill("")
    page.get_by_label("Status").select_option("pass")
    assert page.locator("#case-count").inner_text() == "61 of 61"


def test_two_thousand_cases_are_no_burden(opened: Open) -> None:
    page = opened(report(2000))
    assert page.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd") < 5000
    spent = page.evaluate(
        """() => {
          const began = performance.now();
          document.querySelectorAll("#case-table th button")[1].click();
          const text = document.getElementById("case-text");
          text.value = "n=1999";
          text.dispatchEvent(new Event("input"));
          document.body.getBoundingClientRect();
          return performance.now() - began;
        }"""
    )
    assert page.locator("#case-count").inner_text() == "1 of 2001"
    assert spent < 2000


CUT = """
(width) => [...document.querySelectorAll("body *:not(.skip, .scrolling *, pre.compiled *, svg *)")]
  .filter((one) => one.checkVisibility() && !one.closest(".stacked thead"))
  .filter((one) => one.getBoundingClientRect().right > width || one.getBoundingClientRect().left < 0)
  .map((one) => `${one.tagName}.${one.className}`)
"""


@pytest.mark.parametrize("width", [360, 400, 1280])
def test_the_page_is_as_wide_as_the_screen(width: int, opened: Open) -> None:
    page = opened(report(), viewport={"width": width, "height": 800})
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CUT, width) == []


def test_on_paper_everything_is_open_and_light(opened: Open) -> None:
    page = opened(report(), color_scheme="dark")
    page.get_by_label("Dark").check()
    page.get_by_label("Show rows with").fill("n=7")
    page.locator("#finding-severity").select_option("LOW")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.locator("#rule-TAM101").get_by_role("heading", name="What it does").is_visible()
    assert page.locator("#case-table tbody tr:visible").count() == 61
    assert len(shown(page)) == 4
    assert not page.locator("nav").is_visible()
    assert not page.locator(".copy").first.is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") in (
        "rgb(255, 255, 255)",
        "rgba(0, 0, 0, 0)",
    )
    assert page.pdf()[:5] == b"%PDF-"
