"""TAP203: settings of a launch that do nothing: a config that is there twice, a computed one that is overwritten."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.finding import Confidence, Severity
from tritonaudit.flow.facts import KernelFlow
from tritonaudit.kernel.config_lists import repeated_configs
from tritonaudit.kernel.overwritten import overwritten_settings
from tritonaudit.rule import Hit, Rule
from tritonaudit.source.outline import span_of


class ConfigHygiene(Rule):
    code, name = "TAP203", "config-hygiene"
    summary = "A config stands in its autotuner's list twice, or what a wrapper computes for a launch is overwritten."
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
        for setting in overwritten_settings(kernel.launches.launches):
            yield Hit(
                span_of(setting.node, lines),
                f"`{setting.name}` was computed for the launch, and is set to a number before anything reads it",
                remedy="remove this line, or the computation",
                severity=Severity.WARNING,
                confidence=Confidence.MEDIUM,
                related=((span_of(setting.computed, lines), "it is computed here"),),
            )
