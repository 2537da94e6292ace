"""Which integers are read as if they had no sign."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.simulator.ir import Function, Operation, Region

_WITHOUT_SIGN = frozenset(
    (
        "arith.extui", "arith.divui", "arith.remui", "arith.ceildivui", "arith.shrui", "arith.maxui", "arith.minui",
        "arith.uitofp", "arith.index_castui",
    )
)  # fmt: skip


def may_lack_sign(function: Function, value: int) -> bool:
    """Whether something that is made of a value, within its block or beyond, reads it without its sign."""
    reached, operations = {value}, list(_operations(function.region))
    for operation in operations:
        if reached.isdisjoint(operation.operands):
            continue
        if _reads_without_sign(operation):
            return True
        reached.update(operation.results)
    return False


def _reads_without_sign(operation: Operation) -> bool:
    return operation.name in _WITHOUT_SIGN or str(operation.attributes.get("predicate", "")).startswith("u")


def _operations(region: Region) -> Iterator[Operation]:
    for block in region.blocks:
        for operation in block.operations:
            yield operation
            for inner in operation.regions:
                yield from _operations(inner)
