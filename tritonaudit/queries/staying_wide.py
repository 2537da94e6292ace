"""Whether a value may be in fp32 instead of 16 bits, without anything that is computed from it minding."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set

from tritonaudit.ir.model import Kernel, Operation
from tritonaudit.ir.operations import FLOAT_ONLY
from tritonaudit.ir.values import Const, Tensor, Tuple, Value
from tritonaudit.ir.writing import made_of
from tritonaudit.queries.dependence import operations_of

_ARITHMETIC = ("Add", "Subtract", "Multiply", "Divide", "Minus", "maximum", "minimum", "abs", "sum", "max", "min")
_LAYOUTS = ("broadcast_to", "expand", "expand_dims", "flip", "permute", "plain", "ravel", "reshape", "trans", "view")
_WIDENED = frozenset((*_ARITHMETIC, *FLOAT_ONLY, *_LAYOUTS))
"""Operations that give fp32 where an operand is."""
_EQUAL = ("Equal", "NotEqual")
_COMPARED = ("LessThan", "LessThanEqual", "GreaterThan", "GreaterThanEqual")
_ENDS = frozenset(
    (
        *((name, side) for name in _COMPARED for side in ("left", "right")),
        *(("to", "self"), ("cast", "input"), ("store", "value"), ("atomic_add", "val")),
    )
)
"""Operations, and their operands, that give the same whatever the width of these."""
_CHOSEN = (("where", "x"), ("where", "y"))
_ARMS = (("either", "then"), ("either", "orelse"))

Uses = Mapping[Operation, Sequence[tuple[Operation, str]]]


def may_be_wide(kernel: Kernel, start: Operation) -> bool:
    """Whether only arithmetic, casts and stores use what it gives, and what they make of it.

    What a loop carries in 16 bits and an operand of a matrix product keep their types; both arms of a condition have
    one.
    """
    uses, known = _uses(kernel), _in_fp32(kernel)
    wide: set[Operation] = set()
    chosen: set[Operation] = set()
    waiting = [start]
    while waiting:
        one = waiting.pop()
        wide.add(one)
        for user, name in uses.get(one, ()):
            if (user.name, name) in _ARMS:
                chosen.add(user)
            elif user.name not in _WIDENED and (user.name, name) not in _CHOSEN:
                if not _is_indifferent(user, name, known):
                    return False
                continue
            if user not in wide and user not in known:
                waiting.append(user)
    return all(_are_alike(one, known | wide) for one in chosen)


def _in_fp32(kernel: Kernel) -> Set[Operation]:
    """The operations that give fp32, by their types or, where these are not known, by what they are made of."""
    found: set[Operation] = set()
    for one in operations_of(kernel.body):
        if one.type.dtype == "fp32" if isinstance(one.type, Tensor) else _gives_fp32(one, found):
            found.add(one)
    return found


def _gives_fp32(one: Operation, known: Set[Operation]) -> bool:
    if one.name in FLOAT_ONLY:
        return True
    if one.name in ("to", "cast"):
        return one.value("dtype") == Const("fp32") and "bitcast" not in one.arguments
    if one.name == "either":
        return _are_alike(one, known)
    if one.name in ("carried", "left"):
        return _is_wide(one.value("initial" if one.name == "carried" else "head"), known)
    operands = [value for name, (value, _) in one.arguments.items() if one.name != "where" or name != "condition"]
    return one.name in (*_WIDENED, "where") and any(_is_wide(value, known) for value in operands)


def _are_alike(choice: Operation, known: Set[Operation]) -> bool:
    """Whether both arms of a condition are in fp32."""
    return all(_is_wide(choice.value(name), known) for _, name in _ARMS)


def _is_wide(given: Value, known: Set[Operation]) -> bool:
    return made_of(given) in known or (isinstance(given, Tensor) and given.dtype == "fp32")


def _is_indifferent(user: Operation, name: str, known: Set[Operation]) -> bool:
    """Whether it gives the same whatever the width of this operand."""
    if user.name in _EQUAL:
        return any(isinstance(value, Const) for value, _ in user.arguments.values())
    if user.name == "attribute":
        return bool(user.detail == "to")
    if (user.name, name) == ("left", "last"):
        return _is_wide(user.value("head"), known)
    return (user.name, name) in _ENDS and not _keeps_type(user)


def _keeps_type(user: Operation) -> bool:
    """Whether it looks at bits, or is a store that does not cast: by a block pointer or a descriptor."""
    return "bitcast" in user.arguments or (user.name == "store" and not isinstance(user.value("pointer"), Tensor))


def _uses(kernel: Kernel) -> Uses:
    """The operations that use what one gives, each with the name of the operand."""
    found: dict[Operation, list[tuple[Operation, str]]] = defaultdict(list)
    for user in operations_of(kernel.body):
        for name, (value, _) in user.arguments.items():
            for made in _made(value):
                found[made].append((user, "" if isinstance(value, Tuple) else name))
    return found


def _made(value: Value) -> Iterator[Operation]:
    if isinstance(value, Tuple):
        for item in value.items:
            yield from _made(item)
    elif isinstance(made := made_of(value), Operation):
        yield made
