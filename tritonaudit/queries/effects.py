"""What operations of a kernel do beside giving a value, and where they stand."""

from __future__ import annotations

import builtins
from collections.abc import Iterator

from tritonaudit.domains.facts import Access, KernelFlow
from tritonaudit.ir.model import Block, If, Inlined, Operation

_WRITING = ("store", "atomic", "barrier", "asm", "async", "wait", "scatter")
"""What an operation that writes, or waits for what others write, has in its name."""
_TRITON = "triton."


def is_foreign(operation: Operation) -> bool:
    """Whether a function is called that is not known."""
    called = str(operation.detail)
    return operation.name == "call" and not called.startswith(_TRITON) and not hasattr(builtins, called)


def may_write(operation: Operation) -> bool:
    """Whether it writes, or waits for what others write, or nobody knows what it does."""
    called = str(operation.detail).rpartition(".")[2] if operation.name == "call" else operation.name
    return is_foreign(operation) or any(word in called for word in _WRITING)


def is_volatile(operation: Operation) -> bool:
    """Whether a load reads again whatever was read before."""
    given = operation.arguments.get("volatile")
    return given is not None and getattr(given[0], "value", True) is not False


def each_time(block: Block) -> Iterator[Operation]:
    """The operations that are made whenever the block is run through, those of helpers too."""
    for one in block.statements:
        if isinstance(one, Operation):
            yield one
        elif isinstance(one, Inlined):
            yield from each_time(one.body)
        elif isinstance(one, If) and (one.then.is_ended or one.orelse.is_ended):
            return


def access_of(flow: KernelFlow, operation: Operation) -> Access | None:
    """What is known of the access that a load or a store of the kernel's own text makes."""
    node = None if operation.calls else flow.tree.node(operation.node)
    return next((one for one in flow.accesses if one.node is node), None) if node is not None else None
