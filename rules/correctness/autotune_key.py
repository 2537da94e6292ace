"""TAC202: an autotuner or heuristics that name what the kernel does not have, lack a flag, or are out of order."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Fix, Severity
from tritonaudit.fixes.tuning import innermost, option_beside
from tritonaudit.kernel.tuning import (
    LAUNCH_OPTIONS,
    OPTIONS,
    Autotune,
    Decorator,
    Heuristics,
    Jit,
    computes,
    decorators,
)
from tritonaudit.kernel.tuning_keys import missing_flags
from tritonaudit.rule import Fixable, Hit, Rule


class AutotuneKey(Rule):
    code, name = "TAC202", "autotune-key"
    summary = "An autotuner or heuristics do not fit the kernel below them: wrong names, options or order."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"
    fixable = Fixable.SAFE

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        found = decorators(kernel.module, kernel.function)
        parameters = {parameter.name for parameter in kernel.function.parameters}
        for decorator in found:
            if isinstance(decorator, Autotune):
                yield from self._names(kernel, decorator, parameters)
                yield from self._configs(kernel, decorator, parameters)
                yield from self._passed_again(kernel, decorator)
            elif isinstance(decorator, Heuristics):
                yield from self._heuristics(kernel, decorator, parameters)
        yield from self._order(kernel, found)
        for missing in missing_flags(kernel.module, kernel.function):
            yield Hit(
                kernel.place(missing.key),
                f"`{missing.flag}` is not in this key, and is in those of all other tuned kernels of the file that have"
                " it: the config that suits one value is taken for the other",
                remedy=f'add "{missing.flag}" to the key',
                severity=Severity.INFO,
                confidence=Confidence.MEDIUM,
                related=((kernel.place(missing.keys[0]), "it is in this one"),),
            )

    def _names(self, kernel: KernelFlow, autotune: Autotune, parameters: set[str]) -> Iterator[Hit]:
        key = autotune.arguments.get("key")
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield self._hit(
                kernel,
                key,
                f"`key` is the string {key.value!r}, which is read letter by letter",
                f'write `["{key.value}"]`',
            )
        for name, node in autotune.names("key"):
            if name not in parameters:
                yield self._hit(
                    kernel,
                    node,
                    f"`{name}` in `key` is not a parameter of the kernel: Triton 3.9 rejects it, and 3.2 to 3.8"
                    " tune once for all sizes",
                    "name a parameter of the kernel",
                )
        for argument in ("reset_to_zero", "restore_value"):
            for name, node in autotune.names(argument):
                if name not in parameters:
                    message = f"`{name}` in `{argument}` is not a parameter of the kernel"
                    yield self._hit(kernel, node, message, "name a parameter of the kernel")

    def _configs(self, kernel: KernelFlow, autotune: Autotune, parameters: set[str]) -> Iterator[Hit]:
        for config in autotune.configs:
            for name, value in config.constants.items():
                if name in OPTIONS and name not in parameters:
                    yield self._hit(
                        kernel,
                        value,
                        f"`{name}` is among the constants of this config, where its default overrides it",
                        f"pass it to `triton.Config` by name: `triton.Config({{…}}, {name}=…)`",
                        fix=option_beside(kernel.module, config, name, value),
                    )
                elif name not in parameters | LAUNCH_OPTIONS:
                    message = f"`{name}` in this config is not a parameter of the kernel"
                    yield self._hit(kernel, value, message, "name a parameter of the kernel")
            yield from self._warps(kernel, config.options)

    def _warps(self, kernel: KernelFlow, options: dict[str, ast.expr]) -> Iterator[Hit]:
        value = options.get("num_warps")
        if isinstance(value, ast.Constant) and not _is_power_of_2(value.value):
            yield self._hit(kernel, value, f"`num_warps` is {value.value!r}, and must be a power of two", "use 4 or 8")

    def _passed_again(self, kernel: KernelFlow, autotune: Autotune) -> Iterator[Hit]:
        for launch in kernel.launches.launches:
            for name in sorted((autotune.tuned | {"num_warps", "num_stages"}) & launch.arguments.keys()):
                if name in autotune.tuned or name in {k.arg for k in launch.call.keywords}:
                    yield self._hit(
                        kernel,
                        launch.arguments[name],
                        f"the autotuner sets `{name}`, and this launch passes it again",
                        "leave it out of the launch",
                    )

    def _heuristics(self, kernel: KernelFlow, found: Heuristics, parameters: set[str]) -> Iterator[Hit]:
        for name, value in found.values.items():
            if name not in parameters | OPTIONS:
                message = f"`{name}` in the heuristics is not a parameter of the kernel"
                yield self._hit(kernel, value, message, "name a parameter of the kernel")
                continue
            for launch in kernel.launches.launches:
                if name in launch.arguments and not computes(value, launch, name):
                    yield self._hit(
                        kernel,
                        launch.arguments[name],
                        f"the heuristics set `{name}`, and silently override what this launch passes",
                        "leave it out of the launch, or out of the heuristics",
                        Severity.WARNING,
                    )

    def _order(self, kernel: KernelFlow, found: tuple[Decorator, ...]) -> Iterator[Hit]:
        jit = next((index for index, decorator in enumerate(found) if isinstance(decorator, Jit)), len(found))
        below = found[jit + 1 :]
        all_of_triton = all(isinstance(decorator, (Autotune, Heuristics)) for decorator in below)
        for decorator in below:
            if isinstance(decorator, (Autotune, Heuristics)):
                nodes = [one.node for one in found[jit:]]
                fix = innermost(kernel.module, nodes) if all_of_triton else None
                what = "autotune" if isinstance(decorator, Autotune) else "heuristics"
                message = f"`@triton.jit` is above `@triton.{what}`, which fails when the file is imported"
                yield self._hit(kernel, decorator.node.func, message, "put `@triton.jit` next to the function", fix=fix)

    def _hit(
        self,
        kernel: KernelFlow,
        node: ast.expr,
        message: str,
        remedy: str,
        severity: Severity | None = None,
        fix: Fix | None = None,
    ) -> Hit:
        return Hit(kernel.place(node), message, remedy=remedy, severity=severity, fix=fix)


def _is_power_of_2(value: object) -> bool:
    return type(value) is int and value > 0 and value & (value - 1) == 0
