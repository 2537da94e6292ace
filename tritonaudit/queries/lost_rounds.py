"""Variables that each round of a loop sets again, so that what all rounds but the last have computed is lost."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.ir.model import Assign, Block, Carried, If, Loop, Operation
from tritonaudit.ir.values import Value
from tritonaudit.ir.writing import made_of
from tritonaudit.queries.dependence import loops_of, made_by, operations_of


@dataclass(frozen=True, eq=False)
class LostRounds:
    """`loop` sets `name` at `node` from what the round reads, and only what the last round leaves is used."""

    name: str
    node: ast.AST
    loop: ast.For


def lost_rounds(flow: KernelFlow) -> Iterator[LostRounds]:
    """The variables of the kernel's own loops whose earlier values nothing uses."""
    loops = [] if flow.kernel is None else [loop for loop in loops_of(flow.kernel.body) if loop.carried]
    users = _users(flow.kernel.body) if flow.kernel is not None and loops else {}
    for loop in loops:
        inside = set(operations_of(loop.body))
        for carried in loop.carried:
            last = made_of(carried.last)
            if isinstance(last, Operation) and last in inside and _is_lost(loop, carried, last, users, inside):
                assert isinstance(loop.node, ast.For)
                yield LostRounds(carried.name, last.calls[0] if last.calls else last.node, loop.node)


def _is_lost(
    loop: Loop, carried: Carried, last: Operation, users: dict[Operation, list[object]], inside: set[Operation]
) -> bool:
    """Whether nothing but what comes after the loop uses the variable, and rounds differ in what they make of it."""
    after = [user for user in users.get(carried.head, ()) if _leaves(user, carried)]
    in_round = [user for user in (*users.get(carried.head, ()), *users.get(last, ())) if not _leaves(user, carried)]
    is_read = any(users.get(one) for one in after if isinstance(one, Operation))
    return is_read and all(user is carried for user in in_round) and _moves(loop, last, inside)


def _leaves(user: object, carried: Carried) -> bool:
    """Whether it is what the loop leaves of the variable."""
    return isinstance(user, Operation) and user.name == "left" and made_of(user.value("head")) is carried.head


def _moves(loop: Loop, operation: Operation, inside: set[Operation]) -> bool:
    """Whether it is computed from the loop's counter, from what the loop carries, or from a load in it."""
    moving = {carried.head for carried in loop.carried} | ({loop.counter} if loop.counter is not None else set())
    pending, seen = [operation], {operation}
    while pending:
        one = pending.pop()
        if one in moving:
            return True
        behind = {made for value, _ in one.arguments.values() for made in made_by(value)} & (inside | moving)
        pending.extend(behind - seen)
        seen |= behind
    return False


def _users(block: Block) -> dict[Operation, list[object]]:
    """What each operation is used by: other operations, loops by their bounds and what they carry, conditions."""
    found: dict[Operation, list[object]] = {}

    def note(value: Value, user: object) -> None:
        for made in made_by(value):
            found.setdefault(made, []).append(user)

    def read(block: Block) -> None:
        for one in block.statements:
            if isinstance(one, Operation):
                for value, _ in one.arguments.values():
                    note(value, one)
            elif isinstance(one, If):
                note(one.condition, one)
                read(one.then)
                read(one.orelse)
            elif isinstance(one, Loop):
                for value, _ in one.bounds.values():
                    note(value, one)
                for carried in one.carried:
                    note(carried.last, carried)
                read(one.body)
            elif not isinstance(one, Assign):
                read(one.body)

    read(block)
    return found
