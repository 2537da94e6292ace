"""The parameters that are given another number for each input, though Triton compiles or tunes for each value.

A model's own sizes (features, heads) are few. The numbers of rows and elements, the lengths of sequences and the sizes
of batches are as many as there are inputs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.host.host import LaunchSite
from tritonaudit.ir.model import Assign, Block, If, Kernel, Loop, Operation
from tritonaudit.ir.values import Tuple, Value
from tritonaudit.ir.writing import made_of
from tritonaudit.kernel.tuning import Autotune
from tritonaudit.queries.data_sizes import Extent, Place, Sizes, counts_sequences
from tritonaudit.queries.dependence import operations_of
from tritonaudit.queries.effects import is_foreign
from tritonaudit.queries.launched import argument_node, set_before
from tritonaudit.queries.updates import parameter_of
from tritonaudit.queries.worked_over import Work, worked_over

_LEAST_TILE = 16  # what Triton asks whether a number is divisible by
_SHAPED = frozenset(("arange", "zeros", "full", "reshape", "view", "broadcast_to", "expand"))
_DATA = frozenset(("input", "self", "value"))
_BLOCKED = frozenset(("make_block_ptr", "make_tensor_descriptor"))
"""Operations of whose operands only `block_shape` must be constant."""
_RANDOM = frozenset(("rand", "randn", "randint", "rand4x", "randn4x", "randint4x", "philox"))


class Changing(Enum):
    """What a number that changes from call to call is."""

    BATCH = "the size of a batch"
    DATA = "a size of the data"
    STEP = "a number of one step"


@dataclass(frozen=True, eq=False)
class ChangingArgument:
    """A launch passes `given` for a parameter (at `node`), which is `constexpr` or not, and `changes`.

    `value` is what `given` was set to; `unused`: nothing in the kernel reads it.
    """

    node: ast.arg
    constexpr: bool
    given: ast.expr
    value: ast.expr
    changes: Changing
    unused: bool


@dataclass(frozen=True, eq=False)
class SequenceCount:
    """`name` in a key (at `node`), for which a launch passes `value`, the number of sequences in a ragged batch."""

    name: str
    node: ast.expr
    value: ast.expr


def sequence_counts(flow: KernelFlow, autotune: Autotune) -> Iterator[SequenceCount]:
    """The names in a key that stand for how many sequences a batch has, each once."""
    for name, node in autotune.names("key"):
        for site in flow.launches.sites:
            given = argument_node(site, name)
            if given is not None and counts_sequences(site, site.argument(name)):
                yield SequenceCount(name, node, set_before(site, given) or given)
                break


def recompiling(flow: KernelFlow) -> Iterator[ChangingArgument]:
    """The parameters that are given another number for each input, and make Triton compile the kernel again for it.

    That is a compile-time constant that no shape needs. It is a quotient that nothing reads, too: a key of the caller's
    for the cache, for Triton compiles a plain number that is 1 or divisible by 16 by itself. A size that nothing
    reads may be there for the sake of completeness.
    """
    read = {node.id for node in flow.function.nodes.of(ast.Name)}
    settled = flow.launches.tuned | _named_by_decorators(flow)
    asked = {p.name: p.constexpr for p in flow.function.parameters if p.constexpr or p.name not in read}
    arguments = flow.function.node.args
    reader = _Reader(flow)
    for node in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if node.arg in asked and node.arg not in settled:
            found = reader.read(node, asked[node.arg], node.arg not in read)
            if found is not None:
                yield found


class _Reader:
    """Reads what the launches of one kernel pass for its parameters."""

    def __init__(self, flow: KernelFlow) -> None:
        self._flow = flow
        stored = frozenset(name for one in flow.accesses if one.kind != "load" if (name := parameter_of(one)))
        self._sites = [(site, Sizes(site, stored)) for site in flow.launches.sites]

    def read(self, node: ast.arg, constexpr: bool, unused: bool) -> ChangingArgument | None:
        """What the first launch gives the parameter that changes."""
        for site, sizes in self._sites:
            given = argument_node(site, node.arg)
            changes = None if given is None else self._changes(site, sizes, node.arg, constexpr, unused)
            if given is not None and changes is not None and not self._is_needed(node.arg):
                value = set_before(site, given) or given
                return ChangingArgument(node, constexpr, given, value, changes, unused)
        return None

    def _changes(self, site: LaunchSite, sizes: Sizes, name: str, constexpr: bool, unused: bool) -> Changing | None:
        value = site.argument(name)
        if constexpr and not unused and value is not None and value.value is None and self._is_seed(name):
            return Changing.STEP
        if constexpr and counts_sequences(site, value):
            return Changing.BATCH
        extent = sizes.of(value)
        if extent is None:
            return None
        if unused:
            return _unread(extent, constexpr)
        if extent.is_batch:
            return Changing.BATCH
        return Changing.DATA if _is_length(extent, worked_over(self._flow, name)) else None

    # -- in the kernel -------------------------------------------------------------------------------------------

    def _is_needed(self, name: str) -> bool:
        """Whether a shape, or what may want a constant, is made of it."""
        kernel = self._flow.kernel
        parameter = None if kernel is None else _parameter(kernel, name)
        return kernel is None or (parameter is not None and any(_comes_of(v, parameter) for v in _constants(kernel)))

    def _is_seed(self, name: str) -> bool:
        """Whether random numbers are drawn with it."""
        kernel = self._flow.kernel
        parameter = None if kernel is None else _parameter(kernel, name)
        if kernel is None or parameter is None:
            return False
        drawn = (one for one in operations_of(kernel.body) if one.name in _RANDOM)
        return any(_comes_of(one.value("seed"), parameter) for one in drawn)


def _unread(extent: Extent, constexpr: bool) -> Changing | None:
    """Of what nothing reads: a length is known by the tiles that it is divided into."""
    if extent.is_batch and constexpr:
        return Changing.BATCH
    if not constexpr and (extent.surely < _LEAST_TILE or Place.ELEMENTS in extent.places):
        return None
    return None if constexpr and extent.is_inner else Changing.DATA


def _is_length(extent: Extent, work: Work) -> bool:
    """Whether the kernel goes over so many things, and does not only find its place among them."""
    if extent.is_inner:
        return work.tiles or work.round or (extent.tiled and (work.turns or work.rounds))
    return work.tiles or work.turns or work.round or (not extent.is_whole and (work.parts or work.rounds))


def _named_by_decorators(flow: KernelFlow) -> set[str]:
    """What an autotuner's key or `do_not_specialize` names."""
    strings = (node for decorator in flow.function.decorators for node in ast.walk(decorator))
    return {node.value for node in strings if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def _parameter(kernel: Kernel, name: str) -> Operation | None:
    return next((one for one in kernel.parameters if one.detail == name), None)


def _constants(kernel: Kernel) -> Iterator[Value]:
    """The values that must be constants."""
    for operation in operations_of(kernel.body):
        if operation.name in _BLOCKED:
            yield operation.value("block_shape")
        elif operation.name in _SHAPED or is_foreign(operation):
            yield from (value for name, (value, _) in operation.arguments.items() if name not in _DATA)
    yield from _declared(kernel.body)


def _declared(block: Block) -> Iterator[Value]:
    """What is assigned to a variable that is annotated, and the bounds of loops that are unrolled."""
    for one in block.statements:
        if isinstance(one, Assign):
            yield from (one.value,) if isinstance(one.node, ast.AnnAssign) else ()
        elif isinstance(one, If):
            yield from _declared(one.then)
            yield from _declared(one.orelse)
        elif not isinstance(one, Operation):
            if isinstance(one, Loop) and one.kind == "static_range":
                yield from (value for value, _ in one.bounds.values())
            yield from _declared(one.body)


def _comes_of(value: Value, parameter: Operation) -> bool:
    """Whether a value is computed from the parameter."""
    pending, seen = [value], set[int]()
    while pending:
        one = pending.pop()
        if isinstance(one, Tuple):
            pending += one.items
            continue
        made = made_of(one)
        if made is parameter:
            return True
        if isinstance(made, Operation) and id(made) not in seen:
            seen.add(id(made))
            pending += [operand for operand, _ in made.arguments.values()]
    return False
