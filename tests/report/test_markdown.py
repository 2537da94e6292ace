"""The report in Markdown: its headings, what passes and what does not, how it answers checklists, what it escapes."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.compiled import kernel, variant
from tests.ran import FAR, FILE, PASSING, run, section, trial
from tritonaudit.compile.audit import CompileAudit
from tritonaudit.finding import Audit, Finding, Outcome, Severity, Stage, Status, Witness
from tritonaudit.report import render
from tritonaudit.report.about import About, today
from tritonaudit.report.compiled import CompiledSection
from tritonaudit.report.markdown.text import code, fenced, prose, row
from tritonaudit.report.parts import asked_for
from tritonaudit.report.ran import RanSection
from tritonaudit.report.section import Section
from tritonaudit.rules import all_rules
from tritonaudit.subject.model import Layout
from tritonaudit.suites.coverage import Coverage, Missed
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.stage import RunAudit
from tritonaudit.suites.suite import Suite

MakeFinding = Callable[..., Finding]
CLEAN = Audit(files=1, kernels=1)
EVERY = frozenset((Stage.SOURCE, Stage.COMPILE, Stage.RUN))
CATEGORIES = ["Correctness", "Performance", "Memory patterns", "Numerical stability", "Best practices"]
HEADINGS = [
    "# Triton Kernel Audit Report",
    "## Summary",
    "## Detailed Findings",
    "## Performance Audit: `kernel`",
    "## Roofline",
    "## Checklists",
    "## Recommendations",
    "## Test Commands",
]


def report(*sections: Section, audit: Audit = CLEAN, stages: frozenset[Stage] = EVERY, **about: object) -> str:
    reported = About("tritonaudit audit", stages, **about)  # type: ignore[arg-type]
    return render(audit, "markdown", color=False, sections=sections, about=reported)


def cells(text: str, first: str) -> list[str]:
    """The cells of the row whose first cell is this, without it."""
    rows = [line for line in text.splitlines() if line.startswith(f"| {first} |")]
    assert rows, f"no row of {first}"
    return rows[0].strip("| ").split(" | ")[1:]


def of_kernel(make_finding: MakeFinding, code: str, severity: Severity = Severity.ERROR) -> Finding:
    return make_finding(code=code, severity=severity, path=FILE, kernel="kernel")


# the whole


@pytest.mark.parametrize("sections", [(), (section(run("op")),)])
def test_every_heading_is_there_in_order(sections: tuple[Section, ...], make_finding: MakeFinding) -> None:
    audit = Audit(findings=(of_kernel(make_finding, "TAM101"),))
    lines = report(*sections, audit=audit).splitlines()
    assert [line for line in lines if re.match("# Triton|## ", line)] == HEADINGS
    assert lines[2] == (
        "**Kernel**: `kernel`   **File**: `kernels.py`   **Date**: 2026-01-01   **Auditor**: "
        f"tritonaudit 0.1.0 (Triton 3.9.0, PyTorch 2.13.0, {'CPU engine' if sections else 'nothing was run'})"
    )


def test_the_date_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert today() == "1970-01-02"
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    assert today() > "2026"


# the summary


def test_what_did_not_run_does_not_pass() -> None:
    text = report(stages=frozenset((Stage.SOURCE,)))
    assert [cells(text, category)[0] for category in CATEGORIES[:4]] == ["➖ NOT RUN"] * 4
    nothing = report(stages=frozenset((Stage.SOURCE,)), audit=Audit())
    assert [cells(nothing, category)[0] for category in CATEGORIES] == ["➖ NOT RUN"] * 5
    assert "✅ PASS" not in nothing


def test_best_practices_pass_and_name_what_no_rule_asks() -> None:
    text = report(stages=frozenset((Stage.SOURCE,)))
    assert cells(text, "Best practices") == ["✅ PASS", "5 items of its checklist are asked by no rule"]


@pytest.mark.parametrize(
    ("suite", "category"),
    [
        (Suite.CORRECTNESS, "Correctness"),
        (Suite.INTEGRITY, "Correctness"),
        (Suite.MEMORY, "Memory patterns"),
        (Suite.STABILITY, "Numerical stability"),
    ],
)
def test_a_category_without_all_of_its_core_is_incomplete_and_says_what_is_missing(suite: Suite, category: str) -> None:
    short = Coverage(38, 37, (Missed(suite.value, "n=1023", "the time was spent"),), 111, 33)
    text = report(section(run("op", coverage=short)))
    assert cells(text, category) == [
        "🟡 INCOMPLETE",
        f"`op`: {suite.value}: n=1023: the time was spent"
        + ("; `op`: 1 case tried, 78 left out" if category == "Correctness" else ""),
    ]
    others = {"Correctness", "Memory patterns", "Numerical stability"} - {category}
    assert {cells(text, other)[0] for other in others} == {"✅ PASS"}


def test_a_stage_without_subjects_does_not_pass() -> None:
    text = report(section())
    assert cells(text, "Correctness") == [
        "➖ NOT RUN",
        "there is no subject to run: `tritonaudit init` writes one",
    ]


def test_checks_that_all_passed_pass() -> None:
    text = report(section(run("op")))
    found = {category: cells(text, category)[0] for category in CATEGORIES}
    assert found["Correctness"] == found["Memory patterns"] == found["Numerical stability"] == "✅ PASS"
    assert found["Performance"] == "➖ NOT RUN"


@pytest.mark.parametrize(
    ("check", "category"),
    [("wrong result", "Correctness"), ("stability: ties", "Numerical stability")],
)
def test_a_category_of_which_a_check_did_not_run_does_not_pass(check: str, category: str) -> None:
    status, issues = cells(report(section(run("op", checks={check: Status.NOT_RUN}))), category)
    assert status == "🟡 INCOMPLETE"
    assert issues == f"{check.removeprefix('stability: ')} in `op`: not run: why"


def test_a_check_that_was_never_tried_is_no_pass() -> None:
    subject = run("op")
    without = type(subject)(
        subject.path, "op", subject.trials, (), tuple(one for one in subject.outcomes if one.check != "wrong result")
    )
    status, issues = cells(report(section(without)), "Correctness")
    assert (status, issues) == ("🟡 INCOMPLETE", "wrong result in `op`: not tried")


def test_a_check_that_no_checklist_asks_for_is_reported_of_a_pass() -> None:
    text = report(section(run("op", checks={Symptom.THREAD.value: Status.NOT_RUN})))
    assert cells(text, "Correctness") == ["✅ PASS", "thread or stream beside the call in `op`: not run: why"]


def test_another_subject_that_was_not_checked_keeps_a_category_from_passing() -> None:
    text = report(section(run("one"), run("two", checks={"wrong result": Status.NOT_RUN})))
    assert cells(text, "Correctness") == ["🟡 INCOMPLETE", "wrong result in `two`: not run: why"]


def test_checks_that_did_not_run_for_one_reason_are_reported_together() -> None:
    missed = dict.fromkeys(list(PASSING)[:6], Status.NOT_RUN)
    text = report(section(run("one", checks=missed), run("two", checks=missed)))
    assert cells(text, "Correctness")[1].endswith("and 4 others in `one` and `two`: not run: why")


def test_a_kernel_that_no_subject_launches_keeps_a_category_from_passing(make_finding: MakeFinding) -> None:
    other = make_finding(code="TAB199", severity=Severity.INFO, path="other.py", kernel="other_kernel")
    text = report(section(run("op")), audit=Audit(findings=(other,)))
    assert cells(text, "Correctness") == ["🟡 INCOMPLETE", "no subject launches `other_kernel`"]
    assert cells(text, "`other_kernel` (other.py)")[0] == "➖ NOT RUN"
    assert cells(text, "`kernel` (kernels.py)")[0] == "✅ PASS"


@pytest.mark.parametrize(
    ("code", "severity", "word", "status"),
    [
        ("TAM101", Severity.ERROR, "HIGH", "❌ FAIL"),
        ("TAM301", Severity.ERROR, "CRITICAL", "❌ FAIL"),
        ("TAM401", Severity.ERROR, "CRITICAL", "❌ FAIL"),
        ("TAM401", Severity.WARNING, "MEDIUM", "⚠️ WARN"),
        ("TAM101", Severity.INFO, "LOW", "✅ PASS"),
    ],
)
def test_the_worst_finding_decides(
    code: str, severity: Severity, word: str, status: str, make_finding: MakeFinding
) -> None:
    text = report(section(run("op")), audit=Audit(findings=(of_kernel(make_finding, code, severity),)))
    assert cells(text, "Memory patterns") == [status, f"1 {word}"]
    assert f"1. **[{word}]** {code} unmasked-access: Nothing bounds it." in text
    assert f" ({severity.value}, high confidence)\n" in text


def test_a_failed_check_without_a_finding_is_a_warning() -> None:
    text = report(section(run("op", checks={"wrong result": Status.FAIL})))
    assert cells(text, "Correctness") == ["⚠️ WARN", "seen, with no finding of it: wrong result"]


def test_an_inconclusive_check_is_a_warning() -> None:
    text = report(section(run("op", checks={"reference too weak": Status.INCONCLUSIVE})))
    assert cells(text, "Correctness")[0] == "⚠️ WARN"


# findings, recommendations, commands


def test_a_finding_is_reported_with_its_witness_and_how_to_see_it_again(make_finding: MakeFinding) -> None:
    witness = Witness("n=3 float32", "python -c \"import tritonaudit as t; t.reproduce('a.py', 'op')\"")
    found = make_finding(code="TAC401", path="a b.py", witness=witness, remedy="write `x`", kernel="kernel")
    static = make_finding(path="a b.py", severity=Severity.WARNING)
    text = report(audit=Audit(findings=(static, found), texts={"a b.py": "x = 1\n"}))
    assert "   * Where: `a b.py:1` in `kernel` (error, high confidence)\n" in text
    assert f"   * Witness: n=3 float32: `{witness.command}`" in text
    assert "   * Remedy: write `x`" in text
    commands = text.partition("## Test Commands\n\n")[2]
    assert commands == (
        "```sh\n"
        f"# TAC401 unmasked-access at a b.py:1\n{witness.command}\n\n"
        "# TAM101 unmasked-access at a b.py:1\ntritonaudit check 'a b.py' --select TAM101\n\n"
        "# the whole audit\ntritonaudit audit\n"
        "```\n"
    )
    advice = text.partition("## Recommendations\n\n")[2].splitlines()
    assert advice[0] == "1. **[CRITICAL]** `a b.py:1`: write `x` (TAC401 unmasked-access)"
    assert advice[1] == "2. **[MEDIUM]** `a b.py:1`: Nothing bounds it. (TAM101 unmasked-access)"


# checklists


def test_findings_answer_and_silence_of_all_that_was_asked_does(make_finding: MakeFinding) -> None:
    bad = report(section(run("op")), audit=Audit(findings=(of_kernel(make_finding, "TAN101"),)))
    assert cells(bad, "accumulation in higher precision") == ["❌ no", "TAN101 at `kernels.py:1`"]
    assert cells(bad, "red flag: accumulation in fp16") == ["❌ yes", "TAN101 at `kernels.py:1`"]
    good = report(section(run("op")))
    assert cells(good, "accumulation in higher precision") == ["✅ yes", "no finding of TAN101"]
    assert cells(good, "red flag: accumulation in fp16") == ["✅ no", "no finding of TAN101"]


def test_a_rule_that_did_not_run_answers_nothing() -> None:
    text = report(stages=frozenset((Stage.SOURCE,)))
    assert cells(text, "coalescing: no stride between lanes") == [
        "➖ not checked",
        "TAM301 did not run: `tritonaudit compile` compiles kernels",
    ]
    off = report(rules=frozenset(rule.code for rule in all_rules()) - {"TAN101"})
    assert cells(off, "accumulation in higher precision") == ["➖ not checked", "TAN101 was turned off"]


def test_a_rule_that_saw_no_kernel_answers_nothing() -> None:
    text = report(section(run("op")), audit=Audit(files=1))
    assert cells(text, "powers of 2") == ["➖ not checked", "TAC102 did not see everything: no kernel was found"]
    skipped = Audit(kernels=1, outcomes=(Outcome("source", "kernels.py:7", Status.NOT_RUN, reason="too deep"),))
    text = report(section(run("op")), audit=skipped)
    assert cells(text, "powers of 2")[1] == "TAC102 did not see everything: `kernels.py:7` was not analysed"


def test_what_was_not_compiled_answers_nothing() -> None:
    item = "coalescing: no stride between lanes"
    assert cells(report(section(run("op"))), item)[1] == "TAM301 did not see everything: no kernel was compiled"
    seen = kernel(variant(), path=FILE, name="kernel")
    compiled = CompiledSection(CompileAudit(Audit(), (seen,), ("sm_90",), "3.9.0"))
    assert cells(report(section(run("op")), compiled), item) == ["✅ yes", "no finding of TAM301"]
    other = CompiledSection(CompileAudit(Audit(), (kernel(variant(), path=FILE, name="other"),), ("sm_90",), "3.9.0"))
    assert cells(report(section(run("op")), other), item)[1] == "TAM301 did not see everything: `kernel` not compiled"


def test_a_check_that_did_not_run_answers_nothing() -> None:
    text = report(section(run("op", checks={"stability: ties": Status.NOT_RUN})))
    assert cells(text, "holds on ties") == ["➖ not checked", "not run: why"]
    assert cells(text, "holds on large decay") == ["✅ yes", "nothing wrong in 2 cases of `op`"]


def test_a_failed_check_answers_with_what_was_seen() -> None:
    text = report(section(run("op", checks={"stability: ties": Status.FAIL})))
    assert cells(text, "holds on ties")[0] == "❌ no"
    assert cells(text, "holds on ties")[1].startswith("ties in `op`")


def test_numbers_that_no_dtype_holds_are_not_asked_for() -> None:
    half = run("op", trial(dtype="float16"))
    outcomes = tuple(one for one in half.outcomes if one.check != "stability: cancellation")
    text = report(section(type(half)(half.path, "op", half.trials, (), outcomes)))
    assert cells(text, "no subtraction of near-equal values") == [
        "✅ yes",
        "cancellation in 16 bits: nothing wrong in 2 cases of `op`",
    ]
    assert cells(text, "Numerical stability")[0] == "✅ PASS"


def test_values_are_covered_by_the_cases_that_were_tried() -> None:
    subject = run(
        "op",
        trial({"batch": 7, "n": 64}, blocks=(64,)),
        trial({"batch": 1, "n": 131}, layout=Layout.TRANSPOSED, dtype="bfloat16"),
        trial({"batch": 1, "n": 1000}, fill="1e6"),
        left_out=(("fill 1e38", "float16 cannot hold it"), ("3 cases, n=63 in none before", "the time was spent")),
        coverage=Coverage(38, 38, (), 9, 6),
    )
    text = report(section(subject))
    assert cells(text, "size 64") == ["✅ covered", "n"]
    assert cells(text, "size B") == ["✅ covered", "n=64 of B=64"]
    assert cells(text, "size 2B+3") == ["✅ covered", "n=131 of B=64"]
    assert cells(text, "size B-1") == ["➖ not covered", "the time was spent"]
    assert cells(text, "size 4096") == ["➖ not covered", "none of its cases has it"]
    assert cells(text, "batch 7") == ["✅ covered", "batch"]
    assert cells(text, "batch 256")[0] == "➖ not covered"
    assert cells(text, "layout transposed") == ["✅ covered", "bfloat16"]
    assert cells(text, "fill 1e6") == ["✅ covered", "float32"]
    assert cells(text, "fill 1e38") == ["➖ not covered", "float16 cannot hold it"]
    assert cells(text, "the dtypes that the subject names") == ["✅ covered", "float32 and bfloat16"]
    assert "* fill 1e38: float16 cannot hold it\n" in text
    assert "* 3 cases, n=63 in none before: the time was spent\n" in text
    assert " of 9 cases" not in text
    assert "Give `op` more time" in text
    assert cells(text, "Correctness") == ["✅ PASS", "`op`: 3 cases tried, 3 left out"]


def test_a_case_in_which_nothing_was_checked_covers_nothing() -> None:
    tried = trial({"n": 64})
    unknown = type(tried)(tried.case, frozenset(), kernels=tried.kernels)
    assert cells(report(section(run("op", unknown))), "size 64")[0] == "➖ not covered"


def test_subjects_that_differ_are_named() -> None:
    one, two = run("one", trial({"n": 64})), run("two", trial({"n": 65}))
    assert cells(report(section(one, two)), "size 64") == [
        "➖ not covered",
        "`one`: n; `two`: not covered, none of its cases has it",
    ]
    twins = run("op", trial({"n": 64}), path="a.py"), run("op", trial({"n": 65}), path="b.py")
    assert cells(report(section(*twins)), "size 64")[1].startswith("`a.py: op`: n; `b.py: op`: ")


def test_the_verdicts_of_convention_decide_nothing() -> None:
    text = report(section(run("op", trial(), trial(close=FAR))))
    assert cells(text, "within the strict 1e-5") == ["➖ no", "in 1 of 2 trials"]
    assert cells(text, "Correctness")[0] == "✅ PASS"


def test_checks_that_no_item_asks_for_are_shown() -> None:
    text = report(section(run("op", checks={"crash": Status.NOT_RUN}), run("other")))
    assert "| crash | not run | `op`: why |" in text
    assert "| crash | pass | `other`: 2 cases |" in text


# text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("`x[:, None] * y` is *odd*", r"`x[:, None] * y` is \*odd\*"),
        ("an `unclosed tick", r"an \`unclosed tick"),
        ("n_cols and _private_", r"n_cols and \_private\_"),
        ("a <b> & a < b &amp;", r"a \<b> & a < b \&amp;"),
        ("[x](http://y) and [39, 68]: 1", r"\[x\](http://y) and [39, 68]: 1"),
        ("# heading", r"\# heading"),
        ("1. item", r"1\. item"),
        ("- item", r"\- item"),
        ("@triton.jit of #12", "&#64;triton.jit of &#35;12"),
        ("two\nlines", r"two\\nlines"),
    ],
)
def test_text_shows_as_it_is(text: str, shown: str) -> None:
    assert prose(text) == shown


def test_code_and_tables_hold_anything() -> None:
    assert code("a`b") == "``a`b``"
    assert code("`a") == "`` `a ``"
    assert row("a|b", "`c|d`") == r"| a\|b | `c\|d` |"
    assert fenced(["```", "x"]) == ["````", "```", "x", "````"]


def test_a_part_that_nobody_asked_for_did_not_run() -> None:
    wrong = run("op", checks={Symptom.WRONG_RESULT.value: Status.FAIL})
    ran = asked_for(RunAudit(Audit(), (wrong,)), {"memory"})
    assert not ran.runs[0].is_known_to_compute
    text = report(RanSection(ran))
    assert cells(text, "Memory patterns") == ["✅ PASS", "none"]
    assert cells(text, "Correctness") == ["➖ NOT RUN", "not asked for; wrong result fails all the same in `op`"]
    assert cells(text, "Numerical stability") == ["➖ NOT RUN", "not asked for"]
