"""TAP203: a config that stands in its autotuner's list twice."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.flow.facts import KernelFlow
from tritonaudit.kernel.config_lists import repeated_configs
from tritonaudit.rule import Hit, Rule
from tritonaudit.source.outline import span_of


class ConfigHygiene(Rule):
    code, name = "TAP203", "config-hygiene"
    summary = "A config stands in its autotuner's list twice."
    severity, confidence, since = Severity.INFO, Confidence.HIGH, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        lines = kernel.module.lines
        for config, first in repeated_configs(kernel.module, kernel.function):
            yield Hit(
                span_of(config.node, lines),
                "this config is in the list already: the autotuner compiles and times it again",
                remedy="remove it, or write the one that was meant",
                related=((span_of(first.node, lines), "it is here, too"),),
            )
