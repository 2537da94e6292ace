"""The coverage of packages as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from bench.packages.coverage import Coverage, Kernel

_MOST_REASONS = 12
_WIDTH = 110


def shares(packages: Sequence[Coverage]) -> str:
    """A row for each package and target: how many kernels compile, as captured and as inferred."""
    lines = [
        "| package | target | kernels launched | captured, compiled | inferred, compiled | all compiled |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for package in packages:
        for target in package.targets:
            compiled = [kernel for kernel in package.kernels if target in kernel.compiled]
            captured = sum(target in kernel.captured for kernel in compiled)
            cells = (captured, len(compiled) - captured, len(compiled))
            shown = " | ".join(_share(number, len(package.kernels)) for number in cells)
            lines.append(f"| {package.package} | {target} | {len(package.kernels)} | {shown} |")
    return "\n".join(lines) + "\n"


def reasons(packages: Sequence[Coverage]) -> str:
    """Why the other kernels do not compile for the first target, the most frequent reasons first."""
    lines: list[str] = []
    for package in packages:
        target = package.targets[0]
        missing = [kernel for kernel in package.kernels if not kernel.compiled]
        lines.append(f"\n{package.package}: {len(missing)} kernels compile for no target ({target} tried first);")
        lines.append(f"{package.others} more kernels were captured that its files do not hold\n")
        counted = Counter(map(_reason, missing))
        lines += [f"* {number}: {reason}" for reason, number in counted.most_common(_MOST_REASONS)]
    return "\n".join(lines) + "\n"


def _share(number: int, of: int) -> str:
    return f"{number} ({100 * number / max(of, 1):.0f} %)"


def _reason(kernel: Kernel) -> str:
    """The reason without the kernel's name, so that equal ones are counted together."""
    return " ".join(kernel.reason.replace(f"`{kernel.name}`", "it").split())[:_WIDTH]
