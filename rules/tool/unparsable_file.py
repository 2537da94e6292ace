"""TAX001: a file that Python cannot parse."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity, Span
from tritonaudit.rule import Hit, Rule
from tritonaudit.source.outline import Unparsable


class UnparsableFile(Rule):
    code, name = "TAX001", "unparsable-file"
    summary = "A file with kernels cannot be parsed, so nothing in it was audited."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"

    def check(self, failure: Unparsable) -> Iterator[Hit]:
        line, column = failure.line or 1, failure.column or 1
        yield Hit(
            Span(line, column, line, column + 1),
            f"this file cannot be parsed: {failure.message}",
            remedy="fix it, or run tritonaudit under the Python version that it is written for",
        )
