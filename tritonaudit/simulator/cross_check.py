"""A second opinion on a launch: Triton's interpreter executes it, too, and the results are compared."""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy
import torch
import triton

from tritonaudit.capture.imagined import is_hollow
from tritonaudit.capture.launch import Launch
from tritonaudit.execute.killed import Killed
from tritonaudit.execute.pool import Limits, run_tasks
from tritonaudit.simulator.engine import Outcome, Run, execute
from tritonaudit.simulator.faults import FaultKind
from tritonaudit.simulator.interpreter import Interpretation, View, choose_interpreter, interpret
from tritonaudit.simulator.ir import Module, Type
from tritonaudit.simulator.live import Execution, arguments_of, module_of
from tritonaudit.simulator.slices import blocks_in

_LIMITS = Limits(seconds=120.0, memory=8 << 30)
_ULPS = 64
"""By how many roundings of the coarsest type that it computes in a result may differ, relative to the greater of the
element and the root mean square of its tensor: both sum in an order of their own, and round functions in their own way.
"""
_ROUNDINGS: Mapping[str, float] = {"f64": 2.0**-53, "f32": 2.0**-24, "tf32": 2.0**-11, "f16": 2.0**-11}
HARMLESS = (FaultKind.SAME_WRITES,)
"""Faults of a launch that has results all the same."""


@dataclass(frozen=True)
class Difference:
    """Elements of a tensor in which the two disagree: how many, and for the first its place and both values."""

    tensor: str
    place: tuple[int, ...]
    ours: float
    theirs: float
    count: int


@dataclass(frozen=True)
class CrossCheck:
    """What the interpreter says to a launch: where it differs from us, or the `reason` why it was not asked."""

    differences: tuple[Difference, ...] = ()
    reason: str = ""

    @property
    def agrees(self) -> bool:
        """Whether it was asked, and says the same."""
        return not self.differences and not self.reason


@dataclass(frozen=True, eq=False)
class Witness:
    """A launch as it was before anything executed it, or the `reason` why the interpreter cannot have it."""

    launch: Launch
    task: Interpretation | None
    reason: str = ""

    def compare(self, outcome: Outcome, ours: Mapping[str, Any]) -> CrossCheck:
        """Have the interpreter execute the launch, in a process of its own, after `outcome` has changed our arguments.

        It rounds a product that is added to something, as we do not where a GPU would not: where the results differ,
        ours are computed in its way.
        """
        if self.task is None:
            return CrossCheck(reason=self.reason)
        if any(fault.kind not in HARMLESS for fault in outcome.faults):
            return CrossCheck(reason="the launch has faults, so that it has no results to compare")
        ((_, found),) = run_tasks(
            interpret, [self.task], workers=1, limits=_LIMITS, prepare=choose_interpreter, is_fresh=True
        )
        if isinstance(found, Killed):
            return CrossCheck(reason=f"the interpreter cannot execute it: {found.message}{remark(self._module)}")
        roundings = _ULPS * _coarsest(self._module)
        differences = list(_compared(self.task, ours, found, roundings))
        if differences:
            differences = list(_compared(self.task, self._rounded(self.task), found, roundings))
        return CrossCheck(tuple(differences))

    def _rounded(self, task: Interpretation) -> Mapping[str, Any]:
        """The arguments after the launch, if every product is rounded."""
        bound = task.bound(tuple(storage.clone() for storage in task.storages))
        assert self.launch.grid is not None
        run = Run(is_checked=False, contracts=False)
        execute(self._module, self.launch.grid, arguments_of(self.launch, bound), run)
        return bound

    @property
    def _module(self) -> Module:
        assert self.launch.program is not None
        return module_of(self.launch.program.ttir)


def witness(launch: Launch, bound: Mapping[str, Any], runs_all: bool) -> Witness:
    """Keep what the interpreter needs of a launch that is about to be executed, by all of its programs or not."""
    assert launch.grid is not None
    assert launch.program is not None
    reason = known_limit(module_of(launch.program.ttir)) or ("" if runs_all else "not all of its programs are executed")
    storages: dict[int, int] = {}
    contents: list[torch.Tensor] = []
    try:
        arguments = tuple((name, _packed(value, storages, contents)) for name, value in bound.items())
    except TypeError as error:
        reason = reason or str(error)
    if reason:
        return Witness(launch, None, reason)
    place = launch.kernel
    task = Interpretation(place.path, _module_of(place.path), place.name, launch.grid, arguments, tuple(contents))
    return Witness(launch, task)


def _packed(value: Any, storages: dict[int, int], contents: list[torch.Tensor]) -> Any:
    """The argument with views instead of tensors. Raises TypeError for what cannot be sent."""
    if isinstance(value, torch.Tensor):
        if is_hollow(value):
            raise TypeError("it has tensors without memory")
        storage = value.untyped_storage()
        if storage._cdata not in storages:
            storages[storage._cdata] = len(contents)
            contents.append(torch.empty(0, dtype=torch.uint8).set_(storage, 0, (storage.nbytes(),)).clone())
        number = storages[storage._cdata]
        return View(number, value.dtype, tuple(value.shape), tuple(value.stride()), value.storage_offset())
    if isinstance(value, tuple):
        return tuple(_packed(one, storages, contents) for one in value)
    if isinstance(getattr(value, "base", None), torch.Tensor):
        raise TypeError("a tensor descriptor is among its arguments")
    return value


def _module_of(path: str) -> str:
    """The name under which the file is imported here; empty for what is run."""
    for name, module in list(sys.modules.items()):
        if getattr(module, "__file__", None) == path and module.__name__ == name != "__main__":
            return name
    return ""


@dataclass
class CrossChecked:
    """An execution of which every launch is executed by the interpreter, too."""

    execution: Execution
    found: list[CrossCheck] = field(default_factory=list)

    def launch(self, launch: Launch, bound: Mapping[str, Any]) -> None:
        """Execute one launch on its arguments, here and there. Raises what `Execution.launch` does."""
        kept = None
        if launch.program is not None and launch.grid is not None:
            order = self.execution.order(prod(launch.grid))
            runs_all = order is None or len(order) == prod(launch.grid)
            kept = witness(launch, bound, runs_all)
        self.execution.launch(launch, bound)
        if kept is not None:
            self.found.append(kept.compare(self.execution.launches[-1].outcome, bound))


# -- limits ------------------------------------------------------------------------------------------------------------


def known_limit(module: Module) -> str:
    """What of the launch the interpreter is known to get wrong."""
    elements = {type.element for type in _types(module)}
    if "bf16" in elements:
        return "the interpreter computes bfloat16 wrongly: on its bits"
    if any(element.startswith("f8") for element in elements):
        return "the interpreter computes 8-bit floats wrongly: on their bits"
    if _joins_blocks(module):
        return "the interpreter takes `and` and `or` as Python does: of two blocks it drops one"
    return ""


def remark(module: Module) -> str:
    """What is known of the installed versions, where the interpreter may fail for it."""
    has_loops = any(one.name == "scf.for" for f in module.functions for one in blocks_in(f.region.blocks))
    if has_loops and _release(triton) < (3, 9) and _release(numpy) >= (2, 4):
        return "; before 3.9 it cannot do loops up to an argument with NumPy 2.4 or later"
    return ""


def _release(package: Any) -> tuple[int, int]:
    major, minor = str(package.__version__).split(".")[:2]
    return int(major), int(minor)


def _types(module: Module) -> Iterator[Type]:
    for function in module.functions:
        for type in function.types:
            yield type
            if type.pointee is not None:
                yield type.pointee


def _joins_blocks(module: Module) -> bool:
    """Whether a line with `and` or `or` combines blocks of conditions."""
    lines: dict[str, set[int]] = {}
    for function in module.functions:
        for operation in blocks_in(function.region.blocks):
            if operation.name in ("arith.andi", "arith.ori") and operation.location is not None:
                type = function.types[operation.results[0]]
                if type.element == "i1" and type.rank:
                    lines.setdefault(operation.location.path, set()).add(operation.location.line)
    return any(found & _lines_with_words(path) for path, found in lines.items())


def _lines_with_words(path: str) -> set[int]:
    """The lines of a file that `and` and `or` are on."""
    try:
        tree = ast.parse("".join(linecache.getlines(path)))
    except SyntaxError:
        return set()
    words = [node for node in ast.walk(tree) if isinstance(node, ast.BoolOp)]
    return {line for node in words for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


def _coarsest(module: Module) -> float:
    """The greatest rounding among the types that are computed in."""
    elements = {type.element for function in module.functions for type in function.types}
    operations = (one for function in module.functions for one in blocks_in(function.region.blocks))
    if any(one.attributes.get("inputPrecision") == "tf32" for one in operations):
        elements.add("tf32")
    return max((rounding for element, rounding in _ROUNDINGS.items() if element in elements), default=0.0)


# -- results -----------------------------------------------------------------------------------------------------------


def _compared(
    task: Interpretation, ours: Mapping[str, Any], theirs: tuple[torch.Tensor, ...], roundings: float
) -> Iterator[Difference]:
    for name, packed in task.arguments:
        yield from _differences(name, ours[name], packed, theirs, roundings)


def _differences(
    name: str, ours: Any, packed: Any, theirs: tuple[torch.Tensor, ...], roundings: float
) -> Iterator[Difference]:
    if isinstance(packed, tuple):
        for number, (one, other) in enumerate(zip(ours, packed, strict=True)):
            yield from _differences(f"{name}[{number}]", one, other, theirs, roundings)
    elif isinstance(packed, View):
        found = packed.of(theirs[packed.storage])
        bad = _apart(ours.detach(), found, roundings)
        places = bad.nonzero()
        if len(places):
            place = tuple(places[0].tolist())
            yield Difference(name, place, ours[place].item(), found[place].item(), len(places))


def _apart(ours: torch.Tensor, theirs: torch.Tensor, roundings: float) -> torch.Tensor:
    """Where two results are not the same, or of floats not nearly."""
    if not ours.is_floating_point():
        return ours != theirs
    one, two = ours.double(), theirs.double()
    finite = one.isfinite() & two.isfinite()
    size = torch.where(finite, two, 0.0)
    scale = torch.maximum(size.abs(), size.square().mean().sqrt()) if size.numel() else size
    same = (one == two) | (one.isnan() & two.isnan())
    return ~same & ~(finite & ((one - two).abs() <= roundings * scale))
