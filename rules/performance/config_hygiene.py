"""TAP203: settings of a launch that do nothing: a config that is there twice, a computed one that is overwritten."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.kernel.config_lists import repeated_configs
from tritonaudit.kernel.overwritten import overwritten_settings
from tritonaudit.rule import Hit, Rule


class ConfigHygiene(Rule):
    code, name = "TAP203", "config-hygiene"
    summary = "A config is in its autotuner's list twice, or what a wrapper computes for a launch is overwritten."
    severity, confidence, since = Severity.INFO, Confidence.HIGH, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for config, first in repeated_configs(kernel.module, kernel.function):
            yield Hit(
                kernel.place(config.node),
                "this config is in the list already: the autotuner compiles and times it again",
                remedy="remove it, or write the one that was meant",
                related=((kernel.place(first.node), "it is here, too"),),
            )
        for setting in overwritten_settings(kernel.launches.launches):
            yield Hit(
                kernel.place(setting.node),
                f"`{setting.name}` was computed for the launch, and is set to a number before anything reads it",
                remedy="remove this line, or the computation",
                severity=Severity.WARNING,
                confidence=Confidence.MEDIUM,
                related=((kernel.place(setting.computed), "it is computed here"),),
            )
