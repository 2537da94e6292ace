"""What a report tells once: the same cause in a kernel or in a file, with its other places beside it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.test_finding import FINDING
from tritonaudit.config import Config
from tritonaudit.engine import check_text
from tritonaudit.finding import Audit, Edit, Extent, Finding, Fix, Severity, Span
from tritonaudit.fixes.applying import edited
from tritonaudit.report.causes import reported_once

HEAD = "import triton\nimport triton.language as tl\n"
TANH = """

@triton.jit
def {name}(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.math.tanh(tl.load(x_ptr + offsets, mask=offsets < n)){comment}
    tl.store(out_ptr + offsets, tl.math.tanh(x), mask=offsets < n){comment}
"""
IGNORED = "  # tritonaudit: ignore[TAC106] why"


def reported(text: str) -> list[Finding]:
    return list(reported_once(audited(text)).findings)


def audited(text: str) -> Audit:
    return check_text(text.encode(), Path("/nowhere/kernel.py"), Config(Path("/nowhere")))


def kernels(*names: str, ignored: str = "") -> str:
    return HEAD + "".join(TANH.format(name=name, comment=IGNORED if name == ignored else "") for name in names)


def test_what_a_file_does_in_three_kernels_is_reported_once() -> None:
    (one,) = reported(kernels("first", "second", "third"))
    assert one.message == "`tl.math.tanh` was removed in Triton 3.0 (target >=3.2); the same in 2 other kernels"
    assert (one.kernel, one.span.line) == ("first", 8)
    assert [(place.span.line, place.message) for place in one.related] == [
        (9, "here too"),
        (15, "the same in `second`, 2 times"),
        (22, "the same in `third`, 2 times"),
    ]


def test_places_in_one_kernel_are_counted() -> None:
    (one,) = reported(kernels("first"))
    assert one.message.endswith("; the same at 1 other place")


def test_what_is_suppressed_is_no_place_of_it() -> None:
    (one,) = reported(kernels("first", "second", ignored="first"))
    assert (one.kernel, len(one.related)) == ("second", 1)
    (one,) = reported(kernels("first", "second", ignored="second"))
    assert (one.kernel, one.message.endswith("; the same at 1 other place")) == ("first", True)


def test_its_fix_mends_all_places() -> None:
    text = kernels("first", "second")
    (one,) = reported(text)
    assert one.fix is not None
    assert not reported(edited(text, one.fix.edits))


def test_what_block_pointers_need_goes_with_them() -> None:
    helper = "\n\n@triton.jit\ndef load(block):\n    return tl.load(tl.advance(block, (0, 8)), boundary_check=(0, 1))\n"
    maker = "\n\n@triton.jit\ndef make(x, n):\n    return tl.make_block_ptr(x, (n,), (1,), (0,), (64,), (0,))\n"
    assert [one.message.split("`")[1] for one in reported(HEAD + helper + maker)] == ["tl.make_block_ptr"]
    assert sorted(one.message.split("`")[1] for one in reported(HEAD + helper)) == ["tl.advance", "tl.load"]


def places(*findings: Finding) -> list[tuple[str | None, int]]:
    return [(one.kernel, len(one.related)) for one in reported_once(Audit(findings)).findings]


def at(line: int, once_in: Extent | None, kernel: str | None = "kernel") -> Finding:
    span = replace(FINDING.span, line=line, end_line=line)
    return replace(FINDING, span=span, kernel=kernel, once_in=once_in)


def test_a_rule_says_in_what_a_cause_is_one() -> None:
    def three(once_in: Extent | None) -> list[Finding]:
        return [at(3, once_in), at(4, once_in), at(9, once_in, "other")]

    assert places(*three(None)) == [("kernel", 0), ("kernel", 0), ("other", 0)]
    assert places(*three(Extent.KERNEL)) == [("kernel", 1), ("other", 0)]
    assert places(*three(Extent.FILE)) == [("kernel", 2)]


def test_outside_kernels_only_a_file_is_one() -> None:
    assert places(at(3, Extent.KERNEL, None), at(4, Extent.KERNEL, None)) == [(None, 0), (None, 0)]
    assert places(at(3, Extent.FILE, None), at(4, Extent.FILE, None)) == [(None, 1)]


def test_what_differs_is_a_cause_of_its_own() -> None:
    first = at(3, Extent.FILE)
    for other in (
        replace(at(4, Extent.FILE), message="nothing bounds `cols`"),
        replace(at(4, Extent.FILE), severity=Severity.INFO),
        replace(at(4, Extent.FILE), path="b.py"),
        replace(at(4, Extent.FILE), in_baseline=True),
    ):
        assert places(first, other) == [("kernel", 0), ("kernel", 0)]


def test_a_fix_that_touches_another_waits() -> None:
    def fixed(line: int, column: int, text: str) -> Finding:
        finding = at(line, Extent.FILE)
        return replace(finding, fix=Fix("write it", (Edit(Span(line, column, line, column + 3), text),), safe=True))

    (one,) = reported_once(Audit((fixed(3, 1, "a"), fixed(3, 2, "b"), fixed(4, 1, "c")))).findings
    assert one.fix is not None
    assert [edit.replacement for edit in one.fix.edits] == ["a", "c"]
