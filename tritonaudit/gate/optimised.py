"""Stage 2: what makes a kernel basically fast is done, and it is faster than before."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from statistics import geometric_mean

from tritonaudit.compile import phrases
from tritonaudit.compile.facts import CompiledKernel, Narrow, Variant
from tritonaudit.compile.widening import is_wide_elsewhere, saves_much, wastes_lines
from tritonaudit.gate.checklist import Answer, failed, not_run, passed
from tritonaudit.gate.material import Material
from tritonaudit.history.entry import Data
from tritonaudit.history.figures import Figure, Move, figures_of, size_of
from tritonaudit.kernel.launch import LaunchFacts
from tritonaudit.kernel.project import Function
from tritonaudit.kernel.tuning import Autotune, decorators
from tritonaudit.measure.further import CHANGES_NOTHING
from tritonaudit.shown import shown_path
from tritonaudit.source.outline import JitFunction, Module

_NOT_A_POWER = "TAC102"
_BLOCK = re.compile(r"block|tile", re.IGNORECASE)
_TIMES = "time, "
"""What the names of figures that are times begin with."""


def coalesced(material: Material) -> Answer:
    """Whether no access that matters moves lines of memory of which it needs a part."""
    if not material.kernels:
        return not_run("nothing was compiled")
    wasteful = [text for kernel in material.kernels for text in _wasteful(kernel)]
    if wasteful:
        return failed("; ".join(wasteful))
    unexplained = [f"`{kernel.name}`" for kernel in material.kernels if not any(map(_is_explained, kernel.compiled))]
    if unexplained or material.uncompiled:
        named = [f"how {phrases.listed(unexplained)} accesses memory is not known"] if unexplained else []
        return not_run("; ".join((*named, *material.uncompiled)))
    places = {
        (access.path, access.span)
        for kernel in material.kernels
        for variant in kernel.compiled
        for access in variant.accesses
    }
    return passed(f"in none of {len(places)} places do lanes lie apart, as far as the compiler shows")


def powers_of_2(material: Material) -> Answer:
    """Whether every block that a launch or a config asks for is a power of 2, as far as the source tells."""
    if not material.kernels:
        return not_run("nothing was compiled")
    names = {kernel.name for kernel in material.kernels}
    reported = [one for one in material.findings if one.code == _NOT_A_POWER and one.kernel in names]
    if reported:
        return failed(f"{reported[0].path}:{reported[0].span.line}: {reported[0].message}")
    sources = {kernel: _source_of(material, kernel) for kernel in material.kernels}
    wrong = [
        f"`{name}` of `{kernel.name}` is {text}"
        for kernel, source in sources.items()
        if source is not None
        for name, text in _odd_blocks(material, *source)
    ]
    if wrong:
        return failed("; ".join(wrong))
    unknown = [f"`{kernel.name}`" for kernel, source in sources.items() if source is None]
    if unknown:
        return not_run(f"the source of {phrases.listed(unknown)} is not known")
    if missing := [f"`{kernel.name}`" for kernel in material.kernels if not kernel.compiled]:
        return not_run(f"{phrases.listed(missing)} does not compile")
    return passed("those of every launch and config that is written out; the compiler takes no others for a block")


def autotuned(material: Material) -> Answer:
    """Whether each kernel is tried with several configs."""
    if not material.kernels:
        return not_run("nothing was compiled")
    without = [text for kernel in material.kernels if (text := _untuned(kernel))]
    if without:
        return failed("; ".join(without))
    counts = [len(_configs(kernel)) for kernel in material.kernels]
    return passed(f"{phrases.spread(counts)} configs")


def faster(material: Material) -> Answer:
    """Whether it takes less time than the earlier result, in the geometric mean of the sizes of both."""
    if material.earlier is None:
        return not_run(material.no_earlier)
    if material.now is None or material.now.device is None:
        return not_run(material.unmeasured or "it was not timed")
    if material.earlier.device is None:
        return not_run("the result of stage 1 has no times")
    if material.earlier.device != material.now.device:
        return not_run(f"that was timed on {material.earlier.device}, this on {material.now.device}")
    before, now = figures_of(material.earlier.subject), figures_of(material.now.subject)
    sizes = [name for name in now if name.startswith(_TIMES) and name in before]
    if not sizes:
        return not_run("the two were not timed at any common size")
    known = {*now, *_passed_over(material.now.subject)}
    if gone := [name for name in before if name.startswith(_TIMES) and name not in known]:
        return not_run(f"{gone[0].removeprefix(_TIMES)} was timed then and is not now")
    return _gain([(name.removeprefix(_TIMES), before[name], now[name]) for name in sizes])


def _passed_over(subject: Data) -> Iterator[str]:
    """The times of sizes that were not timed since they could change no finding: they could have been."""
    yield from (f"{_TIMES}{size_of(row)}" for row in subject["sizes"] if row["reason"] == CHANGES_NOTHING)


def _gain(timed: list[tuple[str, Figure, Figure]]) -> Answer:
    """What the times before and now come to; a gain has to be one at either end of their intervals."""
    at_worst = geometric_mean([now.high / before.low for _, before, now in timed])
    at_best = geometric_mean([now.low / before.high for _, before, now in timed])
    moved: dict[Move, list[str]] = {move: [] for move in Move}
    for size, before, now in timed:
        moved[now.since(before)].append(f"{size}: {before.shown} → {now.shown}")
    reported = {move: "; ".join(texts) for move, texts in moved.items()}
    if at_worst < 1:
        slower = f"; slower at {reported[Move.WORSE]}" if moved[Move.WORSE] else ""
        return passed(f"{1 / at_worst:.2f} times in the mean: {reported[Move.BETTER]}{slower}")
    if at_best > 1:
        return failed(f"slower in the mean: {reported[Move.WORSE]}")
    return failed(f"no faster in the mean: {'; '.join(text for text in reported.values() if text)}")


# -- accesses ------------------------------------------------------------------------------------------------------


def _is_explained(variant: Variant) -> bool:
    return variant.explained


def _wasteful(kernel: CompiledKernel) -> Iterator[str]:
    """The lines whose accesses waste memory lines, each once."""
    found: dict[tuple[str, int], Narrow] = {}
    for variant in kernel.compiled:
        for narrow in variant.narrow:
            matters = wastes_lines(narrow) and saves_much(variant, narrow)
            if matters and not is_wide_elsewhere(kernel, variant, narrow):
                found.setdefault((narrow.access.path, narrow.access.span.line), narrow)
    for (path, line), narrow in found.items():
        named = phrases.listed(f"`{argument}`" for argument in narrow.arguments) if narrow.arguments else "it"
        yield (
            f"{shown_path(Path(path))}:{line}: this {narrow.access.kind.value} moves {narrow.bytes} bytes per lane: "
            f"{narrow.cause.value} of {named}"
        )


# -- blocks and configs --------------------------------------------------------------------------------------------


def _source_of(material: Material, kernel: CompiledKernel) -> tuple[Module, JitFunction] | None:
    module = material.sources.module(kernel.path)
    named = () if module is None else (function for function in module.jit if function.qualname == kernel.name)
    function = next(iter(named), None)
    return None if module is None or function is None else (module, function)


def _odd_blocks(material: Material, module: Module, function: JitFunction) -> Iterator[tuple[str, str]]:
    """Blocks that are a number and no power of 2, and numbers of warps."""
    project = material.sources.project
    launches = LaunchFacts(module, function, project.launches(Function(module, function)), project)
    in_ranges = _in_ranges(module, function)
    for parameter in function.parameters:
        if parameter.constexpr and (parameter.name in in_ranges or _BLOCK.search(parameter.name)):
            for size in launches.sizes(parameter.name):
                if size.value is not None and not _is_power_of_2(size.value):
                    yield parameter.name, size.text
    for decorator in decorators(module, function):
        for config in decorator.configs if isinstance(decorator, Autotune) else ():
            value = config.options.get("num_warps")
            if isinstance(value, ast.Constant) and isinstance(value.value, int) and not _is_power_of_2(value.value):
                yield "num_warps", str(value.value)


def _in_ranges(module: Module, function: JitFunction) -> set[str]:
    """The names that are an end of a `tl.arange` as they stand."""
    return {
        argument.id
        for node in ast.walk(function.node)
        if isinstance(node, ast.Call) and module.origin_of(node.func) == "triton.language.arange"
        for argument in node.args
        if isinstance(argument, ast.Name)
    }


def _is_power_of_2(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0


def _configs(kernel: CompiledKernel) -> frozenset[str]:
    return frozenset(variant.config for variant in kernel.variants if variant.config)


def _untuned(kernel: CompiledKernel) -> str:
    configs = _configs(kernel)
    if not configs:
        return f"`{kernel.name}` has no autotuner"
    return f"`{kernel.name}` has only one config: {next(iter(configs))}" if len(configs) == 1 else ""
