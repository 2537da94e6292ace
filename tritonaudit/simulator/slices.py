"""What of a module's values ends where: in addresses, and in which arguments' memory something is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from tritonaudit.simulator.ir import Block, Function, Location, Module, Operation

SPREADING = frozenset(("tt.splat", "tt.broadcast", "tt.expand_dims", "tt.reshape"))
"""What lays a value's elements out in a block, and computes nothing."""
_WRITES = ("tt.store", "tt.atomic_rmw", "tt.atomic_cas", "tt.atomic_store")


def blocks_in(blocks: Sequence[Block]) -> Iterator[Operation]:
    """All operations of the blocks, those of regions after the one that holds them."""
    for block in blocks:
        for operation in block.operations:
            yield operation
            for region in operation.regions:
                yield from blocks_in(region.blocks)


def may_wait(operation: Operation) -> bool:
    """Whether it may take another program for it to end: a loop whose end may hang on what lies in memory."""
    if operation.name == "tt.atomic_poll":
        return True
    inside = blocks_in([block for region in operation.regions for block in region.blocks])
    return operation.name == "scf.while" and any(_reads_afresh(one) for one in inside)


def _reads_afresh(operation: Operation) -> bool:
    """Whether it sees what other programs do meanwhile."""
    is_volatile = operation.name == "tt.load" and bool(operation.attributes.get("isVolatile"))
    return is_volatile or operation.name.startswith("tt.atomic")


def addresses_of(module: Module) -> frozenset[tuple[str, int]]:
    """The values, by function and number, from which the module computes addresses."""
    found: set[tuple[str, int]] = set()
    for function in module.functions:
        sources = sources_of(function)
        ends = [
            operand
            for operation in blocks_in(function.region.blocks)
            if operation.name in ("tt.addptr", "tt.call")
            for operand in operation.operands
        ]
        found |= {(function.name, number) for number in made_of(ends, sources)}
    return frozenset(found)


def pointers_written(module: Module) -> frozenset[int] | None:
    """The kernel's arguments, by their place, to whose memory something is written; None where that is unknown."""
    if len(module.functions) > 1:
        return None
    function = module.kernel
    operations = list(blocks_in(function.region.blocks))
    if any(_finds_pointer(one, function) for one in operations):
        return None
    pointers = [one.operands[0] for one in operations if one.name in _WRITES]
    return pointed_to(pointers, function, sources_of(function))


def places_accessed(module: Module) -> Mapping[int, int]:
    """The kernel's arguments, by their place, with how many loads and stores of the text go to their memory."""
    if pointers_written(module) is None:
        return {}
    function = module.kernel
    sources = sources_of(function)
    operations = [one for one in blocks_in(function.region.blocks) if one.name in ("tt.load", "tt.store")]
    return Counter(place for one in operations for place in pointed_to(one.operands[:1], function, sources))


def places_written(module: Module) -> Mapping[int, Location]:
    """The kernel's arguments, by their place, with where something is written to their memory, as far as is known.

    Of several such places it is the last one of the text.
    """
    if len(module.functions) > 1:
        return {}
    function = module.kernel
    sources = sources_of(function)
    for one in blocks_in(function.region.blocks):
        if _finds_pointer(one, function):  # where that goes its memory does not tell
            sources.update({result: [] for result in one.results})
    found: dict[int, Location] = {}
    for one in _writes(module):
        assert one.location is not None
        found |= dict.fromkeys(pointed_to(one.operands[:1], function, sources), one.location)
    return found


def place_found(module: Module) -> Location | None:
    """Where something is written, if that may be to an address that the kernel finds in memory; of several the last."""
    writes = list(_writes(module))
    return writes[-1].location if writes and finds_pointers(module) else None


def finds_pointers(module: Module) -> bool:
    """Whether any of its functions makes a pointer of a number, which may have lain in memory."""
    return any(_finds_pointer(one, function) for function in module.functions for one in _operations(function))


def _operations(function: Function) -> Iterator[Operation]:
    return blocks_in(function.region.blocks)


def _writes(module: Module) -> Iterator[Operation]:
    """What writes, of which the place is known."""
    for one in blocks_in(module.kernel.region.blocks):
        if one.name in _WRITES and one.location is not None:
            yield one


def pointed_to(pointers: Sequence[int], function: Function, sources: Mapping[int, Sequence[int]]) -> frozenset[int]:
    """The kernel's arguments, by their place, to whose memory the pointers go, whatever their offsets are made of."""
    known = {
        number: [one for one in made if function.types[one].is_pointer]
        for number, made in sources.items()
        if function.types[number].is_pointer
    }
    roots = made_of(pointers, known)
    return frozenset(place for place, number in enumerate(function.arguments) if number in roots)


def _finds_pointer(operation: Operation, function: Function) -> bool:
    """Whether it makes a pointer of a number, which may be any."""
    is_loaded = operation.name == "tt.load" and function.types[operation.results[0]].is_pointer
    return is_loaded or operation.name == "tt.int_to_ptr"


def made_of(numbers: Sequence[int], sources: Mapping[int, Sequence[int]]) -> set[int]:
    """The values, and all that they are computed from."""
    seen: set[int] = set()
    waiting = list(numbers)
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            waiting.extend(sources.get(one, ()))
    return seen


def sources_of(function: Function) -> dict[int, list[int]]:
    """The values that each value is computed from, through regions and branches too."""
    found: dict[int, list[int]] = {}

    def note(target: int, *values: int) -> None:
        found.setdefault(target, []).extend(values)

    def branches(blocks: Sequence[Block]) -> None:
        for block in blocks:
            for target, passed in block.operations[-1].successors:
                for argument, value in zip(blocks[target].arguments, passed, strict=True):
                    note(argument, value)

    branches(function.region.blocks)
    for operation in blocks_in(function.region.blocks):
        if operation.name == "scf.for":
            for target, values in _carried(operation):
                note(target, *values)
            continue
        for result in operation.results:
            note(result, *operation.operands)
        for region in operation.regions:
            branches(region.blocks)
            for block in region.blocks:
                last = block.operations[-1]
                for result in operation.results:
                    note(result, *last.operands)
                for argument in block.arguments:
                    note(argument, *operation.operands, *last.operands)
    return found


def _carried(loop: Operation) -> Iterator[tuple[int, tuple[int, ...]]]:
    """What the counter, the values that a loop carries and its results are computed from."""
    block = loop.regions[0].block
    counter, *arguments = block.arguments
    bounds, first = loop.operands[:3], loop.operands[3:]
    yield counter, bounds
    passed = block.operations[-1].operands
    for argument, result, before, after in zip(arguments, loop.results, first, passed, strict=True):
        yield argument, (before, after, counter)
        yield result, (before, after, *bounds)
