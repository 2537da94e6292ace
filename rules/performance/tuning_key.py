"""TAP201: an autotuner's key holds the number of sequences, which is another one for every batch."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.flow.facts import KernelFlow
from tritonaudit.kernel.tuning import tuners
from tritonaudit.kernel.tuning_keys import sequence_counts
from tritonaudit.rule import Hit, Rule
from tritonaudit.source.outline import span_of


class TuningKey(Rule):
    code, name = "TAP201", "tuning-key"
    summary = "The autotuner's key holds the number of sequences in a batch, so that each batch is tuned anew."
    severity, confidence, since = Severity.WARNING, Confidence.MEDIUM, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        lines = kernel.module.lines
        for autotune, _ in tuners(kernel.module, kernel.function):
            for size in sequence_counts(autotune, kernel.launches.launches):
                yield Hit(
                    span_of(size.node, lines),
                    f"`{size.name}` is in the key as `{ast.unparse(size.value)}`, the number of sequences in a batch: "
                    "the autotuner times all configs again for each new number",
                    remedy="leave it out of the key, or add a parameter for the key that is rounded to a power of two",
                    related=((span_of(size.value, lines), "it is passed as this"),),
                )
